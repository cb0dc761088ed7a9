//! Trying out what the sandbox must refuse, before a run is said to be in one.
//!
//! The engine is started under the same policy, with a model of ours that has it run two
//! commands: one writes outside of its directory, one connects to a host that is on no list.
//! What counts is what happened on disk and at the socket, not what the commands said.

mod proven;
mod responder;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use self::responder::Responder;
use super::{Home, IsolationConfig, IsolationError};
use crate::client::Client;
use crate::error::Error;
use crate::messages::Messages;
use crate::options::Options;

/// The finding about something that must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Proof {
    /// It was tried and refused.
    Refused,
    /// It was tried and succeeded.
    LetThrough,
    /// The policy allows it, so it was not tried.
    NotTried,
}

/// The outcome of trying what is forbidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProbeReport {
    /// A write outside of the directories that commands may write.
    pub write_refused: Proof,
    /// A connection to a host that is on no list.
    pub host_refused: Proof,
    /// Steps of the probe, for a person.
    pub details: Vec<String>,
    /// Age of the findings in seconds; 0 if they were made for this run.
    pub age_seconds: u64,
}

impl ProbeReport {
    /// Returns `true` if nothing forbidden succeeded.
    #[must_use]
    pub fn protects(&self) -> bool {
        let let_through = Proof::LetThrough;
        self.write_refused != let_through && self.host_refused != let_through
    }
}

impl fmt::Display for ProbeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.details.join("; "))
    }
}

/// Runs the probe, unless it is known how it ends; a sandbox that lets something through is an
/// error.
pub(crate) async fn prove(
    program: &Path,
    config: &IsolationConfig,
    path: Option<&OsStr>,
) -> Result<ProbeReport, IsolationError> {
    let circumstances = if config.proof_age.0.is_zero() {
        None
    } else {
        proven::circumstances(program, config, path)
    };
    let Some(circumstances) = circumstances else {
        return probe(program, config, path).await;
    };
    let slot = proven::slot(circumstances);
    // Whoever comes while another is trying waits for that one, but not for ever.
    let waited = tokio::time::timeout(config.probe_limit.0, slot.lock()).await;
    let Ok(mut known) = waited else {
        return probe(program, config, path).await;
    };
    if let Some(report) = known.report_within(config.proof_age.0) {
        return Ok(report);
    }
    known.forget();
    let started = Instant::now();
    let report = probe(program, config, path).await?;
    known.keep(started, &report);
    Ok(report)
}

async fn probe(
    program: &Path,
    config: &IsolationConfig,
    path: Option<&OsStr>,
) -> Result<ProbeReport, IsolationError> {
    let scratch = Home::create(&config.homes())?;
    let work = scratch.path().join("work");
    let outside = scratch.path().join("outside");
    for directory in [&work, &outside] {
        std::fs::create_dir(directory).map_err(IsolationError::home("create", directory))?;
    }
    let failed = |error: std::io::Error| IsolationError::ProbeFailed {
        reason: error.to_string(),
    };
    let host = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
    host.set_nonblocking(true).map_err(failed)?;
    let port = host.local_addr().map_err(failed)?.port();
    let tries_host = config.network.refuses_unlisted();
    write_scripts(&work, &outside, port).map_err(failed)?;
    let mut commands = vec!["bash ./forbidden-write.sh"];
    if tries_host {
        commands.push("bash ./forbidden-host.sh");
    }
    let responder = Responder::start(&commands).await.map_err(failed)?;
    let options = options(program, &work, &responder.url(), path);
    let options = options.isolation(config.for_probe(&outside));
    let limit = config.probe_limit.0;
    let ended = tokio::time::timeout(limit, Box::pin(run(options, &responder))).await;
    drop(responder);
    let ran = |name: &str| work.join(name).exists();
    if !ran("write-ran") || (tries_host && !ran("host-ran")) {
        let reason = match ended {
            Err(_) => format!("it did not end within {limit:?}"),
            Ok(Err(Error::Isolation(error))) => return Err(*error),
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(())) => "the engine did not run the commands".to_owned(),
        };
        return Err(IsolationError::ProbeFailed { reason });
    }
    let report = judge(
        !outside.join("written").exists(),
        tries_host.then(|| host.accept().is_err()),
    );
    if report.protects() {
        Ok(report)
    } else {
        Err(IsolationError::NotProtected { report })
    }
}

/// Runs the commands. When the engine has told the model what became of them, everything that
/// counts has happened, so it is ended at once.
async fn run(options: Options, responder: &Responder) -> Result<(), Error> {
    let (client, mut messages) = Client::connect(options).await?;
    client.send("go").await?;
    let failed = tokio::select! {
        () = responder.has_heard_results() => None,
        failed = last_error(&mut messages) => failed,
    };
    client.close().await?;
    failed.map_or(Ok(()), Err)
}

/// Waits for the end; the last error on the way says why it came.
async fn last_error(messages: &mut Messages) -> Option<Error> {
    let mut last = None;
    while let Some(message) = messages.next().await {
        last = message.err().or(last);
    }
    last
}

fn judge(write_refused: bool, host_refused: Option<bool>) -> ProbeReport {
    let proof = |refused| {
        if refused {
            Proof::Refused
        } else {
            Proof::LetThrough
        }
    };
    let word = |refused| if refused { "was refused" } else { "succeeded" };
    let host = match host_refused {
        Some(refused) => format!("a connection to a host on no list {}", word(refused)),
        None => "every host may be reached".to_owned(),
    };
    let write = format!(
        "a write outside of the work directory {}",
        word(write_refused)
    );
    ProbeReport {
        write_refused: proof(write_refused),
        host_refused: host_refused.map_or(Proof::NotTried, proof),
        details: vec![write, host],
        age_seconds: 0,
    }
}

/// The scripts mark that they ran, where that is allowed, and then try what is not.
fn write_scripts(work: &Path, outside: &Path, port: u16) -> std::io::Result<()> {
    let target = outside.join("written");
    let target = target.to_string_lossy().replace('\'', r"'\''");
    let write = format!(": > ./write-ran\n: > '{target}'\nexit 0\n");
    // Directly, and through the proxy that the sandbox offers.
    let host = format!(
        ": > ./host-ran\n(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null\n\
         command -v curl >/dev/null && \
         curl -s -m 3 --noproxy '' -o /dev/null http://127.0.0.1:{port}/\nexit 0\n"
    );
    std::fs::write(work.join("forbidden-write.sh"), write)?;
    std::fs::write(work.join("forbidden-host.sh"), host)
}

/// A run that speaks to nobody but the responder.
fn options(program: &Path, work: &Path, url: &str, path: Option<&OsStr>) -> Options {
    let quiet = [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ];
    let options = Options::new()
        .executable(program)
        .cwd(work)
        .base_url(url)
        .allow_tools(["Bash"])
        .max_turns(4)
        .close_grace(Duration::ZERO);
    let options = quiet
        .iter()
        .fold(options, |options, name| options.env(name, "1"));
    match path {
        Some(path) => options.env("PATH", OsString::from(path)),
        None => options,
    }
}
