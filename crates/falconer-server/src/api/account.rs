//! Who may come in, and who did what.

use falconer_store::{AuditRecord, Scope, Timestamp, TokenRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A one-time code to trade for the cookie.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Login {
    pub(crate) code: String,
}

/// Who is asking, and what this server lets them do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Me {
    pub(crate) name: String,
    pub(crate) scopes: Vec<Scope>,
    /// Whether sessions may run without asking.
    pub(crate) bypass_allowed: bool,
    /// Directories below which sessions may work.
    pub(crate) roots: Vec<String>,
    pub(crate) version: String,
}

/// A token to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenAsked {
    /// What people call it.
    pub(crate) name: String,
    /// What it is good for; nothing you may not do yourself.
    pub(crate) scopes: Vec<Scope>,
}

/// A new token. Its secret is shown this once.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MadeToken {
    pub(crate) token: TokenRecord,
    pub(crate) secret: String,
}

/// All tokens, without their secrets.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenList {
    pub(crate) tokens: Vec<TokenRecord>,
}

/// A login link to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeAsked {
    /// What people will call the login.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// What it is good for; everything you may do otherwise.
    #[serde(default)]
    pub(crate) scopes: Option<Vec<Scope>>,
}

/// A login link. It works once.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Code {
    /// What follows the address of this server: the code is in the fragment, which browsers do
    /// not send.
    pub(crate) path: String,
    pub(crate) expires_at: Timestamp,
}

/// Who did what, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditLog {
    pub(crate) records: Vec<AuditRecord>,
    /// Whether there are more after these.
    pub(crate) more: bool,
}
