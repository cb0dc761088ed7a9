//! The server: bound, then run.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use falconer_hub::Hub;
use falconer_store::{NewToken, Scope, TokenHash};
use tokio::net::{TcpListener, UnixListener};

use crate::app::App;
use crate::auth::codes::Grant;
use crate::auth::secret::Secret;
use crate::config::ServerConfig;
use crate::error::Error;
use crate::guard::host::HostNames;
use crate::listen::accept::{self, Door, Encryption};
use crate::listen::tls;
use crate::openapi::openapi;
use crate::route::table;
use crate::stream::wake;

/// How long what was begun may take after the end was asked for.
const LEAVING: Duration = Duration::from_secs(10);

/// A server that listens. Nobody is served before [`Server::run`].
#[derive(Debug)]
pub struct Server {
    app: Arc<App>,
    doors: Vec<Door>,
    router: Router,
    address: SocketAddr,
}

impl Server {
    /// Listens, with the sessions of this hub.
    ///
    /// # Errors
    /// If the set-up is refused, or the address cannot be had.
    pub async fn bind(hub: Hub, config: ServerConfig) -> Result<Self, Error> {
        config.check()?;
        let encryption = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let place = config.address.to_string();
        let failed = |source| Error::Listen { place, source };
        let listener = TcpListener::bind(config.address).await.map_err(failed)?;
        let failed = |source| Error::Listen {
            place: config.address.to_string(),
            source,
        };
        let address = listener.local_addr().map_err(failed)?;
        let mut doors = vec![Door::Tcp(listener, encryption.map(Encryption))];
        if let Some(path) = &config.unix_socket {
            doors.push(Door::Unix(unix_socket(path)?));
        }
        let names = Arc::new(HostNames::new(&config, address));
        let store = Arc::clone(hub.store());
        let app = Arc::new(App::new(config, hub, store, openapi()));
        let router = table::router(Arc::clone(&app), names);
        Ok(Self {
            app,
            doors,
            router,
            address,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser on this machine.
    pub fn url(&self) -> String {
        let scheme = match self.app.config.tls {
            Some(_) => "https",
            None => "http",
        };
        if self.address.ip().is_unspecified() {
            format!("{scheme}://localhost:{}", self.address.port())
        } else {
            format!("{scheme}://{}", self.address)
        }
    }

    /// A link with which a browser comes in, once, with all rights. The code is in the fragment:
    /// browsers do not send it, so no log has it.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn login_link(&self) -> Result<String, Error> {
        let grant = Grant {
            name: "browser".to_owned(),
            scopes: Scope::ALL.to_vec(),
        };
        let code = self.app.codes.make(grant, Instant::now())?;
        Ok(format!("{}/#code={}", self.url(), code.reveal()))
    }

    /// How long a login link can be used.
    pub fn link_life(&self) -> Duration {
        self.app.codes.life()
    }

    /// Makes a token. The secret is known to nobody else; the store has its hash.
    ///
    /// # Errors
    /// If the store fails, or the system gives no random bytes.
    pub async fn make_token(&self, name: &str, scopes: &[Scope]) -> Result<Secret, Error> {
        let secret = Secret::token()?;
        let hash = TokenHash::from(secret.hash().as_str());
        let new = NewToken::new(name, hash, scopes.to_vec());
        let tried = "store a token";
        let made = self.app.store.add_token(new).await;
        made.map_err(|source| Error::Store { tried, source })?;
        Ok(secret)
    }

    /// Whether this token would be let in.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn knows_token(&self, secret: &str) -> Result<bool, Error> {
        let tried = "look up a token";
        let found = self.app.store.token(&TokenHash::of(secret)).await;
        let found = found.map_err(|source| Error::Store { tried, source })?;
        Ok(found.is_some_and(|token| token.revoked_at.is_none()))
    }

    /// Serves until `until`, then lets what was begun come to its end. The hub goes on.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let end = self.app.end.clone();
        let waking = tokio::spawn(wake::run(Arc::clone(&self.app)));
        let caps = self.app.config.caps.clone();
        let mut serving = std::pin::pin!(accept::run(self.doors, self.router, caps, end.clone()));
        tokio::select! {
            () = &mut serving => {}
            () = until => {
                end.cancel();
                serving.await;
            }
        }
        end.cancel();
        self.app.work.close();
        if tokio::time::timeout(LEAVING, self.app.work.wait())
            .await
            .is_err()
        {
            tracing::warn!("some requests did not finish in time");
        }
        let _ = waking.await;
        if let Some(path) = &self.app.config.unix_socket {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A socket only its owner can use. One a dead server left is taken over.
fn unix_socket(path: &std::path::Path) -> Result<UnixListener, Error> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |source| Error::Listen {
        place: path.display().to_string(),
        source,
    };
    if std::os::unix::net::UnixStream::connect(path).is_err() && path.exists() {
        std::fs::remove_file(path).map_err(failed)?;
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, mode).map_err(failed)?;
    Ok(listener)
}
