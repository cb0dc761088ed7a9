//! The start of a run, and turns.

use std::collections::BTreeMap;

use falconer_protocol::message::{PermissionDenial, ResultMessage};
use falconer_protocol::system::Init;
use falconer_protocol::usage::Usage;
use serde_json::Value;

use super::Normaliser;
use super::conversation::Entered;
use crate::body::{Body, RunStarted, SessionChanged};
use crate::envelope::{Draft, Source};
use crate::failure::FailureKind;
use crate::turn::{Denial, Failure, INTERRUPTED, Tokens, TurnCompleted, TurnStarted};

impl Normaliser {
    /// A turn begins; the first one tells that the run has started.
    pub(super) fn init(&mut self, init: &Init, out: &mut Vec<Draft>) {
        let session = init.session_id.as_ref().map(|id| id.as_str().to_owned());
        match self.conversation.enter(session) {
            Entered::Started => {
                let started = Body::RunStarted(Box::new(self.started(init)));
                out.push(Draft::new(Source::Falconer, started));
            }
            Entered::Reset(session) => self.reset(session, out),
            Entered::Same => {}
        }
        self.notice_changes(init, out);
        let prompts = init.user_message_uuids.iter().flatten();
        let prompts: Vec<String> = prompts.map(|id| id.as_str().to_owned()).collect();
        if !self.turns.is_under_way(&prompts) {
            let model = init.model.clone();
            self.begin_turn(TurnStarted { prompts, model }, out);
        }
    }

    /// The agent itself says something.
    pub(super) fn speaks(&mut self, out: &mut Vec<Draft>) {
        self.ensure_turn(out);
        self.turns.speaks();
    }

    fn started(&self, init: &Init) -> RunStarted {
        let mode = init.permission_mode.as_ref();
        RunStarted {
            engine: self.run.engine.clone(),
            engine_reason: self.run.engine_reason.clone(),
            version: init.claude_code_version.clone(),
            native_session: self.conversation.session().unwrap_or_default().to_owned(),
            model: init.model.clone(),
            cwd: init.cwd.clone(),
            permission_mode: mode.map(|mode| mode.as_str().to_owned()),
            auth: self
                .run
                .auth
                .clone()
                .or_else(|| init.api_key_source.clone()),
            billing: self.run.billing.clone(),
            sandbox: self.run.sandbox.clone(),
            confinement: self.run.confinement.clone(),
            tools: init.tools.clone(),
            tool_schemas: self.tool_schemas(init),
            mcp_servers: (init.mcp_servers.iter())
                .map(|server| (server.name.clone(), server.status.clone()))
                .collect(),
        }
    }

    /// Returns the input schemas of tools, from the engine if it has them, else from the host.
    fn tool_schemas(&self, init: &Init) -> BTreeMap<String, Value> {
        let mut schemas = self.run.tool_schemas.clone();
        schemas.extend(init.tool_schemas.clone().into_iter().flatten());
        schemas
    }

    /// Reports settings that differ from those of the turn before.
    fn notice_changes(&mut self, init: &Init, out: &mut Vec<Draft>) {
        if let Some(to) = init.model.clone()
            && let Some(from) = self.conversation.model_is(&to)
        {
            let (from, reason) = (Some(from), None);
            let change = SessionChanged::Model { from, to, reason };
            self.push(None, Body::SessionChanged(change), out);
        }
        if let Some(mode) = &init.permission_mode {
            self.mode_is(mode.as_str(), out);
        }
    }

    /// The mode now; the first one is no change.
    pub(super) fn mode_is(&mut self, now: &str, out: &mut Vec<Draft>) {
        if self.conversation.mode_is(now) {
            let to = now.to_owned();
            let change = SessionChanged::Mode { to };
            self.push(None, Body::SessionChanged(change), out);
        }
    }

    pub(super) fn reset(&mut self, native_session: Option<String>, out: &mut Vec<Draft>) {
        let change = SessionChanged::Reset { native_session };
        self.push(None, Body::SessionChanged(change), out);
    }

    pub(super) fn begin_turn(&mut self, started: TurnStarted, out: &mut Vec<Draft>) {
        self.turns.begin(started.prompts.clone());
        self.push(None, Body::TurnStarted(started), out);
    }

    /// For messages that come without an `init` before them.
    fn ensure_turn(&mut self, out: &mut Vec<Draft>) {
        if self.turns.is_empty() {
            self.begin_turn(TurnStarted::default(), out);
        }
    }

    /// The end of the oldest open turn: results come in the order of their turns.
    pub(super) fn result(&mut self, result: &ResultMessage, out: &mut Vec<Draft>) {
        if !result.is_error {
            self.start_without_init(result.session_id.as_ref().map(|id| id.as_str()), out);
        }
        self.ensure_turn(out);
        if let Some(total) = &result.total_cost_usd {
            self.spending.engine_says(total.as_f64());
        }
        let turn = self.turns.oldest();
        self.end_writing(turn, out);
        out.extend(self.calls.abort_of(turn));
        self.complete_turn(self.completed(result), out);
    }

    /// An engine that does not stream names its session with its answer. One that fails names
    /// a session too, but that was never begun.
    pub(super) fn start_without_init(&mut self, session: Option<&str>, out: &mut Vec<Draft>) {
        let (false, Some(session)) = (self.conversation.has_started(), session) else {
            return;
        };
        let init = Init {
            session_id: Some(session.into()),
            ..Init::default()
        };
        self.conversation.enter(Some(session.to_owned()));
        let started = Body::RunStarted(Box::new(self.started(&init)));
        out.push(Draft::new(Source::Falconer, started));
    }

    /// Warnings first, so that nothing of the turn comes after its completion.
    pub(super) fn complete_turn(&mut self, completed: TurnCompleted, out: &mut Vec<Draft>) {
        let turn = self.turns.end();
        for denial in &completed.denials {
            let before = out.len();
            self.warn(
                "permission_denied",
                &format!("permission denied: {}", denial.tool),
                out,
            );
            out[before].turn = turn;
        }
        out.push(Draft {
            turn,
            ..Draft::new(Source::Agent, Body::TurnCompleted(Box::new(completed)))
        });
    }

    fn completed(&self, result: &ResultMessage) -> TurnCompleted {
        let ok = !result.is_error;
        let text = result.result.clone().filter(|text| !text.is_empty());
        let models = result.model_usage.iter();
        let number = |value: &Option<falconer_protocol::Number>| {
            value.as_ref().map_or(0.0, |value| value.as_f64())
        };
        TurnCompleted {
            ok,
            // What was said is the partial answer of a turn that failed.
            text: (text.filter(|_| ok))
                .or_else(|| self.turns.oldest_said().map(str::to_owned))
                .unwrap_or_default(),
            structured_output: result.structured_output.clone(),
            failure: (!ok)
                .then(|| failure(result).of_kind(FailureKind::of(result, self.turns.error()))),
            tokens: result.usage.as_ref().map(tokens).unwrap_or_default(),
            models: models
                .filter_map(|(name, usage)| Some((name.clone(), serde_json::to_value(usage).ok()?)))
                .collect(),
            total_cost_usd: self.spending.usd(),
            model_turns: result.num_turns.unwrap_or(0),
            duration_ms: number(&result.duration_ms),
            api_duration_ms: number(&result.duration_api_ms),
            denials: result.permission_denials.iter().map(denial).collect(),
            stop_reason: result
                .stop_reason
                .as_ref()
                .map(|reason| reason.as_str().to_owned()),
            terminal_reason: (result.terminal_reason.as_ref())
                .map(|reason| reason.as_str().to_owned()),
            prompts: prompts(result),
            origin: result.origin.as_ref().and_then(origin),
        }
    }
}

fn prompts(result: &ResultMessage) -> Vec<String> {
    let several = result.user_message_uuids.iter().flatten();
    let mut prompts: Vec<String> = several.map(|id| id.as_str().to_owned()).collect();
    if let (true, Some(one)) = (prompts.is_empty(), &result.user_message_uuid) {
        prompts.push(one.as_str().to_owned());
    }
    prompts
}

fn origin(origin: &falconer_protocol::message::MessageOrigin) -> Option<String> {
    let origin = serde_json::to_value(origin).ok()?;
    origin["kind"].as_str().map(str::to_owned)
}

fn denial(denial: &PermissionDenial) -> Denial {
    Denial {
        tool: denial.tool_name.clone(),
        id: denial.tool_use_id.as_str().to_owned(),
        input: denial.tool_input.clone(),
    }
}

fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        input: usage.input_tokens.unwrap_or(0),
        output: usage.output_tokens.unwrap_or(0),
        cache_read: usage.cache_read_input_tokens.unwrap_or(0),
        cache_write: usage.cache_creation_input_tokens.unwrap_or(0),
    }
}

/// The text is what the result says, else its errors, else its subtype, else its denials.
fn failure(result: &ResultMessage) -> Failure {
    if is_interrupted(result) {
        return Failure::new(INTERRUPTED, interruption(result));
    }
    let subtype = result.subtype.as_str();
    let denied = || {
        let tools: Vec<&str> = (result.permission_denials.iter())
            .map(|denial| denial.tool_name.as_str())
            .collect();
        format!("permission denied: {}", tools.join(", "))
    };
    let said = result.result.clone().filter(|text| !text.trim().is_empty());
    let text = said
        .or_else(|| (!result.errors.is_empty()).then(|| result.errors.join("\n")))
        .or_else(|| (subtype != "success" && !subtype.is_empty()).then(|| subtype.to_owned()))
        .or_else(|| (!result.permission_denials.is_empty()).then(denied))
        .unwrap_or_else(|| "the engine reports an error without a word".to_owned());
    Failure::new(class(result), text)
}

fn is_interrupted(result: &ResultMessage) -> bool {
    let reason = result.terminal_reason.as_ref();
    reason.is_some_and(|reason| reason.as_str().starts_with("aborted"))
}

/// Returns a text for users; the engine's own text about an interruption is meant for its makers.
fn interruption(result: &ResultMessage) -> String {
    let said = result.result.iter().chain(&result.errors);
    let mut said = said.filter(|text| !text.trim().is_empty() && !text.starts_with('['));
    let said = said.next().cloned();
    said.unwrap_or_else(|| "the turn was interrupted".to_owned())
}

fn class(result: &ResultMessage) -> String {
    let reason = result.startup_failure_reason.as_ref();
    if let Some(reason) = reason {
        return format!("startup:{}", reason.as_str());
    }
    if result.subtype.as_str() != "success" {
        return result.subtype.as_str().to_owned();
    }
    let reason = result
        .terminal_reason
        .as_ref()
        .map(|reason| reason.as_str());
    reason.unwrap_or("error").to_owned()
}
