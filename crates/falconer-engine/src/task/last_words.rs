//! What is told of a shell that has ended.

use falconer_process::ExitStatus;
use falconer_protocol::system::TaskStatus;

use super::TaskInfo;
use super::event::{self, TaskEvent};
use super::registry::Registry;
use super::shell::{Cause, End, Shell};

/// What everybody hears when a shell has ended.
pub(super) fn of(registry: &Registry, shell: &Shell, end: &End) -> Vec<TaskEvent> {
    let info = shell.info();
    let status = status(end);
    if !info.is_background {
        let notification =
            event::notification(&info, status, String::new(), info.description.clone());
        let finished = TaskEvent::Finished {
            notification,
            wakes_model: false,
        };
        return shell
            .is_announced()
            .then_some(finished)
            .into_iter()
            .collect();
    }
    let mut others = registry.background();
    others.retain(|other| other.id != info.id);
    let is_session_end = end.cause == Cause::SessionEnd;
    let file = end.file.as_ref().filter(|_| !is_session_end);
    let file = file
        .map(|file| file.display().to_string())
        .unwrap_or_default();
    let finished = TaskEvent::Finished {
        notification: event::notification(&info, status.clone(), file, summary(&info, end)),
        wakes_model: matches!(end.cause, Cause::Itself | Cause::TimeLimit(_)),
    };
    let ended = event::ended(&info, &status);
    if is_session_end {
        vec![finished, ended, event::changed(&others)]
    } else {
        vec![ended, finished, event::changed(&others)]
    }
}

fn status(end: &End) -> TaskStatus {
    match (end.cause, end.status) {
        (Cause::Itself, ExitStatus::Code(0)) => TaskStatus::Completed,
        (Cause::Itself, _) => TaskStatus::Failed,
        _ => TaskStatus::Stopped,
    }
}

/// What the output of a command in the background ends with, for those who only see that.
pub(super) fn last_line(cause: Cause, status: ExitStatus) -> String {
    match (cause, status) {
        (Cause::Itself, ExitStatus::Code(0)) => String::new(),
        (Cause::Itself, ExitStatus::Code(code)) => format!("\n[exited with code {code}]\n"),
        _ => "\n[killed]\n".to_owned(),
    }
}

fn summary(info: &TaskInfo, end: &End) -> String {
    let name = &info.description;
    match (end.cause, end.status) {
        (Cause::Itself, ExitStatus::Code(0)) => {
            format!("Background command \"{name}\" completed (exit code 0)")
        }
        (Cause::Itself, ExitStatus::Code(code)) => {
            format!("Background command \"{name}\" failed with exit code {code}")
        }
        (Cause::Itself, ExitStatus::Signal(signal)) => {
            format!("Background command \"{name}\" was ended by signal {signal}")
        }
        (Cause::Itself, _) => format!("Background command \"{name}\" ended"),
        (Cause::TimeLimit(time), _) => {
            let seconds = time.as_secs();
            format!("Background command \"{name}\" was stopped after its limit of {seconds} s")
        }
        (Cause::Stopped(_) | Cause::SessionEnd, _) => name.clone(),
    }
}
