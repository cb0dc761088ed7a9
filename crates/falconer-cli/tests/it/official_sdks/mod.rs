//! The official SDKs, pointed at `falconer-claude` and at the official CLI, see the same.
//!
//! Needs `FALCONER_TS_SDK` (the directory of the npm package), `FALCONER_PYTHON` (a Python with
//! `claude-agent-sdk`) and `FALCONER_CLAUDE_PATH`, which `cargo xtask test` sets.

mod cases;
mod runs;
