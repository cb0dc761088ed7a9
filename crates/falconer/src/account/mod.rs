//! The credentials of a machine, and the model names that go with them.
//!
//! [`Discovery`] looks where credentials are kept, in a fixed order, and says of every place
//! what became of it, without ever showing a value. What it looks at is a parameter
//! ([`Sources`]), never the process. A login of the official CLI is recognised and left to the
//! CLI: its tokens are not read out.
//!
//! ```
//! use falconer::Options;
//! use falconer::account::{Discovery, Sources};
//!
//! let sources = Sources::new().variable("ANTHROPIC_API_KEY", "sk-ant-example");
//! let found = Discovery::of(&sources);
//! for candidate in found.candidates() {
//!     println!("{candidate}");
//! }
//! let options = Options::new().auth(found.auth()?);
//! # let _ = options;
//! # Ok::<(), falconer::account::NoAccount>(())
//! ```

mod candidate;
mod discovery;
pub(crate) mod document;
mod files;
mod host;
pub mod models;
mod sources;

pub use candidate::{Candidate, Rejection, Source, Verdict};
pub use discovery::{Discovery, NoAccount};
pub use document::FileProblem;
pub use sources::Sources;

pub(crate) use host::{AUTH_VARIABLES, BEDROCK_VARIABLES, HostVariables, VERTEX_VARIABLES};
