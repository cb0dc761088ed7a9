//! The same scenario on the official CLI and on `falconer-claude`; their frames must be equal.
//!
//! Equal after ids, times, versions and paths are replaced by what they stand for, and except
//! for the list in `differences.rs`. Needs `FALCONER_CLAUDE_PATH`, which `cargo xtask test` sets.

mod case;
mod differences;
mod frames;
mod normal;
mod sayings;
mod stage;

mod bad_input;
mod commands;
mod controls;
mod everyday;
mod failures;
mod files;
mod hooks;
mod limits;
mod mcp;
mod permissions;
mod plain;
mod prompts;
mod questions;
mod queue;
mod repeated;
mod requests;
mod rules;
mod sessions;
mod shell;
mod startup;
mod states;
mod stdio_server;
mod tools;
mod watched;

use case::{Case, all_same};
