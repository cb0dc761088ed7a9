//! Takes secrets out of a line before it is written to a cassette.

use serde_json::Value;

/// What stands where a secret was.
const MASK: &str = "[redacted]";

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

/// Beginnings of words that are secrets wherever they stand.
const SECRET_WORDS: [&str; 5] = ["sk-ant-", "sk-proj-", "ghp_", "github_pat_", "xoxb-"];

/// Replaces the secrets of a line.
pub(super) fn redact(value: &mut Value) {
    match value {
        Value::String(text) => redact_text(text),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => {
            for (key, field) in fields {
                match (is_secret(key), SECRET_OBJECTS.contains(&key.as_str())) {
                    (true, _) if field.is_string() => *field = MASK.into(),
                    (_, true) => mask_values(field),
                    (_, false) => redact(field),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    let ends = |ending: &&str| key.ends_with(*ending);
    SECRET_KEYS.contains(&key.as_str()) || SECRET_ENDINGS.iter().any(ends)
}

fn mask_values(value: &mut Value) {
    let Value::Object(fields) = value else {
        return redact(value);
    };
    for field in fields.values_mut() {
        match field {
            Value::String(text) => MASK.clone_into(text),
            other => redact(other),
        }
    }
}

/// Replaces the words of a text that look like keys, and what follows `Bearer`.
pub(super) fn redact_text(text: &mut String) {
    for start in SECRET_WORDS.iter().chain(&["Bearer "]) {
        let mut from = 0;
        while let Some(found) = text[from..].find(start) {
            let begin = from + found + start.len();
            let word = text[begin..].find(|c: char| !is_word(c));
            let end = word.map_or(text.len(), |length| begin + length);
            from = begin;
            // A short word is speech about keys, not a key.
            if end - begin >= 8 {
                text.replace_range(begin..end, MASK);
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_and_the_rest_is_kept() {
        let table = [
            (json!({"x-api-key": "abc"}), json!({"x-api-key": MASK})),
            (
                json!({"Authorization": "Bearer x"}),
                json!({"Authorization": MASK}),
            ),
            (json!({"access_token": "t"}), json!({"access_token": MASK})),
            (
                json!({"env": {"PATH": "/bin"}}),
                json!({"env": {"PATH": MASK}}),
            ),
            (json!({"env": []}), json!({"env": []})),
            (
                json!({"servers": {"s": {"headers": {"a": "b"}}}}),
                json!({"servers": {"s": {"headers": {"a": MASK}}}}),
            ),
            (
                json!("key sk-ant-api03-0123456789 end"),
                json!("key sk-ant-[redacted] end"),
            ),
            (json!("Bearer abcdefgh12345678"), json!("Bearer [redacted]")),
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
            redact(&mut line);
            assert_eq!(line, expected);
        }
    }
}
