//! Names of what is stored.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! made_id {
    ($($name:ident)*) => {
        $(impl $name {
            /// A new one. Later ones sort after earlier ones.
            pub fn generate() -> Self {
                Self(uuid::Uuid::now_v7().to_string())
            }
        })*
    };
}

text_id! {
    /// A session, over all its runs: a UUID.
    SessionId
}
text_id! {
    /// A process that runs sessions. No two live processes may have the same.
    NodeId
}
text_id! {
    /// A message of a user: a UUID.
    MessageId
}
text_id! {
    /// A permission or a question; the id the event names.
    RequestId
}
text_id! {
    /// A rule.
    RuleId
}
text_id! {
    /// A token, not its secret.
    TokenId
}
text_id! {
    /// An attachment or a long output.
    BlobId
}
text_id! {
    /// BLAKE3 of the bytes of a blob, in hexadecimal.
    BlobHash
}
text_id! {
    /// BLAKE3 of the secret of a token, in hexadecimal. The secret itself is never stored.
    TokenHash
}

made_id! { SessionId MessageId RuleId TokenId BlobId }

impl TokenHash {
    /// The hash of a secret.
    pub fn of(secret: &str) -> Self {
        Self(blake3::hash(secret.as_bytes()).to_hex().to_string())
    }
}

impl BlobHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }
}

/// Counts the claims of a session; each claim gets a higher one and ends what had a lower one.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an audit record; that of a later one is higher.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct AuditId(pub u64);
