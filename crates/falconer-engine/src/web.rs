//! The HTTP client for servers and hooks that a user configured.

use falconer_secret::Environment;
use reqwest::redirect::Policy;
use reqwest::{Client, NoProxy, Proxy};

/// A client that follows no redirects, since headers of a configuration may be secrets, and takes
/// its proxies from the session's environment and not from the process.
pub(crate) fn web_client(environment: &Environment) -> Result<Client, reqwest::Error> {
    // Fails if one is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder().no_proxy().redirect(Policy::none());
    // An answer that was not read to its end would hold up the next request.
    builder = builder.pool_max_idle_per_host(0);
    let either = |name: &str| {
        let lower = name.to_ascii_lowercase();
        environment.text(&lower).or_else(|| environment.text(name))
    };
    let none = either("NO_PROXY").and_then(|list| NoProxy::from_string(&list));
    if let Some(url) = either("HTTPS_PROXY") {
        builder = builder.proxy(Proxy::https(url)?.no_proxy(none.clone()));
    }
    if let Some(url) = environment.text("http_proxy") {
        builder = builder.proxy(Proxy::http(url)?.no_proxy(none));
    }
    builder.build()
}
