//! Live sessions: one run at a time per session, whatever the engine.
//!
//! [`Session::start`] starts a run and gives back a [`SessionHandle`], to tell it things, and an
//! [`EventStream`], to hear what happens. The events are numbered without gaps; `run.started`
//! comes as soon as the engine has named its session, before anything the agent does, and
//! `run.completed` comes last, whatever happens in between. Permissions and questions belong to the session: whoever has a
//! handle may answer, once.
//!
//! ```no_run
//! use falconer_event::Body;
//! use falconer_session::{Answer, Session, SessionLocks, SessionSpec};
//!
//! # async fn example() -> Result<(), falconer_session::Error> {
//! let spec = SessionSpec::new(SessionLocks::new("/var/lib/example/locks")).until_idle();
//! let (session, mut events) = Session::start(spec).await?;
//! session.send("What is in this directory?").await?;
//! while let Some(event) = events.next().await {
//!     match event.body {
//!         Body::PermissionRequested(asked) => {
//!             session.answer(Answer::deny(&asked.id, &asked.digest, "me", "not today")).await?;
//!         }
//!         Body::RunCompleted(completed) => println!("{}", completed.text),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod answer;
mod claude;
mod clock;
mod digest;
pub mod engine;
mod error;
mod exchange;
mod failure;
mod handle;
mod info;
mod limits;
mod lock;
mod message;
mod pending;
mod policy;
mod redact;
mod resume_line;
mod session;
mod spec;
mod stream;
mod transcript;

pub use answer::{Answer, Verdict};
pub use clock::{Clock, SystemClock};
pub use error::{AnswerError, Error};
pub use exchange::Exchange;
pub use failure::RunFailure;
pub use falconer_event::Delivery;
pub use falconer_secret::{MaskedWriter, REDACTED, Redactor};
pub use handle::SessionHandle;
pub use info::{CommandInfo, EngineInfo, ModelInfo};
pub use limits::{LimitKind, Limits, Retries, SideEffects};
pub use lock::{Holder, LockError, SessionLock, SessionLocks};
pub use message::{Cancelled, Message, MessageId, Part};
pub use policy::{Effect, Explanation, Policy, PolicyError, Restrictions, sensitive_patterns};
pub use resume_line::ResumeLine;
pub use session::Session;
pub use spec::{LastExchange, Lifetime, OnMissing, Resume, SessionSpec};
pub use stream::{EventStream, Outlet};
pub use transcript::{Archive, Entry, replay};
