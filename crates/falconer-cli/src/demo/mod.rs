//! `falconer demo`: a whole session on a scripted model, in a scratch project.

mod serve;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use falconer::Options;
use falconer_native::{NativeEngine, Scenario};
use falconer_session::{SessionLocks, SessionSpec};
use owo_colors::OwoColorize;
use tempfile::TempDir;

use crate::ask::{Answering, Lines};
use crate::drive::{self, Driven, View};
use crate::exit::{Done, Exit, Fault};
use crate::keep::Agent;
use crate::render::{Motion, Resumable, Screen};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer demo            answer the agent's questions yourself
  falconer demo --yes      watch only
  falconer demo | cat      the same without colour
  falconer demo --serve    the same in a browser

The agent works in a scratch project in the temporary directory and removes it at
the end. Nothing else is read or written.")]
pub(crate) struct Demo {
    /// Answer yes to the agent's questions
    #[arg(long, short)]
    yes: bool,
    /// Keep the scratch project and print its path
    #[arg(long)]
    keep: bool,
    /// Show it in the browser instead
    #[arg(long, conflicts_with_all = ["yes", "keep"])]
    serve: bool,
}

const PROMPT: &str = "The test fails. Find out why and fix it.";

/// What the model says to what, as data; `{project}` is the scratch project.
const SCENARIO: &str = include_str!("scenario.json");

/// The scratch project, file by file.
const PROJECT: &[(&str, &str)] = &[
    ("README.md", include_str!("project/README.md")),
    ("fahrenheit.sh", include_str!("project/fahrenheit.sh")),
    ("test.sh", include_str!("project/test.sh")),
];

pub(crate) async fn demo(arguments: Demo) -> Done {
    let scratch = scratch_project().map_err(|error| {
        let text = format!("failed to create a scratch project: {error}");
        Fault::setup(text, "set TMPDIR to a writable directory")
    })?;
    if arguments.serve {
        let project = scratch.path().join("project");
        let served = Box::pin(serve::serve(scratch.path(), &scenario(&project)?)).await;
        scratch.close()?;
        return served;
    }
    let screen = Screen::new(anstream::stdout(), scratch.path().join("project"))
        .resumable(Resumable::No)
        .motion(Motion::of_stdout());
    let mut view = View::Person(screen);
    let driven = Box::pin(show(&arguments, scratch.path(), &mut view)).await?;
    if let View::Person(screen) = &mut view {
        farewell(screen, scratch, &arguments, driven.exit())?;
    }
    Ok(driven.exit())
}

async fn show<W: Write>(
    arguments: &Demo,
    scratch: &Path,
    view: &mut View<W>,
) -> Result<Driven, Fault> {
    let project = scratch.join("project");
    let mut answering = answering(arguments);
    if let View::Person(screen) = view {
        introduce(screen, &project, &answering)?;
    }
    let mut about = falconer_event::Run::default();
    about.engine = "script".to_owned();
    about.engine_reason = Some("a demonstration".to_owned());
    let spec = SessionSpec::new(SessionLocks::new(scratch.join("locks")))
        .options(options(scratch, &project)?)
        .about(about)
        .answer_within(std::time::Duration::MAX)
        .until_idle();
    let (agent, mut events) = Agent::start(spec).await?;
    drive::send(&agent.session, PROMPT).await?;
    let driven = drive::drive(&agent, &mut events, view, &mut answering).await?;
    agent.end().await;
    Ok(driven)
}

/// A session that sees nothing of the user's own settings, keys and sessions.
fn options(scratch: &Path, project: &Path) -> io::Result<Options> {
    let scenario = Scenario::from_json(&scenario(project)?).map_err(io::Error::other)?;
    let options = Options::new()
        .engine(NativeEngine::scripted(scenario))
        .cwd(project)
        .setting_sources([])
        .strict_mcp_config()
        .without_persistence()
        .include_partial_messages()
        .env_clear()
        .env_inherit("PATH")
        .env("HOME", scratch)
        .env("TMPDIR", scratch)
        .env("CLAUDE_CONFIG_DIR", scratch.join("config"));
    Ok(options)
}

/// The scripted model, for this project.
fn scenario(project: &Path) -> io::Result<String> {
    let place = serde_json::to_string(&project.display().to_string())?;
    Ok(SCENARIO.replace("{project}", place.trim_matches('"')))
}

fn answering(arguments: &Demo) -> Answering {
    if arguments.yes {
        Answering::Yes("--yes")
    } else if io::stdin().is_terminal() {
        Answering::Person(Lines::of_stdin())
    } else {
        Answering::Yes("the demo answers, because stdin is not a terminal")
    }
}

fn introduce<W: Write>(
    screen: &mut Screen<W>,
    project: &Path,
    answering: &Answering,
) -> io::Result<()> {
    screen.line("A whole agent session on a scripted model: no key, no network.".bold())?;
    screen.line(format!("{} {}", "project".dimmed(), project.display()))?;
    screen.line(format!("{} native, in this process", "engine ".dimmed()))?;
    match answering {
        Answering::Person(_) | Answering::Others => {
            screen.line(format!("{} asked on this terminal", "rights ".dimmed()))?;
        }
        Answering::Yes(why) | Answering::No(why) => {
            screen.line(format!("{} all granted ({why})", "rights ".dimmed()))?;
        }
    }
    screen.line(format!("{} {PROMPT}", "you    ".dimmed()))
}

/// Removes the project, unless it is to be kept, and says what can be done next.
fn farewell<W: Write>(
    screen: &mut Screen<W>,
    scratch: TempDir,
    arguments: &Demo,
    exit: Exit,
) -> io::Result<()> {
    if arguments.keep {
        let kept = scratch.keep().join("project");
        screen.line(format!("The project was kept in {}", kept.display()))?;
    } else {
        scratch.close()?;
    }
    if exit == Exit::Success {
        screen.line(
            "The cost is what a real model would have charged; nothing was spent.".dimmed(),
        )?;
        screen.gap()?;
        screen.line("Next, with a real model: set ANTHROPIC_API_KEY, then run in your project:")?;
        screen.line(format!(
            "  {}",
            "falconer run 'What does this project do?'".bold()
        ))?;
    }
    Ok(())
}

fn scratch_project() -> io::Result<TempDir> {
    let scratch = tempfile::Builder::new()
        .prefix("falconer-demo-")
        .tempdir()?;
    let project = scratch.path().join("project");
    std::fs::create_dir(&project)?;
    for (name, text) in PROJECT {
        std::fs::write(project.join(name), text)?;
    }
    Ok(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenario_can_be_read_with_any_path() {
        let scratch = Path::new("/tmp/a \"quoted\" \\ path");
        assert!(options(scratch, &scratch.join("project")).is_ok());
    }

    #[test]
    fn the_project_has_the_mistake_that_the_model_finds() {
        let (_, script) = PROJECT[1];
        assert!(script.contains("echo $((celsius * 9 / 5 + 23))"));
        assert!(SCENARIO.contains("echo $((celsius * 9 / 5 + 23))"));
    }
}
