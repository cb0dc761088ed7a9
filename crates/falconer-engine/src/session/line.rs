//! Reads lines of the host. Some mistakes end the session, as they do in the CLI.

use falconer_protocol::MessageUuid;
use falconer_protocol::message::MessageOrigin;
use serde_json::{Map, Value};

use super::queue::{Handling, Prompt, Urgency};

/// A line of the host.
#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Prompt(Box<Prompt>),
    Request(Request),
    /// An answer to a question of ours.
    Answer(Value),
    Environment {
        variables: Map<String, Value>,
        request_id: Option<Value>,
    },
    /// Nothing to do: blank, unknown, not for us.
    Ignored,
}

/// A control request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    /// Without one, the answer has none either.
    pub(crate) id: Option<Value>,
    pub(crate) subtype: String,
    pub(crate) body: Value,
}

/// A line after which the session cannot go on. The text goes to standard error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fatal {
    #[error("Error parsing streaming input line (type=unknown, {0} chars): SyntaxError")]
    NotJson(usize),
    #[error("Error parsing streaming input line (type=unknown, 4 chars): TypeError")]
    Null,
    #[error("Error: Expected message role 'user', got '{0}'")]
    NotAUser(String),
    #[error("Error: Missing request on control_request")]
    NoRequest,
    #[error(
        "Error: --await-initialize requires the initialize control request as the first stdin \
         line, and the first line is a different message."
    )]
    NotInitialized,
}

/// Reads one line, without its newline.
pub(crate) fn read(line: &[u8]) -> Result<Line, Fatal> {
    if line.trim_ascii().is_empty() {
        return Ok(Line::Ignored);
    }
    let value = parse(line).ok_or_else(|| not_json(line))?;
    if value.is_null() {
        return Err(Fatal::Null);
    }
    match value.get("type").and_then(Value::as_str) {
        Some("user") => user(value),
        Some("control_request") => request(value),
        Some("control_response") => Ok(Line::Answer(value)),
        Some("update_environment_variables") => Ok(environment(value)),
        _ => Ok(Line::Ignored),
    }
}

/// JavaScript writes half of a surrogate pair as it is, for instance where a host has cut a text.
fn parse(line: &[u8]) -> Option<Value> {
    let parsed = serde_json::from_slice(line);
    parsed.or_else(|_| serde_json::from_slice(&mend(line))).ok()
}

/// Replaces escapes of lone surrogates, which are no characters, by that of U+FFFD.
fn mend(line: &[u8]) -> Vec<u8> {
    let mut mended = line.to_vec();
    let mut at = 0;
    while at < mended.len() {
        match (mended[at], surrogate(&mended, at)) {
            (b'\\', Some(0xd800..=0xdbff)) if is_second(surrogate(&mended, at + 6)) => at += 12,
            (b'\\', Some(_)) => {
                mended[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            (b'\\', None) => at += 2,
            _ => at += 1,
        }
    }
    mended
}

fn is_second(unit: Option<u16>) -> bool {
    matches!(unit, Some(0xdc00..=0xdfff))
}

/// The surrogate whose escape begins here.
fn surrogate(line: &[u8], at: usize) -> Option<u16> {
    let escape = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

fn not_json(line: &[u8]) -> Fatal {
    Fatal::NotJson(String::from_utf8_lossy(line).chars().count())
}

fn user(mut value: Value) -> Result<Line, Fatal> {
    let role = &value["message"]["role"];
    if role != "user" {
        let said = role.as_str().unwrap_or("undefined");
        return Err(Fatal::NotAUser(said.to_owned()));
    }
    // Neither words nor blocks: nothing to say.
    if let Value::Number(_) | Value::Bool(_) | Value::Object(_) = value["message"]["content"] {
        return Ok(Line::Ignored);
    }
    let verbatim = value["client_composed"] == Value::Bool(true);
    let handling = match value["shouldQuery"] {
        Value::Bool(false) => Handling::Keep,
        _ if verbatim => Handling::AskVerbatim,
        _ => Handling::Ask,
    };
    let urgency = match value["priority"].as_str() {
        Some("now") => Urgency::Now,
        Some("later") => Urgency::Later,
        _ => Urgency::Next,
    };
    let content = value["message"]["content"].take();
    Ok(Line::Prompt(Box::new(Prompt {
        content: if content.is_null() {
            Value::String(String::new())
        } else {
            content
        },
        uuid: value["uuid"]
            .as_str()
            .filter(|it| !it.is_empty())
            .map(MessageUuid::from),
        urgency,
        handling,
        // That a person typed it is the host's to say; that a task or another session did is not.
        origin: (value["origin"]["kind"] == "human").then(MessageOrigin::human),
    })))
}

fn request(mut value: Value) -> Result<Line, Fatal> {
    let body = value["request"].take();
    if matches!(body, Value::Null | Value::Bool(false)) || body == "" || body == 0 {
        return Err(Fatal::NoRequest);
    }
    Ok(Line::Request(Request {
        id: value.get("request_id").filter(|it| !it.is_null()).cloned(),
        subtype: body
            .get("subtype")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        body,
    }))
}

fn environment(mut value: Value) -> Line {
    let variables = value["variables"].take();
    Line::Environment {
        variables: variables.as_object().cloned().unwrap_or_default(),
        request_id: value.get("request_id").filter(|it| !it.is_null()).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bad_lines_end_the_session_or_are_ignored() {
        let fatal = |error: Fatal| Err(error.to_string());
        let ignored = || Ok(true);
        let table: Vec<(&str, Result<bool, String>)> = vec![
            ("{this is not json", fatal(Fatal::NotJson(17))),
            (
                r#"{"type":"user"}"#,
                fatal(Fatal::NotAUser("undefined".to_owned())),
            ),
            (
                r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
                fatal(Fatal::NotAUser("assistant".to_owned())),
            ),
            (
                r#"{"type":"control_request","request_id":"r"}"#,
                fatal(Fatal::NoRequest),
            ),
            (
                r#"{"type":"control_request","request_id":"r","request":""}"#,
                fatal(Fatal::NoRequest),
            ),
            ("null", fatal(Fatal::Null)),
            ("[]", ignored()),
            ("", ignored()),
            ("  \t ", ignored()),
            ("42", ignored()),
            (r#""text""#, ignored()),
            (r#"{"no":"type"}"#, ignored()),
            (
                r#"{"type":"user","message":{"role":"user","content":7}}"#,
                ignored(),
            ),
            (r#"{"type":"brand_new"}"#, ignored()),
            (r#"{"type":"assistant","message":{}}"#, ignored()),
            (r#"{"type":"system"}"#, ignored()),
            (r#"{"type":"keep_alive"}"#, ignored()),
            (
                r#"{"type":"control_cancel_request","request_id":"x"}"#,
                ignored(),
            ),
        ];
        for (line, expected) in table {
            let got = read(line.as_bytes());
            let got = got
                .map(|line| line == Line::Ignored)
                .map_err(|it| it.to_string());
            assert_eq!(got, expected, "{line}");
        }
    }

    #[test]
    fn prompts_carry_what_they_say() {
        let line = br#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u1",
            "priority":"now","shouldQuery":false,"origin":{"kind":"forged"}}"#;
        let Ok(Line::Prompt(prompt)) = read(line) else {
            panic!("a prompt");
        };
        assert_eq!(prompt.urgency, Urgency::Now);
        assert_eq!(prompt.handling, Handling::Keep);
        assert_eq!(prompt.uuid, Some(MessageUuid::from("u1")));
        assert_eq!(prompt.origin, None);
    }

    #[test]
    fn only_people_are_believed_to_be_the_origin() {
        let human = || Some(MessageOrigin::human());
        let table = [
            (json!({"kind": "human"}), human()),
            (json!({"kind": "human", "trusted": true}), human()),
            (json!({"kind": "Human"}), None),
            (json!({"kind": ["human"]}), None),
            (json!({"kind": "task-notification"}), None),
            (
                json!({"kind": "peer", "from": "x", "fromMode": "bypass"}),
                None,
            ),
            (json!("human"), None),
            (json!(null), None),
        ];
        for (origin, expected) in table {
            let line = json!({"type": "user", "message": {"role": "user", "content": "hi"},
                "origin": origin});
            let Ok(Line::Prompt(prompt)) = read(line.to_string().as_bytes()) else {
                panic!("a prompt: {line}");
            };
            assert_eq!(prompt.origin, expected, "{line}");
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        let table = [
            (r"\ud83d\ude00", "\u{1f600}"),
            (r"a\ud83d", "a\u{fffd}"),
            (r"\ude00\ud83d!", "\u{fffd}\u{fffd}!"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\\ud83d\ud83d", "\\ud83d\u{fffd}"),
        ];
        for (written, read) in table {
            let line = format!("\"{written}\"");
            assert_eq!(parse(line.as_bytes()), Some(read.into()), "{written}");
        }
        assert_eq!(parse(br#""\ud83d"#), None);
    }

    #[test]
    fn a_request_without_an_id_is_a_request() {
        let line = br#"{"type":"control_request","request":{"subtype":"interrupt"}}"#;
        let Ok(Line::Request(request)) = read(line) else {
            panic!("a request");
        };
        assert_eq!((request.id, request.subtype.as_str()), (None, "interrupt"));
    }
}
