//! Questions and answers in the words of the Claude protocol.

use std::collections::BTreeMap;

use falconer::protocol::control::{CanUseTool, Elicitation};
use falconer::protocol::permission::{
    DecisionReasonType, PermissionDestination, PermissionUpdate, SetMode,
};
use falconer::protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use falconer::{Decision, ElicitationAnswer};
use falconer_event::QuestionKind;
use serde_json::json;

use crate::answer::Verdict;
use crate::engine::{Ask, Reply};

/// What the engine asks about a tool. Questions to the user and plans come as tools.
pub(super) fn of_tool(asked: &CanUseTool) -> Ask {
    let suggestions = asked.permission_suggestions.iter().flatten();
    Ask {
        kind: match asked.tool_name.as_str() {
            ASK_USER_QUESTION => Some(QuestionKind::Choice),
            EXIT_PLAN_MODE => Some(QuestionKind::Plan),
            _ => None,
        },
        tool: asked.tool_name.clone(),
        input: asked.input.clone(),
        call: asked.tool_use_id.as_ref().map(|id| id.as_str().to_owned()),
        agent: asked.agent_id.as_ref().map(|id| id.as_str().to_owned()),
        reason: asked.decision_reason.clone(),
        title: asked.title.clone(),
        description: asked.description.clone(),
        blocked_path: asked.blocked_path.clone(),
        suggestions: suggestions
            .filter_map(|rule| serde_json::to_value(rule).ok())
            .collect(),
        needs_person: needs_person(asked),
    }
}

/// What an MCP server asks.
pub(super) fn of_form(asked: &Elicitation) -> Ask {
    Ask {
        kind: Some(QuestionKind::Elicitation),
        tool: "elicitation".to_owned(),
        input: serde_json::to_value(asked).unwrap_or_default(),
        ..Ask::default()
    }
}

/// Returns `true` if no rule may allow a call: a check, a hook, a mode or a rule wants a person
/// asked. A reason that is not known is one of these.
fn needs_person(ask: &CanUseTool) -> bool {
    let by_default = matches!(
        ask.decision_reason_type,
        None | Some(
            DecisionReasonType::Unclassified
                | DecisionReasonType::SubcommandResults
                | DecisionReasonType::WorkingDir
                | DecisionReasonType::AsyncAgent
        )
    );
    let is_marked = ask.suppress_always_allow_rule == Some(true)
        || ask.requires_user_interaction == Some(true)
        || ask.matched_ask_rule.is_some();
    !by_default || is_marked
}

/// The answer to a question about a tool.
pub(super) fn decision(asked: &CanUseTool, reply: Reply) -> Decision {
    let verdict = match reply {
        Reply::Decided(verdict) => verdict,
        Reply::Undecided(reason) => return Decision::deny(reason),
    };
    match verdict {
        Verdict::Allow | Verdict::ApprovePlan(None) => Decision::allow(),
        Verdict::AllowEdited(input) => Decision::allow_with_input(input),
        Verdict::AllowAlways(number) => {
            let suggested = asked.permission_suggestions.as_ref();
            let rule = suggested.and_then(|all| all.get(number));
            rule.map_or_else(Decision::allow, |rule| Decision::allow_always(rule.clone()))
        }
        Verdict::ApprovePlan(Some(mode)) => {
            Decision::allow_always(PermissionUpdate::SetMode(SetMode {
                mode,
                destination: PermissionDestination::Session,
                ..SetMode::default()
            }))
        }
        Verdict::Choices(choices) => {
            let joined: BTreeMap<_, _> = choices
                .into_iter()
                .map(|(question, chosen)| (question, chosen.join(", ")))
                .collect();
            let mut input = asked.input.clone();
            match input.as_object_mut() {
                Some(fields) => drop(fields.insert("answers".to_owned(), json!(joined))),
                None => return Decision::deny("the question could not be read"),
            }
            Decision::allow_with_input(input)
        }
        Verdict::Deny(reason) => Decision::deny(reason),
        Verdict::DenyAndStop(reason) => Decision::deny_and_stop(reason),
        // The session lets no such answer through; on the safe side all the same.
        Verdict::Form(_) => Decision::deny("a form is no answer to a tool call"),
    }
}

/// The answer to a form.
pub(super) fn form(reply: Reply) -> ElicitationAnswer {
    match reply {
        Reply::Decided(Verdict::Form(fields)) => ElicitationAnswer::Accept(fields),
        Reply::Decided(_) => ElicitationAnswer::Decline,
        Reply::Undecided(_) => ElicitationAnswer::Cancel,
    }
}
