//! Variables the host may set while a session runs.

use falconer_model::ConnectError;
use serde_json::{Map, Value};

use crate::session::core::Core;

/// What may be set: credentials that expire, and where the model is. Nothing that would change
/// what programs run.
const ALLOWED: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

impl Core {
    /// Takes the variables that may be set, and gives their names; the others are left out.
    ///
    /// They hold from the next request on. Fails if no connection can be made of them; then the
    /// one before stays.
    pub(crate) fn update_environment(
        &self,
        variables: &Map<String, Value>,
    ) -> Result<Vec<String>, ConnectError> {
        let allowed = variables
            .iter()
            .filter(|(name, _)| ALLOWED.contains(&name.as_str()));
        let texts = allowed.filter_map(|(name, value)| {
            let value = value.as_str().filter(|it| !it.contains('\0'))?;
            Some((name, value))
        });
        let texts: Vec<(&String, &str)> = texts.collect();
        let set = texts
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        self.workbench.shop.environment.extend(set);
        if !texts.is_empty() {
            self.provider.renew()?;
        }
        Ok(texts.into_iter().map(|(name, _)| name.clone()).collect())
    }
}
