//! Starting processes as planned: what arrives, and how the official SDKs would do it.

mod cases;
mod compare;
mod dump;
mod intended;
mod machine;
mod official;
mod real_cli;
mod survival;
