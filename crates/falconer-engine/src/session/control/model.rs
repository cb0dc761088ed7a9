//! Which model, and how much it thinks.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Outcome;
use crate::frame::reply::{Failure, Reply};
use crate::frame::user;
use crate::session::config::Thinking;
use crate::session::core::Core;
use crate::session::models;

/// Changes the model. One we do not know is tried first.
pub(super) async fn set_model(core: &Arc<Core>, body: &Value) -> Outcome {
    let wanted = match &body["model"] {
        Value::String(name) if !name.trim().is_empty() => name.clone(),
        Value::Null | Value::String(_) => core.options.default_model.clone(),
        _ => return Reply::failure("model is not a text").into(),
    };
    let id = models::resolve(&wanted);
    if models::is_known(&id) || id == core.model() || id == core.options.default_model {
        return take(core, &wanted, &id).await.into();
    }
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        match core.probe(&id).await {
            Ok(()) => take(&core, &wanted, &id).await,
            Err(_) => not_found(&core, &id),
        }
    }))
}

async fn take(core: &Core, wanted: &str, id: &str) -> Reply {
    let started = {
        let mut state = core.state();
        id.clone_into(&mut state.model);
        state.turns > 0
    };
    if started {
        let shown = if wanted == id {
            id.to_owned()
        } else {
            format!("{wanted} ({id})")
        };
        let text = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
        core.speaker.say(user::replay(&Value::String(text))).await;
    }
    Reply::Success(json!({"model": id}))
}

fn not_found(core: &Core, id: &str) -> Reply {
    let mut beside = Map::new();
    beside.insert("model".to_owned(), json!(core.model()));
    Reply::Failure(Failure {
        error: format!("Model '{id}' not found"),
        code: Some("not_found"),
        beside,
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
    Reply::Success(json!({"models": models::list()}))
}
