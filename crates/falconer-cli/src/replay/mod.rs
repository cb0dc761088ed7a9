//! `falconer replay`: a recorded run again, offline: from its events, or from the lines that went
//! between host and engine.

mod cassette;

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use falconer_cassette::Cassette;
use falconer_event::{Body, Event};

use crate::drive::write_json;
use crate::exit::{Done, Exit, Fault, say};
use crate::render::{Prompts, Screen};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer replay fix.jsonl
  falconer replay fix.jsonl --speed 4     at four times the recorded speed
  falconer replay fix.jsonl --json        print the events as JSON
  falconer replay fix.cassette.jsonl      the lines of `record --engine-to`

The answers of a model (`record --model-to`) are played by
`falconer run --engine script --scenario FILE`: there the agent works again.

Nothing is run and nothing is sent: what is shown has happened before.")]
pub(crate) struct Replay {
    /// Recording made by `falconer record`: events or engine lines
    file: PathBuf,
    /// Replay at this multiple of the recorded speed; without it there are no pauses
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    speed: Option<f64>,
    /// Print one JSON event per line
    #[arg(long)]
    json: bool,
}

/// No pause of a talk is longer, however long the run thought.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(crate) async fn replay(arguments: Replay) -> Done {
    let (events, unreadable) = read(&arguments.file)?;
    if events.is_empty() {
        let text = format!("{} contains no events", arguments.file.display());
        return Err(Fault::usage(
            text,
            "choose a file written by `falconer record`",
        ));
    }
    if unreadable > 0 {
        say("warning:", format!("skipped {unreadable} unreadable lines"));
    }
    if arguments.json {
        let mut out = io::stdout();
        events
            .iter()
            .try_for_each(|event| write_json(&mut out, event))?;
    } else {
        show(&events, arguments.speed).await?;
    }
    let end = events.iter().rev().find_map(|event| match &event.body {
        Body::RunCompleted(completed) => Some(Exit::of_run(completed)),
        _ => None,
    });
    Ok(end.unwrap_or(Exit::Success))
}

/// The events of a recording, and how many lines of it could not be read.
fn read(path: &Path) -> Result<(Vec<Event>, usize), Fault> {
    let hint = "choose a file written by `falconer record`";
    let failed = |error: io::Error| {
        let text = format!("failed to read {}: {error}", path.display());
        Fault::setup(text, hint)
    };
    let mut file = BufReader::new(std::fs::File::open(path).map_err(failed)?);
    match kind(io::BufRead::fill_buf(&mut file).map_err(failed)?) {
        Kind::Events => Ok(falconer_session::replay(file)?),
        Kind::Lines => {
            let cassette = Cassette::load(path).map_err(|error| Fault::usage(error, hint))?;
            Ok(cassette::events(&cassette))
        }
        Kind::Model => {
            let path = path.display();
            Err(Fault::usage(
                format!("{path} holds a model's answers, not a run"),
                format!("play it with `falconer run '…' --engine script --scenario {path}`"),
            ))
        }
    }
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Events,
    /// What went between host and engine.
    Lines,
    /// A scenario.
    Model,
}

/// Told by the first line. Whatever is unknown is read as events, which says what is wrong.
fn kind(beginning: &[u8]) -> Kind {
    let first = beginning.split(|byte| *byte == b'\n').next();
    let first = first.unwrap_or_default().trim_ascii();
    match serde_json::from_slice::<serde_json::Value>(first) {
        Ok(line) if line.get("dir").is_some() => Kind::Lines,
        Ok(line) if line.get("rules").is_some() => Kind::Model,
        Ok(_) => Kind::Events,
        // A scenario that was written to be read begins with a brace on a line of its own.
        Err(_) if first == b"{" => Kind::Model,
        Err(_) => Kind::Events,
    }
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
        _ => Err(format!(
            "invalid factor `{text}`: use a number such as 1 or 4"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_known_by_their_first_line() {
        let table: [(&[u8], Kind); 6] = [
            (b"{\"t_ms\":0,\"dir\":\"meta\",\"line\":{}}\n{", Kind::Lines),
            (b"{\"type\":\"run.started\"}\n", Kind::Events),
            (b"{\"rules\": []}", Kind::Model),
            (b"{\n  \"rules\": []", Kind::Model),
            (b"", Kind::Events),
            (b"\xff\xfe", Kind::Events),
        ];
        for (beginning, expected) in table {
            assert_eq!(kind(beginning), expected, "{beginning:?}");
        }
    }
}
