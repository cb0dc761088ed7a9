//! A shell that remembers what was exported and defined, and servers that it starts.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::program::{Place, finish};

/// Where a server listens unless it is told otherwise, and so in every example.
const WRITTEN: &str = "127.0.0.1:4780";
/// Where exported variables wait for the next command.
const EXPORTED: &str = "exported.sh";

pub(super) struct Shell {
    place: Place,
    functions: String,
    /// Where the servers of this page listen, once one was started.
    address: Option<String>,
    server: Option<Child>,
}

impl Shell {
    pub(super) fn new() -> Self {
        Self {
            place: Place::new(),
            functions: String::new(),
            address: None,
            server: None,
        }
    }

    /// The exit code and what was written, with the address as it is in the book.
    pub(super) fn run(&mut self, command: &str) -> (i32, String) {
        if is_function(command) {
            self.functions += &format!("{command}\n");
            return (0, String::new());
        }
        if command.starts_with("falconer serve") && !command.contains("--listen") {
            return (0, self.serve(command));
        }
        let exported = self.place.path().join(EXPORTED);
        let exported = exported.display();
        let address = self.address.as_deref().unwrap_or(WRITTEN);
        let script = format!(
            "[ -e {exported} ] && . {exported}\n{}\n\
             trap 'export -p | grep -vE \" ([A-Z]*PWD|SERVER)=\" > {exported}' EXIT\nexec 2>&1\n{}",
            self.functions,
            command.replace(WRITTEN, address)
        );
        let mut shell = self.command();
        shell
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = finish(shell.spawn().unwrap());
        let code = ran.code.expect("it was not killed");
        (code, ran.stdout.replace(address, WRITTEN))
    }

    fn command(&self) -> Command {
        let falconer = Path::new(env!("CARGO_BIN_EXE_falconer")).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", falconer.display());
        let mut command = self.place.command("sh");
        command.env("PATH", path);
        if let Some(server) = &self.server {
            command.env("SERVER", server.id().to_string());
        }
        command
    }

    /// Starts a server in place of the one before, and gives what it says until it listens.
    fn serve(&mut self, command: &str) -> String {
        self.end_server();
        let address = self.address.as_deref().unwrap_or("127.0.0.1:0");
        let (told, says) = std::io::pipe().unwrap();
        let mut shell = self.command();
        shell
            .args(["-c", &format!("exec {command} --listen {address}")])
            .stdin(Stdio::null())
            .stdout(says.try_clone().unwrap())
            .stderr(says);
        self.server = Some(shell.spawn().unwrap());
        // The command holds the other end of the pipe, too.
        drop(shell);
        let mut output = String::new();
        let mut lines = BufReader::new(told).lines();
        let link = loop {
            let line = lines.next().unwrap_or_else(|| panic!("{output}")).unwrap();
            output += &format!("{line}\n");
            if let Some(link) = line.strip_prefix("http://") {
                break link.to_owned();
            }
        };
        let address = link.split('/').next().unwrap().to_owned();
        let output = output.replace(&address, WRITTEN);
        self.address = Some(address);
        output
    }

    fn end_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            // An example may have killed it.
            let _ = server.kill();
            server.wait().unwrap();
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.end_server();
    }
}

/// `name() { ... }`
fn is_function(command: &str) -> bool {
    let name = command.split_once("() {").map(|(name, _)| name);
    name.is_some_and(|name| name.chars().all(|letter| letter.is_ascii_lowercase()))
}
