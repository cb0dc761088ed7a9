//! Events of a run, in one vocabulary for every engine.
//!
//! [`Normaliser`] turns the messages of an engine into [`Draft`]s; [`Ledger`] follows them and ends
//! the run; [`Sequence`] numbers them and puts them into the envelope [`Event`]. All are pure: no
//! I/O, no clock.
//!
//! ```
//! use falconer_event::{Body, End, Ledger, Normaliser, Run};
//! use falconer_protocol::Message;
//!
//! let mut normaliser = Normaliser::new(Run::default());
//! let line = r#"{"type":"system","subtype":"init","cwd":"/p","session_id":"s"}"#;
//! let message: Message = serde_json::from_str(line)?;
//! let mut drafts = normaliser.message(&message);
//! let mut ledger = Ledger::default();
//! drafts.iter().for_each(|draft| ledger.observe(draft));
//! drafts.extend(ledger.end(End::default()));
//! assert!(matches!(drafts[0].body, Body::RunStarted(_)));
//! assert!(matches!(drafts[drafts.len() - 1].body, Body::RunCompleted(_)));
//! # Ok::<(), serde_json::Error>(())
//! ```

#![deny(missing_docs)]

mod action;
mod body;
mod diff;
mod envelope;
mod failure;
mod id;
mod image;
mod ledger;
mod normalise;
mod preview;
mod prompt;
mod request;
mod schema;
mod spending;
mod turn;

pub use action::{Action, ActionKind, ActionStatus};
pub use body::{
    Body, Item, ItemContent, Limit, LimitClass, Outcome, Retry, RunCompleted, RunStarted,
    SessionChanged, Task, TaskEnd, Unknown, Warning,
};
pub use diff::Diff;
pub use envelope::{Draft, Event, Sequence, Source};
pub use failure::FailureKind;
pub use id::{ItemId, RunId, TurnNumber};
pub use image::{Image, ImageData};
pub use ledger::{End, Ledger};
pub use normalise::{Normaliser, Run};
pub use preview::Preview;
pub use prompt::{Attachment, Delivery, Prompt, PromptState};
pub use request::{
    PermissionRequested, PermissionResolved, QuestionKind, QuestionRequested, QuestionResolved,
    Resolution, Shown,
};
pub use schema::json_schema;
pub use spending::Spending;
pub use turn::{Denial, Failure, Tokens, TurnCompleted, TurnStarted};
