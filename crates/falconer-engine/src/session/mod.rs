//! One live session: its queue, its conversation, its answers to the host.
//!
//! [`open`] starts it. One task owns it: it reads the host's lines, runs the turn, and answers
//! control requests at any time, so nothing about a session happens at the same time.

pub(crate) mod config;
pub(crate) mod core;
pub(crate) mod ledger;
pub(crate) mod queue;
pub(crate) mod record;
mod replay;

mod actor;
mod commands;
mod config_change;
mod context;
mod control;
mod elicitation;
mod file_change;
mod hear;
mod init;
pub(crate) mod line;
mod lookout;
mod open;
mod preferences;
mod side;
mod stop;
pub(crate) mod switch;
mod tasks;
#[cfg(test)]
mod tests;
mod unsupported;
pub(crate) mod version;

pub(crate) use open::{Refused, explain, open};
pub(crate) use stop::Stop;
pub(crate) use unsupported::unsupported_agents;
