//! Changing the model while a session runs: hooks are asked before it and told after it.

use std::time::{Duration, Instant};

use falconer_protocol::Number;
use falconer_protocol::hook::{
    HookEvent, HookInput, HookPermissionDecision, PostModelSwitchInput, PreModelSwitchInput,
};
use falconer_protocol::system::Informational;
use tokio_util::sync::CancellationToken;

use super::core::Core;
use crate::turn::hooks::Base;

/// How long the API keeps a prompt that it has seen.
const CACHE_LIFE: Duration = Duration::from_secs(300);

/// A change of the model.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) from: String,
    pub(crate) to: String,
    /// What was asked for; nothing for the model of the start.
    pub(crate) requested: Option<String>,
    pub(crate) source: Source,
}

/// Who changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `/model`
    Command,
    Host,
    /// The engine itself, because the model declined.
    Refusal,
}

/// What hooks of the last change have to say in the next turn.
#[derive(Debug, Default)]
pub(crate) struct SwitchNotes {
    /// Lines for the host.
    pub(crate) notices: Vec<Informational>,
    /// Texts for the model.
    pub(crate) contexts: Vec<String>,
}

/// The last answer of the model: what the next request sends again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastAnswer {
    pub(crate) tokens: u64,
    pub(crate) at: Instant,
}

impl Source {
    fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Host => "sdk",
            Self::Refusal => "auto",
        }
    }
}

/// Both events are told the same.
macro_rules! told {
    ($core:expr, $switch:expr, $variant:ident, $name:ident) => {{
        let (core, switch): (&Core, &Switch) = ($core, $switch);
        let last_prompt = core.state().last_prompt_id.clone();
        let last = core.state().last_answer;
        let base = Base::of_session(core, last_prompt.as_deref());
        let tokens = last.map_or(0, |it| it.tokens);
        let input = $name {
            session_id: Some(base.session_id),
            transcript_path: Some(base.transcript_path),
            cwd: Some(base.cwd),
            prompt_id: base.prompt_id,
            from_model: switch.from.clone(),
            to_model: switch.to.clone(),
            requested_model: switch.requested.clone(),
            source: Some(switch.source.word().to_owned()),
            context_tokens: Some(tokens),
            prompt_cache_warm: Some(last.is_some_and(|it| it.at.elapsed() < CACHE_LIFE)),
            cache_ttl: Some("5m".to_owned()),
            estimated_cache_write_usd: Some(core.cache_write_cost(&switch.to, tokens)),
            pricing: Some("catalog".to_owned()),
            ..$name::default()
        };
        HookInput::$variant(Box::new(input.with_empty("requested_model")))
    }};
}

impl Core {
    /// Whether anybody wants to hear of changes.
    pub(crate) fn has_switch_hooks(&self) -> bool {
        self.hooks.has(&HookEvent::PreModelSwitch) || self.hooks.has(&HookEvent::PostModelSwitch)
    }

    /// Asks hooks before a change. Gives what they want the user to know; fails with what they
    /// object. A hook that does not answer objects.
    pub(crate) async fn ask_to_switch(
        &self,
        switch: &Switch,
        cancelled: &CancellationToken,
    ) -> Result<Vec<String>, String> {
        if !self.hooks.has(&HookEvent::PreModelSwitch) || switch.from == switch.to {
            return Ok(Vec::new());
        }
        let input = told!(self, switch, PreModelSwitch, PreModelSwitchInput);
        let fired = self.hooks.fire(&input, Some(&switch.to), cancelled).await;
        let objects = |it: &crate::hook::Decision| it.decision != HookPermissionDecision::Allow;
        let objection = match fired.permission.filter(objects) {
            Some(decision) => decision.reason.unwrap_or_default(),
            None if fired.no_verdict.is_some() => "it gave no answer".to_owned(),
            None => return Ok(fired.system_messages),
        };
        let mut text = format!("Model switch blocked by a PreModelSwitch hook: {objection}");
        for message in &fired.system_messages {
            text.push('\n');
            text.push_str(message);
        }
        Err(text)
    }

    /// Tells hooks of a change. What they say waits for the next turn, unless the model is
    /// changed again before.
    pub(crate) async fn tell_switched(&self, switch: &Switch, cancelled: &CancellationToken) {
        if switch.from == switch.to {
            return;
        }
        self.state().switch_notes = SwitchNotes::default();
        if !self.hooks.has(&HookEvent::PostModelSwitch) {
            return;
        }
        let input = told!(self, switch, PostModelSwitch, PostModelSwitchInput);
        let fired = self.hooks.fire(&input, Some(&switch.to), cancelled).await;
        let notices = fired.notices(&format!("PostModelSwitch:{}", switch.to));
        self.state().switch_notes = SwitchNotes {
            notices,
            contexts: fired.contexts,
        };
    }

    /// What it costs to have so many tokens kept for a model, in dollars with four digits.
    fn cache_write_cost(&self, model: &str, tokens: u64) -> Number {
        let cost = (self.prices.cache_write(model, tokens) * 10_000.0).round();
        if cost > 0.0 {
            Number::from(cost / 10_000.0)
        } else {
            Number::from(0)
        }
    }
}
