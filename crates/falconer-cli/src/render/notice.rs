//! What the engine says beside the conversation, if people should know.

use falconer::protocol::system::SystemMessage;
use owo_colors::OwoColorize;

use super::plain::{clean, first_line};

/// A line for people, or nothing.
pub(super) fn of(message: &SystemMessage) -> Option<String> {
    match message {
        SystemMessage::ApiRetry(retry) => {
            let seconds = retry.retry_delay_ms.as_f64() / 1_000.0;
            let why = match retry.error_status {
                Some(status) => format!("the model's service answered {status}"),
                None => "no answer from the model's service".to_owned(),
            };
            let (attempt, most) = (retry.attempt, retry.max_retries);
            let text = format!("  … {why}; try {attempt} of {most} in {seconds:.1} s");
            Some(text.yellow().to_string())
        }
        SystemMessage::ModelFallback(_) => {
            Some("  … another model takes over".yellow().to_string())
        }
        SystemMessage::Informational(notice) => said(&notice.content),
        SystemMessage::Notification(notice) => said(&notice.text),
        SystemMessage::LocalCommandOutput(output) => Some(clean(&output.content)),
        _ => None,
    }
}

fn said(text: &str) -> Option<String> {
    let text = first_line(&clean(text));
    (!text.is_empty()).then(|| format!("  {text}").dimmed().to_string())
}
