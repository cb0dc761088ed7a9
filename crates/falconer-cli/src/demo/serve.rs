//! `falconer demo --serve`: the same session on a server of its own, to be answered in a browser.

use std::path::Path;
use std::sync::Arc;

use falconer_choice::Environment;
use falconer_hub::{Hub, HubConfig, NewMessage, NewSession};
use falconer_server::{Server, ServerConfig};
use falconer_store::{SqliteStore, Store};
use owo_colors::OwoColorize;

use super::PROMPT;
use crate::drive;
use crate::exit::{Done, Exit, Fault};
use crate::serve::Chooser;

/// Serves one scripted session until Ctrl-C. Everything it keeps is in the scratch directory.
pub(super) async fn serve(scratch: &Path, scenario: &str) -> Done {
    let project = scratch.join("project");
    let file = scratch.join("scenario.json");
    std::fs::write(&file, scenario)?;
    let store = SqliteStore::open(scratch.join("demo.db")).await;
    let store: Arc<dyn Store> = Arc::new(store.map_err(failed)?);
    let engines = Chooser::scripted(file, environment(scratch));
    let config = HubConfig::new(engines, scratch.join("locks"));
    let hub = Hub::open(Arc::clone(&store), config)
        .await
        .map_err(failed)?;
    let mut config = ServerConfig::new(([127, 0, 0, 1], 0).into());
    config.roots = vec![project.clone()];
    let server = Server::bind(hub.clone(), config).await.map_err(failed)?;
    let mut session = NewSession::new("script", &project);
    session.title = Some("Demo: the failing test".to_owned());
    let session = hub.create(session).await.map_err(failed)?;
    let id = uuid::Uuid::new_v4().to_string();
    let message = NewMessage::new(id, PROMPT, "demo");
    hub.send(&session.id, message).await.map_err(failed)?;
    let link = server.login_link().map_err(failed)?;
    anstream::eprintln!(
        "{}",
        "A whole agent session on a scripted model: no key, no network.".bold()
    );
    anstream::eprintln!("Open this one-time link and answer the agent; Ctrl-C quits:");
    anstream::println!("{link}");
    let mut signals = drive::signals()?;
    server.run(async move { signals.pressed().await }).await;
    hub.shut_down().await;
    let _ = store.close().await;
    Ok(Exit::Success)
}

/// Nothing of the user's own settings, keys and sessions.
fn environment(scratch: &Path) -> Environment {
    let own = [
        ("HOME".into(), scratch.into()),
        ("TMPDIR".into(), scratch.into()),
        ("CLAUDE_CONFIG_DIR".into(), scratch.join("config").into()),
    ];
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    Environment::new(own.into_iter().chain(path))
}

fn failed(error: impl std::fmt::Display) -> Fault {
    Fault::setup(
        format!("failed to serve the demo: {error}"),
        "`falconer demo` shows it on the terminal; `falconer doctor` may show why",
    )
}
