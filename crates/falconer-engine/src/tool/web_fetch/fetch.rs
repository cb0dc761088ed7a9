//! Gets one page: every hop is checked, and only the address that was checked is connected to.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Once};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, Url};

use super::address;
use super::cache::Page;
use super::page::{self, Kind};

/// What may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The public Internet, with `http` made `https`.
    Public,
    /// Also this machine and its networks, with URLs as they are. Only for closed networks
    /// whose owner decided so, and for tests.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "nobody can choose it from outside yet")
    )]
    Anywhere,
}

/// Limits of a fetch.
#[derive(Debug, Clone)]
pub(crate) struct FetchLimits {
    /// Bytes of a body; what comes after is not read.
    pub(crate) body: usize,
    /// Time for everything.
    pub(crate) time: Duration,
    pub(crate) redirects: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body: 10 << 20,
            time: Duration::from_secs(60),
            redirects: 10,
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(super) enum Fetched {
    Page(Arc<Page>),
    /// Another host is to be asked, which needs a permission of its own.
    ElsewhereBound {
        to: Url,
        code: u16,
        code_text: String,
    },
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("{0} is not a URL that can be fetched: {1}")]
    Url(String, &'static str),
    #[error(
        "{0} leads to {1}, which is not on the public Internet; for a local server, use Bash with \
         curl"
    )]
    Private(String, IpAddr),
    #[error("the name {0} could not be resolved: {1}")]
    Resolve(String, std::io::Error),
    #[error("failed to fetch {0}: {1}")]
    Http(String, String),
    #[error("{0} answered with status {1}")]
    Status(String, String),
    #[error("{0} redirects too often, or to nowhere")]
    Redirects(String),
    #[error("{0} did not answer completely within {1} s")]
    Time(String, u64),
    #[error("{0} is {1}, which cannot be read as text")]
    Binary(String, String),
}

/// Fetches pages.
#[derive(Debug)]
pub(super) struct Fetcher<'a> {
    pub(super) reach: Reach,
    pub(super) limits: &'a FetchLimits,
    /// From the session's variables.
    pub(super) proxy: Option<String>,
}

impl Fetcher<'_> {
    pub(super) async fn fetch(&self, url: Url) -> Result<Fetched, FetchError> {
        let text = url.to_string();
        let fetch = tokio::time::timeout(self.limits.time, self.follow(url));
        let late = |_| FetchError::Time(text, self.limits.time.as_secs());
        fetch.await.map_err(late)?
    }

    async fn follow(&self, mut url: Url) -> Result<Fetched, FetchError> {
        let first = url.clone();
        for _ in 0..=self.limits.redirects {
            let response = self.get(&url).await?;
            if !response.status().is_redirection() {
                return self.page(&url, response).await.map(Fetched::Page);
            }
            let lost = || FetchError::Redirects(first.to_string());
            let location = response
                .headers()
                .get(LOCATION)
                .and_then(|it| it.to_str().ok());
            let next = location.and_then(|to| url.join(to).ok()).ok_or_else(lost)?;
            let next = usable(next.as_str(), self.reach)?;
            if !is_same_site(&first, &next) {
                let status = response.status();
                return Ok(Fetched::ElsewhereBound {
                    to: next,
                    code: status.as_u16(),
                    code_text: status.canonical_reason().unwrap_or_default().to_owned(),
                });
            }
            url = next;
        }
        Err(FetchError::Redirects(first.to_string()))
    }

    async fn get(&self, url: &Url) -> Result<Response, FetchError> {
        let failed = |error: reqwest::Error| FetchError::Http(url.to_string(), reason(&error));
        let client = self.client(url).await?;
        let request = client
            .get(url.clone())
            .header(ACCEPT, "text/markdown, text/html, */*");
        request.send().await.map_err(failed)
    }

    /// A client for one request that can only connect to the addresses that were checked.
    async fn client(&self, url: &Url) -> Result<Client, FetchError> {
        use_tls();
        let failed = |error: reqwest::Error| FetchError::Http(url.to_string(), reason(&error));
        let host = url.host_str().unwrap_or_default();
        let mut builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(10))
            .user_agent(concat!("falconer/", env!("CARGO_PKG_VERSION")));
        match (self.addresses(url).await, &self.proxy) {
            (Ok(addresses), None) => builder = builder.resolve_to_addrs(host, &addresses),
            (Ok(_) | Err(FetchError::Resolve(..)), Some(proxy)) => {
                // Behind a proxy names need not be known here; it connects, so it decides.
                builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(failed)?);
            }
            (Err(error), _) => return Err(error),
        }
        builder.build().map_err(failed)
    }

    /// Where the host is. One address that is not public is enough to refuse all.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(443);
        let literal = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>();
        let addresses: Vec<SocketAddr> = match literal {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => {
                let found = tokio::net::lookup_host((host, port)).await;
                let failed = |error| FetchError::Resolve(host.to_owned(), error);
                found.map_err(failed)?.collect()
            }
        };
        let private = addresses
            .iter()
            .find(|address| !address::is_public(address.ip()));
        match private {
            Some(address) if self.reach == Reach::Public => {
                Err(FetchError::Private(host.to_owned(), address.ip()))
            }
            _ => Ok(addresses),
        }
    }

    async fn page(&self, url: &Url, response: Response) -> Result<Arc<Page>, FetchError> {
        let status = response.status();
        if !status.is_success() {
            return Err(FetchError::Status(url.to_string(), status.to_string()));
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let kind = page::kind(&content_type);
        if kind == Kind::Binary {
            return Err(FetchError::Binary(url.to_string(), content_type));
        }
        let (body, is_cut) = self.body(url, response).await?;
        let bytes = body.len() as u64;
        let read = move || {
            let text = page::decode(&body, &content_type);
            match kind {
                Kind::Html => page::markdown(&text),
                Kind::Text | Kind::Binary => text,
            }
        };
        let lost = |error| FetchError::Http(url.to_string(), format!("not readable: {error}"));
        let text = tokio::task::spawn_blocking(read).await.map_err(lost)?;
        Ok(Arc::new(Page {
            text,
            bytes,
            code: status.as_u16(),
            code_text: status.canonical_reason().unwrap_or_default().to_owned(),
            is_cut,
        }))
    }

    async fn body(&self, url: &Url, response: Response) -> Result<(Vec<u8>, bool), FetchError> {
        let failed = |error: reqwest::Error| FetchError::Http(url.to_string(), reason(&error));
        let mut chunks = response.bytes_stream();
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(failed)?;
            let room = self.limits.body - body.len();
            if chunk.len() > room {
                body.extend_from_slice(&chunk[..room]);
                return Ok((body, true));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((body, false))
    }
}

/// A URL as it will be fetched.
pub(super) fn usable(text: &str, reach: Reach) -> Result<Url, FetchError> {
    let bad = |why| FetchError::Url(text.chars().take(200).collect(), why);
    if text.len() > 2000 {
        return Err(bad("it is longer than 2000 characters"));
    }
    let mut url = Url::parse(text).map_err(|_| bad("it is not a complete URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https are fetched"));
    }
    // Rules are compared with what this reader finds.
    if falconer_rule::web_host(text).is_none() {
        return Err(bad("other programs would read it differently"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FetchError::Url(
            "a URL with a password".to_owned(),
            "take the password out",
        ));
    }
    let host = url.host_str().unwrap_or_default();
    if reach == Reach::Public && !host.trim_end_matches('.').contains(['.', ':']) {
        return Err(bad(
            "names without a dot are local; use Bash with curl for a local server",
        ));
    }
    if reach == Reach::Public && url.scheme() == "http" {
        // Cannot fail between these two schemes. A port that was given stays.
        let _ = url.set_scheme("https");
    }
    url.set_fragment(None);
    Ok(url)
}

/// The same host, with or without `www.`, on the same port.
fn is_same_site(one: &Url, other: &Url) -> bool {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let is_downgrade = one.scheme() == "https" && other.scheme() == "http";
    let ports = one.port() == other.port();
    host(one) == host(other) && ports && !is_downgrade
}

/// The innermost cause says most, and none of them repeats the URL.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Chooses the cryptography for this process, unless somebody has.
fn use_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_made_safe_or_refused() {
        for (text, expected) in [
            ("http://example.com/a#b", Ok("https://example.com/a")),
            ("https://example.com", Ok("https://example.com/")),
            ("http://0x7f.1/", Ok("https://127.0.0.1/")),
            ("ftp://example.com/", Err("only http")),
            ("file:///etc/passwd", Err("only http")),
            ("example.com", Err("not a complete URL")),
            (
                "https://me:secret@example.com/",
                Err("take the password out"),
            ),
            ("https://localhost/", Err("without a dot")),
            ("https://metadata./", Err("without a dot")),
            ("https://[::1]/", Ok("https://[::1]/")),
        ] {
            match (usable(text, Reach::Public), expected) {
                (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
                (Err(error), Err(part)) => {
                    let error = error.to_string();
                    assert!(error.contains(part) && !error.contains("secret"), "{error}");
                }
                (result, _) => panic!("{text}: {result:?}"),
            }
        }
    }

    #[test]
    fn only_the_same_site_is_followed_to() {
        for (one, other, expected) in [
            ("https://a.com/x", "https://a.com/y", true),
            ("https://a.com/x", "https://www.a.com/x", true),
            ("https://a.com/x", "https://b.com/x", false),
            ("https://a.com/x", "https://evil.a.com/x", false),
            ("https://a.com/x", "https://a.com:8443/x", false),
            ("https://a.com/x", "http://a.com/x", false),
        ] {
            let parse = |text| Url::parse(text).unwrap();
            assert_eq!(
                is_same_site(&parse(one), &parse(other)),
                expected,
                "{one} {other}"
            );
        }
    }
}
