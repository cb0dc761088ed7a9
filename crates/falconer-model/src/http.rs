//! The HTTP clients of the process: one for each way to the network, made when first needed.
//!
//! A client holds connections and certificates, so sessions that take the same way share it.
//! Plain HTTP needs no certificates, and loading them takes longer than everything else.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use falconer_secret::Environment;
use reqwest::{Certificate, Client, ClientBuilder, Identity, NoProxy, Proxy, Url};
use tokio::runtime::Handle;

use crate::{ApiFailure, ConnectError};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many clients are kept. More ways than this in one process are made anew each time.
const KEPT: usize = 32;

/// A way to the network.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    proxy: Option<ProxyRoute>,
    tls: Option<Tls>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ProxyRoute {
    /// May hold a password.
    url: String,
    except: String,
}

/// Which certificates are trusted and shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Tls {
    /// Trusted instead of those of the system.
    roots: Option<PathBuf>,
    /// Trusted as well.
    more_roots: Option<PathBuf>,
    /// Our own: certificate and key.
    identity: Option<(PathBuf, PathBuf)>,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route")
            .field("proxy", &self.proxy.is_some())
            .field("tls", &self.tls)
            .finish()
    }
}

impl Route {
    /// The way to `url` that the variables of a session describe.
    pub(crate) fn to(url: &Url, environment: &Environment) -> Result<Self, ConnectError> {
        let proxy = ProxyRoute::to(url, environment)?;
        let secure = |url: &str| url.starts_with("https:");
        let proxy_is_secure = proxy.as_ref().is_some_and(|proxy| secure(&proxy.url));
        let needs_tls = url.scheme() == "https" || proxy_is_secure;
        Ok(Self {
            proxy,
            tls: needs_tls.then(|| Tls::from_environment(environment)),
        })
    }

    /// The client for this way.
    pub(crate) async fn client(&self) -> Result<Client, ApiFailure> {
        let runtime = Handle::try_current().ok().map(|handle| handle.id());
        let key = (self.clone(), runtime);
        if let Some(client) = KNOWN.find(&key) {
            return Ok(client);
        }
        let client = match self.tls {
            None => self.build()?,
            // Reads files, and many of them.
            Some(_) => {
                let route = self.clone();
                let built = tokio::task::spawn_blocking(move || route.build()).await;
                built.map_err(|error| ApiFailure::connection(error.to_string()))??
            }
        };
        KNOWN.keep(key, &client);
        Ok(client)
    }

    fn build(&self) -> Result<Client, ApiFailure> {
        install_crypto();
        let builder = Client::builder()
            // The variables of the process are not those of the session.
            .no_proxy()
            // A redirect would carry the key to wherever it points.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT);
        let builder = match &self.proxy {
            Some(proxy) => builder.proxy(proxy.build()?),
            None => builder,
        };
        let builder = match &self.tls {
            Some(tls) => tls.apply(builder)?,
            None => without_tls(builder)?,
        };
        let failed = |error: reqwest::Error| {
            ApiFailure::connection(format!(
                "failed to prepare the HTTP client: {}",
                chain(&error)
            ))
        };
        builder.build().map_err(failed)
    }
}

impl ProxyRoute {
    fn to(url: &Url, environment: &Environment) -> Result<Option<Self>, ConnectError> {
        let names: [&'static str; 4] = match url.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let set = |name: &&'static str| environment.text(name).map(|value| (*name, value));
        let Some((variable, value)) = names.iter().find_map(set) else {
            return Ok(None);
        };
        let except = environment
            .text("NO_PROXY")
            .or_else(|| environment.text("no_proxy"))
            .unwrap_or_default();
        let except: Vec<&str> = except
            .split([',', ' '])
            .map(str::trim)
            .filter(|host| !host.is_empty())
            .collect();
        if except.contains(&"*") {
            return Ok(None);
        }
        let route = Self {
            url: value,
            except: except.join(","),
        };
        match route.build() {
            Ok(_) => Ok(Some(route)),
            Err(_) => Err(ConnectError::Proxy { variable }),
        }
    }

    fn build(&self) -> Result<Proxy, ApiFailure> {
        // The text of this error holds the URL, and so perhaps a password.
        let bad = |_| ApiFailure::connection("the proxy is not a URL with http, https or socks5");
        let proxy = Proxy::all(self.url.as_str()).map_err(bad)?;
        Ok(proxy.no_proxy(NoProxy::from_string(&self.except)))
    }
}

impl Tls {
    fn from_environment(environment: &Environment) -> Self {
        let path = |name: &str| environment.text(name).map(PathBuf::from);
        let certificate = path("CLAUDE_CODE_CLIENT_CERT");
        Self {
            roots: path("SSL_CERT_FILE"),
            more_roots: path("NODE_EXTRA_CA_CERTS"),
            identity: certificate.zip(path("CLAUDE_CODE_CLIENT_KEY")),
        }
    }

    fn apply(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, ApiFailure> {
        let more = match &self.more_roots {
            Some(path) => certificates(path)?,
            None => Vec::new(),
        };
        builder = match &self.roots {
            Some(path) => builder.tls_certs_only(certificates(path)?.into_iter().chain(more)),
            None => builder.tls_certs_merge(more),
        };
        if let Some((certificate, key)) = &self.identity {
            let mut pem = read(certificate)?;
            pem.push(b'\n');
            pem.extend(read(key)?);
            let identity = Identity::from_pem(&pem).map_err(|error| {
                let name = certificate.display();
                ApiFailure::connection(format!(
                    "the client certificate {name} is not usable: {error}"
                ))
            })?;
            builder = builder.identity(identity);
        }
        Ok(builder)
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, ApiFailure> {
    let unusable = |why: &str| {
        let name = path.display();
        ApiFailure::connection(format!("the certificates in {name} are not usable: {why}"))
    };
    let certificates =
        Certificate::from_pem_bundle(&read(path)?).map_err(|error| unusable(&chain(&error)))?;
    if certificates.is_empty() {
        Err(unusable("there are none"))
    } else {
        Ok(certificates)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ApiFailure> {
    std::fs::read(path).map_err(|error| {
        ApiFailure::connection(format!("failed to read {}: {error}", path.display()))
    })
}

/// A client that trusts nobody, and therefore loads nothing.
fn without_tls(builder: ClientBuilder) -> Result<ClientBuilder, ApiFailure> {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()
        .map_err(|error| ApiFailure::connection(error.to_string()))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

/// Says once for the process which cryptography TLS uses; who was first stays.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// An error with its causes; never with a URL, which may hold a password.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        source = cause.source();
    }
    texts.join(": ")
}

/// The clients of the process. Connections belong to the runtime they were made in.
type Key = (Route, Option<tokio::runtime::Id>);

struct Known(Mutex<Vec<(Key, Client)>>);

static KNOWN: Known = Known(Mutex::new(Vec::new()));

impl Known {
    fn find(&self, key: &Key) -> Option<Client> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(known, _)| known == key);
        found.map(|(_, client)| client.clone())
    }

    fn keep(&self, key: Key, client: &Client) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(known, _)| *known != key);
        if known.len() >= KEPT {
            known.remove(0);
        }
        known.push((key, client.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    /// A URL, the variables, and the proxy with its exceptions.
    type ProxyCase<'a> = (&'a str, Variables<'a>, Option<(&'a str, &'a str)>);

    fn route(url: &str, variables: Variables<'_>) -> Result<Route, ConnectError> {
        let variables = variables.iter().map(|(n, v)| ((*n).into(), (*v).into()));
        Route::to(&url.parse().unwrap(), &Environment::new(variables))
    }

    #[test]
    fn the_scheme_and_the_variables_choose_the_proxy() {
        let table: &[ProxyCase<'_>] = &[
            ("https://a", &[], None),
            (
                "https://a",
                &[("HTTPS_PROXY", "http://p:1")],
                Some(("http://p:1", "")),
            ),
            (
                "https://a",
                &[("https_proxy", "http://p:1")],
                Some(("http://p:1", "")),
            ),
            ("http://a", &[("HTTPS_PROXY", "http://p:1")], None),
            (
                "http://a",
                &[("HTTP_PROXY", "http://p:1")],
                Some(("http://p:1", "")),
            ),
            (
                "http://a",
                &[("ALL_PROXY", "socks5://p:1")],
                Some(("socks5://p:1", "")),
            ),
            (
                "https://a",
                &[
                    ("HTTPS_PROXY", "http://p:1"),
                    ("NO_PROXY", "x.org  y.org, z"),
                ],
                Some(("http://p:1", "x.org,y.org,z")),
            ),
            (
                "https://a",
                &[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "*")],
                None,
            ),
        ];
        for (url, variables, expected) in table {
            let proxy = route(url, variables).unwrap().proxy;
            let proxy = proxy.as_ref().map(|p| (p.url.as_str(), p.except.as_str()));
            assert_eq!(proxy, *expected, "{url} {variables:?}");
        }
    }

    #[test]
    fn a_bad_proxy_is_named_by_its_variable_and_its_password_is_not_shown() {
        let error = route("http://a", &[("HTTP_PROXY", "http://u:geheim@[bad")]).unwrap_err();
        assert!(error.to_string().contains("HTTP_PROXY"), "{error}");
        assert!(!format!("{error} {error:?}").contains("geheim"));
        let good = route("http://a", &[("HTTP_PROXY", "http://u:geheim@p:1")]).unwrap();
        assert!(!format!("{good:?}").contains("geheim"), "{good:?}");
    }

    #[test]
    fn only_what_needs_tls_gets_it() {
        let secure_proxy = [("HTTP_PROXY", "https://p:1")];
        assert_eq!(
            route("http://a", &[("SSL_CERT_FILE", "/x")]).unwrap().tls,
            None
        );
        assert!(route("http://a", &secure_proxy).unwrap().tls.is_some());
        let tls = route("https://a", &[("NODE_EXTRA_CA_CERTS", "/x")])
            .unwrap()
            .tls;
        assert_eq!(tls.unwrap().more_roots, Some(PathBuf::from("/x")));
    }

    #[tokio::test]
    async fn sessions_on_the_same_way_share_a_client() {
        let before = KNOWN.0.lock().unwrap().len();
        for _ in 0..3 {
            route("http://a", &[]).unwrap().client().await.unwrap();
            route("http://b", &[]).unwrap().client().await.unwrap();
        }
        route("http://a", &[("HTTP_PROXY", "http://p:1")])
            .unwrap()
            .client()
            .await
            .unwrap();
        assert_eq!(KNOWN.0.lock().unwrap().len(), before + 2);
    }

    #[tokio::test]
    async fn certificates_that_cannot_be_read_are_named() {
        let bad = tempfile::NamedTempFile::new().unwrap();
        for (name, path) in [
            ("NODE_EXTRA_CA_CERTS", Path::new("/nonexistent.pem")),
            ("SSL_CERT_FILE", bad.path()),
        ] {
            let path = path.to_str().unwrap();
            let route = route("https://a", &[(name, path)]).unwrap();
            let failure = route.client().await.unwrap_err();
            assert!(failure.message.contains(path), "{failure}");
        }
    }
}
