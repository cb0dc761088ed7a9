//! One tool call from its block to its result: hooks, permission, the tool, hooks.
//!
//! Every call gets a result, whatever happens; a failure is an answer for the model.

use std::sync::Arc;
use std::time::{Duration, Instant};

use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::{
    DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta,
};
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::system::Informational;
use falconer_protocol::{MessageUuid, Object, ToolUseId};
use serde_json::Value;

use super::interrupt::Interrupt;
use super::permit::{self, Permit};
use super::schedule::Company;
use super::tool_hooks::{self, Hooked};
use crate::frame::{lifecycle, user};
use crate::permission::Target;
use crate::session::core::Core;
use crate::tool::{Attempt, Bounds, Call, Effect, Outcome, Prepared, Tool, place};
use crate::turn::hooks::Base;
use crate::workbench::Workbench;

/// How often a running tool is reported.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How long a tool may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) const REJECTED: &str = "The user does not want this tool call. It was rejected and did \
     not run; nothing was changed. Stop, and wait for what the user says next.";
pub(crate) const STOPPED: &str = "The user interrupted this tool call while it was running. It \
     may have changed something already. Stop, and wait for what the user says next.";

/// What calls of one turn share.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) core: Arc<Core>,
    pub(crate) interrupt: Interrupt,
    pub(crate) prompt_id: String,
    pub(crate) prompt: MessageUuid,
}

impl Context {
    pub(super) fn call(&self, wanted: &Wanted, bounds: Bounds) -> Call {
        Call {
            id: wanted.id.clone(),
            prompt: self.prompt.clone(),
            workbench: Arc::clone(&self.core.workbench),
            cancelled: self.interrupt.token().child_token(),
            bounds,
        }
    }
}

/// A call as the model wrote it.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) id: ToolUseId,
    pub(crate) name: String,
    pub(crate) input: Object,
    /// The line that showed it.
    pub(crate) line: MessageUuid,
    pub(crate) tool: Option<Arc<dyn Tool>>,
}

/// An input after its tool has read it, or the reason why it cannot run, for the model.
pub(crate) type Reading = Result<Arc<dyn Prepared>, String>;

/// A call that can run.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) wanted: Wanted,
    /// The input of `wanted` as the tool read it.
    pub(crate) prepared: Arc<dyn Prepared>,
}

impl Ready {
    /// The same call with another input. The reason of a failure is the tool's.
    pub(super) fn edited(&self, input: Object) -> Result<Self, String> {
        Ok(Self {
            prepared: self.prepared.edited(&input)?,
            wanted: Wanted {
                input,
                ..self.wanted.clone()
            },
        })
    }

    pub(super) fn target(&self, workbench: &Workbench) -> Target {
        self.prepared.target(workbench)
    }
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) wanted: Wanted,
    pub(crate) outcome: Outcome,
    pub(crate) meta: ToolResultMeta,
    /// It goes into `permission_denials`.
    pub(crate) denied: bool,
    /// Texts of hooks for the model.
    pub(crate) contexts: Vec<String>,
    pub(crate) notices: Notices,
    pub(crate) fate: Fate,
}

/// What hooks have to say to the user: lines that go around the result.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    pub(crate) before: Vec<Informational>,
    pub(crate) after: Vec<Informational>,
}

/// What a call means for the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    GoOn,
    /// A hook wants the turn to end after this call.
    HookStopped,
    /// A hook put the call off: it has no result.
    Deferred,
    /// The turn was interrupted.
    Interrupted,
}

impl Wanted {
    /// The input as hosts and hooks see it: with the whole path of a file.
    pub(crate) fn observed(&self, workbench: &Workbench) -> Object {
        let mut input = self.input.clone();
        let field = self.tool.as_ref().and_then(|tool| tool.path_field());
        if let Some(path) = field.and_then(|field| input.get_mut(field))
            && let Some(written) = path.as_str()
        {
            *path = Value::from(place::whole(written, workbench).to_string_lossy());
        }
        input
    }

    /// Lets the tool read the input, unless the model's text was not even JSON.
    pub(super) fn read(&self, core: &Core, malformed: Option<String>) -> Reading {
        let Some(tool) = self.tool.clone() else {
            return Err(no_such_tool(core, &self.name));
        };
        if let Some(why) = malformed {
            return Err(format!("InputValidationError: {why}"));
        }
        tool.prepare(&self.input).map_err(|why| self.misread(&why))
    }

    /// What the model is told of an input that its tool cannot read.
    pub(super) fn misread(&self, why: &str) -> String {
        format!("InputValidationError: {} failed: {why}", self.name)
    }

    /// Returns whether it may run beside others.
    pub(super) fn company(&self, reading: &Reading) -> Company {
        let only_reads = match (reading, &self.tool) {
            (Ok(prepared), _) => prepared.only_reads(),
            (Err(_), Some(tool)) => tool.is_read_only(),
            (Err(_), None) => true,
        };
        if only_reads {
            Company::Shared
        } else {
            Company::Alone
        }
    }

    /// A call that never started because the turn was interrupted.
    pub(crate) fn rejected(self) -> Done {
        Done::rejected(self, REJECTED)
    }
}

impl Done {
    pub(super) fn plain(wanted: Wanted, outcome: Outcome) -> Self {
        Self {
            wanted,
            outcome,
            meta: ToolResultMeta::default(),
            denied: false,
            contexts: Vec::new(),
            notices: Notices::default(),
            fate: Fate::GoOn,
        }
    }

    /// An error of the call itself, marked so that the model tells it from output.
    pub(super) fn misuse(wanted: Wanted, text: &str) -> Self {
        let told = text.strip_prefix("Error: ").unwrap_or(text);
        let outcome = Outcome {
            output: Some(Value::String(format!("Error: {told}"))),
            attempt: Attempt::Made,
            ..Outcome::refused(text)
        };
        Self::plain(wanted, outcome)
    }

    pub(super) fn rejected(wanted: Wanted, text: &str) -> Self {
        let mut outcome = Outcome::error(text);
        outcome.output = Some(Value::from("User rejected tool use"));
        Self {
            meta: ToolResultMeta {
                non_execution_kind: Some(NonExecutionKind::UserRejected),
                ..ToolResultMeta::default()
            },
            fate: Fate::Interrupted,
            ..Self::plain(wanted, outcome)
        }
    }

    pub(super) fn denied(wanted: Wanted, text: String, meta: ToolResultMeta) -> Self {
        Self {
            meta,
            denied: true,
            ..Self::plain(wanted, Outcome::error(text))
        }
    }
}

/// Takes a call to its result.
pub(crate) async fn perform(context: Context, wanted: Wanted, reading: Reading) -> Done {
    let prepared = match reading {
        Ok(prepared) => prepared,
        Err(text) => return Done::misuse(wanted, &text),
    };
    let mode = context.core.permission_mode();
    if let Some(text) = prepared.tool().refusal_in(&mode) {
        return Done::misuse(wanted, text);
    }
    let mut ready = Ready { wanted, prepared };
    if let Err(text) = foresee(&context, &ready).await {
        return Done::misuse(ready.wanted, &text);
    }
    let (notices, hooked) = tool_hooks::before(&context, &mut ready).await;
    let mut done = match hooked {
        Ok(hooked) => permitted(&context, ready, hooked).await,
        Err(refusal) => refusal.into_done(ready.wanted),
    };
    done.notices.before = notices;
    done
}

/// Takes a call to its result that hooks have let pass.
async fn permitted(context: &Context, ready: Ready, hooked: Hooked) -> Done {
    let fate = if hooked.stop {
        Fate::HookStopped
    } else {
        Fate::GoOn
    };
    let permit = permit::decide(context, &ready, hooked.decision).await;
    let mut done = match permit {
        Permit::Granted {
            edited,
            decision,
            bounds,
        } => {
            let ready = edited.map_or(ready, |edited| *edited);
            run(context, ready, decision, bounds).await
        }
        Permit::Misused(text) => Done {
            meta: user::rejected(None, DecisionSource::InvalidInput, None),
            ..Done::misuse(ready.wanted, &text)
        },
        Permit::Denied { text, meta } => deny(context, ready.wanted, text, meta).await,
        Permit::Interrupted { counted } => Done {
            denied: counted,
            ..Done::rejected(ready.wanted, REJECTED)
        },
    };
    done.contexts.splice(0..0, hooked.contexts);
    if done.fate == Fate::GoOn {
        done.fate = fate;
    }
    done
}

fn no_such_tool(core: &Core, name: &str) -> String {
    let known = crate::tool::registry::is_known(name) || core.is_removed(name);
    if known {
        format!("Error: No such tool available: {name}. {name} is switched off in this session.")
    } else {
        format!("Error: No such tool available: {name}")
    }
}

/// Looks whether the call can work, if looking is allowed.
async fn foresee(context: &Context, ready: &Ready) -> Result<(), String> {
    if !ready.prepared.can_foresee() {
        return Ok(());
    }
    let target = ready.target(&context.core.workbench);
    let Some(bounds) = permit::may_look(context, &target) else {
        return Ok(());
    };
    let call = context.call(&ready.wanted, bounds);
    let prepared = Arc::clone(&ready.prepared);
    let foreseen = tokio::task::spawn_blocking(move || prepared.foresee(&call)).await;
    foreseen.unwrap_or(Ok(()))
}

async fn deny(context: &Context, wanted: Wanted, text: String, meta: ToolResultMeta) -> Done {
    let hooks = &context.core.hooks;
    // Denials by rules and people are known to those who made them.
    let is_auto = context.core.permission_mode() == PermissionMode::Auto;
    if is_auto && hooks.has(&HookEvent::PermissionDenied) {
        let base = Base::in_turn(&context.core, &context.prompt_id);
        let observed = wanted.observed(&context.core.workbench);
        let input = base.permission_denied(&wanted.name, &observed, &wanted.id, text.clone());
        let token = context.interrupt.token();
        hooks.fire(&input, Some(&wanted.name), token).await;
    }
    Done::denied(wanted, text, meta)
}

async fn run(
    context: &Context,
    ready: Ready,
    decision: PermissionDecision,
    mut bounds: Bounds,
) -> Done {
    let Ready { wanted, prepared } = ready;
    if context.interrupt.is_pulled() {
        return Done::rejected(wanted, REJECTED);
    }
    bounds.hidden = context.core.permissions().hidden();
    let started = Instant::now();
    let call = context.call(&wanted, bounds);
    let outcome = watch(context, prepared.as_ref(), &wanted, call).await;
    book_side_questions(context);
    let Some(outcome) = outcome else {
        return Done::rejected(wanted, STOPPED);
    };
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(tool = %wanted.name, id = %wanted.id, millis, "a tool has run");
    let mut done = Done::plain(wanted, outcome);
    if done.outcome.attempt == Attempt::Made {
        done.meta.permission_decision = Some(decision);
    }
    tool_hooks::after(context, &mut done, millis).await;
    done
}

/// What a tool asked a model by itself is paid for, too.
fn book_side_questions(context: &Context) {
    let (model, spent) = context.core.workbench.shop.side_model.take_spent();
    for usage in &spent {
        context.core.ledger().book(model, usage);
    }
}

/// Runs a tool and reports that it is still running. `None` if it was interrupted.
async fn watch(
    context: &Context,
    prepared: &dyn Prepared,
    wanted: &Wanted,
    call: Call,
) -> Option<Outcome> {
    let mut running = prepared.run(call);
    let begun = Instant::now();
    let mut beat = 0;
    loop {
        tokio::select! {
            biased;
            outcome = &mut running => return Some(outcome),
            () = context.interrupt.token().cancelled() => {
                // The tool ends its processes by itself; we only wait so long.
                let _ = tokio::time::timeout(GRACE, running).await;
                return None;
            }
            () = tokio::time::sleep(HEARTBEAT) => {
                let seconds = begun.elapsed().as_secs();
                let frame = lifecycle::tool_progress(&wanted.id, &wanted.name, seconds, beat);
                context.core.speaker.say(frame).await;
                beat += 1;
            }
        }
    }
}

/// The text of a message's content.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

impl Done {
    /// Returns what a fact is for the tool that was called; `false` if there is none.
    pub(super) fn is_of(&self, fact: impl Fn(&dyn Tool) -> bool) -> bool {
        self.wanted.tool.as_deref().is_some_and(fact)
    }

    /// The value asked for by a schema, if this call gave it.
    pub(crate) fn structured(&self) -> Option<&Value> {
        self.outcome.effects.iter().find_map(|effect| match effect {
            Effect::StructuredOutput(value) => Some(value),
            Effect::EnterPlanMode | Effect::LeavePlanMode => None,
        })
    }
}
