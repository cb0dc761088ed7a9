//! `falconer serve`: agents over HTTP, until Ctrl-C.

mod engines;
mod settings;
mod token;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use falconer_hub::{Hub, HubConfig};
use falconer_server::{Bypass, Proxy, Server, ServerConfig, TlsFiles};
use falconer_store::Store;
use owo_colors::OwoColorize;

use crate::exit::{Done, Exit, Fault};
use crate::here;
use crate::keep;
use crate::places;
use crate::run::start;
pub(crate) use engines::Chooser;
use settings::Settings;

/// What a server is started with
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer serve                        on this machine, agents below this directory
  falconer serve --root ~/projects      agents below that one
  falconer serve --engine-scenario hello.json     try it with a scripted model

The printed link signs a browser in once. Programs use the token in the printed
file. There is no server without a token.")]
pub(crate) struct Serve {
    /// Address to listen on; loopback only, unless TLS or a proxy is set up
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4780")]
    listen: SocketAddr,
    /// Also listen on this Unix socket
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<PathBuf>,
    /// Let agents work below this directory; defaults to the current one
    #[arg(long = "root", value_name = "DIRECTORY")]
    roots: Vec<PathBuf>,
    /// Certificate chain in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Trust a proxy in front to speak TLS and keep others out
    #[arg(long)]
    trusted_proxy: bool,
    /// Accept requests for this host name too
    #[arg(long = "host-name", value_name = "NAME")]
    host_names: Vec<String>,
    /// Allow sessions in bypass mode; never as root
    #[arg(long)]
    allow_bypass: bool,
    /// Scripted model for the engine `script`
    #[arg(long, value_name = "FILE")]
    engine_scenario: Option<PathBuf>,
    /// File to keep sessions, events and rules in
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Seconds of silence after which other servers on the same store take over this server's
    /// sessions
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(3..=3600))]
    lease: u64,
}

pub(crate) async fn serve(arguments: Serve) -> Done {
    let settings = Settings::load(&std::env::current_dir()?)?;
    let state = places::private_state()?;
    let file = match &arguments.store {
        Some(file) => file.clone(),
        None => places::store_file()?,
    };
    let store: Arc<dyn Store> = Arc::new(keep::open_store(file).await?);
    let hub = Hub::open(Arc::clone(&store), hub_config(&arguments, &settings)?).await;
    let hub = hub.map_err(|error| Fault::setup(error, "see `falconer doctor`"))?;
    let server = Server::bind(hub.clone(), server_config(&arguments)?).await;
    let server = server.map_err(|error| Fault::setup(&error, error.advice()))?;
    let reached = hub.is_reached_at(server.url()).await;
    reached.map_err(|error| Fault::setup(error, "see `falconer doctor`"))?;
    let kept = token::keep(&server, &state.join("token")).await?;
    tracing::info!(url = %server.url(), "listening");
    announce(&server, &kept)?;
    tokio::select! {
        () = server.run(until_told()) => {}
        never = settings.follow() => match never {},
    }
    tracing::info!("stopping agents");
    anstream::eprintln!("stopping agents; press Ctrl-C again to quit now");
    tokio::select! {
        () = hub.shut_down() => {}
        () = until_told() => {}
    }
    let _ = store.close().await;
    Ok(Exit::Success)
}

fn hub_config(arguments: &Serve, settings: &Settings) -> Result<HubConfig, Fault> {
    let engines = Chooser::new(arguments.engine_scenario.clone(), bypass(arguments));
    let engines = engines.configured(settings.clone());
    let locks = places::locks_directory()?;
    let config = HubConfig::new(engines, locks)
        .bypass(bypass(arguments))
        .program("falconer serve")
        .lease(Duration::from_secs(arguments.lease))
        .redactor(here::redactor().clone());
    // Read once: whoever changes the policy of a server starts it again.
    let policy = settings.within(&std::env::current_dir()?, None)?.run.policy;
    Ok(match policy {
        Some(file) => config.policy(Arc::new(start::read_policy(file.as_ref())?)),
        None => config,
    })
}

fn bypass(arguments: &Serve) -> Bypass {
    if arguments.allow_bypass {
        Bypass::Accepted
    } else {
        Bypass::Forbidden
    }
}

fn server_config(arguments: &Serve) -> Result<ServerConfig, Fault> {
    let mut config = ServerConfig::new(arguments.listen);
    config.unix_socket.clone_from(&arguments.unix_socket);
    config.host_names.clone_from(&arguments.host_names);
    config.roots = match arguments.roots.as_slice() {
        [] => vec![std::env::current_dir()?],
        roots => roots.to_vec(),
    };
    if let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
        config.tls = Some(TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
        });
    }
    if arguments.trusted_proxy {
        config.proxy = Proxy::Trusted;
    }
    config.bypass = bypass(arguments);
    Ok(config)
}

/// The link goes to stdout, for programs; the rest is for people.
fn announce(server: &Server, token: &std::path::Path) -> Result<(), Fault> {
    let link = server.login_link();
    let link = link.map_err(|error| Fault::setup(&error, error.advice()))?;
    let minutes = server.link_life().as_secs() / 60;
    anstream::eprintln!("Falconer is listening on {}", server.url().bold());
    anstream::eprintln!("  token   {} (for programs)", token.display());
    anstream::eprintln!("  browser open this link within {minutes} minutes; it works once:");
    anstream::println!("{link}");
    Ok(())
}

/// Until Ctrl-C, or until the system says so.
async fn until_told() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
