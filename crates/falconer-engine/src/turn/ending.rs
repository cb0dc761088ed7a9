//! How turns end: Stop hooks, the result for every outcome, the last lines.

use falconer_model::ApiFailure;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::{
    AssistantError, AssistantMessage, CommandState, ResultMessage, ResultSubtype, StopReason,
    TerminalReason,
};
use falconer_protocol::system::Level;
use serde_json::json;

use super::decide::{AfterTools, STOP_BLOCKS};
use super::failure;
use super::hooks::Base;
use super::interrupt::Cause;
use super::listen::Heard;
use super::tally::millis;
use super::{Finished, Turn};
use crate::frame::assistant::{self, SyntheticStop};
use crate::frame::lifecycle;
use crate::frame::result::{self, Ending};
use crate::frame::{system, user};

impl Turn {
    /// The model is done. Stop hooks may send it back.
    pub(super) async fn stop(&mut self, heard: &Heard) -> Option<Ending> {
        let mut ending = result::completed(heard.text(), heard.stop());
        if !self.core.hooks.has(&HookEvent::Stop) {
            return Some(ending);
        }
        let base = Base::in_turn(&self.core, &self.prompt_id);
        let input = base.stop(self.tally.stop_blocks > 0, heard.text());
        let fired = self
            .core
            .hooks
            .fire(&input, None, self.interrupt.token())
            .await;
        self.say_all(fired.notices("Stop")).await;
        if self.interrupt.is_pulled() {
            self.interrupt.acknowledge(&self.core.speaker).await;
            self.say_cut_short(false).await;
            return Some(self.interrupted_ending(&Heard::default()));
        }
        if fired.stop.is_some() {
            ending.terminal_reason = Some(TerminalReason::StopHookPrevented);
            return Some(ending);
        }
        if fired.timed_out() {
            let text = "Stop hook did not answer within its time limit";
            self.core
                .speaker
                .say(system::informational(text, Level::Warning))
                .await;
        }
        let mut feedback: Vec<String> = fired.contexts;
        feedback.extend(fired.block.map(|block| block.told));
        if feedback.is_empty() {
            return Some(ending);
        }
        self.send_back(&feedback.join("\n"), ending).await
    }

    async fn send_back(&mut self, reason: &str, ending: Ending) -> Option<Ending> {
        self.tally.stop_blocks += 1;
        if self.tally.stop_blocks > STOP_BLOCKS {
            let text = format!("Stop hooks blocked {STOP_BLOCKS} times in this turn; ending it");
            self.core
                .speaker
                .say(system::informational(text, Level::Warning))
                .await;
            return Some(ending);
        }
        let text = format!("Stop hook feedback:\n{reason}");
        self.say_note(user::synthetic(&text), &text).await;
        if self.tally.stop_blocks == 1 {
            let notice = system::notification("stop-hook-error", "A Stop hook sent the model back");
            self.core.speaker.say(notice).await;
        }
        self.feed_back();
        self.out_of_turns(ending.stop_reason)
    }

    /// The ending of a turn that may make no more requests.
    fn out_of_turns(&self, stop: Option<StopReason>) -> Option<Ending> {
        let limit = self.core.options.limits.max_turns?;
        let progress = self.tally.progress(limit, false, false);
        if !progress.is_out_of_turns() {
            return None;
        }
        let text = format!("Reached maximum number of turns ({limit})");
        Some(result::failed(
            ResultSubtype::ErrorMaxTurns,
            TerminalReason::MaxTurns,
            stop,
            text,
        ))
    }

    /// What follows a batch of tools. Gives the ending, if it is one.
    pub(super) fn after_tools(&mut self, after: AfterTools, heard: &Heard) -> Option<Ending> {
        match after {
            AfterTools::Request => None,
            AfterTools::Interrupted => {
                let reason = TerminalReason::AbortedTools;
                let cause = self.interrupt.cause();
                Some(aborted(cause, reason, heard.stop(), String::new()))
            }
            AfterTools::HookStopped => {
                let mut ending = result::completed(String::new(), heard.stop());
                ending.terminal_reason = Some(TerminalReason::HookStopped);
                Some(ending)
            }
            AfterTools::Deferred => {
                let mut ending = result::local(String::new());
                ending.terminal_reason = Some(TerminalReason::ToolDeferred);
                ending.stop_reason = Some(StopReason::ToolDeferred);
                ending.deferred_tool_use = self.fates.deferred.take();
                Some(ending)
            }
            AfterTools::StructuredDone => {
                let value = self.tally.structured_value.take().unwrap_or_default();
                let mut ending = result::completed(value.to_string(), heard.stop());
                ending.structured_output = Some(value);
                Some(ending)
            }
            AfterTools::StructuredExhausted => Some(result::failed(
                ResultSubtype::ErrorMaxStructuredOutputRetries,
                TerminalReason::StructuredOutputRetryExhausted,
                heard.stop(),
                format!(
                    "Failed to provide valid structured output after {} attempts — last \
                     StructuredOutput error: {}",
                    self.tally.structured_failures, self.tally.last_structured_error
                ),
            )),
            AfterTools::MaxTurns => self.out_of_turns(heard.stop()),
        }
    }

    pub(super) fn budget_ending(&self, stop_reason: Option<StopReason>) -> Ending {
        let budget = self.core.options.limits.max_budget_usd.unwrap_or(0.0);
        result::failed(
            ResultSubtype::ErrorMaxBudgetUsd,
            TerminalReason::BudgetExhausted,
            stop_reason,
            format!("Reached maximum budget (${budget})"),
        )
    }

    /// The turn was interrupted while the model was answering.
    pub(super) fn interrupted_ending(&mut self, heard: &Heard) -> Ending {
        self.core.push_assistant(heard.content());
        self.feed_back();
        let text = heard.text();
        let stop = self.tally.last_stop.clone();
        let reason = TerminalReason::AbortedStreaming;
        aborted(self.interrupt.cause(), reason, stop, text)
    }

    pub(super) async fn api_failure(&mut self, failure: &ApiFailure) -> Ending {
        self.show_prompt().await;
        let told = failure::tell(failure, &self.model);
        let text = self.shown(told.text).await;
        let api_error_status = failure.status.map(u64::from);
        let api_error = told.detail.map(str::to_owned);
        let line = AssistantMessage {
            error: Some(told.class),
            api_error_status,
            api_error_type: failure.error_type.clone(),
            api_error: api_error.clone(),
            request_id: failure.request_id.clone(),
            ..assistant::synthetic(&text, SyntheticStop::error())
        };
        self.say_failure(line, &text).await;
        let mut ending = error_in_success(text, StopReason::StopSequence);
        ending.terminal_reason = Some(told.terminal_reason);
        ending.api_error_status = api_error_status;
        ending.api_error_type.clone_from(&failure.error_type);
        ending.api_error = api_error;
        ending
    }

    pub(super) async fn output_limit(&mut self) -> Ending {
        let limit = self.max_output();
        let text = format!(
            "API Error: the answer exceeded the limit of {limit} output tokens again and again. \
             CLAUDE_CODE_MAX_OUTPUT_TOKENS sets another limit."
        );
        let class = AssistantError::MaxOutputTokens;
        let text = self.shown(text).await;
        let line = AssistantMessage {
            error: Some(class.clone()),
            api_error: Some(class.to_string()),
            api_error_params: Some(Box::new(json!({"cut": "output_limit"}))),
            ..assistant::synthetic(&text, SyntheticStop::error())
        };
        self.say_failure(line, &text).await;
        let mut ending = error_in_success(text, StopReason::StopSequence);
        ending.api_error = Some(class.to_string());
        ending
    }

    pub(super) async fn refused(&mut self, heard: &Heard) -> Ending {
        let refusal = self.refusal(heard);
        self.core
            .speaker
            .say(refusal.no_fallback(&self.model))
            .await;
        let text = format!("API Error: {} declined to answer this request.", self.model);
        let text = self.shown(text).await;
        let line = AssistantMessage {
            error: Some(AssistantError::InvalidRequest),
            refused_message_id: heard.id().map(str::to_owned),
            request_id: heard.request_id.clone(),
            ..assistant::synthetic(&text, SyntheticStop::refusal(refusal.details))
        };
        self.say_failure(line, &text).await;
        error_in_success(text, StopReason::Refusal)
    }

    /// A text of ours as hooks want it shown.
    async fn shown(&self, text: String) -> String {
        self.displayed_text(&text).await.unwrap_or(text)
    }

    /// Shows why there is no answer, in the model's place; the model itself never sees it.
    async fn say_failure(&mut self, mut line: AssistantMessage, text: &str) {
        line.is_api_error_message = Some(true);
        assistant::mark_prompts(&mut line, self.first_marks());
        let message = json!(line.message);
        let class = line.error.clone().unwrap_or_default();
        let uuid = self.core.speaker.say(line).await;
        self.core.record.synthetic(&uuid, message, class.as_str());
        self.tell_stop_failure(class.as_str(), text).await;
    }

    /// Hooks hear that the turn ends without an answer; it ends whatever they say.
    async fn tell_stop_failure(&self, class: &str, text: &str) {
        let hooks = &self.core.hooks;
        if hooks.has(&HookEvent::StopFailure) {
            let base = Base::in_turn(&self.core, &self.prompt_id);
            let input = base.stop_failure(class, text);
            hooks
                .fire(&input, Some(class), self.interrupt.token())
                .await;
        }
    }

    /// The last lines of the turn.
    pub(super) async fn finish(&mut self, ending: Ending) -> Finished {
        self.interrupt.acknowledge(&self.core.speaker).await;
        self.show_prompt().await;
        for uuid in &self.folded {
            let frame = lifecycle::command(uuid, CommandState::Completed);
            self.core.speaker.say(frame).await;
        }
        let is_error = ending.is_error;
        let failed = is_error && ending.subtype == ResultSubtype::Success;
        let mut result = result::whole(self.counted(*ending), &self.prompts);
        // Prompts that joined the turn do not stand for it.
        if self.prompts.contains(&self.prompt) {
            result.user_message_uuid = Some(self.prompt.clone());
        }
        self.core.speaker.say(result).await;
        self.core.record.turn_ended(&self.core);
        self.core.mirror().await;
        let unanswered = failed || self.interrupt.is_pulled();
        Finished {
            is_error,
            prompts: if unanswered {
                CommandState::Cancelled
            } else {
                CommandState::Completed
            },
        }
    }

    /// Adds what the turn counted and the session has used so far.
    fn counted(&mut self, ending: ResultMessage) -> ResultMessage {
        let is_answered = result::is_answered(&ending);
        let turns = match ending.terminal_reason {
            None => 0,
            Some(_) => self.tally.user_lines + 1,
        };
        let mut ledger = self.core.ledger();
        let (result_index, since_last) = ledger.close_turn();
        let mut result = ResultMessage {
            duration_ms: Some(self.tally.duration_ms().into()),
            duration_api_ms: Some(millis(ledger.api_time()).into()),
            num_turns: Some(turns),
            total_cost_usd: Some(ledger.total_cost().into()),
            usage: Some(self.tally.tokens.usage()),
            model_usage: ledger.model_usage(),
            model_usage_since_last_result: Some(since_last),
            permission_denials: std::mem::take(&mut self.tally.denials),
            origin: self.origin.take(),
            result_index: Some(result_index),
            queued_turn_count: Some(self.core.queue().waiting_people()),
            safety_stops: Some(ledger.safety_stops),
            ..ending
        };
        if is_answered {
            self.tally.add_times(&mut result, !self.prompts.is_empty());
        }
        result
    }
}

/// An error of the API arrives as a success that is an error.
fn error_in_success(text: String, stop_reason: StopReason) -> Ending {
    let mut ending = result::completed(text, Some(stop_reason));
    ending.terminal_reason = Some(TerminalReason::ApiError);
    ending.is_error = true;
    ending
}

fn aborted(
    cause: Cause,
    reason: TerminalReason,
    stop_reason: Option<StopReason>,
    said: String,
) -> Ending {
    match cause {
        // What was said until then is the answer.
        Cause::Preempted if reason == TerminalReason::AbortedTools || !said.is_empty() => {
            let mut ending = result::completed(said, stop_reason);
            ending.terminal_reason = Some(reason);
            ending
        }
        Cause::Preempted | Cause::User => {
            let stop = stop_reason.as_ref().map_or("null", StopReason::as_str);
            let text = format!(
                "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}"
            );
            result::failed(
                ResultSubtype::ErrorDuringExecution,
                reason,
                stop_reason,
                text,
            )
        }
    }
}
