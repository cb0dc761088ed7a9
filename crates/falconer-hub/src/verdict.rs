//! Answers as people and programs give them, and as they are kept.

use std::collections::BTreeMap;

use falconer_event::Shown;
use falconer_store::{DecisionRecord, RequestKind, RequestRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;

/// What is answered to a permission or a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// A permission: do it.
    Allow,
    /// A permission: do this instead.
    AllowEdited {
        /// The input to use.
        input: Value,
    },
    /// A permission: do it, and whatever this rule allows from now on.
    AllowAlways {
        /// The rule.
        rule: NewRule,
    },
    /// A permission, or a question that is not to be answered: no, for this reason.
    Deny {
        /// The reason; the agent reads it.
        message: String,
    },
    /// A permission: no, and end the turn.
    DenyAndStop {
        /// The reason; the agent reads it.
        message: String,
    },
    /// Questions: the choices or free texts, by question.
    Choices {
        /// By question.
        answers: BTreeMap<String, Vec<String>>,
    },
    /// A plan: go on, in another mode if one is named.
    ApprovePlan {
        /// `default` or `acceptEdits`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
    },
    /// A form of an MCP server: its fields.
    Form {
        /// The fields.
        fields: Map<String, Value>,
    },
}

/// The person or program that answers, and what it saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answerer<'a> {
    pub(crate) name: &'a str,
    pub(crate) shown: Shown,
}

impl<'a> Answerer<'a> {
    /// Somebody with this name, to whom the request was shown like this.
    pub fn new(name: &'a str, shown: Shown) -> Self {
        Self { name, shown }
    }
}

impl<'a> From<&'a str> for Answerer<'a> {
    fn from(name: &'a str) -> Self {
        Self::new(name, Shown::Api)
    }
}

impl<'a> From<&'a String> for Answerer<'a> {
    fn from(name: &'a String) -> Self {
        Self::new(name, Shown::Api)
    }
}

/// A rule that comes with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewRule {
    /// `Bash(git status:*)`, for instance.
    pub text: String,
    /// More rules of the same kind: a compound command may need one for each part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<String>,
    /// Where it holds.
    pub scope: RuleReach,
}

impl NewRule {
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.text)
            .chain(&self.and)
            .map(String::as_str)
    }
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleReach {
    /// In this session.
    Session,
    /// In every session that works in this directory.
    Project,
    /// In every session.
    User,
}

impl Verdict {
    /// What somebody at a terminal said, with the suggestions he could choose from.
    pub fn of_session(verdict: &falconer_session::Verdict, suggestions: &[Value]) -> Self {
        use falconer_session::Verdict as Live;
        match verdict.clone() {
            Live::Allow => Self::Allow,
            Live::AllowEdited(input) => Self::AllowEdited { input },
            Live::AllowAlways(number) => match suggestions.get(number).and_then(suggested) {
                Some(rule) => Self::AllowAlways { rule },
                // A rule that cannot be written down is not made; this once is what is left.
                None => Self::Allow,
            },
            Live::Deny(message) => Self::Deny { message },
            Live::DenyAndStop(message) => Self::DenyAndStop { message },
            Live::Choices(answers) => Self::Choices { answers },
            Live::ApprovePlan(mode) => Self::ApprovePlan {
                mode: mode.map(|mode| mode.as_str().to_owned()),
            },
            Live::Form(fields) => Self::Form { fields },
            // What cannot be said is a no.
            _ => Self::Deny {
                message: "the answer could not be sent".to_owned(),
            },
        }
    }

    /// As the live session understands it.
    pub(crate) fn for_session(&self) -> Result<falconer_session::Verdict, String> {
        use falconer_session::Verdict as Live;
        Ok(match self.clone() {
            Self::Allow | Self::AllowAlways { .. } => Live::Allow,
            Self::AllowEdited { input } => Live::AllowEdited(input),
            Self::Deny { message } => Live::Deny(reason(message)),
            Self::DenyAndStop { message } => Live::DenyAndStop(reason(message)),
            Self::Choices { answers } => Live::Choices(answers),
            Self::ApprovePlan { mode: None } => Live::ApprovePlan(None),
            Self::ApprovePlan { mode: Some(mode) } => match mode.as_str() {
                "default" | "acceptEdits" => Live::ApprovePlan(Some(mode.into())),
                _ => {
                    return Err(format!(
                        "a plan is approved in mode `default` or `acceptEdits`, not `{mode}`"
                    ));
                }
            },
            Self::Form { fields } => Live::Form(fields),
        })
    }

    /// Whether it can be an answer to such a request.
    pub(crate) fn fits(&self, kind: RequestKind) -> bool {
        match self {
            Self::Allow
            | Self::AllowEdited { .. }
            | Self::AllowAlways { .. }
            | Self::DenyAndStop { .. } => kind == RequestKind::Permission,
            Self::Deny { .. } => true,
            Self::Choices { .. } => kind == RequestKind::Choice,
            Self::ApprovePlan { .. } => kind == RequestKind::Plan,
            Self::Form { .. } => kind == RequestKind::Elicitation,
        }
    }

    /// Whether it lets the agent do nothing.
    pub(crate) fn is_denial(&self) -> bool {
        matches!(self, Self::Deny { .. } | Self::DenyAndStop { .. })
    }

    /// The answer as it is kept.
    pub(crate) fn decision(&self, by: &str) -> DecisionRecord {
        let verdict = serde_json::to_value(self).unwrap_or(Value::Null);
        let mut decision = DecisionRecord::new(verdict, by);
        match self {
            Self::AllowEdited { input } => decision.edited = Some(input.clone()),
            Self::AllowAlways { rule } => decision.rule = Some(rule.text.clone()),
            Self::Deny { message } | Self::DenyAndStop { message } => {
                decision.message = Some(message.clone());
            }
            Self::Allow | Self::Choices { .. } | Self::ApprovePlan { .. } | Self::Form { .. } => {}
        }
        decision
    }
}

/// Refuses to approve what nobody can have seen.
pub(crate) fn check_shown(
    request: &RequestRecord,
    verdict: &Verdict,
    shown: Option<Shown>,
) -> Result<(), Error> {
    if verdict.is_denial() {
        return Ok(());
    }
    let id = &request.id;
    if shown == Some(Shown::Part) {
        let text = format!("request {id} was shown in part, so it can only be denied");
        return Err(Error::WrongAnswer(text));
    }
    let plan = request.input["plan"].as_str().unwrap_or_default();
    if request.kind == RequestKind::Plan && plan.trim().is_empty() {
        let text = format!("request {id} shows no plan, so it can only be denied");
        return Err(Error::WrongAnswer(text));
    }
    Ok(())
}

/// The rule of an engine's suggestion.
fn suggested(suggestion: &Value) -> Option<NewRule> {
    let [one] = suggestion["rules"].as_array()?.as_slice() else {
        return None;
    };
    let tool = one["toolName"].as_str()?;
    Some(NewRule {
        text: match one["ruleContent"].as_str() {
            Some(content) => format!("{tool}({content})"),
            None => tool.to_owned(),
        },
        and: Vec::new(),
        scope: match suggestion["destination"].as_str() {
            Some("userSettings") => RuleReach::User,
            Some("projectSettings" | "localSettings") => RuleReach::Project,
            _ => RuleReach::Session,
        },
    })
}

/// The protocol wants a reason.
fn reason(message: String) -> String {
    if message.trim().is_empty() {
        "the user said no".to_owned()
    } else {
        message
    }
}
