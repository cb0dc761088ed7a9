//! `falconer run`: one task, on the terminal, in a pipe, or for a program.

mod apart;
mod prompt;
pub(crate) mod start;
pub(crate) mod tuning;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use falconer_event::RunCompleted;
use falconer_session::{Lifetime, ResumeLine};

use crate::ask::{Answering, Lines};
use crate::drive::{self, View};
use crate::exit::{Done, Fault, say};
use crate::keep::{self, Keeping};
use crate::render::{Detail, Motion, Screen, for_stdout};
use crate::trust::Asking;
use start::Start;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer run 'Find and fix the failing test'
  falconer run 'Explain src/' --allow Read,Grep,Glob --model sonnet
  falconer run 'Clean up' --permission-mode acceptEdits --max-budget-usd 1
  falconer run 'And now the docs' --continue
  git diff | falconer run 'Review this change' --quiet
  falconer run 'What is on it?' --attach screenshot.png
  falconer run 'List the crates' --output-schema crates.schema.json --quiet
  falconer run hello --engine script --scenario hello.json --json

What is neither allowed nor denied is asked on the terminal: yes, no with a reason,
always (the rule is shown), edit, or stop. Ctrl-C interrupts the turn; pressed again
it ends the run. Without a terminal nothing waits: what would be asked is denied,
and says so, unless `--answer-within` gives others time to answer.

A line such as `falconer chat --resume ID` in the prompt goes on with that session.

Exit codes: 0 success, 1 the agent failed, 2 invalid usage or configuration,
3 setup is incomplete, 4 internal error, 5 a limit was reached, 6 the session is
in use or does not exist, 7 the model's API failed (try again), 130 interrupted.")]
pub(crate) struct Run {
    /// The task; piped input is appended to it
    prompt: Option<String>,
    /// Read the prompt from a file
    #[arg(long, short, value_name = "FILE", conflicts_with = "prompt")]
    file: Option<PathBuf>,
    /// Attach an image, PDF or text file; repeatable
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    #[command(flatten)]
    start: Start,
    /// Return JSON that matches the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Print one JSON event per line and ask nobody
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print only the answer
    #[arg(long, short)]
    quiet: bool,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Everything,
    Answer,
    Events,
}

pub(crate) async fn run(arguments: Run) -> Done {
    let output = match (arguments.json, arguments.quiet) {
        (true, _) => Output::Events,
        (false, true) => Output::Answer,
        (false, false) => Output::Everything,
    };
    let mut arguments = arguments;
    if arguments.start.resume.is_none() && !arguments.start.continue_latest {
        go_on_as_pasted(&mut arguments);
    }
    let text = prompt::text(arguments.prompt.as_deref(), arguments.file.as_deref())?;
    let prompt = prompt::with_attachments(text, &arguments.attach)?;
    let asking = match output {
        Output::Events => Asking::Nobody,
        Output::Everything | Output::Answer => Asking::on_terminal(),
    };
    let mut prepared = start::prepare(&arguments.start, asking)?;
    if let Some(file) = &arguments.output_schema {
        prepared.options = prepared.options.output_schema(prompt::schema(file)?);
    }
    let mut view = view(output, &prepared);
    let mut answering = answering(output, &prepared);
    let (agent, mut events) = keep::start(prepared, Lifetime::UntilIdle).await?;
    drive::send(&agent.session, prompt).await?;
    let driven = drive::drive(&agent, &mut events, &mut view, &mut answering).await;
    agent.end().await;
    let driven = driven?;
    if output == Output::Answer {
        print_answer(&driven.completed)?;
    }
    Ok(driven.exit())
}

/// Goes on with the session that the prompt names. What was piped in names none: others wrote it.
fn go_on_as_pasted(arguments: &mut Run) {
    let Some(found) = arguments.prompt.as_deref().and_then(ResumeLine::find) else {
        return;
    };
    let session = found.session;
    say(
        "note:",
        format!("continuing session {session}, which the prompt names"),
    );
    arguments.start.resume = Some(session);
    arguments.prompt = Some(if found.rest.is_empty() {
        "continue".to_owned()
    } else {
        found.rest
    });
}

fn view(output: Output, prepared: &start::Prepared) -> View<Box<dyn Write>> {
    let motion = if prepared.config.display.motion {
        Motion::of_stdout()
    } else {
        Motion::None
    };
    match output {
        Output::Events => View::Json(Box::new(io::stdout())),
        Output::Answer => {
            let out: Box<dyn Write> = Box::new(anstream::stderr());
            View::Person(Screen::new(out, &prepared.cwd).detail(Detail::Questions))
        }
        Output::Everything => {
            let out: Box<dyn Write> = Box::new(anstream::stdout());
            View::Person(Screen::new(out, &prepared.cwd).motion(motion))
        }
    }
}

/// A person is asked only where he sees the question and can type. Others are waited for if
/// somebody said how long.
fn answering(output: Output, prepared: &start::Prepared) -> Answering {
    let sees = match output {
        Output::Everything => io::stdout().is_terminal(),
        Output::Answer => io::stderr().is_terminal(),
        Output::Events => false,
    };
    let is_kept = prepared.keeping != Keeping::Nowhere;
    match sees && io::stdin().is_terminal() {
        true => Answering::Person(Lines::of_stdin()),
        false if is_kept && prepared.answer_within.is_some() => Answering::Others,
        false => Answering::No("no terminal to ask on"),
    }
}

fn print_answer(completed: &RunCompleted) -> Result<(), Fault> {
    let text = match &completed.structured_output {
        Some(value) => serde_json::to_string_pretty(value).map_err(io::Error::other)?,
        None => completed.text.trim_end().to_owned(),
    };
    if !text.is_empty() {
        writeln!(io::stdout(), "{}", for_stdout(text))?;
    }
    if let Some(failure) = &completed.failure {
        crate::exit::say("error:", &failure.text);
    }
    Ok(())
}
