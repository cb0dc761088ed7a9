//! Requests of a server as questions, and verdicts as it reads them.

use falconer_event::{PermissionRequested, QuestionKind, QuestionRequested};
use falconer_session::Verdict;
use serde_json::Value;

use crate::ask::Open;

/// A request as the server tells it; `None` if it is of a kind nobody here can answer.
pub(crate) fn open_of(request: &Value) -> Option<Open> {
    let text = |name: &str| request[name].as_str().map(str::to_owned);
    let (id, digest) = (text("id")?, text("digest")?);
    let kind = match request["kind"].as_str()? {
        "permission" => {
            let mut asked =
                PermissionRequested::new(id, text("tool")?, request["input"].clone(), digest);
            asked.reason = text("reason");
            asked.cwd = text("cwd");
            asked.agent = text("agent");
            asked.blocked_path = text("blocked_path");
            asked.suggestions = request["suggestions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            return Some(Open::permission(&asked));
        }
        "choice" => QuestionKind::Choice,
        "plan" => QuestionKind::Plan,
        "elicitation" => QuestionKind::Elicitation,
        _ => return None,
    };
    let asked = QuestionRequested::new(id, kind, request["input"].clone(), digest);
    Some(Open::question(&asked))
}

/// A verdict, with the suggestions it may choose from.
pub(crate) fn verdict_json(verdict: &Verdict, suggestions: &[Value]) -> Value {
    let told = falconer_hub::Verdict::of_session(verdict, suggestions);
    // Writing into memory fails only for types that have no JSON, and a verdict has.
    serde_json::to_value(told).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn always_names_one_rule_and_its_scope_or_is_this_once() {
        let suggestion = |destination: &str, rules: Value| json!({"type": "addRules", "behavior": "allow", "destination": destination, "rules": rules});
        let one = json!([{"toolName": "Bash", "ruleContent": "git push:*"}]);
        let suggestions = [
            suggestion("localSettings", one),
            suggestion("session", json!([])),
        ];
        let table = [
            (
                0,
                json!({"type": "allow_always",
                "rule": {"text": "Bash(git push:*)", "scope": "project"}}),
            ),
            (1, json!({"type": "allow"})),
            (7, json!({"type": "allow"})),
        ];
        for (number, expected) in table {
            assert_eq!(
                verdict_json(&Verdict::AllowAlways(number), &suggestions),
                expected
            );
        }
    }

    #[test]
    fn requests_become_questions_of_their_kind() {
        let request = |kind: &str| {
            json!({"id": "1", "digest": "d", "kind": kind, "tool": "Bash",
            "input": {"command": "ls"}})
        };
        for kind in ["permission", "choice", "plan", "elicitation"] {
            assert!(open_of(&request(kind)).is_some(), "{kind}");
        }
        assert!(open_of(&request("riddle")).is_none());
        assert!(open_of(&json!({"kind": "permission"})).is_none());
    }
}
