//! Which endpoint understands what, as data, and requests without what it does not.

use falconer_protocol::Object;
use serde::Deserialize;
use serde_json::Value;

use crate::request::unreadable;
use crate::{ApiFailure, ApiRequest, Capabilities, ConnectError, RequestBody};

const DATA: &str = include_str!("endpoints.json");

/// The variable that overrides the data: a name in it, or a JSON object.
pub(crate) const VARIABLE: &str = "FALCONER_ENDPOINT_CAPABILITIES";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Endpoints {
    endpoints: Vec<Endpoint>,
    default: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Endpoint {
    name: String,
    #[expect(dead_code, reason = "for the reader of the file")]
    about: String,
    /// Host names, with the port if it is not the usual one.
    hosts: Vec<String>,
    capabilities: Changes,
}

/// What differs from everything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes {
    prompt_caching: Option<bool>,
    thinking: Option<bool>,
    betas: Option<bool>,
    context_management: Option<bool>,
    effort: Option<bool>,
    count_tokens: Option<bool>,
}

impl Changes {
    fn apply(&self, known: &Capabilities) -> Capabilities {
        Capabilities {
            prompt_caching: self.prompt_caching.unwrap_or(known.prompt_caching),
            thinking: self.thinking.unwrap_or(known.thinking),
            betas: self.betas.unwrap_or(known.betas),
            context_management: self.context_management.unwrap_or(known.context_management),
            effort: self.effort.unwrap_or(known.effort),
            count_tokens: self.count_tokens.unwrap_or(known.count_tokens),
        }
    }
}

/// What the endpoint at `host` understands, with the changes somebody asked for.
pub(crate) fn capabilities(
    host: &str,
    asked: Option<&Value>,
) -> Result<Capabilities, ConnectError> {
    // The file is ours and a test reads it; what cannot be read counts as everything.
    let Ok(data) = serde_json::from_str::<Endpoints>(DATA) else {
        return Ok(Capabilities::FULL);
    };
    let by_host = || {
        let listed = data.endpoints.iter();
        let mut listed = listed.filter(|e| e.hosts.iter().any(|known| known == host));
        listed.next().or_else(|| data.named(&data.default))
    };
    let of = |endpoint: Option<&Endpoint>| {
        let changes = endpoint.map(|endpoint| endpoint.capabilities.clone());
        changes.unwrap_or_default().apply(&Capabilities::FULL)
    };
    match asked {
        None => Ok(of(by_host())),
        Some(Value::String(name)) => match data.named(name) {
            Some(endpoint) => Ok(of(Some(endpoint))),
            None => Err(ConnectError::Capabilities(data.unknown(name))),
        },
        Some(changes) => {
            let bad = |error: serde_json::Error| ConnectError::Capabilities(error.to_string());
            let changes = Changes::deserialize(changes).map_err(bad)?;
            Ok(changes.apply(&of(by_host())))
        }
    }
}

impl Endpoints {
    fn named(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.endpoints.iter().map(|endpoint| endpoint.name.as_str());
        let names: Vec<_> = names.collect();
        format!(
            "there is no kind of endpoint {name:?}, only {}",
            names.join(", ")
        )
    }
}

impl Capabilities {
    /// Takes out of a request what the endpoint does not understand.
    ///
    /// Of a conversation, only messages that contain such a thing are read and written anew.
    pub(crate) fn strip(&self, request: &mut ApiRequest) -> Result<(), ApiFailure> {
        if !self.betas {
            request.betas.clear();
        }
        self.strip_body(&mut request.body).map_err(unreadable)
    }

    fn strip_body(&self, body: &mut RequestBody) -> serde_json::Result<()> {
        if !self.context_management {
            body.remove("context_management");
        }
        if !self.effort {
            strip_effort(body)?;
        }
        if !self.thinking {
            body.remove("thinking");
            body.edit("messages", "thinking\"", strip_thoughts)?;
        }
        if !self.betas {
            body.edit("tools", "\"defer_loading\"", |tool| {
                remove(tool, "defer_loading");
            })?;
        }
        if !self.prompt_caching {
            for part in ["system", "tools", "messages"] {
                body.edit(part, "\"cache_control\"", strip_cache_marks)?;
            }
            body.remove("cache_control");
        }
        Ok(())
    }
}

fn remove(object: &mut Value, name: &str) {
    if let Value::Object(fields) = object {
        fields.shift_remove(name);
    }
}

fn strip_effort(body: &mut RequestBody) -> serde_json::Result<()> {
    let mut is_empty = false;
    body.edit("output_config", "\"effort\"", |config| {
        remove(config, "effort");
        is_empty = config.as_object().is_some_and(Object::is_empty);
    })?;
    if is_empty {
        body.remove("output_config");
    }
    Ok(())
}

/// Thoughts of another model; a message that is nothing else stays, for it may not be empty.
fn strip_thoughts(message: &mut Value) {
    let Some(content) = message.get_mut("content").and_then(Value::as_array_mut) else {
        return;
    };
    let is_thought = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str);
        matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    if !content.iter().all(is_thought) {
        content.retain(|block| !is_thought(block));
    }
}

/// Blocks, the messages that hold them, and results that hold blocks; not inputs of tools, nor
/// their schemas: there, the word would be the user's.
fn strip_cache_marks(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip_cache_marks),
        Value::Object(block) => {
            block.shift_remove("cache_control");
            if let Some(content) = block.get_mut("content") {
                strip_cache_marks(content);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONE: Capabilities = Capabilities {
        prompt_caching: false,
        thinking: false,
        betas: false,
        context_management: false,
        effort: false,
        count_tokens: false,
    };

    fn request() -> ApiRequest {
        let mark = json!({"type": "ephemeral"});
        ApiRequest {
            betas: vec!["b".to_owned()],
            body: RequestBody::from(json!({
                "model": "m",
                "thinking": {"type": "adaptive"},
                "context_management": {"edits": []},
                "output_config": {"effort": "low"},
                "system": [{"type": "text", "text": "s", "cache_control": mark}],
                "tools": [{"name": "T", "defer_loading": true, "cache_control": mark,
                    "input_schema": {"properties": {"cache_control": {"type": "string"}}}}],
                "messages": [
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "h", "signature": "s"},
                        {"type": "tool_use", "id": "t", "name": "T", "input": {"cache_control": 1}},
                    ]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                        "content": [{"type": "text", "text": "x", "cache_control": mark}]}]},
                    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "d"}]},
                    {"role": "user", "content": "plain"},
                ],
            })),
        }
    }

    #[test]
    fn what_an_endpoint_does_not_understand_is_left_out_and_nothing_else() {
        let mut stripped = request();
        NONE.strip(&mut stripped).unwrap();
        assert!(stripped.betas.is_empty());
        let expected = json!({
            "model": "m",
            "system": [{"type": "text", "text": "s"}],
            "tools": [{"name": "T",
                "input_schema": {"properties": {"cache_control": {"type": "string"}}}}],
            "messages": [
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "t", "name": "T", "input": {"cache_control": 1}},
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                    "content": [{"type": "text", "text": "x"}]}]},
                {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "d"}]},
                {"role": "user", "content": "plain"},
            ],
        });
        assert_eq!(stripped.body.to_value().unwrap(), expected);
    }

    #[test]
    fn an_endpoint_that_understands_everything_gets_everything() {
        let mut full = request();
        Capabilities::FULL.strip(&mut full).unwrap();
        assert_eq!(full.body.to_bytes(), request().body.to_bytes());
        assert_eq!(full.betas, request().betas);
    }

    #[test]
    fn hosts_names_and_objects_choose() {
        let compatible = capabilities("x", Some(&json!("compatible"))).unwrap();
        assert!(!compatible.betas && compatible.thinking);
        let table = [
            ("api.anthropic.com", None, Capabilities::FULL),
            ("gateway.example.org", None, Capabilities::FULL),
            ("localhost:11434", None, compatible),
            (
                "localhost:11434",
                Some(json!("gateway")),
                Capabilities::FULL,
            ),
            (
                "localhost:11434",
                Some(json!({"thinking": false})),
                Capabilities {
                    thinking: false,
                    ..compatible
                },
            ),
            (
                "x",
                Some(json!({"betas": false})),
                Capabilities {
                    betas: false,
                    ..Capabilities::FULL
                },
            ),
        ];
        for (host, asked, expected) in table {
            assert_eq!(
                capabilities(host, asked.as_ref()).unwrap(),
                expected,
                "{host} {asked:?}"
            );
        }
        for (asked, said) in [
            (json!("nobody"), "anthropic, gateway"),
            (json!({"wings": true}), "wings"),
            (json!(5), ""),
        ] {
            let error = capabilities("x", Some(&asked)).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains(VARIABLE), "{error}");
        }
    }

    #[test]
    fn the_data_file_is_valid() {
        let data: Endpoints = serde_json::from_str(DATA).unwrap();
        assert!(data.named(&data.default).is_some());
    }
}
