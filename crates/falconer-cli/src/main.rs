//! The command for people.

mod approve;
mod ask;
mod attach;
mod chat;
mod command;
mod completions;
mod config;
mod demo;
mod doctor;
mod drive;
mod exit;
mod explain;
mod here;
mod ids;
mod init;
mod keep;
mod log;
mod login;
#[cfg(test)]
mod options;
mod piped;
mod places;
mod record;
mod remote;
mod render;
mod replay;
mod run;
mod serve;
mod sessions;
mod terms;
mod trust;

use std::future::Future;
use std::process::ExitCode;

use clap::Parser;
use command::{Command, Falconer};
use exit::{Done, Exit, Fault};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Some variables are flags: they are read before they are moved out of the environment.
    let arguments = Falconer::parse();
    here::close();
    if let Err(fault) = start_log(&arguments) {
        return fault.report().into();
    }
    let done = match arguments.command {
        None => {
            command::first_steps();
            Ok(Exit::Success)
        }
        Some(Command::Demo(demo)) => block_on(demo::demo(demo)),
        Some(Command::Run(run)) => block_on(run::run(*run)),
        Some(Command::Chat(chat)) => block_on(chat::chat(*chat)),
        Some(Command::Sessions(sessions)) => block_on(sessions::sessions(sessions)),
        Some(Command::Serve(serve)) => block_on(serve::serve(*serve)),
        Some(Command::Attach(attach)) => block_on(attach::attach(attach)),
        Some(Command::Approve(approve)) => block_on(approve::approve(approve)),
        Some(Command::Login(login)) => block_on(login::login(login)),
        Some(Command::Init(init)) => init::init(&init),
        Some(Command::Doctor(doctor)) => block_on(doctor::doctor(doctor)),
        Some(Command::Config(config)) => config::config_command(config),
        Some(Command::Explain(explain)) => block_on(explain::explain(*explain)),
        Some(Command::Trust(arguments)) => trust::trust(arguments),
        Some(Command::Record(record)) => block_on(record::record(*record)),
        Some(Command::Replay(replay)) => block_on(replay::replay(replay)),
        Some(Command::Completions(completions)) => completions::completions(&completions),
        Some(Command::Man(man)) => completions::man(man),
    };
    log::screen::release();
    done.unwrap_or_else(|fault| fault.report()).into()
}

/// Logs as flags, variables and the user's file say. A server keeps a log in its state directory.
fn start_log(arguments: &Falconer) -> Result<(), Fault> {
    // A file that cannot be read is told by the command that needs it.
    let config = config::of_user().map(|config| config.log);
    let own = match &arguments.command {
        Some(Command::Serve(_)) => Some(places::private_state()?.join("serve.log")),
        _ => None,
    };
    log::start(&arguments.log, &config.unwrap_or_default(), own.as_deref())
}

/// Runs a command that waits for things.
fn block_on(command: impl Future<Output = Done>) -> Done {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        let hint = "raise the limits on open files and processes";
        Fault::setup(format!("failed to start: {error}"), hint)
    })?;
    let done = runtime.block_on(Box::pin(command));
    // A thread may still wait for a line of the terminal.
    runtime.shutdown_background();
    done
}
