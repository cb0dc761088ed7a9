//! The names under which the server may be reached.
//!
//! A page of `evil.example` can let its name point to 127.0.0.1 and then is of the same origin as
//! the server, for the browser. The `Host` header still says `evil.example`: so it is checked
//! against a list, for plain requests and for upgrades.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

use crate::config::{Proxy, ServerConfig};
use crate::listen::accept::Peer;
use crate::problem::{Code, Problem};

/// The names and, for each, the port it is reached on.
#[derive(Debug, Clone)]
pub(crate) struct HostNames {
    names: Vec<Name>,
    scheme: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    /// In lower case, addresses without brackets.
    host: String,
    port: Port,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Only(u16),
    /// A proxy has a port of its own.
    Any,
}

impl HostNames {
    pub(crate) fn new(config: &ServerConfig, bound: SocketAddr) -> Self {
        let scheme = if config.is_encrypted() {
            "https"
        } else {
            "http"
        };
        let port = match config.proxy {
            Proxy::None => Port::Only(bound.port()),
            Proxy::Trusted => Port::Any,
        };
        let mut names: Vec<Name> = ["localhost", "127.0.0.1", "::1"]
            .map(|host| Name {
                host: host.to_owned(),
                port,
            })
            .into();
        if !bound.ip().is_unspecified() {
            let host = bound.ip().to_string();
            names.push(Name { host, port });
        }
        for given in &config.host_names {
            if let Some((host, given_port)) = split(given) {
                let port = given_port.map_or(port, Port::Only);
                names.push(Name { host, port });
            }
        }
        Self { names, scheme }
    }

    /// Whether `authority` (`host` or `host:port`) is one of them.
    pub(crate) fn allows(&self, authority: &str) -> bool {
        let default = match self.scheme {
            "https" => 443,
            _ => 80,
        };
        let Some((host, port)) = split(authority) else {
            return false;
        };
        let port = port.unwrap_or(default);
        self.names.iter().any(|name| {
            name.host == host
                && match name.port {
                    Port::Only(only) => only == port,
                    Port::Any => true,
                }
        })
    }

    /// Whether `origin` (`scheme://authority`) is a page of this server.
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        let Some((scheme, authority)) = origin.split_once("://") else {
            return false;
        };
        scheme == self.scheme && self.allows(authority)
    }
}

/// Host in lower case and port. Nothing if it is not written as it must be.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            let host: IpAddr = host.parse().ok()?;
            (
                host.to_string(),
                after.strip_prefix(':').or((after.is_empty()).then_some("")),
            )
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host.to_ascii_lowercase(), Some(port)),
            None => (authority.to_ascii_lowercase(), Some("")),
        },
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
    if host.is_empty() || !host.chars().all(is_plain) {
        return None;
    }
    match port? {
        "" if authority.ends_with(':') => None,
        "" => Some((host, None)),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((host, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

/// Refuses requests for other names.
pub(crate) async fn check(
    State(names): State<Arc<HostNames>>,
    request: Request,
    next: Next,
) -> Response {
    // No name leads a browser to a Unix socket.
    if let Some(Peer::Socket) = request.extensions().get::<Peer>() {
        return next.run(request).await;
    }
    match verdict(&names, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn verdict(names: &HostNames, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let refuse = |detail: &str| Err(Problem::new(Code::HostNotAllowed, detail));
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return refuse("a request needs exactly one Host header");
    };
    let Ok(host) = host.to_str() else {
        return refuse("the Host header is not readable");
    };
    let in_uri = uri.authority().map(|authority| authority.as_str());
    if !names.allows(host) || in_uri.is_some_and(|authority| !names.allows(authority)) {
        return refuse("this server is not known under the name in the Host header");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(more: &[&str], proxy: Proxy) -> HostNames {
        let mut config = ServerConfig::new("127.0.0.1:0".parse().unwrap());
        config.host_names = more.iter().map(|name| (*name).to_owned()).collect();
        config.proxy = proxy;
        HostNames::new(&config, "127.0.0.1:4321".parse().unwrap())
    }

    #[test]
    fn only_own_names_with_own_port_pass() {
        let names = names(&["Agents.Example:8443", "other.example"], Proxy::None);
        for (host, is_allowed) in [
            ("127.0.0.1:4321", true),
            ("localhost:4321", true),
            ("LOCALHOST:4321", true),
            ("[::1]:4321", true),
            ("[0:0:0:0:0:0:0:1]:4321", true),
            ("agents.example:8443", true),
            ("other.example:4321", true),
            ("agents.example:4321", false),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("127.0.0.2:4321", false),
            ("evil.example:4321", false),
            ("localhost.evil.example:4321", false),
            ("evil.example@localhost:4321", false),
            ("localhost:4321:4321", false),
            ("localhost:", false),
            ("localhost:+4321", false),
            ("localhost :4321", false),
            ("[::1", false),
            ("", false),
        ] {
            assert_eq!(names.allows(host), is_allowed, "{host:?}");
        }
    }

    #[test]
    fn a_proxy_has_a_port_of_its_own_and_is_encrypted() {
        let names = names(&["agents.example"], Proxy::Trusted);
        assert!(names.allows("agents.example"));
        assert!(names.allows_origin("https://agents.example"));
        assert!(!names.allows_origin("http://agents.example"));
        assert!(!names.allows("evil.example"));
    }

    #[test]
    fn origins_are_compared_whole() {
        let names = names(&[], Proxy::None);
        for (origin, is_allowed) in [
            ("http://127.0.0.1:4321", true),
            ("http://localhost:4321", true),
            ("https://localhost:4321", false),
            ("http://localhost:3000", false),
            ("http://localhost:4321/", false),
            ("http://evil.example", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(names.allows_origin(origin), is_allowed, "{origin:?}");
        }
    }

    #[test]
    fn a_second_host_header_is_refused() {
        let names = names(&[], Proxy::None);
        let mut headers = HeaderMap::new();
        let uri = Uri::from_static("/v1/me");
        assert!(verdict(&names, &uri, &headers).is_err());
        headers.append(header::HOST, "localhost:4321".parse().unwrap());
        assert!(verdict(&names, &uri, &headers).is_ok());
        let absolute = Uri::from_static("http://evil.example/v1/me");
        assert!(verdict(&names, &absolute, &headers).is_err());
        headers.append(header::HOST, "localhost:4321".parse().unwrap());
        assert!(verdict(&names, &uri, &headers).is_err());
    }
}
