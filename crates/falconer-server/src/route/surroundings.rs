//! What sessions are made of: engines, models, folders, rendered texts.

use std::sync::Arc;

use axum::extract::{Path, State};
use falconer_session::EngineInfo;
use falconer_store::SessionId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::{
    Command, Commands, EngineList, Folder, FolderList, Model, ModelList, Render, Rendered, said,
};
use crate::app::App;
use crate::input::{Asked, Json};
use crate::problem::{Code, Problem};
use crate::render;

/// The engines and whether they could be started now
#[utoipa::path(get, path = "/v1/engines", tag = "surroundings",
    responses((status = 200, description = "Best first", body = EngineList)))]
pub(crate) async fn list_engines(
    State(app): State<Arc<App>>,
) -> Result<axum::Json<EngineList>, Problem> {
    let hub = app.hub.clone();
    let engines = tokio::task::spawn_blocking(move || hub.engines()).await;
    let engines = engines.map_err(|error| Problem::internal("list the engines", error))?;
    Ok(axum::Json(EngineList { engines }))
}

/// Of which engine.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListModels {
    /// A name from `/v1/engines`; the first of them if nothing is said.
    engine: Option<String>,
}

/// The models of an engine: those it named when it was last started, else those known of it
#[utoipa::path(get, path = "/v1/models", tag = "surroundings", params(ListModels),
    responses((status = 200, description = "What `model` can be", body = ModelList)))]
pub(crate) async fn list_models(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ListModels>,
) -> Result<axum::Json<ModelList>, Problem> {
    let asked = asked.engine.filter(|engine| !engine.is_empty());
    let (hub, wanted) = (app.hub.clone(), asked.clone());
    // Looking at the engines looks at files.
    let looked = tokio::task::spawn_blocking(move || {
        let mut engines = hub.engines().into_iter().map(|engine| engine.name);
        let engine = match wanted {
            Some(wanted) => engines.find(|engine| *engine == wanted),
            None => engines.next(),
        };
        engine.map(|engine| (hub.models(&engine), engine))
    });
    let found = looked.await;
    let found = found.map_err(|error| Problem::internal("list the models", error))?;
    let unknown = || Problem::not_found("engine", asked.unwrap_or_default());
    let (models, engine) = found.ok_or_else(unknown)?;
    Ok(axum::Json(ModelList {
        engine,
        models: models.into_iter().map(Model::from).collect(),
    }))
}

/// The commands and models of a session's engine; empty unless it runs
#[utoipa::path(get, path = "/v1/sessions/{id}/commands", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "What can be asked for", body = Commands)))]
pub(crate) async fn list_commands(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<axum::Json<Commands>, Problem> {
    let id = SessionId::from(id);
    app.store.session(&id).await?;
    let info = match app.hub.info(&id).await {
        Ok(info) => info,
        Err(falconer_hub::Error::NotRunning(_) | falconer_hub::Error::Closed(_)) => {
            EngineInfo::default()
        }
        Err(error) => return Err(error.into()),
    };
    Ok(axum::Json(Commands {
        commands: (info.commands.into_iter())
            .map(|command| Command {
                name: command.name,
                description: said(command.description),
                argument_hint: said(command.argument_hint),
            })
            .collect(),
        models: info.models.into_iter().map(Model::from).collect(),
    }))
}

/// Which folder.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListFolders {
    /// An absolute path; the roots if nothing is said.
    path: Option<String>,
}

/// The folders in a folder, below the configured roots
#[utoipa::path(get, path = "/v1/folders", tag = "surroundings", params(ListFolders),
    responses((status = 200, description = "By name", body = FolderList)))]
pub(crate) async fn list_folders(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ListFolders>,
) -> Result<axum::Json<FolderList>, Problem> {
    let roots = app.roots.clone();
    let path = asked.path.filter(|path| !path.is_empty());
    let listing = tokio::task::spawn_blocking(move || roots.list(path.as_deref())).await;
    let listing = listing.map_err(|error| Problem::internal("list a folder", error))??;
    let folders = listing.folders.into_iter().map(|path| Folder {
        name: path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        path: path.to_string_lossy().into_owned(),
    });
    Ok(axum::Json(FolderList {
        path: listing.path.map(|path| path.to_string_lossy().into_owned()),
        folders: folders.collect(),
    }))
}

/// Markdown of an agent as HTML that is safe to show
#[utoipa::path(post, path = "/v1/render", tag = "surroundings", request_body = Render,
    responses((status = 200, description = "In the order of the texts", body = Rendered)))]
pub(crate) async fn render_texts(
    Json(asked): Json<Render>,
) -> Result<axum::Json<Rendered>, Problem> {
    let is_small = asked.texts.iter().all(|text| text.len() <= render::LONGEST);
    if asked.texts.len() > render::MOST || !is_small {
        let text = format!(
            "at most {} texts of at most {} bytes",
            render::MOST,
            render::LONGEST
        );
        return Err(Problem::new(Code::TooLarge, text));
    }
    let work = move || {
        asked
            .texts
            .iter()
            .map(|text| render::render(text))
            .collect()
    };
    let html = tokio::task::spawn_blocking(work).await;
    let html = html.map_err(|error| Problem::internal("render a text", error))?;
    Ok(axum::Json(Rendered { html }))
}
