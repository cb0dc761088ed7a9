//! Whether a call may run by rules and mode; where they have no answer, somebody is asked.

use falconer_protocol::Object;
use falconer_protocol::hook::HookPermissionDecision;

use super::call::{Context, Wanted};
use super::consult;
use crate::frame::system;
use crate::frame::user::{Decision, ResultMeta};
use crate::hook;
use crate::permission::{Because, HookDecision, Question, RuleSource, Verdict};
use crate::session::config::PermissionPrompt;
use crate::tool::{Target, Tool};

/// What may happen to a call.
#[derive(Debug)]
pub(crate) enum Permit {
    Granted {
        /// Instead of the model's input.
        input: Option<Object>,
        decision: Decision,
    },
    /// The host changed the input into something the tool does not take.
    Misused(String),
    Denied {
        text: String,
        meta: ResultMeta,
    },
    Interrupted {
        /// It goes into `permission_denials`.
        counted: bool,
    },
}

/// Decides about a call.
pub(crate) async fn decide(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    hook: Option<hook::Decision>,
) -> Permit {
    let core = &context.core;
    let target = tool.target(&wanted.input, &core.workbench);
    // A hook that allowed the call is told of the denial by its result only, as the CLI does.
    let telling = match hook.as_ref().map(|hook| &hook.decision) {
        Some(HookPermissionDecision::Allow) => Telling::Quiet,
        Some(HookPermissionDecision::Ask) => Telling::UnlessByRule,
        _ => Telling::Aloud,
    };
    let verdict = {
        let cwd = core.workbench.cwd();
        let question = Question {
            tool: &wanted.name,
            target: &target,
            input: &wanted.input,
            read_only: tool.is_read_only(&wanted.input),
            hook: hook.map(|it| HookDecision {
                decision: it.decision,
                reason: it.reason,
            }),
            host_can_ask: core.can_ask(),
            cwd: &cwd,
        };
        core.permissions().judge(&question)
    };
    match verdict {
        Verdict::Allow { reason } => Permit::Granted {
            input: None,
            decision: accepted(&reason),
        },
        Verdict::Deny {
            message,
            reason_type,
            reason,
        } => {
            let denial = Denial {
                text: message,
                reason_type: reason_type.map(|it| it.as_str().to_owned()),
                reason,
                telling,
            };
            refuse(context, wanted, &target, denial).await
        }
        Verdict::Ask(ask) => consult::ask(context, tool, wanted, &target, *ask).await,
    }
}

/// Whether what a call is about to change may be read without asking.
pub(crate) fn may_look(context: &Context, target: &Target) -> bool {
    let (Target::Read(path) | Target::Write(path)) = target else {
        return false;
    };
    let core = &context.core;
    let cwd = core.workbench.cwd();
    let question = Question {
        tool: "Read",
        target: &Target::Read(path.clone()),
        input: &Object::new(),
        read_only: true,
        hook: None,
        host_can_ask: true,
        cwd: &cwd,
    };
    matches!(core.permissions().judge(&question), Verdict::Allow { .. })
}

/// How an allowed call is explained on the wire.
fn accepted(because: &Because) -> Decision {
    let (source, reason_type) = match because {
        Because::Hook(_) => ("hook", Some("hook")),
        Because::Rule {
            source: RuleSource::Session,
            ..
        } => ("user_temporary", Some("rule")),
        Because::Rule {
            source: RuleSource::User | RuleSource::Local,
            ..
        } => ("user_permanent", Some("rule")),
        Because::Rule { .. } => ("config", Some("rule")),
        Because::EveryPart(_) | Because::ReadOnlyCommand => ("config", Some("subcommandResults")),
        Because::Mode(_) | Because::ReadInside => ("config", Some("mode")),
        _ => ("config", None),
    };
    Decision {
        accepted: true,
        source,
        reason_type: reason_type.map(str::to_owned),
    }
}

/// A denial without a question.
#[derive(Debug)]
struct Denial {
    text: String,
    reason_type: Option<String>,
    reason: Because,
    telling: Telling,
}

/// Whether the host hears of a denial by a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Aloud,
    /// A hook wanted somebody asked; a rule made that needless.
    UnlessByRule,
    Quiet,
}

impl Telling {
    fn is_aloud(self, reason: &Because) -> bool {
        match self {
            Self::Aloud => true,
            Self::UnlessByRule => {
                !matches!(reason, Because::Rule { .. } | Because::PartForbidden { .. })
            }
            Self::Quiet => false,
        }
    }
}

/// Denies a call. Where nobody could be asked, the host hears of it.
async fn refuse(context: &Context, wanted: &Wanted, target: &Target, denial: Denial) -> Permit {
    let Denial {
        text,
        reason_type,
        reason,
        telling,
    } = denial;
    let core = &context.core;
    let unwatched = core.options.permission_prompt == PermissionPrompt::Off;
    let by_rule = matches!(
        reason,
        Because::Rule { .. } | Because::PartForbidden { .. } | Because::Mode(_) | Because::Hook(_)
    );
    let (by_rule, reason_type) = match unwatched && !by_rule {
        true => (true, Some("asyncAgent".to_owned())),
        false => (by_rule, reason_type),
    };
    let said = match &reason {
        Because::Hook(Some(words)) => Some(words.clone()),
        _ => by_rule.then(|| reason.to_string()),
    };
    let frame = system::permission_denied(
        &wanted.name,
        &wanted.id,
        &text,
        reason_type.as_deref().filter(|_| by_rule),
        said.as_deref(),
    );
    // A file that a rule closes is to the CLI an input that does not fit, not a decision worth
    // telling.
    let is_hidden = matches!(
        (target, &reason),
        (Target::Read(_) | Target::Write(_), Because::Rule { .. })
    );
    if telling.is_aloud(&reason) && !is_hidden {
        core.speaker.say(frame).await;
    }
    let kind = if by_rule {
        "permission-rule"
    } else {
        "user-rejected"
    };
    let meta = ResultMeta {
        non_execution: (!is_hidden).then_some(kind),
        decision: Some(Decision {
            accepted: false,
            source: match reason.source() {
                Some(RuleSource::User | RuleSource::Local) => "user_reject",
                _ => "config",
            },
            reason_type: reason_type.filter(|_| by_rule),
        }),
    };
    Permit::Denied { text, meta }
}
