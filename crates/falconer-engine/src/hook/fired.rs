//! What the hooks of an event said together.

use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::hook::{
    BlockDecision, HookEvent, HookOutput, HookPermissionDecision, HookSpecificOutput,
};
use falconer_protocol::permission::PermissionResult;
use falconer_protocol::system::{Informational, Level};
use serde_json::Value;

use super::answer::Ran;
use super::registry::{Handler, Hook, Policy};
use super::watched;
use crate::frame::system;

/// The merged answer of all hooks of an event; the default has no opinion.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Fired {
    /// For tool calls and model switches: deny before defer before ask before allow.
    pub(crate) permission: Option<Decision>,
    /// The input to judge and run instead; the last one wins.
    pub(crate) updated_input: Option<Object>,
    /// Texts for the model.
    pub(crate) contexts: Vec<String>,
    /// Why what is about to happen must not, or what the model has to know of what happened.
    pub(crate) block: Option<Block>,
    /// `continue: false`: the turn ends, after the tool at hand. The text is for the user.
    pub(crate) stop: Option<String>,
    /// Texts for the user.
    pub(crate) system_messages: Vec<String>,
    /// The decision of `PermissionRequest` hooks; a denial wins.
    pub(crate) permission_request: Option<PermissionResult>,
    /// All answers that only this event understands, in order.
    pub(crate) specific: Vec<HookSpecificOutput>,
    /// A hook of the host that did not answer: the action must not happen before it is known
    /// what the host thinks of it (`PreToolUse`, `UserPromptSubmit`); others go on.
    pub(crate) no_verdict: Option<NoVerdict>,
    /// Failures that count as no opinion, for logs.
    pub(crate) failures: Vec<String>,
    /// How many hooks go on by themselves.
    pub(crate) detached: usize,
    /// The paths that hooks of settings files want to be watched.
    pub(crate) watch_paths: Vec<String>,
}

/// What hooks say about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decision {
    pub(crate) decision: HookPermissionDecision,
    pub(crate) reason: Option<String>,
    /// A command, a URL, or `callback`.
    pub(crate) source: String,
}

/// A hook's objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) reason: String,
    /// The same for whoever has to tell which of several hooks objects.
    pub(crate) told: String,
    /// A command, a URL, or `callback`.
    pub(crate) source: String,
}

/// Why a hook of the host gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoVerdict {
    TimedOut(Duration),
    HostClosed,
    Cancelled,
}

impl Fired {
    /// The lines with what hooks have to say to the user. `occasion` is the event, with the tool
    /// it was about: `PreToolUse:Bash`.
    pub(crate) fn notices(&self, occasion: &str) -> Vec<Informational> {
        let line = |text: &String| {
            system::informational(format!("{occasion} says: {text}"), Level::Notice)
        };
        self.system_messages.iter().map(line).collect()
    }

    pub(crate) fn timed_out(&self) -> bool {
        matches!(self.no_verdict, Some(NoVerdict::TimedOut(_)))
    }

    /// Adds what one hook said.
    pub(super) fn take(&mut self, event: &HookEvent, hook: &Hook, ran: Ran) {
        let source = hook.source();
        match ran {
            Ran::NoOpinion => {}
            Ran::Detached => self.detached += 1,
            Ran::Cancelled => self.no_verdict = Some(NoVerdict::Cancelled),
            Ran::HostClosed => self.no_verdict(NoVerdict::HostClosed),
            Ran::Answered(output) => {
                if !matches!(hook.handler, Handler::Callback(_)) {
                    self.watch_paths.extend(watched::paths(&output));
                }
                self.answer(event, *output, source);
            }
            Ran::Said(text) => self.said(event, text),
            Ran::Blocked(stderr) => self.refuse(event, &stderr, hook),
            Ran::Failed(why) => self.failed(event, hook, &why),
            Ran::TimedOut(limit) => self.late(event, hook, limit),
        }
    }

    fn answer(&mut self, event: &HookEvent, output: HookOutput, source: &str) {
        self.system_messages.extend(output.system_message);
        if output.continue_ == Some(false) && self.stop.is_none() {
            self.stop = Some(output.stop_reason.unwrap_or_default());
        }
        match output.decision {
            Some(BlockDecision::Block) => {
                self.object(event, output.reason.unwrap_or_default(), source);
            }
            Some(BlockDecision::Approve) if *event == HookEvent::PreToolUse => {
                self.decide(HookPermissionDecision::Allow, output.reason, source);
            }
            _ => {}
        }
        if let Some(specific) = output.hook_specific_output {
            self.answer_of_event(&specific, source);
            self.specific.push(specific);
        }
    }

    fn answer_of_event(&mut self, specific: &HookSpecificOutput, source: &str) {
        match specific {
            HookSpecificOutput::PreToolUse(output) => {
                if let Some(decision) = &output.permission_decision {
                    let reason = output.permission_decision_reason.clone();
                    self.decide(decision.clone(), reason, source);
                }
                if let Some(Value::Object(input)) = &output.updated_input {
                    self.updated_input = Some(input.clone());
                }
            }
            HookSpecificOutput::PreModelSwitch(output) => {
                if let Some(decision) = &output.permission_decision {
                    let reason = output.permission_decision_reason.clone();
                    self.decide(decision.clone(), reason, source);
                }
            }
            HookSpecificOutput::PermissionRequest(output) => self.settle(&output.decision),
            _ => {}
        }
        self.contexts.extend(context_of(specific));
    }

    fn settle(&mut self, decision: &PermissionResult) {
        let denied = matches!(self.permission_request, Some(PermissionResult::Deny(_)));
        let denies = matches!(decision, PermissionResult::Deny(_));
        if self.permission_request.is_none() || (denies && !denied) {
            self.permission_request = Some(decision.clone());
        }
    }

    /// Plain output is context where hooks are asked for some, and is not looked at elsewhere.
    fn said(&mut self, event: &HookEvent, text: String) {
        if matches!(
            event,
            HookEvent::UserPromptSubmit | HookEvent::UserPromptExpansion | HookEvent::SessionStart
        ) {
            self.contexts.push(text);
        }
    }

    /// A command objects by its exit code, and says why on stderr.
    fn refuse(&mut self, event: &HookEvent, stderr: &str, hook: &Hook) {
        let said = match stderr.trim() {
            "" => "No stderr output",
            _ => stderr,
        };
        let objection = Block {
            reason: stderr.trim().to_owned(),
            told: format!("[{}]: {said}", hook.source()),
            source: hook.source().to_owned(),
        };
        self.take_objection(event, objection);
    }

    /// An objection in words.
    fn object(&mut self, event: &HookEvent, reason: String, source: &str) {
        let objection = Block {
            told: reason.clone(),
            reason,
            source: source.to_owned(),
        };
        self.take_objection(event, objection);
    }

    /// Before a tool runs an objection is a denial.
    fn take_objection(&mut self, event: &HookEvent, objection: Block) {
        if matches!(event, HookEvent::PreToolUse | HookEvent::PreModelSwitch) {
            let Block { told, source, .. } = objection;
            self.decide(HookPermissionDecision::Deny, Some(told), &source);
        } else if let Some(block) = &mut self.block {
            block.reason = format!("{}\n{}", block.reason, objection.reason);
            block.told = format!("{}\n{}", block.told, objection.told);
        } else {
            self.block = Some(objection);
        }
    }

    fn decide(&mut self, decision: HookPermissionDecision, reason: Option<String>, source: &str) {
        let stronger = |held: &Decision| rank(&decision) > rank(&held.decision);
        if self.permission.as_ref().is_none_or(stronger) {
            let source = source.to_owned();
            self.permission = Some(Decision {
                decision,
                reason,
                source,
            });
        }
    }

    fn failed(&mut self, event: &HookEvent, hook: &Hook, why: &str) {
        let text = format!("{event} hook {} failed: {why}", hook.source());
        if hook.on_failure == Policy::Block && can_block(event) {
            self.object(event, text, hook.source());
        } else {
            self.failures.push(text);
        }
    }

    fn late(&mut self, event: &HookEvent, hook: &Hook, limit: Duration) {
        let why = format!("no answer within {} ms", limit.as_millis());
        let blocks = hook.on_failure == Policy::Block && can_block(event);
        match (&hook.handler, blocks) {
            (Handler::Callback(_), false) => self.no_verdict(NoVerdict::TimedOut(limit)),
            _ => self.failed(event, hook, &why),
        }
    }

    /// Being cancelled explains everything else.
    fn no_verdict(&mut self, why: NoVerdict) {
        self.no_verdict.get_or_insert(why);
    }
}

/// After these there is nothing left to block, or blocking would never end.
fn can_block(event: &HookEvent) -> bool {
    !matches!(
        event,
        HookEvent::Stop
            | HookEvent::SubagentStop
            | HookEvent::TaskCompleted
            | HookEvent::TeammateIdle
    )
}

fn rank(decision: &HookPermissionDecision) -> u8 {
    match decision {
        HookPermissionDecision::Deny => 4,
        HookPermissionDecision::Defer => 3,
        HookPermissionDecision::Ask => 2,
        HookPermissionDecision::Allow => 1,
        // Cannot happen: such answers are failures.
        _ => 0,
    }
}

fn context_of(specific: &HookSpecificOutput) -> Option<String> {
    use HookSpecificOutput as Of;
    match specific {
        Of::PreToolUse(output) => output.additional_context.clone(),
        Of::PostToolUse(output) => output.additional_context.clone(),
        Of::PostToolUseFailure(output) => output.additional_context.clone(),
        Of::PostToolBatch(output) => output.additional_context.clone(),
        Of::UserPromptSubmit(output) => output.additional_context.clone(),
        Of::UserPromptExpansion(output) => output.additional_context.clone(),
        Of::SessionStart(output) => output.additional_context.clone(),
        Of::Setup(output) => output.additional_context.clone(),
        Of::Stop(output) => output.additional_context.clone(),
        Of::SubagentStart(output) => output.additional_context.clone(),
        Of::SubagentStop(output) => output.additional_context.clone(),
        Of::PostModelSwitch(output) => output.additional_context.clone(),
        Of::Notification(output) => output.additional_context.clone(),
        _ => None,
    }
}
