//! How a server is set up, and which set-ups are refused.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use falconer_hub::Bypass;

use crate::error::Error;

/// How a server is set up. Safe as it stands: loopback, a token always, no bypass mode.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Where to listen. Port 0 takes a free one.
    pub address: SocketAddr,
    /// A Unix socket to listen on as well.
    pub unix_socket: Option<PathBuf>,
    /// Certificate and key, to speak TLS.
    pub tls: Option<TlsFiles>,
    /// Who stands in front of the server.
    pub proxy: Proxy,
    /// Names under which the server is reached, besides its address: `agents.example.org`, or
    /// with a port.
    pub host_names: Vec<String>,
    /// Directories below which agents may work and folders are listed.
    pub roots: Vec<PathBuf>,
    /// Whether agents may run without asking anybody.
    pub bypass: Bypass,
    /// How much is taken in and for how long.
    pub caps: Caps,
}

/// Certificate chain and private key, as PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those up to the authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Who stands in front of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proxy {
    /// Nobody: clients connect themselves.
    #[default]
    None,
    /// A proxy that speaks TLS and keeps everybody else away. The address in its
    /// `X-Forwarded-For` counts as the client's.
    Trusted,
}

/// How much is taken in, and for how long.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Caps {
    /// Connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// Event streams and WebSockets at a time.
    pub streams: usize,
    /// A JSON body.
    pub body: usize,
    /// An attachment.
    pub attachment: usize,
    /// All headers of a request together.
    pub headers: usize,
    /// From the first byte of a request to the last of its headers.
    pub header_time: Duration,
    /// From the headers to the last byte of the body.
    pub body_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_time: Duration,
    /// Between two signs of life on a stream.
    pub ping: Duration,
    /// Wrong credentials from one address within a minute.
    pub failures: u32,
    /// How long a login code can be used.
    pub code_life: Duration,
    /// How long a login of the page holds.
    pub login_life: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            connections: 4096,
            streams: 2048,
            body: 2 << 20,
            attachment: 32 << 20,
            headers: 32 << 10,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            write_time: Duration::from_secs(30),
            ping: Duration::from_secs(15),
            failures: 20,
            code_life: Duration::from_secs(10 * 60),
            login_life: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

impl ServerConfig {
    /// On this address; loopback needs nothing more.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            unix_socket: None,
            tls: None,
            proxy: Proxy::None,
            host_names: Vec::new(),
            roots: Vec::new(),
            bypass: Bypass::Forbidden,
            caps: Caps::default(),
        }
    }

    /// Refuses what would be open to everybody.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_private = self.address.ip().is_loopback();
        if !is_private && self.tls.is_none() && self.proxy == Proxy::None {
            return Err(Error::OpenToAll {
                address: self.address,
            });
        }
        if self.bypass == Bypass::Accepted && runs_as_root() {
            return Err(Error::BypassAsRoot);
        }
        for root in &self.roots {
            if !root.is_dir() {
                return Err(Error::Root { path: root.clone() });
            }
        }
        Ok(())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.is_some() || self.proxy == Proxy::Trusted
    }
}

/// Whether this process may do everything.
pub(crate) fn runs_as_root() -> bool {
    // The owner of a process's directory in /proc is its effective user.
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(address: &str) -> ServerConfig {
        ServerConfig::new(address.parse().unwrap())
    }

    #[test]
    fn only_loopback_is_bound_without_encryption() {
        let files = TlsFiles {
            certificate: "c".into(),
            key: "k".into(),
        };
        for (address, is_allowed) in [
            ("127.0.0.1:0", true),
            ("127.8.9.1:80", true),
            ("[::1]:0", true),
            ("0.0.0.0:0", false),
            ("[::]:0", false),
            ("192.168.1.4:80", false),
            ("[::ffff:10.0.0.1]:80", false),
        ] {
            let plain = config(address);
            assert_eq!(plain.check().is_ok(), is_allowed, "{address}");
            let mut with_tls = config(address);
            with_tls.tls = Some(files.clone());
            assert!(with_tls.check().is_ok(), "{address}");
            let mut behind_proxy = config(address);
            behind_proxy.proxy = Proxy::Trusted;
            assert!(behind_proxy.check().is_ok(), "{address}");
        }
    }

    #[test]
    fn root_never_gets_bypass_mode() {
        let mut config = config("127.0.0.1:0");
        config.bypass = Bypass::Accepted;
        assert_eq!(config.check().is_ok(), !runs_as_root());
    }
}
