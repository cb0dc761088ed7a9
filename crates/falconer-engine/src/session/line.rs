//! Reads lines of the host. Some mistakes end the session, as they do in the CLI.

use falconer_protocol::MessageUuid;
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
    let value: Value = serde_json::from_slice(line).map_err(|_| not_json(line))?;
    match value.get("type").and_then(Value::as_str) {
        Some("user") => user(value),
        Some("control_request") => request(value),
        Some("control_response") => Ok(Line::Answer(value)),
        Some("update_environment_variables") => Ok(environment(value)),
        _ => Ok(Line::Ignored),
    }
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
        // Only the engine itself says where a prompt comes from.
        origin: None,
    })))
}

fn request(mut value: Value) -> Result<Line, Fatal> {
    let body = value["request"].take();
    if !body.is_object() {
        return Err(Fatal::NoRequest);
    }
    Ok(Line::Request(Request {
        id: value.get("request_id").filter(|it| !it.is_null()).cloned(),
        subtype: body["subtype"].as_str().unwrap_or_default().to_owned(),
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
            ("", ignored()),
            ("  \t ", ignored()),
            ("42", ignored()),
            (r#""text""#, ignored()),
            (r#"{"no":"type"}"#, ignored()),
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
    fn a_request_without_an_id_is_a_request() {
        let line = br#"{"type":"control_request","request":{"subtype":"interrupt"}}"#;
        let Ok(Line::Request(request)) = read(line) else {
            panic!("a request");
        };
        assert_eq!((request.id, request.subtype.as_str()), (None, "interrupt"));
    }
}
