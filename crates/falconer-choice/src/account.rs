//! Who pays, if somebody chose it.

use std::fmt;

use falconer::{Auth, Billing};

use crate::credential::{Credential, Credentials, Serves};
use crate::environment::Environment;

/// Who pays for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Account {
    /// Whoever the environment and the login of the machine name.
    #[default]
    Auto,
    /// A subscription, by a login or a token of the official CLI; keys are kept from it.
    Subscription,
    /// The account of a key or a token for the API; never a cloud provider.
    Api,
    /// Amazon Bedrock, with what AWS has on this machine.
    Bedrock,
    /// Google Vertex AI.
    Vertex,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Subscription => "subscription",
            Self::Api => "api",
            Self::Bedrock => "bedrock",
            Self::Vertex => "vertex",
        })
    }
}

impl Account {
    /// The credential to use for it, among those that were found.
    pub(crate) fn pick(
        self,
        looked: &Credentials,
        environment: &Environment,
        serves: fn(Serves) -> bool,
    ) -> Option<Credential> {
        let chosen = |source: &str, billing, serves, auth| {
            let source = format!("{source}, as chosen");
            Credential {
                source,
                billing,
                serves,
                auth,
            }
        };
        let credential = match self {
            Self::Auto => looked.first(serves)?.clone(),
            Self::Subscription => chosen(
                "login or token of the official CLI",
                Billing::Subscription,
                Serves::Claude,
                Auth::SubscriptionLogin,
            ),
            Self::Api => key(looked, environment)?,
            Self::Bedrock => {
                let auth = Auth::Bedrock { region: None };
                chosen("Amazon Bedrock", Billing::Cloud, Serves::Every, auth)
            }
            Self::Vertex => {
                let auth = Auth::Vertex {
                    project: None,
                    region: None,
                };
                chosen("Google Vertex AI", Billing::Cloud, Serves::Claude, auth)
            }
        };
        serves(credential.serves).then_some(credential)
    }
}

/// The first key or token of the API, handed over so that nothing else is used in its place.
fn key(looked: &Credentials, environment: &Environment) -> Option<Credential> {
    let is_paid_otherwise = |credential: &Credential| credential.billing != Billing::Api;
    let has_others = looked.found().iter().any(is_paid_otherwise);
    let value = |name: &str| environment.value(name)?.to_str().map(str::to_owned);
    let mut keys = looked.found().iter().filter(|it| !is_paid_otherwise(it));
    keys.find_map(|credential| {
        let auth = match (&credential.auth, credential.source.as_str()) {
            (Auth::Inherit, "variable ANTHROPIC_API_KEY") => {
                Auth::ApiKey(value("ANTHROPIC_API_KEY")?.into())
            }
            (Auth::Inherit, "variable ANTHROPIC_AUTH_TOKEN") => {
                Auth::BearerToken(value("ANTHROPIC_AUTH_TOKEN")?.into())
            }
            // An engine that reads it by itself might find the others first.
            (Auth::Inherit, _) if has_others => return None,
            (auth, _) => auth.clone(),
        };
        let mut key = credential.clone();
        key.auth = auth;
        Some(key)
    })
}
