//! Live sessions over a store: nothing is announced that is not kept.
//!
//! A [`Hub`] runs the sessions of a [`Store`](falconer_store::Store). One task keeps each live
//! session: it starts its engine when there is something to do, writes down what happens and
//! only then lets others know, and brings answers to the agent after they were written down.
//! Who wants to follow a session reads the store; [`Hub::deltas`] has what is not kept.
//!
//! A hub that is opened finds what another one left when it died: it ends orphaned processes,
//! closes what was open as unknown, and runs nothing by itself.

mod adopt;
mod change;
mod config;
mod deltas;
mod denials;
mod engines;
mod error;
mod fork;
mod hub;
mod isolation;
mod keeper;
mod last_exchange;
mod limits;
mod loose_ends;
mod message;
mod models;
mod nodes;
mod options;
mod order;
mod prompt;
mod recovery;
mod rules;
mod tracker;
mod verdict;

pub use adopt::Adopted;
pub use config::HubConfig;
pub use deltas::{Delta, Deltas};
pub use engines::{
    EngineName, Engines, Launch, LaunchError, ProjectTrust, TrustItem, TrustScript, TrustVerdict,
};
pub use error::{Error, whereabouts};
pub use falconer::Bypass;
pub use fork::fork_in;
pub use hub::Hub;
pub use isolation::{SandboxedCommands, SessionIsolation, SessionNetwork};
pub use limits::SessionLimits;
pub use message::{Accepted, Change, NewMessage, NewSession, TakenBack};
pub use options::{SessionAgent, SessionEffort, SessionOptions, SessionThinking};
pub use rules::{Explained, Question, Suggested, WouldHave};
pub use verdict::{Answerer, NewRule, RuleReach, Verdict};
