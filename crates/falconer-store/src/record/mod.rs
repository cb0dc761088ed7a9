//! Records, and the values they are made from.

mod append;
mod audit;
mod blob;
mod input;
mod lease;
mod request;
mod rule;
mod session;
mod token;

pub use append::{Append, EventRow, NewEvent};
pub use audit::{AuditRecord, NewAudit};
pub use blob::{BlobRecord, NewBlob};
pub use input::{Attachment, InputRecord, InputState, NewInput};
pub use lease::{Claim, Death, Guard, Lease, Node, Owner, Process};
pub use request::{Decided, DecisionRecord, NewRequest, RequestKind, RequestRecord, RequestState};
pub use rule::{NewRule, RuleEffect, RulePatch, RuleRecord, RuleScope};
pub use session::{
    Counts, LastTurn, LivePatch, NewSession, SessionPatch, SessionRecord, SessionState, TurnOutcome,
};
pub use token::{NewToken, Scope, TokenRecord};

/// The fate of something that may have been there before.
#[derive(Debug, Clone, PartialEq)]
pub enum Inserted<T> {
    /// It is new.
    New(T),
    /// It was there, with the same content.
    Existing(T),
}

impl<T> Inserted<T> {
    /// The record, new or not.
    pub fn into_record(self) -> T {
        match self {
            Self::New(record) | Self::Existing(record) => record,
        }
    }

    /// The record, new or not.
    pub fn record(&self) -> &T {
        match self {
            Self::New(record) | Self::Existing(record) => record,
        }
    }

    /// Returns `true` if it was there before.
    pub fn is_existing(&self) -> bool {
        matches!(self, Self::Existing(_))
    }
}

/// The fate of a change that depends on the state before.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Moved<T> {
    /// It was made; the record after it.
    Yes(T),
    /// The state was another one; the record as it is.
    No(T),
}

impl<T> Moved<T> {
    /// The record as it is now.
    pub fn into_record(self) -> T {
        match self {
            Self::Yes(record) | Self::No(record) => record,
        }
    }

    /// Returns `true` if the change was made.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// An enum whose variants have one text each: the same in the database and in JSON.
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!(concat!("{:?} is no ", stringify!($name)), word)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
use word_enum;
