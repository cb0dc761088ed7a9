//! Why a server does not start.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Everybody on the network could read the token.
    #[error(
        "refused to listen on {address} without TLS: anyone on that network could read the token"
    )]
    OpenToAll {
        /// The address asked for.
        address: SocketAddr,
    },
    /// Bypass mode and root together.
    #[error("refused to allow bypass mode as root")]
    BypassAsRoot,
    /// A root that is no directory.
    #[error("the root {} is not a directory", path.display())]
    Root {
        /// The root asked for.
        path: PathBuf,
    },
    /// The address cannot be listened on.
    #[error("failed to listen on {place}: {source}")]
    Listen {
        /// The address or path.
        place: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Certificate or key cannot be used.
    #[error("failed to use {} for TLS: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The store failed.
    #[error("failed to {tried}: {source}")]
    Store {
        /// What was tried.
        tried: &'static str,
        /// What the store said.
        source: falconer_store::Error,
    },
    /// The system gave no random bytes.
    #[error("failed to get random bytes from the system")]
    Random,
}

impl Error {
    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::OpenToAll { .. } => {
                "give `--tls-cert` and `--tls-key`, or `--trusted-proxy` if a proxy in front speaks TLS"
            }
            Self::BypassAsRoot => {
                "run the server as another user, or leave `--allow-dangerously-skip-permissions` out: \
                 in mode default or acceptEdits sessions ask in the browser"
            }
            Self::Root { .. } => "create the directory, or choose another",
            Self::Listen { .. } => "choose another address with `--listen`",
            Self::Tls { .. } => "pass PEM files with the certificate chain and its key",
            Self::Store { .. } => "check that the store file is yours and the disk has room",
            Self::Random => "the system is not ready; try again",
        }
    }
}
