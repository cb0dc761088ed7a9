//! A short name for exactly what was shown.

use falconer_event::PermissionRequested;
use serde_json::Value;

/// Fields of a request that name it or say when it ends, not what it asks for.
const BESIDE: [&str; 4] = ["id", "tool_use_id", "digest", "expires_at"];

/// Names everything that is shown of a permission; an answer has to repeat it.
///
/// A field that is added to the request is covered without a change here.
pub(crate) fn of_permission(asked: &PermissionRequested) -> String {
    let mut shown = serde_json::to_value(asked).unwrap_or_default();
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|name, _| !BESIDE.contains(&name.as_str()));
    }
    of("permission", &shown)
}

/// Names what kind of thing is shown, and the thing. The order of keys does not matter.
pub(crate) fn of(kind: &str, shown: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(kind.len() as u64).to_le_bytes());
    hasher.update(kind.as_bytes());
    hasher.update(sorted(shown).to_string().as_bytes());
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
    fn the_digest_names_kind_and_form_whatever_the_order() {
        let digest = of("Bash", &json!({"a": 1, "b": [{"c": 1, "d": 2}]}));
        assert_eq!(
            digest,
            of("Bash", &json!({"b": [{"d": 2, "c": 1}], "a": 1}))
        );
        for other in [json!({"a": 2}), json!({}), json!(null), json!("x")] {
            assert_ne!(digest, of("Bash", &other));
        }
        assert_ne!(of("Ba", &json!("sh")), of("Bash", &json!("")));
        assert_eq!(digest.len(), 32);
    }

    fn asked() -> PermissionRequested {
        let mut asked = PermissionRequested::new("1", "Bash", json!({"command": "make"}), "");
        asked.cwd = Some("/a".to_owned());
        asked
    }

    #[test]
    fn whatever_is_shown_or_decides_changes_the_digest() {
        let digest = of_permission(&asked());
        type Change = fn(&mut PermissionRequested);
        let changes: [(&str, Change); 9] = [
            ("tool", |asked| asked.tool = "Other".to_owned()),
            ("input", |asked| asked.input = json!({"command": "make x"})),
            ("cwd", |asked| asked.cwd = Some("/b".to_owned())),
            ("reason", |asked| asked.reason = Some("r".to_owned())),
            ("suggestions", |asked| asked.suggestions = vec![json!({})]),
            ("agent", |asked| asked.agent = Some("a".to_owned())),
            ("title", |asked| asked.title = Some("t".to_owned())),
            ("description", |asked| {
                asked.description = Some("d".to_owned());
            }),
            ("blocked_path", |asked| {
                asked.blocked_path = Some("p".to_owned());
            }),
        ];
        for (name, change) in changes {
            let mut other = asked();
            change(&mut other);
            assert_ne!(of_permission(&other), digest, "{name}");
        }
    }

    #[test]
    fn the_same_request_asked_again_has_the_same_digest() {
        let mut again = asked();
        again.id = "2".to_owned();
        again.tool_use_id = "toolu_2".to_owned();
        again.expires_at = Some("2026-01-01T00:00:00.000Z".to_owned());
        again.digest = "anything".to_owned();
        assert_eq!(of_permission(&again), of_permission(&asked()));
    }
}
