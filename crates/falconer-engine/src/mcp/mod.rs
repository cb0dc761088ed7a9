//! Tools and resources of MCP servers: children, remote servers, and servers inside the host.
//!
//! A server is somebody else's program. Nothing it does may hold up a session for longer than a
//! limit, fill its memory, or reach the model under a name that is not the server's own.

mod client;
mod config;
mod connection;
mod expand;
mod listing;
mod manifest;
mod name;
mod outcome;
mod resource;
mod server;
mod servers;
#[cfg(test)]
mod tests;
mod tool;
mod transport;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::control::{Elicitation as Question, ElicitationReply};
use falconer_secret::Environment;
use futures_util::future::BoxFuture;

use crate::host::Host;
use crate::trust::Seal;

pub(crate) use self::config::{Declared, Origin};
pub(crate) use self::manifest::Manifest;

pub(crate) use self::servers::{ServerError, Servers, Switch};

/// What all servers of a session share.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    pub(crate) host: Host,
    pub(crate) environment: Arc<Environment>,
    /// Where children run.
    pub(crate) cwd: PathBuf,
    pub(crate) elicitation: Elicitation,
    /// Who hears of questions, apart from the host.
    pub(crate) listener: Option<Arc<dyn Listener>>,
    /// What servers are told about the client.
    pub(crate) version: String,
    /// What of the project was trusted.
    pub(crate) seals: Vec<Arc<Seal>>,
}

/// What happens when a server asks the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elicitation {
    /// The host is asked.
    AskHost,
    /// There is nobody to ask.
    Decline,
}

/// Hears of what servers ask the user, before the host does and when it has answered.
pub(crate) trait Listener: std::fmt::Debug + Send + Sync {
    /// An answer in the place of the host's, if there is one.
    fn asked<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<ElicitationReply>>;

    /// The answer that the server gets.
    fn answered<'a>(
        &'a self,
        question: &'a Question,
        reply: ElicitationReply,
    ) -> BoxFuture<'a, ElicitationReply>;

    /// The server says that what it sent the user away for is done.
    fn completed<'a>(&'a self, server: &'a str, id: &'a str) -> BoxFuture<'a, ()>;
}

impl Wiring {
    /// `MCP_TIMEOUT`: how long a server may take to connect.
    fn connect_limit(&self) -> Duration {
        self.millis("MCP_TIMEOUT")
            .unwrap_or(Duration::from_secs(30))
    }

    /// `MCP_TOOL_TIMEOUT`: how long a call may take; practically for ever by default.
    fn call_limit(&self) -> Duration {
        let default = Duration::from_secs(100_000);
        self.millis("MCP_TOOL_TIMEOUT").unwrap_or(default)
    }

    fn millis(&self, variable: &str) -> Option<Duration> {
        let millis: u64 = self.environment.text(variable)?.parse().ok()?;
        (millis > 0).then(|| Duration::from_millis(millis))
    }
}
