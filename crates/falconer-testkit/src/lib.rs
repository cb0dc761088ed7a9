//! Test agents without a model.
//!
//! | to test | use |
//! |---|---|
//! | a program that runs an engine, with the engine's real behaviour | [`ApiServer`]: a scripted model behind the Messages API |
//! | how a program takes what an engine does, good and bad | [`FakeEngine`]: an executable that plays a script |
//! | a session that really happened | [`cassette::record`] it, then [`cassette::Cassette::player`] |
//! | that the official CLI does the same | [`RealCli`] with an [`ApiServer`] |
//!
//! Nothing here needs a key or a network, and nothing needs a sleep: replies wait at gates
//! until the test lets them pass.
//!
//! ```
//! use std::io::{Read, Write};
//! use falconer_testkit::ApiServer;
//! use falconer_testkit::scenario::{Scenario, last_user_contains, status, text};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ApiServer::start(
//!     Scenario::new()
//!         .turn(status(529))
//!         .on(last_user_contains("weather"))
//!         .reply(text("It rains.")),
//! )?;
//!
//! // The program under test would get server.url() as ANTHROPIC_BASE_URL. Here, by hand:
//! let body = r#"{"model": "m", "messages": [{"role": "user", "content": "weather?"}]}"#;
//! let mut answers = Vec::new();
//! for _ in 0..2 {
//!     let mut connection = std::net::TcpStream::connect(server.address())?;
//!     write!(
//!         connection,
//!         "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
//!          content-length: {}\r\n\r\n{body}",
//!         body.len()
//!     )?;
//!     let mut answer = String::new();
//!     connection.read_to_string(&mut answer)?;
//!     answers.push(answer);
//! }
//! assert!(answers[0].starts_with("HTTP/1.1 529"));
//! assert!(answers[1].contains("It rains."));
//! assert!(server.unmatched().is_empty());
//! assert!(server.unused_rules().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The format of scenario files is in `SCENARIOS.md` of the crate `falconer-scenario`, that of
//! the fake engine's scripts in `FAKE_ENGINE.md`.

mod error;
mod fake_engine;
mod official_cli;
mod server;

pub use error::Error;
pub use fake_engine::{
    AwaitedMessage, Dump, EngineScript, EngineStep, FakeEngine, GrandchildOutput, InitializeReply,
    Turn, fake_engine_path,
};
pub use falconer_cassette as cassette;
pub use falconer_scenario as scenario;
pub use official_cli::{RealCli, clean_env};
pub use server::{ApiServer, RecordedRequest};

/// The examples of its page in the book run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/test-kit.md")]
struct Page;
