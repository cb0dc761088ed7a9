//! The native engine, in process, for the crate `falconer`.
//!
//! ```no_run
//! # async fn example() -> Result<(), falconer::Error> {
//! use falconer::{Options, query};
//! use falconer_native::NativeEngine;
//!
//! let options = Options::new().engine(NativeEngine::new());
//! let run = query("What does this project do?", options).await?;
//! println!("{}", run.outcome().await?.text());
//! # Ok(())
//! # }
//! ```
//!
//! Sessions are tasks of the caller's runtime: thousands of them fit into one process.

mod engine;
mod life;

pub use engine::NativeEngine;
pub use falconer_scenario::{Error as ScenarioError, Scenario};
