//! `Bash`: runs a command, in front or in the background.
//!
//! The directory lasts from one command to the next, the environment does not. When the shell
//! ends, everything it started ends with it; what is to go on runs in the background.

mod answer;
mod command;
pub(crate) mod environment;
mod script;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::tool::BashInput;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Call, Describe, Outcome, Target, TypedTool};
use crate::task::{Cause, End, Foreground, Launch, Lifetime, Phase, Shell, StopBy, TaskError, Why};
use crate::workbench::Workbench;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// Longer commands are taken for ones that change something.
const MAX_GLANCE: usize = 1_024;

/// The tool.
#[derive(Debug, Default)]
pub(crate) struct Bash;

impl Describe for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn description(&self) -> String {
        include_str!("description.md").trim_end().to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command line"},
                "timeout": {
                    "type": "number",
                    "description": "Milliseconds, at most 600000 in front (default 120000) and 7200000 in the background (default 1800000)"
                },
                "description": {
                    "type": "string",
                    "description": "What the command does, in a few plain words for the user"
                },
                "run_in_background": {
                    "type": "boolean",
                    "description": "Return at once and let the command go on; you are told when it ends"
                },
                "dangerouslyDisableSandbox": {
                    "type": "boolean",
                    "description": "Run outside the sandbox; needs the user's permission"
                }
            },
            "required": ["command"],
            "additionalProperties": false
        })
    }

    /// Most commands change something; for those that do not, see [`TypedTool::only_reads`].
    fn is_read_only(&self) -> bool {
        false
    }

    /// As the CLI does, for shells only.
    fn spells_out_success(&self) -> bool {
        true
    }
}

impl TypedTool for Bash {
    type Input = BashInput;

    fn parse(&self, input: &Object) -> Result<BashInput, String> {
        check_types(input)?;
        let input: BashInput = falconer_protocol::from_value(Value::Object(input.clone()))
            .map_err(|_| "command must be given, as a string".to_owned())?;
        if input.command.contains('\0') {
            return Err("command contains a NUL character, which no command line can".to_owned());
        }
        if input.timeout.as_ref().is_some_and(|it| it.as_f64() <= 0.0) {
            return Err("timeout must be a positive number of milliseconds".to_owned());
        }
        match command::long_sleep(&input.command) {
            Some(sleep) if input.run_in_background != Some(true) => Err(format!(
                "Blocked: standalone {sleep}. It would only hold up the session. To wait for \
                 something, run a loop that ends when it is there (`until check; do sleep 2; \
                 done`) with run_in_background: true and go on when you are told that it ended. \
                 Several shorter sleeps are not a way around this."
            )),
            _ => Ok(input),
        }
    }

    fn only_reads(&self, input: &BashInput) -> bool {
        // Asked while others wait, so that longer commands are not looked into.
        let is_short = input.command.len() <= MAX_GLANCE;
        is_short && falconer_rule::shell::is_read_only(&input.command)
    }

    fn target(&self, input: &BashInput, _workbench: &Workbench) -> Target {
        Target::Command {
            command: input.command.clone(),
            unsandboxed: input.dangerously_disable_sandbox == Some(true),
        }
    }

    fn summary(&self, input: &BashInput) -> Option<String> {
        Some(input.description.as_ref().unwrap_or(&input.command).clone())
    }

    fn run(&self, input: Arc<BashInput>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move { run(call, &input).await })
    }
}

fn check_types(input: &Object) -> Result<(), String> {
    type Fits = fn(&Value) -> bool;
    let fields: [(&str, &str, Fits); 5] = [
        ("command", "a string", Value::is_string),
        ("timeout", "a number", Value::is_number),
        ("description", "a string", Value::is_string),
        ("run_in_background", "true or false", Value::is_boolean),
        (
            "dangerouslyDisableSandbox",
            "true or false",
            Value::is_boolean,
        ),
    ];
    if let Some(name) = input
        .keys()
        .find(|name| !fields.iter().any(|it| it.0 == **name))
    {
        return Err(format!("The parameter `{name}` is not known"));
    }
    for (name, what, fits) in fields {
        if input.get(name).is_some_and(|value| !fits(value)) {
            return Err(format!("{name} must be {what}"));
        }
    }
    Ok(())
}

async fn run(call: Call, input: &BashInput) -> Outcome {
    let workbench = Arc::clone(&call.workbench);
    let place = match Place::settle(&workbench) {
        Ok(place) => place,
        Err(problem) => return Outcome::error(problem),
    };
    let variables = workbench.shop.environment.snapshot();
    let mut spec = script::spec(&input.command, place.cwd.clone(), &variables);
    if call.bounds.only_reads {
        spec.env = environment::for_reading(&variables);
    }
    spec.confinement = call.bounds.confinement;
    let launch = Launch {
        spec,
        description: match input.description.as_deref().map(str::trim) {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => input.command.clone(),
        },
        command: input.command.clone(),
        tool_use: call.id.clone(),
        directory: workbench.shop.overflow.join("tasks"),
        shown: workbench.shop.limits.shell_output,
    };
    if input.run_in_background == Some(true) {
        return in_background(&workbench, launch, input, &place).await;
    }
    match workbench.shop.tasks.start_in_front(launch).await {
        Ok(front) => wait_for(&call, input, front, &place).await,
        Err(error) => Outcome::error(cannot_start(&error)),
    }
}

fn cannot_start(error: &TaskError) -> String {
    format!("The command was not started: {error}")
}

/// Where a command runs.
pub(super) struct Place {
    cwd: PathBuf,
    /// What the model has to know about it.
    note: Option<String>,
}

impl Place {
    fn settle(workbench: &Workbench) -> Result<Self, String> {
        let cwd = workbench.cwd();
        if cwd.is_dir() {
            return Ok(Self { cwd, note: None });
        }
        let original = workbench.original_cwd.clone();
        let gone = cwd.display();
        if !original.is_dir() {
            return Err(format!(
                "The directory {gone} is gone, and so is the directory of the session, {}",
                original.display()
            ));
        }
        let note = format!(
            "{gone} is gone, so the shell is back in {}",
            original.display()
        );
        workbench.change_cwd(original.clone());
        Ok(Self {
            cwd: original,
            note: Some(note),
        })
    }
}

async fn in_background(
    workbench: &Workbench,
    launch: Launch,
    input: &BashInput,
    place: &Place,
) -> Outcome {
    let asked = milliseconds(input).map_or(Lifetime::DEFAULT.0, Duration::from_millis);
    let lifetime = Lifetime(asked.min(Lifetime::MAX.0));
    match workbench.shop.tasks.start_shell(launch, lifetime).await {
        Ok(shell) => {
            let phase = shell.phases().borrow().clone();
            let file = match phase {
                Phase::Background { file, .. } => Some(file),
                Phase::Ended(end) => end.file.clone(),
                Phase::Foreground => None,
            };
            let file = file.unwrap_or_default();
            answer::in_background(&shell, input, place, Why::Asked, &file)
        }
        Err(error) => Outcome::error(cannot_start(&error)),
    }
}

/// Waits until the command ends, is moved to the background, or is stopped.
async fn wait_for(call: &Call, input: &BashInput, front: Foreground, place: &Place) -> Outcome {
    let shell = &front.shell;
    let timeout = timeout(&call.workbench, input);
    let mut phases = shell.phases();
    let mut time_is_up = pin!(tokio::time::sleep(timeout));
    let mut has_timed_out = false;
    loop {
        let phase = phases.borrow_and_update().clone();
        match phase {
            Phase::Ended(end) => return finished(call, input, shell, &end, place),
            Phase::Background { why, file } => {
                return answer::in_background(shell, input, place, why, &file);
            }
            Phase::Foreground => {}
        }
        tokio::select! {
            _ = phases.changed() => {}
            () = call.cancelled.cancelled() => {
                shell.stop(StopBy::Interrupt);
                let end = shell.ended().await;
                return finished(call, input, shell, &end, place);
            }
            () = &mut time_is_up, if !has_timed_out => {
                has_timed_out = true;
                if let Some(outcome) = out_of_time(input, shell, timeout).await {
                    return outcome;
                }
            }
        }
    }
}

/// Moves the command to the background, or ends it if that is pointless or impossible.
async fn out_of_time(input: &BashInput, shell: &Shell, timeout: Duration) -> Option<Outcome> {
    let problem = if command::begins_with_sleep(&input.command) {
        String::new()
    } else {
        let moved =
            shell.move_to_background(Why::TimedOut { after: timeout }, Lifetime::AFTER_TIMEOUT);
        match moved.await {
            // The new phase is noticed by the caller.
            Ok(_) | Err(TaskError::Ended) => return None,
            Err(error) => format!(" and could not be moved to the background: {error}"),
        }
    };
    shell.stop(StopBy::Interrupt);
    let end = shell.ended().await;
    Some(answer::timed_out(shell, &end, timeout, &problem))
}

fn finished(call: &Call, input: &BashInput, shell: &Shell, end: &End, place: &Place) -> Outcome {
    if end.cause != Cause::Itself {
        return answer::interrupted(shell, end);
    }
    let mut notes: Vec<String> = place.note.iter().cloned().collect();
    notes.extend(follow(&call.workbench, &place.cwd, end));
    answer::finished(shell, input, end, &notes)
}

/// Takes over the directory the command ended in.
fn follow(workbench: &Workbench, before: &PathBuf, end: &End) -> Option<String> {
    let cwd = end
        .cwd
        .as_ref()
        .filter(|cwd| *cwd != before && cwd.is_dir())?;
    if workbench.is_inside_work(cwd) {
        workbench.change_cwd(cwd.clone());
        return None;
    }
    let original = workbench.original_cwd.clone();
    let note = format!("Shell cwd was reset to {}", original.display());
    workbench.change_cwd(original);
    Some(note)
}

fn milliseconds(input: &BashInput) -> Option<u64> {
    let timeout = input.timeout.as_ref()?;
    // A float becomes the nearest whole number in range.
    Some(timeout.as_u64().unwrap_or(timeout.as_f64().max(1.0) as u64))
}

/// The time a command has in front.
fn timeout(workbench: &Workbench, input: &BashInput) -> Duration {
    let variable = |name: &str| {
        let value = workbench.shop.environment.text(name)?.parse().ok();
        value.filter(|value| *value > 0).map(Duration::from_millis)
    };
    let default = variable("BASH_DEFAULT_TIMEOUT_MS").unwrap_or(DEFAULT_TIMEOUT);
    let max = variable("BASH_MAX_TIMEOUT_MS")
        .unwrap_or(MAX_TIMEOUT)
        .max(default);
    let asked = milliseconds(input).map(Duration::from_millis);
    asked.unwrap_or(default).min(max)
}
