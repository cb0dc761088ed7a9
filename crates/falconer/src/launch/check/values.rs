//! Single values that cannot be right.

use std::ffi::OsString;

use uuid::Uuid;

use crate::options::{LaunchOptions, Skills};

use super::super::OptionProblem;
use super::thinks;

/// The longest argument Linux accepts, its end marker included.
const ARGUMENT_LIMIT: usize = 128 << 10;

/// Flags for which an empty value means something.
const MAY_BE_EMPTY: &[&str] = &["--tools", "--setting-sources"];

pub(super) fn check(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    caps(options, problems);
    models(options, problems);
    if let Some(id) = &options.session.id
        && !is_hyphenated_uuid(id)
    {
        problems.push(invalid("session_id", id, "it must be a UUID with hyphens"));
    }
    if let Some(Skills::Only(names)) = &options.extensions.skills {
        let bad = names.iter().filter(|name| !is_skill_name(name));
        problems.extend(bad.map(|name| {
            let reason = "a skill name has no parentheses, commas, asterisks, control characters \
                          or spaces around it";
            invalid("skills", name, reason)
        }));
    }
    let schema = options.prompt.output_schema.as_ref();
    if let Some(schema) = schema.filter(|schema| !schema.is_object()) {
        let reason = "a JSON schema is an object";
        problems.push(invalid("output_schema", &schema.to_string(), reason));
    }
    if let Some(trace) = &options.environment.trace
        && !is_traceparent(&trace.parent)
    {
        let reason = "it must look like 00-<32 hex digits>-<16 hex digits>-01";
        problems.push(invalid("trace_context", &trace.parent, reason));
    }
}

fn invalid(option: &'static str, value: &str, reason: &'static str) -> OptionProblem {
    OptionProblem::InvalidValue {
        option,
        value: value.chars().take(200).collect(),
        reason,
    }
}

fn caps(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    let caps = &options.caps;
    if caps.turns == Some(0) {
        let reason = "claude takes 0 for no limit; leave it out if that is meant";
        problems.push(invalid("max_turns", "0", reason));
    }
    if let Some(usd) = caps.budget_usd
        && !(usd.is_finite() && usd > 0.0)
    {
        let reason = "a budget is a positive number of dollars";
        problems.push(invalid("max_budget_usd", &usd.to_string(), reason));
    }
    if caps.task_tokens == Some(0) {
        let reason = "a budget is a positive number of tokens";
        problems.push(invalid("task_budget", "0", reason));
    }
}

fn models(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    let model = &options.model;
    let mut seen: Vec<&str> = model.model.as_deref().into_iter().collect();
    for fallback in &model.fallbacks {
        if seen.contains(&fallback.as_str()) {
            let model = fallback.clone();
            problems.push(OptionProblem::SameModel { model });
        }
        seen.push(fallback);
    }
    if model.thinking_display.is_some() && !thinks(options) {
        problems.push(OptionProblem::Exclusive {
            first: "thinking_display",
            second: "disabled thinking",
            advice: "there is nothing to show; remove one",
        });
    }
}

fn is_hyphenated_uuid(id: &str) -> bool {
    id.len() == 36 && Uuid::try_parse(id).is_ok()
}

/// A skill name becomes part of a permission rule, which it must not be able to widen.
fn is_skill_name(name: &str) -> bool {
    let bad = |c: char| matches!(c, '(' | ')' | ',' | '*') || c.is_control();
    !name.is_empty() && name.trim() == name && !name.contains(bad)
}

fn is_traceparent(text: &str) -> bool {
    let lengths = [2, 32, 16, 2];
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &str| {
        part.bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| part.len() == length && hex(part))
}

/// Finds problems of one argument.
pub(super) fn argument(argument: &OsString) -> Vec<OptionProblem> {
    let bytes = argument.as_encoded_bytes();
    let text = argument.to_string_lossy();
    let flag = text.split('=').next().unwrap_or_default().to_owned();
    let mut problems = Vec::new();
    if bytes.len() >= ARGUMENT_LIMIT {
        problems.push(OptionProblem::TooLong {
            flag: flag.clone(),
            bytes: bytes.len(),
            limit: ARGUMENT_LIMIT - 1,
        });
    }
    if bytes.contains(&0) {
        let what = flag.replace('\0', "\\0");
        problems.push(OptionProblem::NulByte { what });
    }
    if bytes.ends_with(b"=") && bytes.len() == flag.len() + 1 && !MAY_BE_EMPTY.contains(&&*flag) {
        problems.push(OptionProblem::EmptyValue { flag });
    }
    problems
}
