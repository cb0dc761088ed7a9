//! `falconer record`: a run on disk.
//!
//! Three things can be kept. The events of a run, whatever its engine, are shown again by
//! `replay`, and so are the lines that went between host and engine. The answers of the model are
//! a scenario that `run --engine script` plays: there the agent works again, on other files.

mod relay;

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use falconer::Options;
use falconer_session::Lifetime;

use crate::ask::{Answering, Lines};
use crate::drive::{self, View};
use crate::exit::{Done, Fault, say};
use crate::here;
use crate::keep;
use crate::render::{Motion, Screen};
use crate::run::start::{self, Prepared, Start};
use crate::trust::Asking;
use relay::Relay;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer record fix.jsonl 'Fix the failing test'
  falconer replay fix.jsonl
  falconer record fix.jsonl 'Fix the failing test' --model-to fix.scenario.json
  falconer run 'Fix the failing test' --engine script --scenario fix.scenario.json
  falconer record fix.jsonl 'Fix the failing test' --engine-to fix.cassette.jsonl
  falconer replay fix.cassette.jsonl

Secrets are taken out before anything is written. A recording holds what the agent
read and wrote: look at it before you give it away.")]
pub(crate) struct Record {
    /// File to write events to; must not exist
    file: PathBuf,
    /// What to do
    prompt: String,
    /// Also record the model's answers as a scenario
    #[arg(long, value_name = "FILE")]
    model_to: Option<PathBuf>,
    /// Also record every line between falconer and the engine as a cassette
    #[arg(long, value_name = "FILE")]
    engine_to: Option<PathBuf>,
    #[command(flatten)]
    start: Start,
}

pub(crate) async fn record(arguments: Record) -> Done {
    let files = [
        Some(&arguments.file),
        arguments.model_to.as_ref(),
        arguments.engine_to.as_ref(),
    ];
    for file in files.into_iter().flatten() {
        check_free(file)?;
    }
    let mut prepared = start::prepare(&arguments.start, Asking::on_terminal())?;
    let relay = match &arguments.model_to {
        Some(file) => model_to(&mut prepared, file).await?,
        None => None,
    };
    if let Some(file) = &arguments.engine_to {
        prepared.options = engine_to(prepared.options, file)?;
    }
    let screen = Screen::new(anstream::stdout(), &prepared.cwd).motion(Motion::of_stdout());
    let mut view = View::Person(screen);
    let mut answering = if drive::is_person_here() {
        Answering::Person(Lines::of_stdin())
    } else {
        Answering::No("no terminal to ask on")
    };
    prepared.transcript = Some(arguments.file.clone());
    let (agent, mut events) = keep::start(prepared, Lifetime::UntilIdle).await?;
    drive::send(&agent.session, arguments.prompt).await?;
    let driven = drive::drive(&agent, &mut events, &mut view, &mut answering).await?;
    agent.end().await;
    if let Some(relay) = relay {
        relay.end().await;
    }
    for file in files.into_iter().flatten() {
        say("recorded:", tell(file, arguments.model_to.as_ref()));
    }
    Ok(driven.exit())
}

/// What can be done with a file now.
fn tell(file: &Path, model: Option<&PathBuf>) -> String {
    let name = file.display();
    if model.is_some_and(|model| model == file) {
        format!("{name}; play it with `falconer run --engine script --scenario {name}`")
    } else {
        format!("{name}; show it with `falconer replay`")
    }
}

fn check_free(file: &Path) -> Result<(), Fault> {
    if file.exists() {
        Err(Fault::usage(
            format!("{} already exists", file.display()),
            "choose another name or remove the file",
        ))
    } else {
        Ok(())
    }
}

/// Has the answers of the model written down: by the native engine itself, or by a relay between
/// the official CLI and the model.
async fn model_to(prepared: &mut Prepared, file: &Path) -> Result<Option<Relay>, Fault> {
    if prepared.engine() == "script" {
        return Err(Fault::usage(
            "the scripted model's answers are already in a file",
            "omit `--model-to`, or use `--engine native` or `claude`",
        ));
    }
    let file = std::path::absolute(file)?;
    let options = std::mem::take(&mut prepared.options);
    if prepared.engine() != "claude" {
        prepared.options = options.env("FALCONER_RECORD_SCENARIO", file);
        return Ok(None);
    }
    let relay = Relay::start(relay::upstream()?, &file).await?;
    prepared.options = options.env("ANTHROPIC_BASE_URL", relay.url());
    Ok(Some(relay))
}

/// Has every line to and from the engine written down.
fn engine_to(options: Options, file: &Path) -> Result<Options, Fault> {
    let failed = |error: std::io::Error| {
        let text = format!("failed to write {}: {error}", file.display());
        Fault::setup(text, "choose a writable file")
    };
    let tape = File::create_new(file).map_err(failed)?;
    Ok(options.around_transport(move |transport| {
        let tape: Box<dyn std::io::Write + Send> = match tape.try_clone() {
            Ok(tape) => Box::new(tape),
            Err(error) => Box::new(Broken(error.kind())),
        };
        Box::new(falconer_cassette::record(transport, tape).redactor(here::redactor().clone()))
    }))
}

/// A tape that cannot be written: the run fails rather than being recorded by halves.
struct Broken(std::io::ErrorKind);

impl std::io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
