//! The drop-in for the official CLI.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use falconer_choice::{Credentials, Environment};
use falconer_engine::{DebugLog, End, Launch, Streams, run_process};
use falconer_secret::Redactor;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

#[path = "../log/lines.rs"]
mod log;

use log::{Format, Lines, LogFile};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // Before there are threads.
    let sealed = falconer_process::seal(falconer_secret::carries_secret);
    let environment = Environment::of_this_process();
    // Logins are of no use to this engine, but what they hold is a secret all the same.
    drop(Credentials::look(&environment, None));
    let redactor = environment.redactor().clone();
    falconer_secret::redact_panics(redactor.clone());
    if let Err(error) = sealed {
        let text = "other processes of this user can read the keys of this one";
        anstream::eprintln!("Warning: {text}: {error}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let code = match (runtime, std::env::current_dir()) {
        (Ok(runtime), Ok(cwd)) => runtime.block_on(run_process(
            launch(cwd, redactor.clone()),
            streams(redactor),
        )),
        (Err(error), _) => fail("failed to start", &error),
        (_, Err(error)) => fail("cannot use the working directory", &error),
    };
    // Not by returning: a thread may wait for stdin.
    std::process::exit(code);
}

fn launch(cwd: std::path::PathBuf, redactor: Redactor) -> Launch {
    Launch {
        args: std::env::args_os().skip(1).collect(),
        env: falconer_process::variables(),
        cwd,
        redactor,
    }
}

fn streams(redactor: Redactor) -> Streams {
    let end = |is_terminal| {
        if is_terminal {
            End::Terminal
        } else {
            End::Program
        }
    };
    Streams {
        input_from: end(io::stdin().is_terminal()),
        output_to: end(io::stdout().is_terminal()),
        stdin: Box::new(io::stdin()),
        stdout: Box::new(io::stdout()),
        stderr: Box::new(io::stderr()),
        debug: Box::new(|place| debug(place, redactor)),
    }
}

/// Installs the debug log. Without one nothing is logged: hosts show what is on stderr.
fn debug(place: &DebugLog, redactor: Redactor) -> io::Result<()> {
    let write: Box<dyn Fn(&str) + Send + Sync> = match place {
        // Nobody is left to be told that stderr is gone.
        DebugLog::Stderr => Box::new(|line| drop(io::stderr().write_all(line.as_bytes()))),
        DebugLog::File(path) => {
            let file = LogFile::open(path, log::LARGEST)?;
            link_latest(path);
            Box::new(move |line| file.add(line))
        }
    };
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("falconer", LevelFilter::DEBUG)
        .with_target(log::PANIC, LevelFilter::ERROR);
    let lines = Lines {
        format: Format::Bracketed,
        redactor,
        write,
    };
    let layers = tracing_subscriber::registry().with(lines.with_filter(filter));
    tracing::subscriber::set_global_default(layers).map_err(io::Error::other)?;
    log::log_panics();
    Ok(())
}

/// Points `latest` beside the file to it, unless something else has that name.
fn link_latest(path: &Path) {
    let latest = path.with_file_name("latest");
    if latest.is_symlink() {
        let _ = std::fs::remove_file(&latest);
    }
    let _ = std::os::unix::fs::symlink(path, latest);
}

fn fail(what: &str, error: &io::Error) -> i32 {
    anstream::eprintln!("Error: {what}: {error}");
    1
}
