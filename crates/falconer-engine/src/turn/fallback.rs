//! Other models: for one that is not there, and for one that declines.

use falconer_protocol::MessageUuid;
use serde_json::Value;

use super::Turn;
use super::listen::Heard;
use crate::frame::system;
use crate::session::switch::{self, Switch};

impl Turn {
    /// Takes the next model, if there is one.
    pub(crate) async fn fall_back(&mut self, trigger: &str) -> bool {
        let Some(next) = self.fallbacks.pop_front() else {
            return false;
        };
        let frame = system::model_fallback(trigger, &self.model, &next);
        self.core.speaker.say(frame).await;
        self.model = next;
        true
    }

    /// The model to ask after a refusal. `--fallback-model` is for models that are not there.
    pub(super) fn model_after_refusal(&self, heard: &Heard) -> Option<&'static str> {
        let details = heard.message.get("stop_details")?;
        falconer_model::after_refusal(&self.model, details.get("category")?.as_str()?)
    }

    /// Another model takes over, for the rest of the session. It does not see the refusal.
    pub(super) async fn fall_back_from_refusal(&mut self, heard: &Heard) {
        let Some(next) = self.model_after_refusal(heard) else {
            return;
        };
        self.core.take_back_answer(heard);
        let switch = Switch {
            from: std::mem::replace(&mut self.model, next.to_owned()),
            to: next.to_owned(),
            requested: None,
            source: switch::Source::Refusal,
        };
        next.clone_into(&mut self.core.state().model);
        self.core
            .tell_switched(&switch, self.interrupt.token())
            .await;
        let lines = heard.blocks.iter().filter_map(|it| it.line.clone());
        let retracted: Vec<MessageUuid> = lines.collect();
        let frame = self.refusal(heard).fallback(&switch.from, next, retracted);
        self.core.speaker.say(frame).await;
    }

    pub(super) fn refusal(&self, heard: &Heard) -> system::Refusal {
        system::Refusal {
            details: heard
                .message
                .get("stop_details")
                .and_then(Value::as_object)
                .cloned(),
            prompt: self.prompt.clone(),
            request_id: heard.request_id.clone(),
        }
    }
}
