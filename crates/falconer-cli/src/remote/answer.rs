//! Requests of a server as questions, and verdicts as it reads them.

use falconer_event::{PermissionRequested, QuestionKind, QuestionRequested};
use falconer_session::Verdict;
use serde_json::{Value, json};

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
    match verdict {
        Verdict::Allow => json!({"type": "allow"}),
        Verdict::AllowEdited(input) => json!({"type": "allow_edited", "input": input}),
        Verdict::AllowAlways(number) => match suggestions.get(*number).and_then(rule) {
            Some(rule) => json!({"type": "allow_always", "rule": rule}),
            // A rule that cannot be written down is not made; this once is what is left.
            None => json!({"type": "allow"}),
        },
        Verdict::DenyAndStop(message) => json!({"type": "deny_and_stop", "message": message}),
        Verdict::Choices(answers) => json!({"type": "choices", "answers": answers}),
        Verdict::ApprovePlan(mode) => {
            let mode = mode.as_ref().map(|mode| mode.as_str().to_owned());
            json!({"type": "approve_plan", "mode": mode})
        }
        Verdict::Form(fields) => json!({"type": "form", "fields": fields}),
        Verdict::Deny(message) => json!({"type": "deny", "message": message}),
        // What cannot be said is a no.
        _ => json!({"type": "deny", "message": "the answer could not be sent"}),
    }
}

/// The rule of a suggestion, as the server keeps rules.
fn rule(suggestion: &Value) -> Option<Value> {
    let rules = suggestion["rules"].as_array()?;
    let [one] = rules.as_slice() else { return None };
    let tool = one["toolName"].as_str()?;
    let text = match one["ruleContent"].as_str() {
        Some(content) => format!("{tool}({content})"),
        None => tool.to_owned(),
    };
    let scope = match suggestion["destination"].as_str() {
        Some("userSettings") => "user",
        Some("projectSettings" | "localSettings") => "project",
        _ => "session",
    };
    Some(json!({"text": text, "scope": scope}))
}

#[cfg(test)]
mod tests {
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
