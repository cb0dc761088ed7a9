//! Which model, and how much it thinks.

use std::sync::Arc;

use falconer_protocol::control::{ListModelsResponse, SetModelResponse};
use falconer_protocol::system::Level;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Outcome;
use crate::frame::reply::{Failure, Reply};
use crate::frame::{system, user};
use crate::session::config::Thinking;
use crate::session::core::Core;
use crate::session::line::Request;
use crate::session::switch::{Source, Switch};

/// A model somebody wants.
#[derive(Debug)]
pub(super) struct Wish {
    /// As it was asked for; nothing for the model of the start.
    pub(super) requested: Option<String>,
    /// As people read it in the line that tells of the change.
    pub(super) shown: String,
    pub(super) id: String,
}

/// Changes the model. One we do not know is tried first.
pub(super) async fn set_model(core: &Arc<Core>, request: &Request) -> Outcome {
    let requested = match &request.body["model"] {
        Value::String(name) if !name.trim().is_empty() => Some(name.clone()),
        Value::Null | Value::String(_) => None,
        _ => return Reply::failure("model is not a text").into(),
    };
    let wanted = requested.clone();
    let wanted = wanted.unwrap_or_else(|| core.options.default_model.clone());
    let id = falconer_model::resolve_model(&wanted);
    let shown = if wanted == id {
        id.clone()
    } else {
        format!("{wanted} ({id})")
    };
    let wish = Wish {
        requested,
        shown,
        id,
    };
    let done = Reply::success(&SetModelResponse {
        model: Some(wish.id.clone()),
        ..SetModelResponse::default()
    });
    switch(core, request, wish, done).await
}

/// Takes another model and answers with `done`, at once if nobody has to be asked.
pub(super) async fn switch(
    core: &Arc<Core>,
    request: &Request,
    wish: Wish,
    done: Reply,
) -> Outcome {
    let id = &wish.id;
    let is_known = falconer_model::is_known_model(id)
        || *id == core.model()
        || *id == core.options.default_model;
    if is_known && !core.has_switch_hooks() {
        take(core, &wish, Vec::new()).await;
        return done.into();
    }
    let pending = Pending::new(core);
    let answer_to = request.id.clone();
    Outcome::Alone(Box::pin(async move {
        let core = &pending.core;
        let reply = if is_known || core.probe(&wish.id).await.is_ok() {
            change(core, &wish).await.map(|switch| (done, switch))
        } else {
            Err(kept(
                core,
                "not_found",
                format!("Model '{}' not found", wish.id),
            ))
        };
        let (reply, switch) = match reply {
            Ok((reply, switch)) => (reply, Some(switch)),
            Err(reply) => (reply, None),
        };
        core.speaker.reply(&reply.frame(answer_to.as_ref())).await;
        if let Some(switch) = switch {
            core.tell_switched(&switch, &CancellationToken::new()).await;
        }
    }))
}

/// A change that hooks think about; no turn starts while there is one.
struct Pending {
    core: Arc<Core>,
}

impl Pending {
    fn new(core: &Arc<Core>) -> Self {
        core.state().pending_switches += 1;
        Self {
            core: Arc::clone(core),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.core.state().pending_switches -= 1;
    }
}

/// Asks hooks and takes the model. Fails with the answer that it stays as it was.
async fn change(core: &Core, wish: &Wish) -> Result<Switch, Reply> {
    let switch = Switch {
        from: core.model(),
        to: wish.id.clone(),
        requested: wish.requested.clone(),
        source: Source::Host,
    };
    match core.ask_to_switch(&switch, &CancellationToken::new()).await {
        Ok(messages) => {
            take(core, wish, messages).await;
            Ok(switch)
        }
        Err(why) => Err(kept(core, "blocked_by_hook", why)),
    }
}

async fn take(core: &Core, wish: &Wish, messages: Vec<String>) {
    let is_worth_telling = {
        let mut state = core.state();
        let is_another = state.model != wish.id;
        state.model.clone_from(&wish.id);
        is_another && state.turns > 0
    };
    if is_worth_telling {
        let shown = &wish.shown;
        let text = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
        core.speaker.say(user::replay(&Value::String(text))).await;
    }
    for message in messages {
        let frame = system::informational(message, Level::Notice);
        core.speaker.say(frame).await;
    }
}

/// A failure that says which model is still in use.
fn kept(core: &Core, code: &'static str, error: String) -> Reply {
    Reply::Failure(Failure {
        error,
        code: Some(code),
        model: Some(core.model()),
    })
}

/// Changes how much the model thinks: a number, 0 for not at all, null for what it does best.
pub(super) fn set_thinking(core: &Core, body: &Value) -> Reply {
    let thinking = match &body["max_thinking_tokens"] {
        Value::Null => Thinking::Unsaid,
        value => match value.as_u64() {
            Some(0) => Thinking::Disabled,
            Some(tokens) => Thinking::Budget(tokens),
            None => return Reply::failure("max_thinking_tokens is not a whole number"),
        },
    };
    core.state().thinking = thinking;
    Reply::Done
}

pub(super) fn list() -> Reply {
    Reply::success(&ListModelsResponse {
        models: falconer_model::list_models(),
        ..ListModelsResponse::default()
    })
}
