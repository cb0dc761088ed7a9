//! Whether a call may run by rules and mode; where they have no answer, somebody is asked.

use std::path::{Path, PathBuf};

use falconer_protocol::Object;
use falconer_protocol::hook::HookPermissionDecision;
use falconer_protocol::message::{
    DecisionKind, DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta,
};
use falconer_protocol::permission::{DecisionReasonType, PermissionMode};
use falconer_protocol::system::PermissionDenied;
use falconer_rule::Place;

use super::call::{Context, Ready, Wanted};
use super::consult::{self, Answerer};
use crate::frame::user;
use crate::hook;
use crate::permission::{
    Because, HookDecision, Permissions, Question, RuleSource, Target, Verdict,
};
use crate::session::config::PermissionPrompt;
use crate::session::core::Core;
use crate::tool::Bounds;

/// What may happen to a call.
#[derive(Debug)]
pub(crate) enum Permit {
    Granted {
        /// The call to run instead, with another input.
        edited: Option<Box<Ready>>,
        decision: PermissionDecision,
        bounds: Bounds,
    },
    /// The host changed the input into something the tool does not take.
    Misused(String),
    Denied {
        text: String,
        meta: ToolResultMeta,
    },
    Interrupted {
        /// It goes into `permission_denials`.
        counted: bool,
    },
}

/// Decides about a call.
pub(crate) async fn decide(
    context: &Context,
    ready: &Ready,
    hook: Option<hook::Decision>,
) -> Permit {
    let core = &context.core;
    let target = ready.target(&core.workbench);
    // A hook that allowed the call is told of the denial by its result only, as the CLI does.
    let telling = match hook.as_ref().map(|hook| &hook.decision) {
        Some(HookPermissionDecision::Allow) => Telling::Quiet,
        Some(HookPermissionDecision::Ask) => Telling::UnlessByRule,
        _ => Telling::Aloud,
    };
    let hook = hook.map(|it| HookDecision {
        decision: it.decision,
        reason: it.reason,
    });
    let matter = Matter {
        hook,
        ..Matter::new(context, ready, &target)
    };
    let file = without_links(&target);
    let plan = core.workbench.plan_file.as_deref();
    let (opened, plan) = (file.clone(), plan.map(Place::destination));
    let judging = matter.judged(core.permissions().clone(), move |permissions, question| {
        judge(permissions, question, opened.as_ref(), plan.as_deref())
    });
    let verdict = judging.await.unwrap_or_else(|error| not_judged(&error));
    let mut permit = match verdict {
        Verdict::Allow { reason } => Permit::Granted {
            edited: None,
            decision: accepted(&reason),
            bounds: bounds(core, &reason),
        },
        Verdict::Deny {
            message,
            reason_type,
            reason,
        } => {
            let denial = Denial {
                text: message,
                reason_type,
                reason,
                telling,
            };
            refuse(context, &ready.wanted, &target, denial).await
        }
        Verdict::Ask(ask) => consult::ask(context, ready, &target, *ask).await,
    };
    if let Permit::Granted { edited, bounds, .. } = &mut permit {
        let file = match edited {
            Some(edited) => without_links(&edited.target(&core.workbench)),
            None => file,
        };
        bounds.file = file.and_then(|target| target.file().map(Path::to_owned));
    }
    permit
}

/// Judges a call, and where links lead to another file, that file as well: it is the one that
/// will be opened. Plan mode may write one file, which is known by both its names.
fn judge(
    permissions: &Permissions,
    question: &Question<'_>,
    file: Option<&Target>,
    plan: Option<&Path>,
) -> Verdict {
    let verdict = permissions.judge(question);
    let Verdict::Allow { reason } = &verdict else {
        return verdict;
    };
    let Some(file) = file.filter(|file| *file != question.target) else {
        return verdict;
    };
    if *reason == Because::Mode(PermissionMode::Plan) && file.file() == plan {
        return verdict;
    }
    permissions.judge(&Question {
        target: file,
        ..question.clone()
    })
}

/// The target under the name that it has without links, if it is a file.
fn without_links(target: &Target) -> Option<Target> {
    match target {
        Target::Read(path) => Some(Target::Read(Place::of(path).real)),
        Target::Write(path) => Some(Target::Write(Place::destination(path))),
        Target::Command { .. }
        | Target::Domain(_)
        | Target::Mcp { .. }
        | Target::User
        | Target::Nothing => None,
    }
}

/// Commands up to this length are judged at once.
const SHORT: usize = 1024;

/// A call with all that a judgement looks at.
struct Matter {
    tool: String,
    target: Target,
    input: Object,
    read_only: bool,
    hook: Option<HookDecision>,
    host_can_ask: bool,
    cwd: PathBuf,
}

impl Matter {
    fn new(context: &Context, ready: &Ready, target: &Target) -> Self {
        let is_command = matches!(target, Target::Command { .. });
        Self {
            tool: ready.wanted.name.clone(),
            target: target.clone(),
            input: ready.wanted.input.clone(),
            read_only: !is_command && ready.prepared.only_reads(),
            hook: None,
            host_can_ask: context.core.can_ask(),
            cwd: context.core.workbench.cwd(),
        }
    }

    /// Judges a long command where it may take its time, so that it holds nobody else up.
    async fn judged<T: Send + 'static>(
        self,
        permissions: Permissions,
        judge: impl FnOnce(&Permissions, &Question<'_>) -> T + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        let is_long =
            matches!(&self.target, Target::Command { command, .. } if command.len() > SHORT);
        let judging = move || {
            let question = Question {
                tool: &self.tool,
                target: &self.target,
                input: &self.input,
                read_only: self.read_only,
                hook: self.hook,
                host_can_ask: self.host_can_ask,
                cwd: &self.cwd,
            };
            judge(&permissions, &question)
        };
        if is_long {
            tokio::task::spawn_blocking(judging).await
        } else {
            Ok(judging())
        }
    }
}

/// A judgement that was cut off is a denial.
fn not_judged(error: &tokio::task::JoinError) -> Verdict {
    let why = format!("the judgement failed: {error}");
    Verdict::Deny {
        message: format!("This call was not run: {why}"),
        reason_type: None,
        reason: Because::NotUnderstood(why),
    }
}

/// Judges input that was put in the place of what was asked about. `None` if nothing speaks
/// against it. What a hook has put there is judged like a call that a hook allows.
pub(super) async fn judge_edited(
    context: &Context,
    edited: &Ready,
    by: Answerer,
) -> Option<Verdict> {
    let target = edited.target(&context.core.workbench);
    let mut matter = Matter::new(context, edited, &target);
    let permissions = context.core.permissions().clone();
    let judge: fn(&Permissions, &Question<'_>) -> Option<Verdict> = match by {
        Answerer::Host => Permissions::judge_edited,
        Answerer::Hook => |permissions, question| Some(permissions.judge(question)),
    };
    matter.hook = (by == Answerer::Hook).then_some(HookDecision {
        decision: HookPermissionDecision::Allow,
        reason: None,
    });
    let judged = matter.judged(permissions, judge);
    judged
        .await
        .unwrap_or_else(|error| Some(not_judged(&error)))
}

/// What an allowed call may do: a command that was judged to read only can do nothing else.
fn bounds(core: &Core, because: &Because) -> Bounds {
    let only_reads = *because == Because::ReadOnlyCommand;
    Bounds {
        only_reads,
        confinement: core.workbench.shop.confinement.filter(|_| only_reads),
        ..Bounds::default()
    }
}

/// Returns the file that a call is about to change, if it may be read without asking.
pub(crate) fn may_look(context: &Context, target: &Target) -> Option<Bounds> {
    let file = without_links(target)?.file().map(Path::to_owned);
    let path = target.file()?;
    let core = &context.core;
    let cwd = core.workbench.cwd();
    let question = Question {
        tool: "Read",
        target: &Target::Read(path.to_owned()),
        input: &Object::new(),
        read_only: true,
        hook: None,
        host_can_ask: true,
        cwd: &cwd,
    };
    let read = file.clone().map(Target::Read);
    let permissions = core.permissions().clone();
    let verdict = judge(&permissions, &question, read.as_ref(), None);
    matches!(verdict, Verdict::Allow { .. }).then(|| Bounds {
        file,
        ..Bounds::default()
    })
}

/// How an allowed call is explained on the wire.
fn accepted(because: &Because) -> PermissionDecision {
    use DecisionReasonType as Reason;
    use DecisionSource as Source;

    let (source, reason_type) = match because {
        Because::Hook(_) => (Source::Hook, Some(Reason::Hook)),
        Because::Rule {
            source: RuleSource::Session,
            ..
        } => (Source::UserTemporary, Some(Reason::Rule)),
        Because::Rule {
            source: RuleSource::User | RuleSource::Local,
            ..
        } => (Source::UserPermanent, Some(Reason::Rule)),
        Because::Rule { .. } => (Source::Config, Some(Reason::Rule)),
        Because::EveryPart(_) | Because::ReadOnlyCommand => {
            (Source::Config, Some(Reason::SubcommandResults))
        }
        Because::Mode(_) | Because::ReadInside => (Source::Config, Some(Reason::Mode)),
        _ => (Source::Config, None),
    };
    user::decision(DecisionKind::Accept, source, reason_type)
}

/// A denial without a question.
#[derive(Debug)]
pub(super) struct Denial {
    pub(super) text: String,
    pub(super) reason_type: Option<DecisionReasonType>,
    pub(super) reason: Because,
    pub(super) telling: Telling,
}

/// Whether the host hears of a denial by a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
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
pub(super) async fn refuse(
    context: &Context,
    wanted: &Wanted,
    target: &Target,
    denial: Denial,
) -> Permit {
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
    let (by_rule, reason_type) = if unwatched && !by_rule {
        (true, Some(DecisionReasonType::AsyncAgent))
    } else {
        (by_rule, reason_type)
    };
    let said = match &reason {
        Because::Hook(Some(words)) => Some(words.clone()),
        _ => by_rule.then(|| reason.to_string()),
    };
    let reason_type = reason_type.filter(|_| by_rule);
    // A file that a rule closes is to the CLI an input that does not fit, not a decision worth
    // telling.
    let is_hidden = matches!(
        (target, &reason),
        (Target::Read(_) | Target::Write(_), Because::Rule { .. })
    );
    if telling.is_aloud(&reason) && !is_hidden {
        core.speaker
            .say(PermissionDenied {
                tool_name: wanted.name.clone(),
                tool_use_id: wanted.id.clone(),
                decision_reason_type: reason_type.clone(),
                decision_reason: said,
                message: Some(text.clone()),
                ..PermissionDenied::default()
            })
            .await;
    }
    let kind = if by_rule {
        NonExecutionKind::PermissionRule
    } else {
        NonExecutionKind::UserRejected
    };
    let source = match reason.source() {
        Some(RuleSource::User | RuleSource::Local) => DecisionSource::UserReject,
        _ => DecisionSource::Config,
    };
    let meta = user::rejected((!is_hidden).then_some(kind), source, reason_type);
    Permit::Denied { text, meta }
}
