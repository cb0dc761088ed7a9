//! The drop-in for the official CLI.

use std::io::{self, IsTerminal};

use falconer_engine::{End, Launch, Streams, run_process};
use falconer_native::choose::{Credentials, Environment};
use falconer_secret::Redactor;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // Before there are threads.
    let sealed = falconer_sandbox::seal(falconer_secret::carries_secret);
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
        (Ok(runtime), Ok(cwd)) => runtime.block_on(run_process(launch(cwd, redactor), streams())),
        (Err(error), _) => fail("failed to start", &error),
        (_, Err(error)) => fail("cannot use the working directory", &error),
    };
    // Not by returning: a thread may wait for stdin.
    std::process::exit(code);
}

fn launch(cwd: std::path::PathBuf, redactor: Redactor) -> Launch {
    Launch {
        args: std::env::args_os().skip(1).collect(),
        env: falconer_sandbox::variables(),
        cwd,
        redactor,
    }
}

fn streams() -> Streams {
    let end = |is_terminal| match is_terminal {
        true => End::Terminal,
        false => End::Program,
    };
    Streams {
        input_from: end(io::stdin().is_terminal()),
        output_to: end(io::stdout().is_terminal()),
        stdin: Box::new(io::stdin()),
        stdout: Box::new(io::stdout()),
        stderr: Box::new(io::stderr()),
    }
}

fn fail(what: &str, error: &io::Error) -> i32 {
    anstream::eprintln!("Error: {what}: {error}");
    1
}
