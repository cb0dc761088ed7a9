//! Who is measured, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::Arguments;

/// What a peer is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What the pipe costs without an SDK.
    Floor,
    Official,
    Crate,
    /// The one this is about.
    Ours,
}

#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) role: Role,
    program: PathBuf,
    /// Before the scenario, such as a script's name.
    before: Vec<PathBuf>,
    /// After the scenario, such as the kind of floor.
    after: Vec<String>,
}

const FLOORS: [&str; 5] = ["split", "lazy", "peek", "typed", "value"];
const CRATES: [(&str, &str); 3] = [
    ("claude-agents-sdk 0.1.7", "peer-agents-sdk"),
    ("claude-codes 2.1.316", "peer-codes"),
    ("claude-wrapper 0.14.9", "peer-wrapper"),
];
/// Name, script, and the variables that say with what and where.
const OFFICIAL: [(&str, &str, &str); 2] = [
    ("TypeScript 0.3.325", "typescript.mjs", "FALCONER_NODE"),
    ("Python 0.2.182", "python.py", "FALCONER_PYTHON"),
];

impl Peer {
    /// Those that are there, and a line for each that is not.
    pub(crate) fn find_all(arguments: &Arguments) -> (Vec<Peer>, Vec<String>) {
        let mut peers = Vec::new();
        let mut missing = Vec::new();
        for kind in FLOORS {
            let floor = Peer::binary(
                &format!("floor:{kind}"),
                Role::Floor,
                arguments.binaries.join("bench-floors"),
            );
            peers.push(Peer {
                after: vec![kind.to_owned()],
                ..floor
            });
        }
        for (name, script, variable) in OFFICIAL {
            match std::env::var_os(variable) {
                Some(program) => {
                    let peer = Peer::binary(name, Role::Official, program.into());
                    peers.push(Peer {
                        before: vec![arguments.scripts.join(script)],
                        ..peer
                    });
                }
                None => missing.push(format!("{name} ({variable} is not set)")),
            }
        }
        for (name, binary) in CRATES {
            peers.push(Peer::binary(
                name,
                Role::Crate,
                arguments.binaries.join(binary),
            ));
        }
        peers.push(Peer::binary(
            "falconer",
            Role::Ours,
            arguments.binaries.join("peer-falconer"),
        ));
        peers.retain(|peer| {
            let is_there = peer.program.is_file();
            if !is_there {
                missing.push(format!(
                    "{} ({} was not built)",
                    peer.name,
                    shown(&peer.program)
                ));
            }
            is_there
        });
        (peers, missing)
    }

    fn binary(name: &str, role: Role, program: PathBuf) -> Peer {
        Peer {
            name: name.to_owned(),
            role,
            program,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// The command for a scenario, before environment and pipes.
    pub(crate) fn command(&self, scenario: &str, pinning: Pinning) -> Command {
        let mut command = match pinning {
            Pinning::Free => Command::new(&self.program),
            Pinning::OneCore => {
                let mut command = Command::new("taskset");
                command.args(["-c", "0"]).arg(&self.program);
                command
            }
        };
        command.args(&self.before).arg(scenario).args(&self.after);
        command
    }
}

/// Where the scheduler may put client and CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pinning {
    Free,
    /// Both on one core: the software path without waking an idle processor.
    OneCore,
}

fn shown(program: &Path) -> String {
    program
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
