//! The credentials of the engine, which decide who pays.

use std::fmt;

use secrecy::SecretString;

use super::Options;

/// Variables that carry a credential of the API or of a cloud provider.
pub(crate) const API_CREDENTIALS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
];

/// Variables that send requests to a cloud provider instead of the API.
pub(crate) const PROVIDER_SWITCHES: &[&str] = &[
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// The way the engine authenticates.
///
/// Except with [`Auth::Inherit`], the variables of every other way are removed from the
/// engine's environment, so that what was chosen is what is used and billed.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Auth {
    /// Whatever the environment and the login of the machine say.
    #[default]
    Inherit,
    /// This API key.
    ApiKey(SecretString),
    /// This bearer token (`ANTHROPIC_AUTH_TOKEN`), for gateways.
    BearerToken(SecretString),
    /// The API key or bearer token of the environment; never a cloud provider.
    AnthropicFromEnvironment,
    /// A subscription, by a token of `claude setup-token`.
    SubscriptionToken(SecretString),
    /// A subscription, by the login stored on the machine.
    SubscriptionLogin,
    /// Amazon Bedrock, in this region or the one of `AWS_REGION`.
    Bedrock {
        /// The region, if `AWS_REGION` is not to decide.
        region: Option<String>,
    },
    /// Google Vertex AI; what is not given comes from `ANTHROPIC_VERTEX_PROJECT_ID` and
    /// `CLOUD_ML_REGION`.
    Vertex {
        /// The project.
        project: Option<String>,
        /// The region.
        region: Option<String>,
    },
}

/// The payer of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Billing {
    /// The account of an API key or token.
    Api,
    /// A subscription.
    Subscription,
    /// An account at a cloud provider.
    Cloud,
    /// Not decided here: the login of the machine or its settings decide.
    Undetermined,
}

impl fmt::Display for Billing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Api => "api",
            Self::Subscription => "subscription",
            Self::Cloud => "cloud",
            Self::Undetermined => "undetermined",
        })
    }
}

/// Recorded settings of this file.
#[derive(Clone, Default)]
pub(crate) struct AuthOptions {
    pub(crate) auth: Auth,
    pub(crate) base_url: Option<String>,
}

impl fmt::Debug for AuthOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_deref();
        f.debug_struct("AuthOptions")
            .field("auth", &self.auth)
            .field(
                "base_url",
                &base_url.map(crate::launch::redact::masked_text),
            )
            .finish()
    }
}

impl Options {
    /// Chooses how the engine authenticates.
    ///
    /// Carried by environment variables. Default: [`Auth::Inherit`].
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.launch.auth.auth = auth;
        self
    }

    /// Sends requests to this address.
    ///
    /// Carried by `ANTHROPIC_BASE_URL`. Default: inherited, else the engine's.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.launch.auth.base_url = Some(url.into());
        self
    }
}
