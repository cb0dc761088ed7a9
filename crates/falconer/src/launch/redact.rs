//! Masking secrets in what is shown: by name, by form, and by known value.

mod text;

use serde_json::Value;

pub(crate) use falconer_secret::is_secret_name;
pub(crate) use text::masked_text;

/// Placeholder for a secret.
pub(crate) const MASK: &str = "***";

/// Shorter values are not searched for: they would match by accident.
const SHORTEST_KNOWN_VALUE: usize = 8;

/// The value of a variable or argument, masked if its name or form says so.
pub(crate) fn masked_variable(name: &str, value: &str) -> String {
    if value.is_empty() || !is_secret_name(name) || is_plain_count(name, value) {
        return masked_text(value);
    }
    MASK.to_owned()
}

/// Variables such as `MAX_THINKING_TOKENS` count tokens and carry none.
fn is_plain_count(name: &str, value: &str) -> bool {
    name.to_ascii_uppercase().ends_with("TOKENS") && value.bytes().all(|b| b.is_ascii_digit())
}

/// JSON with secrets masked wherever a key or the form of a text gives them away.
pub(crate) fn masked_json(json: &Value) -> Value {
    match json {
        Value::String(text) => Value::String(masked_text(text)),
        Value::Array(items) => Value::Array(masked_items(items)),
        Value::Object(map) => {
            let masked = map
                .iter()
                .map(|(key, value)| (key.clone(), masked_entry(key, value)));
            Value::Object(masked.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => json.clone(),
    }
}

fn masked_entry(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked_variable(key, text)),
        Value::Number(number) if is_secret_name(key) => {
            Value::String(masked_variable(key, &number.to_string()))
        }
        Value::Object(map) if key.eq_ignore_ascii_case("headers") => {
            let masked = map.keys().map(|name| (name.clone(), Value::from(MASK)));
            Value::Object(masked.collect())
        }
        Value::Array(items) if is_secret_name(key) => {
            let masked = items.iter().map(|item| match item {
                Value::String(_) | Value::Number(_) => Value::from(MASK),
                other => masked_json(other),
            });
            Value::Array(masked.collect())
        }
        other => masked_json(other),
    }
}

/// A list may be a command line: `--api-key X` and `--api-key=X` are masked.
fn masked_items(items: &[Value]) -> Vec<Value> {
    let mut after_secret_flag = false;
    let mut masked = Vec::with_capacity(items.len());
    for item in items {
        let Value::String(text) = item else {
            after_secret_flag = false;
            masked.push(masked_json(item));
            continue;
        };
        let is_flag = text.starts_with('-');
        masked.push(Value::String(if after_secret_flag && !is_flag {
            MASK.to_owned()
        } else {
            masked_argument(text)
        }));
        after_secret_flag = is_flag && !text.contains('=') && is_secret_name(text);
    }
    masked
}

/// One argument of a command line.
pub(crate) fn masked_argument(argument: &str) -> String {
    match argument.split_once('=') {
        Some((name, value)) if name.starts_with('-') => match serde_json::from_str(value) {
            Ok(json @ (Value::Object(_) | Value::Array(_))) => {
                format!("{name}={}", masked_json(&json))
            }
            _ => format!("{name}={}", masked_variable(name, value)),
        },
        _ => masked_text(argument),
    }
}

/// Secrets known by value, masked wherever they stand.
#[derive(Clone, Default)]
pub(crate) struct KnownSecrets {
    values: Vec<String>,
}

impl KnownSecrets {
    /// Learns the values of variables whose name gives them away, longest first.
    pub(crate) fn of<'a>(variables: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let secret = variables.filter(|(name, value)| {
            value.len() >= SHORTEST_KNOWN_VALUE
                && is_secret_name(name)
                && !is_plain_count(name, value)
        });
        let mut values: Vec<String> = secret.map(|(_, value)| value.to_owned()).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    /// The text without them.
    pub(crate) fn masked(&self, text: String) -> String {
        let present = self.values.iter().filter(|value| text.contains(*value));
        let present: Vec<_> = present.collect();
        present
            .into_iter()
            .fold(text, |text, value| text.replace(value, MASK))
    }
}

#[cfg(test)]
mod tests;
