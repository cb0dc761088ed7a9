//! How turns end: Stop hooks, the result for every outcome, the last lines.

use falconer_model::ApiFailure;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::CommandState;
use falconer_protocol::system::Level;
use serde_json::{Map, Value, json};

use super::decide::{AfterTools, STOP_BLOCKS};
use super::failure;
use super::hooks::Base;
use super::interrupt::Cause;
use super::listen::Heard;
use super::{Finished, Turn};
use crate::frame::assistant::{self, SyntheticStop};
use crate::frame::lifecycle;
use crate::frame::result::{self, EndKind, Ending, Numbers};
use crate::frame::{system, untyped, user};

impl Turn {
    /// The model is done. Stop hooks may send it back.
    pub(super) async fn stop(&mut self, heard: &Heard) -> Option<Ending> {
        let reason = heard.stop_reason().map(str::to_owned);
        let ending = Ending::completed(heard.text(), reason);
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
            return Some(ending.because("stop_hook_prevented"));
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
    fn out_of_turns(&self, stop: Option<String>) -> Option<Ending> {
        let limit = self.core.options.limits.max_turns?;
        let progress = self.tally.progress(limit, false, false);
        if !progress.is_out_of_turns() {
            return None;
        }
        let text = format!("Reached maximum number of turns ({limit})");
        Some(Ending::error("error_max_turns", "max_turns", stop, text))
    }

    /// What follows a batch of tools. Gives the ending, if it is one.
    pub(super) fn after_tools(&mut self, after: AfterTools, heard: &Heard) -> Option<Ending> {
        let stop = || heard.stop_reason().map(str::to_owned);
        match after {
            AfterTools::Request => None,
            AfterTools::Interrupted => {
                let cause = self.interrupt.cause();
                Some(aborted(cause, "aborted_tools", stop(), String::new()))
            }
            AfterTools::HookStopped => {
                Some(Ending::completed(String::new(), stop()).because("hook_stopped"))
            }
            AfterTools::Deferred => {
                let call = self.fates.deferred.take().unwrap_or_default();
                let ending = Ending::local(String::new()).because("tool_deferred");
                let ending = Ending {
                    stop_reason: Some("tool_deferred".to_owned()),
                    ..ending
                };
                Some(ending.with("deferred_tool_use", call))
            }
            AfterTools::StructuredDone => {
                let value = self.tally.structured_value.take().unwrap_or_default();
                let ending = Ending::completed(value.to_string(), stop());
                Some(ending.with("structured_output", value))
            }
            AfterTools::StructuredExhausted => Some(Ending::error(
                "error_max_structured_output_retries",
                "structured_output_retry_exhausted",
                stop(),
                format!(
                    "Failed to provide valid structured output after {} attempts — last \
                     StructuredOutput error: {}",
                    self.tally.structured_failures, self.tally.last_structured_error
                ),
            )),
            AfterTools::MaxTurns => self.out_of_turns(stop()),
        }
    }

    pub(super) fn budget_ending(&self, stop_reason: Option<&str>) -> Ending {
        let budget = self.core.options.limits.max_budget_usd.unwrap_or(0.0);
        Ending::error(
            "error_max_budget_usd",
            "budget_exhausted",
            stop_reason.map(str::to_owned),
            format!("Reached maximum budget (${budget})"),
        )
    }

    /// The turn was interrupted while the model was answering.
    pub(super) fn interrupted_ending(&mut self, heard: &Heard) -> Ending {
        self.core.push_assistant(&heard.content());
        self.feed_back();
        let text = heard.text();
        let stop = self.tally.last_stop.clone();
        aborted(self.interrupt.cause(), "aborted_streaming", stop, text)
    }

    pub(super) async fn api_failure(&mut self, failure: &ApiFailure) -> Ending {
        self.show_prompt().await;
        let told = failure::tell(failure, &self.model);
        let fields = failure::fields(failure, &told);
        let mut beside = Map::new();
        beside.insert("error".to_owned(), json!(told.class));
        beside.insert("is_api_error_message".to_owned(), json!(true));
        beside.extend(fields.clone());
        if let Some(id) = &failure.request_id {
            beside.insert("request_id".to_owned(), json!(id));
        }
        let stop = SyntheticStop::error();
        let text = self.say_failure(told.text, &stop, beside, told.class).await;
        let mut ending = error_in_success(text, "stop_sequence").because(told.terminal_reason);
        ending.beside.extend(fields);
        ending
    }

    pub(super) async fn output_limit(&mut self) -> Ending {
        let limit = self.max_output();
        let text = format!(
            "API Error: the answer exceeded the limit of {limit} output tokens again and again. \
             CLAUDE_CODE_MAX_OUTPUT_TOKENS sets another limit."
        );
        let class = "max_output_tokens";
        let mut beside = Map::new();
        beside.insert("error".to_owned(), json!(class));
        beside.insert("is_api_error_message".to_owned(), json!(true));
        beside.insert("api_error".to_owned(), json!(class));
        beside.insert(
            "api_error_params".to_owned(),
            json!({"cut": "output_limit"}),
        );
        let stop = SyntheticStop::error();
        let text = self.say_failure(text, &stop, beside, class).await;
        error_in_success(text, "stop_sequence").with("api_error", json!(class))
    }

    pub(super) async fn refused(&mut self, heard: &Heard) -> Ending {
        let refusal = self.refusal(heard);
        self.core
            .speaker
            .say(refusal.no_fallback(&self.model))
            .await;
        let text = format!("API Error: {} declined to answer this request.", self.model);
        let mut beside = Map::new();
        beside.insert("error".to_owned(), json!("invalid_request"));
        beside.insert("is_api_error_message".to_owned(), json!(true));
        if let Some(id) = heard.id() {
            beside.insert("refused_message_id".to_owned(), json!(id));
        }
        if let Some(id) = &heard.request_id {
            beside.insert("request_id".to_owned(), json!(id));
        }
        let stop = SyntheticStop::refusal(json!(refusal.details));
        let text = self
            .say_failure(text, &stop, beside, "invalid_request")
            .await;
        error_in_success(text, "refusal")
    }

    /// Shows why there is no answer, in the model's place; the model itself never sees it. Gives
    /// the text as it was shown.
    async fn say_failure(
        &mut self,
        text: String,
        stop: &SyntheticStop,
        beside: Map<String, Value>,
        class: &str,
    ) -> String {
        let text = self.displayed_text(&text).await.unwrap_or(text);
        let mut frame = assistant::synthetic(&text, stop, beside);
        let prompts = self.first_marks();
        assistant::mark_prompts(&mut frame, &prompts);
        let message = frame["message"].clone();
        let line = self.core.speaker.say(untyped(frame)).await;
        self.core.record.synthetic(&line, message, class);
        self.tell_stop_failure(class, &text).await;
        text
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
        let numbers = self.numbers(&ending);
        let mut ending = ending;
        if let Some(origin) = self.origin.take() {
            ending.beside.insert("origin".to_owned(), json!(origin));
        }
        let mut frame = result::frame(&ending, &numbers, &self.tally.denials, &self.prompts);
        // Prompts that joined the turn do not stand for it.
        if self.prompts.contains(&self.prompt) {
            frame["user_message_uuid"] = json!(self.prompt);
        }
        self.core.speaker.say(untyped(frame)).await;
        self.core.record.turn_ended(&self.core);
        self.core.mirror().await;
        let failed = ending.is_error && matches!(ending.kind, EndKind::Success(_));
        let unanswered = failed || self.interrupt.is_pulled();
        Finished {
            is_error: ending.is_error,
            prompts: if unanswered {
                CommandState::Cancelled
            } else {
                CommandState::Completed
            },
        }
    }

    fn numbers(&self, ending: &Ending) -> Numbers {
        let local = ending.terminal_reason.is_none();
        let mut ledger = self.core.ledger();
        let (result_index, model_usage_since) = ledger.close_turn();
        Numbers {
            duration_ms: self.tally.duration_ms(),
            duration_api_ms: u64::try_from(ledger.api_time().as_millis()).unwrap_or(u64::MAX),
            num_turns: if local { 0 } else { self.tally.user_lines + 1 },
            total_cost_usd: ledger.total_cost(),
            usage: self.tally.tokens.usage(),
            model_usage: ledger.model_usage(),
            model_usage_since,
            result_index,
            queued: self.core.queue().waiting_people(),
            safety_stops: ledger.safety_stops,
            times: if ending.is_answered() {
                self.tally.times(!self.prompts.is_empty())
            } else {
                Map::new()
            },
        }
    }
}

/// An error of the API arrives as a success that is an error.
fn error_in_success(text: String, stop_reason: &str) -> Ending {
    let mut ending = Ending::completed(text, Some(stop_reason.to_owned())).because("api_error");
    ending.is_error = true;
    ending
}

fn aborted(
    cause: Cause,
    reason: &'static str,
    stop_reason: Option<String>,
    said: String,
) -> Ending {
    match cause {
        // What was said until then is the answer.
        Cause::Preempted if reason == "aborted_tools" || !said.is_empty() => {
            Ending::completed(said, stop_reason).because(reason)
        }
        Cause::Preempted | Cause::User => {
            let stop = stop_reason.as_deref().unwrap_or("null");
            let text = format!(
                "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}"
            );
            Ending::error("error_during_execution", reason, stop_reason, text)
        }
    }
}
