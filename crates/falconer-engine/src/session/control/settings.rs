//! Settings.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::model::{self, Wish};
use super::{Outcome, empty, text};
use crate::frame::reply::Reply;
use crate::session::core::Core;
use crate::session::line::Request;
use crate::session::preferences::source_name;
use crate::settings::{Change, Scope};

/// Changes settings for this session.
pub(super) async fn apply_flag(core: &Arc<Core>, request: &Request) -> Outcome {
    let Value::Object(settings) = &request.body["settings"] else {
        return Reply::failure("settings is missing or not an object").into();
    };
    let changed = core.settings().with_flag(Value::Object(settings.clone()));
    if changed.check_sandbox().is_err() {
        return Reply::failure("a sandbox is not available in this engine").into();
    }
    core.take_settings(changed);
    let model = settings.get("model").and_then(Value::as_str);
    let id = model.map(falconer_model::resolve_model);
    match (model, id.filter(|id| *id != core.model())) {
        (Some(model), Some(id)) => {
            let wish = Wish {
                requested: Some(model.to_owned()),
                shown: id.clone(),
                id,
            };
            model::switch(core, request, wish, Reply::Done).await
        }
        _ => Reply::Done.into(),
    }
}

/// Changes a settings file: what is said there is in force for sessions to come.
///
/// Only what cannot give anybody more rights.
pub(super) fn update(core: &Core, body: &Value) -> Reply {
    let Some(settings) = body["settings"].as_object() else {
        return Reply::failure("settings is missing or not an object");
    };
    let (scope, known) = match text(body, "source") {
        Ok("localSettings") => (Scope::Local, "outputStyle"),
        Ok("userSettings") => (Scope::User, "effortLevel"),
        Ok(other) => return Reply::failure(format!("settings of {other} cannot be changed")),
        Err(reply) => return reply,
    };
    for (key, value) in settings {
        let Some(value) = value.as_str().filter(|_| key == known) else {
            return Reply::failure(format!("`{key}` cannot be changed in this settings file"));
        };
        let path = match scope {
            Scope::User => vec!["modelSettings".to_owned(), core.model(), key.clone()],
            Scope::Local | Scope::Project => vec![key.clone()],
        };
        let change = Change::Text {
            path,
            value: value.to_owned(),
        };
        match core.files.write(scope, &change) {
            Ok(path) => core.watch().accept(&path),
            Err(error) => return Reply::failure(error.to_string()),
        }
    }
    empty()
}

/// The answer to `get_settings`.
#[derive(Debug, Serialize)]
struct Listing {
    effective: Value,
    sources: Vec<Layer>,
    applied: Applied,
}

/// The settings of one file or flag.
#[derive(Debug, Serialize)]
struct Layer {
    source: &'static str,
    settings: Value,
}

/// What settings come to.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied {
    model: String,
    effort: Option<String>,
    // Features of the official CLI that this engine does not have.
    advisor: Option<String>,
    ultracode: bool,
    ultracode_requested: bool,
    ultracode_available: bool,
    ultrathink_available: bool,
    outside_file_tool_reads_blocked: bool,
    outside_file_tool_writes_blocked: bool,
    outside_blocks_count_launch_folders_only: bool,
    launch_env_left_own_files_in_place: bool,
}

/// The settings in force, and where they come from.
pub(super) fn get(core: &Core) -> Reply {
    let settings = core.settings();
    let layers = settings.layers().iter().map(|layer| Layer {
        source: source_name(layer.source),
        settings: layer.value.clone(),
    });
    let sources = layers.collect();
    let effective = settings.effective().clone();
    drop(settings);
    Reply::success(&Listing {
        effective,
        sources,
        applied: Applied {
            model: core.model(),
            effort: core.effort_level(),
            launch_env_left_own_files_in_place: true,
            ..Applied::default()
        },
    })
}
