//! The command for people.

mod ask;
mod command;
mod demo;
mod exit;
mod piped;
mod render;
mod run;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use command::{Command, Falconer};
use exit::Exit;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Falconer::parse();
    let Some(command) = arguments.command else {
        anstream::print!("{}", command::FIRST_STEPS);
        return Exit::Success.into();
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let hint = "raise the limits of open files and processes";
            return exit::report_setup(format!("failed to start: {error}"), hint).into();
        }
    };
    let exit = runtime.block_on(async {
        match command {
            Command::Demo(demo) => Box::pin(demo::demo(demo)).await,
            Command::Run(run) => Box::pin(run::run(*run)).await,
        }
    });
    // A thread may still wait for a line of the terminal.
    runtime.shutdown_background();
    exit.into()
}
