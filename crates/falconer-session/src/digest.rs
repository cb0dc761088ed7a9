//! A short name for exactly what was shown.

use serde_json::Value;

/// Names a tool and its input; an answer has to repeat it.
///
/// The order of keys does not matter.
pub fn input_digest(tool: &str, input: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(tool.len() as u64).to_le_bytes());
    hasher.update(tool.as_bytes());
    hasher.update(sorted(input).to_string().as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            entries
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_digest_names_tool_and_input_whatever_the_order() {
        let digest = input_digest("Bash", &json!({"a": 1, "b": [{"c": 1, "d": 2}]}));
        assert_eq!(
            digest,
            input_digest("Bash", &json!({"b": [{"d": 2, "c": 1}], "a": 1}))
        );
        for other in [json!({"a": 2}), json!({}), json!(null), json!("x")] {
            assert_ne!(digest, input_digest("Bash", &other));
        }
        assert_ne!(
            input_digest("Ba", &json!("sh")),
            input_digest("Bash", &json!(""))
        );
        assert_eq!(digest.len(), 32);
    }
}
