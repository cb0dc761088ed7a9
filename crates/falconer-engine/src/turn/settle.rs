//! Shows what became of a call, and keeps it for the next request.

use falconer_protocol::message::{DeferredToolUse, PermissionDenial};
use serde_json::{Value, json};

use super::Turn;
use super::call::{Done, Fate};
use crate::frame::user;
use crate::session::ledger::Lines;
use crate::tool::Effect;

impl Turn {
    /// Takes a call that has ended.
    pub(crate) async fn settle(&mut self, mut done: Done) {
        if let Some(output) = done.outcome.output.as_ref() {
            self.core.ledger().book_lines(Lines::read(output));
        }
        self.take_effects(&done).await;
        self.take_fate(&done);
        let block = result_block(&done);
        let notices = std::mem::take(&mut done.notices);
        self.say_all(notices.before).await;
        if done.fate != Fate::Deferred {
            self.show_result(&done, &block).await;
        }
        self.say_all(notices.after).await;
        self.feedback.push(block);
        self.contexts.extend(done.contexts);
    }

    async fn show_result(&mut self, done: &Done, block: &Value) {
        let id = &done.wanted.id;
        self.core.say_task_events().await;
        let frame = user::tool_result(block, id, done.outcome.output.as_ref(), &done.meta);
        let line = self.core.speaker.say(frame).await;
        self.tally.user_lines += 1;
        self.core
            .record
            .tool_result(&line, block, done, &self.prompt_id);
        self.core.mirror().await;
        if done.denied {
            self.tally.denials.push(PermissionDenial {
                tool_name: done.wanted.name.clone(),
                tool_use_id: id.clone(),
                tool_input: Value::Object(done.wanted.observed(&self.core.workbench)),
                ..PermissionDenial::default()
            });
        }
    }

    async fn take_effects(&mut self, done: &Done) {
        for effect in &done.outcome.effects {
            match effect {
                Effect::EnterPlanMode => self.core.enter_plan_mode().await,
                Effect::LeavePlanMode => self.core.leave_plan_mode().await,
                Effect::StructuredOutput(_) => {}
            }
        }
        if let Some(value) = done.structured() {
            self.tally.structured_value = Some(value.clone());
        } else if done.is_of(|tool| tool.gives_final_value()) && done.outcome.is_error {
            self.tally.structured_failures += 1;
            self.tally.last_structured_error = done.outcome.words();
        }
    }

    fn take_fate(&mut self, done: &Done) {
        match done.fate {
            Fate::GoOn => {}
            Fate::HookStopped => self.fates.hook_stopped = true,
            Fate::Interrupted => self.fates.interrupted = true,
            Fate::Deferred => {
                self.fates.deferred = Some(DeferredToolUse {
                    id: done.wanted.id.clone(),
                    name: done.wanted.name.clone(),
                    input: Value::Object(done.wanted.input.clone()),
                    ..DeferredToolUse::default()
                });
            }
        }
    }
}

/// The result of a call as the model gets it.
pub(super) fn result_block(done: &Done) -> Value {
    let outcome = &done.outcome;
    let content = serde_json::to_value(&outcome.content).unwrap_or_default();
    let mut block = user::tool_result_block(&done.wanted.id, &content, outcome.is_error);
    if done.is_of(|tool| tool.spells_out_success()) && !outcome.is_error {
        block["is_error"] = Value::Bool(false);
    }
    block
}

/// Adds a note to the last result, because text after results teaches models to stop early.
pub(super) fn append_note(feedback: &mut Vec<Value>, note: &str) {
    let results = |block: &&mut Value| block["type"] == "tool_result";
    let content = feedback
        .iter_mut()
        .rev()
        .find(results)
        .map(|it| &mut it["content"]);
    match content {
        Some(Value::String(text)) => {
            text.push_str("\n\n");
            text.push_str(note);
        }
        Some(Value::Array(blocks)) => blocks.push(json!({"type": "text", "text": note})),
        _ => feedback.push(json!({"type": "text", "text": note})),
    }
}
