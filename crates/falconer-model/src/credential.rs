//! Who we are towards the API: a key, a token, or a command that prints one.

use std::sync::Arc;

use falconer_secret::Environment;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::helper::{Freshness, KeyHelper};
use crate::{ApiFailure, FailureKind};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The keys of one session; at least one of them is there.
///
/// As the CLI does: what the variables do not give, the helper gives, for both headers.
#[derive(Debug)]
pub(crate) struct Credentials {
    api_key: Option<SecretString>,
    auth_token: Option<SecretString>,
    helper: Option<Arc<KeyHelper>>,
}

impl Credentials {
    /// What the session has, or `None`.
    pub(crate) fn find(environment: &Environment, helper: Option<KeyHelper>) -> Option<Self> {
        let secret = |name| environment.text(name).map(SecretString::from);
        let found = Self {
            api_key: secret("ANTHROPIC_API_KEY"),
            auth_token: secret("ANTHROPIC_AUTH_TOKEN"),
            helper: helper.map(Arc::new),
        };
        let any = found.api_key.is_some() || found.auth_token.is_some() || found.helper.is_some();
        any.then_some(found)
    }

    /// What `system/init` says.
    pub(crate) fn source(&self) -> &'static str {
        match (&self.api_key, &self.helper) {
            (Some(_), _) => "ANTHROPIC_API_KEY",
            (None, Some(_)) => "apiKeyHelper",
            (None, None) => "none",
        }
    }

    /// Whether a refused request is worth another try with a key the helper prints anew.
    pub(crate) fn can_refresh(&self) -> bool {
        self.helper.is_some() && (self.api_key.is_none() || self.auth_token.is_none())
    }

    /// Adds the headers that authenticate.
    pub(crate) async fn apply(
        &self,
        headers: &mut HeaderMap,
        freshness: Freshness,
    ) -> Result<(), ApiFailure> {
        let helped = match &self.helper {
            Some(helper) if self.can_refresh() => Some(helper.key(freshness).await?),
            _ => None,
        };
        if let Some(key) = self.api_key.as_ref().or(helped.as_ref()) {
            headers.insert(API_KEY, sensitive(key.expose_secret())?);
        }
        if let Some(token) = self.auth_token.as_ref().or(helped.as_ref()) {
            let bearer = format!("Bearer {}", token.expose_secret());
            headers.insert(AUTHORIZATION, sensitive(&bearer)?);
        }
        Ok(())
    }
}

/// A header value that `Debug` does not show.
pub(crate) fn sensitive(value: &str) -> Result<HeaderValue, ApiFailure> {
    let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
        let text = "the API key or token holds characters that cannot be sent in a header";
        ApiFailure::new(FailureKind::Authentication, text)
    })?;
    value.set_sensitive(true);
    Ok(value)
}
