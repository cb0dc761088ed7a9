//! What the model and the host are told about a command.

use std::path::Path;
use std::time::Duration;

use falconer_process::ExitStatus;
use falconer_protocol::Number;
use falconer_protocol::content::{Content, ContentBlock, ImageBlock};
use falconer_protocol::tool::{BashInput, BashOutput};

use super::{Place, command};
use crate::task::{End, Lifetime, Shell, Shown, Why};
use crate::tool::Outcome;

/// Characters of an output in the conversation when all of it is in a file.
const PREVIEW: usize = 4000;

/// A command that ended by itself.
pub(super) fn finished(shell: &Shell, input: &BashInput, end: &End, notes: &[String]) -> Outcome {
    let code = exit_code(end.status);
    let meaning = command::interpret(&input.command, code);
    if code != 0 && meaning.is_none() {
        return failed(shell, end, code, notes);
    }
    let shown = shell.shown();
    let image = shown.is_whole.then(|| image(&shown.text)).flatten();
    let mut output = output(&shown);
    output.stderr = notes.join("\n");
    output.is_image = Some(image.is_some());
    output.no_output_expected = Some(command::is_silent(&input.command));
    output.return_code_interpretation = meaning.map(str::to_owned);
    if input.dangerously_disable_sandbox == Some(true) {
        output.dangerously_disable_sandbox = Some(true);
    }
    if !shown.is_whole
        && let Some(file) = &end.file
    {
        output.persisted_output_path = Some(file.display().to_string());
        output.persisted_output_size = Some(end.output_bytes);
    }
    let content = match image {
        Some(image) => Content::Blocks(vec![ContentBlock::Image(Box::new(image))]),
        None => Content::Text(text_for_model(shell, &shown, end, notes)),
    };
    outcome(content, &output)
}

fn text_for_model(shell: &Shell, shown: &Shown, end: &End, notes: &[String]) -> String {
    let mut parts = vec![match &end.file {
        Some(file) if !shown.is_whole => format!(
            "<persisted-output>\nThe output is too large to be shown here ({}). All of it is in: \
             {}{}\n\nIts beginning and its end:\n{}\n</persisted-output>",
            size(end.output_bytes),
            file.display(),
            end.file_problem
                .iter()
                .map(|it| format!(" ({it})"))
                .collect::<String>(),
            shell.show(PREVIEW).text
        ),
        _ => shown.text.clone(),
    }];
    parts.extend(lost(shown, end));
    parts.extend(notes.iter().cloned());
    parts.extend(leftovers(end));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        return "(The command ended without output)".to_owned();
    }
    parts.join("\n")
}

/// What to say when an output is neither shown nor saved as a whole.
fn lost(shown: &Shown, end: &End) -> Option<String> {
    let problem = end.file_problem.as_ref()?;
    let is_told = shown.is_whole || end.file.is_some();
    (!is_told).then(|| format!("[all of the output could not be saved: {problem}]"))
}

fn leftovers(end: &End) -> Option<String> {
    let pids: Vec<String> = end.leftovers.iter().map(u32::to_string).collect();
    (!pids.is_empty()).then(|| format!("[processes that cannot be killed: {}]", pids.join(", ")))
}

fn failed(shell: &Shell, end: &End, code: i32, notes: &[String]) -> Outcome {
    let shown = shell.shown();
    let mut parts = vec![format!("Exit code {code}"), shown.text.clone()];
    if !shown.is_whole
        && let Some(file) = &end.file
    {
        parts.push(format!("[all of the output is in {}]", file.display()));
    }
    parts.extend(lost(&shown, end));
    parts.extend(notes.iter().cloned());
    parts.extend(leftovers(end));
    parts.retain(|part| !part.is_empty());
    Outcome::error(parts.join("\n"))
}

/// A command that was ended because its time was over.
pub(super) fn timed_out(shell: &Shell, end: &End, timeout: Duration, problem: &str) -> Outcome {
    let code = exit_code(end.status);
    let time = seconds(timeout);
    let text = shell.shown().text;
    let parts = [
        format!("Exit code {code}"),
        format!("The command was stopped: it took longer than its timeout of {time}{problem}"),
        text,
    ];
    Outcome::error(parts.join("\n").trim_end().to_owned())
}

/// A command that was stopped by somebody else.
pub(super) fn interrupted(shell: &Shell, end: &End) -> Outcome {
    let shown = shell.shown();
    let mut output = output(&shown);
    output.interrupted = Some(true);
    let mut parts = vec![
        shown.text,
        "[the command was stopped before it was done]".to_owned(),
    ];
    parts.extend(leftovers(end));
    parts.retain(|part| !part.is_empty());
    let mut outcome = outcome(Content::Text(parts.join("\n")), &output);
    outcome.is_error = true;
    outcome
}

/// A command that goes on without anybody waiting.
pub(super) fn in_background(
    shell: &Shell,
    input: &BashInput,
    place: &Place,
    why: Why,
    file: &Path,
) -> Outcome {
    let shown = match why {
        Why::TimedOut { .. } => shell.shown(),
        Why::Asked | Why::ByUser => Shown {
            text: String::new(),
            is_whole: true,
        },
    };
    let mut output = output(&shown);
    output.background_task_id = Some(shell.info().id);
    match why {
        Why::Asked => {}
        Why::ByUser => output.backgrounded_by_user = Some(true),
        Why::TimedOut { after } => {
            output.timed_out_after_ms = Some(Number::from(after.as_millis() as u64));
        }
    }
    if command::changes_directory(&input.command) {
        output.background_cwd_hint = Some(format!(
            "The session stays in {}; a command in the background does not change that",
            place.cwd.display()
        ));
    }
    let mut parts = vec![shown.text, where_it_went(shell, why, file)];
    parts.extend(place.note.iter().cloned());
    parts.extend(output.background_cwd_hint.iter().cloned());
    parts.retain(|part| !part.is_empty());
    outcome(Content::Text(parts.join("\n")), &output)
}

fn where_it_went(shell: &Shell, why: Why, file: &Path) -> String {
    let id = shell.info().id.into_string();
    let file = file.display();
    let start = match why {
        Why::Asked => format!("The command runs in the background with ID: {id}."),
        Why::ByUser => format!("The user moved the command to the background with ID: {id}."),
        Why::TimedOut { .. } => format!(
            "The command did not end within its timeout and was moved to the background with \
             ID: {id}. It goes on, so do not start it again; stop it with TaskStop if it is not \
             needed."
        ),
    };
    let limit = match why {
        Why::Asked => String::new(),
        Why::ByUser => limit(Lifetime::AFTER_USER),
        Why::TimedOut { .. } => limit(Lifetime::AFTER_TIMEOUT),
    };
    format!(
        "{start} Output is being written to: {file}. You will be told when it ends; until then, \
         read that file to see how far it is.{limit}"
    )
}

fn limit(Lifetime(time): Lifetime) -> String {
    format!(
        " It is stopped if it still runs after {} minutes.",
        time.as_secs() / 60
    )
}

fn output(shown: &Shown) -> BashOutput {
    BashOutput {
        stdout: shown.text.clone(),
        stderr: String::new(),
        interrupted: Some(false),
        is_image: Some(false),
        no_output_expected: Some(false),
        ..BashOutput::default()
    }
}

fn outcome(content: Content, output: &BashOutput) -> Outcome {
    Outcome {
        content,
        ..Outcome::text("", output)
    }
}

/// As a shell would report it.
fn exit_code(status: ExitStatus) -> i32 {
    match status {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(signal) => 128 + signal,
        _ => 1,
    }
}

/// An output that is one picture as a data URL.
fn image(text: &str) -> Option<ImageBlock> {
    use base64::Engine as _;

    let (media_type, data) = text.trim().strip_prefix("data:")?.split_once(";base64,")?;
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let is_valid = base64::engine::general_purpose::STANDARD
        .decode(data)
        .is_ok();
    (known.contains(&media_type) && is_valid).then(|| ImageBlock::base64(media_type, data))
}

fn size(bytes: u64) -> String {
    const KB: f64 = 1024.0;
    let bytes = bytes as f64;
    if bytes < KB * KB {
        format!("{:.1}KB", bytes / KB)
    } else {
        format!("{:.1}MB", bytes / KB / KB)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
