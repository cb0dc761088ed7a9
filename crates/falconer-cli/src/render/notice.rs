//! What happens beside the conversation, if people should know.

use falconer_event::{
    Limit, LimitClass, Retry, RunStarted, SessionChanged, Task, TaskEnd, Warning,
};
use owo_colors::OwoColorize;

use super::plain::{clean, first_line};

/// What runs, in one line.
pub(super) fn started(run: &RunStarted) -> String {
    let mut facts = vec![match &run.version {
        Some(version) if run.engine == "claude" => format!("claude {version}"),
        _ => run.engine.clone(),
    }];
    facts.extend(run.model.clone());
    // A scripted model needs no account, and says so in its own words.
    facts.extend(run.auth.clone().filter(|auth| !auth.starts_with("none")));
    facts.extend(
        run.billing
            .as_ref()
            .map(|billing| format!("billed: {billing}")),
    );
    facts.extend(
        run.sandbox
            .as_ref()
            .map(|sandbox| format!("sandbox: {sandbox}")),
    );
    facts.extend(match run.permission_mode.as_deref() {
        None | Some("default") => None,
        Some(mode) => Some(format!("mode {mode}")),
    });
    clean(&facts.join(" · ")).dimmed().to_string()
}

pub(super) fn retry(retry: &Retry) -> String {
    let why = match retry.status {
        Some(status) => format!("the model's API answered {status}"),
        None => "no answer from the model's API".to_owned(),
    };
    let (attempt, most) = (retry.attempt, retry.max_attempts);
    let seconds = retry.delay_ms / 1_000.0;
    let text = format!("  … {why}; try {attempt} of {most} in {seconds:.1} s");
    text.yellow().to_string()
}

pub(super) fn limit(limit: &Limit) -> String {
    let state = if limit.reached { "reached" } else { "near" };
    let text = match limit.class {
        Some(LimitClass::Quota) => format!("quota {} {state}", clean(&limit.kind)),
        Some(_) => format!("rate limit {state}"),
        None => format!("limit {state}: {}", clean(&limit.text)),
    };
    let resets = limit.resets_at.and_then(resets).unwrap_or_default();
    format!("! {text}{resets}").yellow().to_string()
}

/// When a limit is lifted, on the clock of this machine.
fn resets(seconds: f64) -> Option<String> {
    let at = jiff::Timestamp::from_second(seconds as i64).ok()?;
    let (at, now) = (
        at.to_zoned(jiff::tz::TimeZone::system()),
        jiff::Zoned::now(),
    );
    let form = if at.date() == now.date() {
        "%H:%M"
    } else {
        "%Y-%m-%d %H:%M"
    };
    Some(format!("; resets at {}", at.strftime(form)))
}

/// Denials are in the conversation already.
pub(super) fn warning(warning: &Warning) -> Option<String> {
    match warning.kind.as_str() {
        "permission_denied" => None,
        _ => Some(
            format!("! {}", first_line(&clean(&warning.text)))
                .yellow()
                .to_string(),
        ),
    }
}

pub(super) fn changed(changed: &SessionChanged) -> Option<String> {
    let text = match changed {
        SessionChanged::Model { to, .. } => format!("the model is now {to}"),
        SessionChanged::Mode { to } => format!("the permission mode is now {to}"),
        SessionChanged::Compacted { .. } => "earlier messages were compacted".to_owned(),
        SessionChanged::Reset { .. } => "the conversation was cleared".to_owned(),
        _ => return None,
    };
    Some(format!("  … {}", clean(&text)).dimmed().to_string())
}

/// Only what continues in the background; the rest is seen by its call.
pub(super) fn task(task: &Task) -> Option<String> {
    if !task.in_background {
        return None;
    }
    let word = match task.end {
        None => "continues in the background",
        Some(TaskEnd::Completed) => "is done",
        Some(TaskEnd::Failed) => "failed",
        Some(_) => "was stopped",
    };
    let about = task.description.as_deref().unwrap_or(&task.id);
    Some(
        format!("  … {} {word}", first_line(&clean(about)))
            .dimmed()
            .to_string(),
    )
}
