//! `falconer record` and `falconer replay`: a run on disk, and the run again from there, offline.
//!
//! Two things can be kept. The events of a run, whatever its engine, are shown again by
//! `replay`. The answers of the model, as far as the native engine asked for them, are a scenario
//! that `run --engine script` plays: there the agent works again, on other files.

use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use falconer_event::{Body, Event};
use falconer_session::Session;

use crate::ask::{Answering, Lines};
use crate::drive::{self, View, write_json};
use crate::exit::{Done, Exit, Fault, say};
use crate::render::{Motion, Prompts, Screen};
use crate::run::start::{self, Start};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer record fix.jsonl 'Fix the failing test'
  falconer record fix.jsonl 'Fix the failing test' --model-to fix.scenario.json
  falconer replay fix.jsonl
  falconer run 'Fix the failing test' --engine script --scenario fix.scenario.json

Secrets are taken out of the events before they are written. A recording holds
what the agent read and wrote: look at it before you give it away.")]
pub(crate) struct Record {
    /// Where the events are written; must not be there yet
    file: PathBuf,
    /// What to do
    prompt: String,
    /// Also write the model's answers as a scenario, which needs the native engine
    #[arg(long, value_name = "FILE")]
    model_to: Option<PathBuf>,
    #[command(flatten)]
    start: Start,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer replay fix.jsonl
  falconer replay fix.jsonl --speed 4     as a talk, four times as fast as it was
  falconer replay fix.jsonl --json        the events, for programs
  falconer demo --yes

Nothing is run and nothing is sent: what is shown has happened before.")]
pub(crate) struct Replay {
    /// A recording of `falconer record`
    file: PathBuf,
    /// Keep the recorded pace, so many times as fast; without it there are no pauses
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    speed: Option<f64>,
    /// Write every event as a line of JSON
    #[arg(long)]
    json: bool,
}

/// No pause of a talk is longer, however long the run thought.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(crate) async fn record(arguments: Record) -> Done {
    for file in [Some(&arguments.file), arguments.model_to.as_ref()]
        .into_iter()
        .flatten()
    {
        if file.exists() {
            let text = format!("{} is there already", file.display());
            return Err(Fault::usage(
                text,
                "name a file that is not there, or remove it",
            ));
        }
    }
    let mut prepared = start::prepare(&arguments.start)?;
    if let Some(file) = &arguments.model_to {
        if prepared.engine() == "claude" {
            return Err(Fault::usage(
                "the answers of the model can only be recorded with the native engine",
                "add `--engine native`, or leave `--model-to` out",
            ));
        }
        let file = std::path::absolute(file)?;
        prepared.options = prepared.options.env("FALCONER_RECORD_SCENARIO", file);
    }
    let screen = Screen::new(anstream::stdout(), &prepared.cwd).motion(Motion::of_stdout());
    let mut view = View::Person(screen);
    let mut answering = match drive::is_person_here() {
        true => Answering::Person(Lines::of_stdin()),
        false => Answering::No("there is no terminal to ask on"),
    };
    let spec = prepared
        .into_spec()?
        .until_idle()
        .transcript(&arguments.file);
    let (session, mut events) = Session::start(spec).await?;
    drive::send(&session, arguments.prompt).await?;
    let driven = drive::drive(&session, &mut events, &mut view, &mut answering).await?;
    session.ended().await;
    say(
        "recorded:",
        format!(
            "{}; show it with `falconer replay`",
            arguments.file.display()
        ),
    );
    Ok(driven.exit())
}

pub(crate) async fn replay(arguments: Replay) -> Done {
    let file = std::fs::File::open(&arguments.file).map_err(|error| {
        let text = format!("failed to open {}: {error}", arguments.file.display());
        Fault::setup(text, "name a file that `falconer record` wrote")
    })?;
    let (events, unreadable) = falconer_session::replay(BufReader::new(file))?;
    if events.is_empty() {
        let text = format!("{} holds no events", arguments.file.display());
        return Err(Fault::usage(
            text,
            "name a file that `falconer record` wrote",
        ));
    }
    if unreadable > 0 {
        say(
            "warning:",
            format!("{unreadable} lines could not be read and are left out"),
        );
    }
    match arguments.json {
        true => {
            let mut out = io::stdout();
            events
                .iter()
                .try_for_each(|event| write_json(&mut out, event))?;
        }
        false => show(&events, arguments.speed).await?,
    }
    let end = events.iter().rev().find_map(|event| match &event.body {
        Body::RunCompleted(completed) => Some(Exit::of_run(completed)),
        _ => None,
    });
    Ok(end.unwrap_or(Exit::Success))
}

async fn show(events: &[Event], speed: Option<f64>) -> io::Result<()> {
    let cwd = events.iter().find_map(|event| match &event.body {
        Body::RunStarted(started) => Some(started.cwd.clone()),
        _ => None,
    });
    let screen = Screen::new(anstream::stdout(), cwd.unwrap_or_default());
    let mut screen = screen.prompts(Prompts::Shown);
    let mut before: Option<&Event> = None;
    for event in events {
        if let (Some(speed), Some(before)) = (speed, before) {
            tokio::time::sleep(pause(before, event, speed)).await;
        }
        screen.event(event)?;
        if let Body::PermissionRequested(asked) = &event.body {
            screen.ensure_call(&asked.tool_use_id, &asked.tool, &asked.input)?;
        }
        if let Body::PermissionResolved(resolved) = &event.body {
            let word = match resolved.resolution {
                falconer_event::Resolution::Allowed => "allowed",
                _ => "denied",
            };
            screen.line(format!("  {word} by {}", resolved.by))?;
        }
        before = Some(event);
    }
    io::stdout().flush()
}

fn pause(before: &Event, event: &Event, speed: f64) -> Duration {
    let time = |event: &Event| event.time.parse::<jiff::Timestamp>().ok();
    let (Some(before), Some(now)) = (time(before), time(event)) else {
        return Duration::ZERO;
    };
    let seconds = (now.duration_since(before)).as_secs_f64() / speed;
    Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .min(LONGEST_PAUSE)
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.01 => Ok(factor),
        _ => Err(format!("`{text}` is no factor such as 1 or 4")),
    }
}
