//! `falconer demo`: a whole session on a scripted model, in a scratch project.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use falconer::{Options, query};
use falconer_native::{NativeEngine, Scenario};
use owo_colors::OwoColorize;
use tempfile::TempDir;

use crate::ask::{self, Answering};
use crate::command::Demo;
use crate::exit::{self, Exit};
use crate::render::Screen;
use crate::watch::{self, WatchError, Watched};

const PROMPT: &str = "The test fails. Find out why and fix it.";

/// What the model says to what, as data; `{project}` is the scratch project.
const SCENARIO: &str = include_str!("scenario.json");

/// The scratch project, file by file.
const PROJECT: &[(&str, &str)] = &[
    ("README.md", include_str!("project/README.md")),
    ("fahrenheit.sh", include_str!("project/fahrenheit.sh")),
    ("test.sh", include_str!("project/test.sh")),
];

pub(crate) async fn demo(arguments: Demo) -> Exit {
    let scratch = match scratch_project() {
        Ok(scratch) => scratch,
        Err(error) => {
            let text = format!("failed to make a scratch project: {error}");
            return exit::report_setup(text, "set TMPDIR to a directory that can be written to");
        }
    };
    let mut screen = Screen::new(anstream::stdout(), scratch.path().join("project"));
    let shown = Box::pin(show(&arguments, scratch.path(), &mut screen)).await;
    let exit = match &shown {
        Ok(watched) => Exit::of_watched(watched),
        Err(error) => exit::report(error),
    };
    match farewell(&mut screen, scratch, &arguments, exit) {
        Ok(()) => exit,
        Err(error) => exit::report(&WatchError::Screen(error)),
    }
}

async fn show<W: Write>(
    arguments: &Demo,
    scratch: &Path,
    screen: &mut Screen<W>,
) -> Result<Watched, WatchError> {
    let project = scratch.join("project");
    let answering = answering(arguments);
    introduce(screen, &project, answering)?;
    let (options, asked) = ask::collect(options(scratch, &project)?);
    let mut run = Box::pin(query(PROMPT, options)).await?;
    watch::watch(&mut run, asked, screen, answering).await
}

/// A session that sees nothing of the user's own settings, keys and sessions.
fn options(scratch: &Path, project: &Path) -> io::Result<Options> {
    let place = serde_json::to_string(&project.display().to_string())?;
    let scenario = SCENARIO.replace("{project}", place.trim_matches('"'));
    let scenario = Scenario::from_json(&scenario).map_err(io::Error::other)?;
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

fn answering(arguments: &Demo) -> Answering {
    if arguments.yes {
        Answering::Yes("--yes")
    } else if io::stdin().is_terminal() {
        Answering::Person
    } else {
        Answering::Yes("answered by the demo, because stdin is not a terminal")
    }
}

fn introduce<W: Write>(
    screen: &mut Screen<W>,
    project: &Path,
    answering: Answering,
) -> io::Result<()> {
    screen.line("A whole agent session on a scripted model: no key, no network.".bold())?;
    screen.line(format!("{} {}", "project".dimmed(), project.display()))?;
    screen.line(format!("{} native, in this process", "engine ".dimmed()))?;
    match answering {
        Answering::Person => {
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
        screen
            .line("The cost is what a real model would have taken; nothing was spent.".dimmed())?;
        screen.gap()?;
        screen.line("Next, with a model: set ANTHROPIC_API_KEY, then, in a project of yours,")?;
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
