//! Tokens that let callers in.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{TokenHash, TokenId};
use crate::time::Timestamp;

super::word_enum! {
    /// A right that a token gives.
    Scope {
        /// Looking.
        Read = "read",
        /// Starting sessions and sending messages.
        Operate = "operate",
        /// Answering requests and making rules.
        Approve = "approve",
        /// Tokens and everything else.
        Admin = "admin",
    }
}

/// A token, without its secret.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenRecord {
    /// Its name here.
    pub id: TokenId,
    /// Name for people.
    pub name: String,
    /// The hash of its secret.
    pub hash: TokenHash,
    /// Rights that it gives.
    pub scopes: Vec<Scope>,
    /// Time of making.
    pub created_at: Timestamp,
    /// Time of its last use, to the minute or so.
    pub last_used: Option<Timestamp>,
    /// Since when it is good for nothing.
    pub revoked_at: Option<Timestamp>,
}

impl TokenRecord {
    /// Returns `true` if it gives this right. A revoked one gives none.
    pub fn allows(&self, scope: Scope) -> bool {
        self.revoked_at.is_none() && self.scopes.contains(&scope)
    }
}

/// Without the hash: it is of no use in a log.
impl fmt::Debug for TokenRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRecord")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .field("revoked_at", &self.revoked_at)
            .finish_non_exhaustive()
    }
}

/// Writes everything about a token but its hash.
impl Serialize for TokenRecord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown {
            id: self.id.clone(),
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            created_at: self.created_at,
            last_used: self.last_used,
            revoked_at: self.revoked_at,
        }
        .serialize(serializer)
    }
}

impl JsonSchema for TokenRecord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TokenRecord".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Shown::json_schema(generator)
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    id: TokenId,
    name: String,
    scopes: Vec<Scope>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Timestamp>,
}

/// A token to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewToken {
    /// Name for people.
    pub name: String,
    /// The hash of its secret.
    pub hash: TokenHash,
    /// Rights that it gives.
    pub scopes: Vec<Scope>,
}

impl NewToken {
    /// A token.
    pub fn new(name: impl Into<String>, hash: TokenHash, scopes: Vec<Scope>) -> Self {
        Self {
            name: name.into(),
            hash,
            scopes,
        }
    }
}
