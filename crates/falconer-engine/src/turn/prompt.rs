//! What the model is told before the conversation: who it is, how to work, where it is.
//!
//! The system prompt holds nothing that changes between sessions, so that it stays in the cache;
//! what does change goes in front of the first prompt.

use std::path::Path;

use serde_json::{Value, json};

use crate::session::config::PromptChoice;

const IDENTITY: &str = "You are Falconer, a coding agent that works for a developer.";

const BODY: &str = include_str!("prompt.md");

/// The blocks of `system`.
pub(crate) fn system(choice: &PromptChoice, plan: Option<&str>) -> Vec<Value> {
    let mut parts = match &choice.replace {
        Some(text) if text.trim().is_empty() => vec![IDENTITY.to_owned()],
        Some(text) => vec![text.clone()],
        None => vec![IDENTITY.to_owned(), BODY.trim_end().to_owned()],
    };
    let extra = choice.append.iter().map(String::as_str).chain(plan);
    for text in extra.filter(|text| !text.trim().is_empty()) {
        match parts.last_mut() {
            Some(last) if parts_may_grow(choice) => {
                last.push_str("\n\n");
                last.push_str(text);
            }
            _ => parts.push(text.to_owned()),
        }
    }
    parts
        .into_iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect()
}

/// A replaced prompt stays as it is; what is appended to it becomes a block of its own.
fn parts_may_grow(choice: &PromptChoice) -> bool {
    choice.replace.is_none()
}

/// What the model is told in plan mode.
pub(crate) const PLAN_MODE: &str = "Plan mode is on: explore and think, but change nothing. Do \
     not edit files and run no command that changes anything. When the plan is ready, present it \
     with ExitPlanMode and wait for the decision.";

/// Where the session works, as a block in front of the first prompt.
pub(crate) fn surroundings(cwd: &Path, directories: &[String], model: &str) -> Value {
    let mut text = format!(
        "<environment>\nWorking directory: {}\nIs a git repository: {}\nPlatform: {}\nDate: {}\n\
         Model: {model}\n",
        cwd.display(),
        if cwd.join(".git").exists() {
            "yes"
        } else {
            "no"
        },
        std::env::consts::OS,
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
    );
    if !directories.is_empty() {
        text.push_str(&format!(
            "Further working directories: {}\n",
            directories.join(", ")
        ));
    }
    text.push_str("</environment>");
    json!({"type": "text", "text": text})
}

/// A note of the engine inside the conversation.
pub(crate) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

/// Prompts that came while tools ran.
pub(crate) fn folded(content: &Value) -> Value {
    let text = match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let note = format!(
        "While you were working the user sent this message. Take it into account, and answer it \
         before you finish:\n{text}"
    );
    json!({"type": "text", "text": reminder(&note)})
}

/// Texts that keep the model going.
pub(crate) mod nudge {
    pub(crate) const OUTPUT_CUT: &str = "Your answer hit the output limit and was cut. Go on \
         exactly where it stopped, without an apology or a summary, and split what is left into \
         smaller pieces.";
    pub(crate) const REFUSAL: &str = "Your last answer was stopped by a safety filter; this is \
         not a failure of a tool or of the API. What was cut off is not shown, and unfinished \
         tool calls in it did not run. Do not write that content again in any wording; go on with \
         the task in another way, or say what you cannot do.";
    pub(crate) const EMPTY: &str = "[Your last answer had nothing the user can see. Go on and \
         give an answer that is visible.]";
    pub(crate) const STRUCTURED: &str = "You have not called StructuredOutput yet. Call it now \
         with the final answer in the shape its schema asks for.";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(choice: &PromptChoice, plan: Option<&str>) -> Vec<String> {
        let blocks = system(choice, plan);
        let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
        blocks.iter().map(text).collect()
    }

    #[test]
    fn the_prompt_can_be_kept_replaced_emptied_and_extended() {
        let own = PromptChoice::default();
        assert_eq!(texts(&own, None).len(), 2);
        let appended = PromptChoice {
            append: Some("Be brief.".to_owned()),
            ..own.clone()
        };
        assert!(texts(&appended, None)[1].ends_with("\n\nBe brief."));
        let replaced = PromptChoice {
            replace: Some("You are a poet.".to_owned()),
            ..appended.clone()
        };
        assert_eq!(texts(&replaced, None), ["You are a poet.", "Be brief."]);
        let emptied = PromptChoice {
            replace: Some(String::new()),
            ..own
        };
        assert_eq!(texts(&emptied, Some("Plan.")), [IDENTITY, "Plan."]);
    }
}
