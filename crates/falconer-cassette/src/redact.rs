//! Takes secrets out of a line before it is written to a cassette.

use falconer_secret::{REDACTED, Redactor};
use serde_json::Value;

/// Objects whose values are all secrets, whatever their keys.
const SECRET_OBJECTS: [&str; 3] = ["env", "headers", "variables"];

/// Keys whose value is a secret.
const SECRET_KEYS: [&str; 9] = [
    "authorization",
    "proxy_authorization",
    "cookie",
    "set_cookie",
    "token",
    "secret",
    "password",
    "apikey",
    "private_key",
];

/// Endings of keys whose value is a secret.
const SECRET_ENDINGS: [&str; 4] = ["api_key", "_token", "_secret", "_password"];

/// Replaces the secrets of a line: by name, by value and by pattern.
pub(crate) fn redact(redactor: &Redactor, value: &mut Value) {
    redact_names(value);
    redactor.value(value);
}

fn redact_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(redact_names),
        Value::Object(fields) => {
            for (key, field) in fields {
                match (is_secret(key), SECRET_OBJECTS.contains(&key.as_str())) {
                    (true, _) if field.is_string() => *field = REDACTED.into(),
                    (_, true) => mask_values(field),
                    (_, false) => redact_names(field),
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    let ends = |ending: &&str| key.ends_with(*ending);
    SECRET_KEYS.contains(&key.as_str()) || SECRET_ENDINGS.iter().any(ends)
}

fn mask_values(value: &mut Value) {
    let Value::Object(fields) = value else {
        return redact_names(value);
    };
    for field in fields.values_mut() {
        match field {
            Value::String(text) => REDACTED.clone_into(text),
            other => redact_names(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_and_the_rest_is_kept() {
        let table = [
            (json!({"x-api-key": "abc"}), json!({"x-api-key": REDACTED})),
            (
                json!({"Authorization": "Bearer x"}),
                json!({"Authorization": REDACTED}),
            ),
            (
                json!({"access_token": "t"}),
                json!({"access_token": REDACTED}),
            ),
            (
                json!({"env": {"PATH": "/bin"}}),
                json!({"env": {"PATH": REDACTED}}),
            ),
            (json!({"env": []}), json!({"env": []})),
            (
                json!({"servers": {"s": {"headers": {"a": "b"}}}}),
                json!({"servers": {"s": {"headers": {"a": REDACTED}}}}),
            ),
            (
                json!("key sk-ant-api03-0123456789 end"),
                json!("key [redacted] end"),
            ),
            (json!("Bearer abcdefgh12345678"), json!("[redacted]")),
            (json!("a Bearer of news"), json!("a Bearer of news")),
            (json!({"input_tokens": 3}), json!({"input_tokens": 3})),
            (
                json!({"apiKeySource": "none"}),
                json!({"apiKeySource": "none"}),
            ),
            (
                json!({"tokenSource": "none"}),
                json!({"tokenSource": "none"}),
            ),
        ];
        for (mut line, expected) in table {
            redact(&Redactor::default(), &mut line);
            assert_eq!(line, expected);
        }
    }
}
