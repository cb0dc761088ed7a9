//! What a turn counts and times.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use falconer_protocol::Number;
use falconer_protocol::message::{PermissionDenial, ResultMessage, StopReason};
use serde_json::Value;

use super::decide::{Batch, Progress, Structured};
use crate::session::ledger::Tokens;

/// The counters of one turn.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) started: Instant,
    /// Lines fed back to the model: results and notes.
    pub(crate) user_lines: u64,
    pub(crate) requests: u64,
    pub(crate) tokens: Tokens,
    pub(crate) output_recoveries: u32,
    pub(crate) refusals: u32,
    pub(crate) empty_nudges: u32,
    pub(crate) stop_blocks: u32,
    pub(crate) structured: Structured,
    pub(crate) structured_value: Option<Value>,
    pub(crate) structured_failures: u32,
    pub(crate) last_structured_error: String,
    pub(crate) denials: Vec<PermissionDenial>,
    /// Why the last answer that was complete ended.
    pub(crate) last_stop: Option<StopReason>,
    first_request: Option<(Instant, u64)>,
    first_stream: Option<Instant>,
    first_content: Option<Instant>,
    /// When an answer came in one piece.
    first_whole: Option<Instant>,
    first_usage: Option<Tokens>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            user_lines: 0,
            requests: 0,
            tokens: Tokens::default(),
            output_recoveries: 0,
            refusals: 0,
            empty_nudges: 0,
            stop_blocks: 0,
            structured: Structured::NotAsked,
            structured_value: None,
            structured_failures: 0,
            last_structured_error: String::new(),
            denials: Vec::new(),
            last_stop: None,
            first_request: None,
            first_stream: None,
            first_content: None,
            first_whole: None,
            first_usage: None,
        }
    }

    /// A request was sent at this time and its answer has begun.
    pub(crate) fn request_taken(&mut self, sent: (Instant, u64)) {
        self.first_request.get_or_insert(sent);
    }

    pub(crate) fn stream_begun(&mut self) {
        self.first_stream.get_or_insert_with(Instant::now);
    }

    pub(crate) fn content_begun(&mut self) {
        self.first_content.get_or_insert_with(Instant::now);
    }

    pub(crate) fn whole_came(&mut self) {
        self.first_whole.get_or_insert_with(Instant::now);
    }

    pub(crate) fn answered(&mut self, tokens: Tokens) {
        self.requests += 1;
        self.tokens.add(&tokens);
        self.first_usage.get_or_insert(tokens);
    }

    /// An answer began and was cut short by the host.
    pub(crate) fn began(&mut self, tokens: Tokens) {
        self.first_usage.get_or_insert(tokens);
    }

    /// An answer began and broke off; what it had used by then counts.
    pub(crate) fn broke_off(&mut self, tokens: &Tokens) {
        self.tokens.add(tokens);
    }

    pub(crate) fn progress(
        &self,
        max_turns: u64,
        over_budget: bool,
        fallback_left: bool,
    ) -> Progress {
        Progress {
            requests: self.requests,
            output_recoveries: self.output_recoveries,
            refusals: self.refusals,
            empty_nudges: self.empty_nudges,
            fallback_left,
            over_budget,
            max_turns,
            structured: self.structured,
        }
    }

    pub(crate) fn batch(&self, fates: &super::Fates) -> Batch {
        Batch {
            interrupted: fates.interrupted,
            deferred: fates.deferred.is_some(),
            hook_stopped: fates.hook_stopped,
            structured_done: self.structured_value.is_some(),
            structured_failures: self.structured_failures,
        }
    }

    pub(crate) fn duration_ms(&self) -> u64 {
        millis(self.started.elapsed())
    }

    /// Adds the times to a result; `traced` turns, whose prompt has a uuid, tell a little more.
    pub(crate) fn add_times(&self, result: &mut ResultMessage, traced: bool) {
        let since = |then: Option<Instant>| {
            let passed = then?.saturating_duration_since(self.started);
            Some(Number::from(millis(passed)))
        };
        result.ttft_ms = since(self.first_content.or(self.first_whole));
        result.ttft_stream_ms = since(self.first_stream);
        result.time_to_request_ms = since(self.first_request.map(|it| it.0));
        result.first_content_frame_ms = since(self.first_content);
        if traced {
            let usage = self.first_usage;
            result.request_sent_wall_ms = self.first_request.map(|it| Number::from(it.1));
            result.first_request_input_tokens = usage.map(|it| it.input);
            result.first_request_cache_read_input_tokens = usage.map(|it| it.cache_read);
        }
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn wall_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
