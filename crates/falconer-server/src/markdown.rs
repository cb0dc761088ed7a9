//! A session as a text to read.

use falconer_event::{Body, Event, ItemContent, Source};
use falconer_store::SessionRecord;
use std::fmt::Write as _;

/// What the text begins with.
pub(crate) fn heading(session: &SessionRecord) -> String {
    let title = session.title.as_deref().unwrap_or("Session");
    format!(
        "# {}\n\n- session: `{}`\n- directory: `{}`\n- engine: {}\n- mode: {}\n",
        title.replace('\n', " "),
        session.id,
        session.cwd,
        session.engine,
        session.mode
    )
}

/// Adds an event, if there is something to read in it.
pub(crate) fn write(out: &mut String, json: &str) {
    let Ok(event) = serde_json::from_str::<Event>(json) else {
        let _ = writeln!(out, "\n> an event this version cannot read");
        return;
    };
    // Writing to a string does not fail.
    let _ = match &event.body {
        Body::ItemCompleted(item) => content(out, event.source, &item.content),
        Body::PermissionResolved(answer) => writeln!(
            out,
            "\n> permission {:?} by {}",
            answer.resolution, answer.by
        ),
        Body::QuestionResolved(answer) => {
            writeln!(out, "\n> question {:?} by {}", answer.resolution, answer.by)
        }
        Body::Warning(warning) => writeln!(out, "\n> warning: {warning:?}"),
        Body::RunCompleted(run) => writeln!(out, "\n---\n\n> run {:?}", run.outcome),
        _ => Ok(()),
    };
}

fn content(out: &mut String, source: Source, content: &ItemContent) -> std::fmt::Result {
    let value = serde_json::to_value(content).unwrap_or_default();
    let kind = value
        .get("type")
        .and_then(|kind| kind.as_str())
        .unwrap_or_default();
    let text = value.get("text").and_then(|text| text.as_str());
    match (kind, text) {
        ("message", Some(text)) => writeln!(out, "\n## Agent\n\n{text}"),
        ("prompt", Some(text)) => writeln!(out, "\n## User\n\n{text}"),
        ("thought", Some(text)) => quoted(out, "thought", text),
        (_, Some(text)) if source == Source::User => writeln!(out, "\n## User\n\n{text}"),
        (_, Some(text)) => quoted(out, kind, text),
        (_, None) => action(out, &value),
    }
}

fn quoted(out: &mut String, kind: &str, text: &str) -> std::fmt::Result {
    writeln!(out, "\n> *{kind}*")?;
    text.lines().try_for_each(|line| writeln!(out, "> {line}"))
}

fn action(out: &mut String, value: &serde_json::Value) -> std::fmt::Result {
    let word = |name: &str| {
        value
            .get(name)
            .and_then(|word| word.as_str())
            .unwrap_or_default()
    };
    writeln!(
        out,
        "\n### {} ({})\n",
        word("title").replace('\n', " "),
        word("status")
    )?;
    if let Some(input) = value.get("input") {
        let input = serde_json::to_string_pretty(input).unwrap_or_default();
        fenced(out, "json", &input)?;
    }
    match value.pointer("/result/text").and_then(|text| text.as_str()) {
        Some(result) => fenced(out, "", result),
        None => Ok(()),
    }
}

/// A fence longer than any inside.
fn fenced(out: &mut String, language: &str, text: &str) -> std::fmt::Result {
    let mut longest = 2;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    writeln!(out, "{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let mut out = String::new();
        fenced(&mut out, "", "a\n````\nb").unwrap();
        assert_eq!(out, "`````\na\n````\nb\n`````\n");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let mut out = String::new();
        write(&mut out, "{}");
        assert!(out.contains("cannot read"));
    }
}
