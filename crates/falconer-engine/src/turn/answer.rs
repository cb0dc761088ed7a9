//! What the host's answer to `can_use_tool` means. Unknown shapes deny.

use falconer_protocol::Object;
use falconer_protocol::permission::PermissionUpdate;
use serde_json::Value;

use crate::host::HostError;

/// How many updates, rules and directories an answer may carry.
pub(crate) const MAX_UPDATES: usize = 4096;

const INVALID: &str = "The canUseTool callback returned an invalid permission result. Expected \
     {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}. \
     updatedPermissions may hold at most 4096 updates, rules and directories in all.";

/// A decision of the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HostDecision {
    Allow {
        /// Replaces the whole input.
        input: Option<Object>,
        updates: Vec<PermissionUpdate>,
    },
    /// The model reads the message and goes on.
    Deny(String),
    /// The turn ends; the message is lost.
    DenyAndInterrupt,
    /// No usable answer; denied with this text.
    Failed(String),
}

/// Reads an answer.
pub(crate) fn read(answer: Result<Value, HostError>) -> HostDecision {
    match answer {
        Ok(value) => read_value(&value),
        Err(HostError::Refused(text)) => {
            HostDecision::Failed(format!("Tool permission request failed: Error: {text}"))
        }
        Err(_) => HostDecision::Failed(
            "Tool permission request failed: AbortError: Tool permission stream closed before \
             response received"
                .to_owned(),
        ),
    }
}

fn read_value(value: &Value) -> HostDecision {
    let invalid = || HostDecision::Failed(INVALID.to_owned());
    match value.get("behavior").and_then(Value::as_str) {
        Some("allow") => read_allow(value).unwrap_or_else(invalid),
        Some("deny") => match value.get("message").and_then(Value::as_str) {
            Some(_) if value.get("interrupt") == Some(&Value::Bool(true)) => {
                HostDecision::DenyAndInterrupt
            }
            Some(message) => HostDecision::Deny(message.to_owned()),
            None => invalid(),
        },
        _ => invalid(),
    }
}

fn read_allow(value: &Value) -> Option<HostDecision> {
    let input = match value.get("updatedInput") {
        None => None,
        Some(Value::Object(map)) if map.is_empty() => None,
        Some(object @ Value::Object(_)) => {
            Some(falconer_protocol::from_value(object.clone()).ok()?)
        }
        Some(_) => return None,
    };
    let updates = match value.get("updatedPermissions") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(updates)) => read_updates(updates)?,
        Some(_) => return None,
    };
    Some(HostDecision::Allow { input, updates })
}

/// If one is of a kind we do not know none is made; too many make the answer invalid.
fn read_updates(updates: &[Value]) -> Option<Vec<PermissionUpdate>> {
    let size = |update: &Value| {
        let list = |name: &str| {
            update
                .get(name)
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
        };
        1 + list("rules") + list("directories")
    };
    if updates.iter().map(size).sum::<usize>() > MAX_UPDATES {
        return None;
    }
    let known = updates.iter().map(|update| {
        let update = falconer_protocol::from_value::<PermissionUpdate>(update.clone()).ok()?;
        (!matches!(update, PermissionUpdate::Unknown(_))).then_some(update)
    });
    Some(known.collect::<Option<_>>().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allow(input: Option<Value>) -> HostDecision {
        HostDecision::Allow {
            input: input.map(|it| falconer_protocol::from_value(it).unwrap()),
            updates: Vec::new(),
        }
    }

    #[test]
    fn every_answer_has_one_meaning() {
        let invalid = || HostDecision::Failed(INVALID.to_owned());
        let deny = |text: &str| HostDecision::Deny(text.to_owned());
        let table = [
            (json!({"behavior": "allow"}), allow(None)),
            (
                json!({"behavior": "allow", "updatedInput": {}}),
                allow(None),
            ),
            (
                json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
                allow(Some(json!({"command": "ls"}))),
            ),
            (
                json!({"behavior": "allow", "updatedInput": null}),
                invalid(),
            ),
            (
                json!({"behavior": "allow", "updatedInput": "ls"}),
                invalid(),
            ),
            (
                json!({"behavior": "allow", "updatedPermissions": [{"type": "brandNew"}]}),
                allow(None),
            ),
            (json!({"behavior": "deny", "message": "no"}), deny("no")),
            (json!({"behavior": "deny"}), invalid()),
            (
                json!({"behavior": "deny", "message": "no", "interrupt": true}),
                HostDecision::DenyAndInterrupt,
            ),
            (
                json!({"behavior": "deny", "message": "no", "interrupt": false}),
                deny("no"),
            ),
            (json!({"behaviour": "yes"}), invalid()),
            (json!("allow"), invalid()),
            (json!(null), invalid()),
        ];
        for (answer, expected) in table {
            assert_eq!(read(Ok(answer.clone())), expected, "{answer}");
        }
    }

    #[test]
    fn too_many_updates_make_an_answer_invalid() {
        let rules: Vec<Value> = (0..MAX_UPDATES)
            .map(|_| json!({"toolName": "Bash"}))
            .collect();
        let update = json!({"type": "addRules", "rules": rules, "behavior": "allow",
            "destination": "session"});
        let answer = json!({"behavior": "allow", "updatedPermissions": [update]});
        assert_eq!(read(Ok(answer)), HostDecision::Failed(INVALID.to_owned()));
    }

    #[test]
    fn no_answer_denies() {
        let HostDecision::Failed(text) = read(Err(HostError::Closed)) else {
            panic!("a closed lane must deny");
        };
        assert!(text.contains("AbortError"), "{text}");
        let refused = read(Err(HostError::Refused("callback blew up".to_owned())));
        let text = "Tool permission request failed: Error: callback blew up";
        assert_eq!(refused, HostDecision::Failed(text.to_owned()));
    }
}
