//! Agents over HTTP: sessions, streams, approvals, and the page.
//!
//! [`Server::bind`] listens, [`Server::run`] serves. Everything that lives longer than a request
//! is in the hub and its store: a client that is gone takes nothing with it, and one that comes
//! back finds everything.
//!
//! On the way in a request meets, in this order: the names of the server (`guard::host`), where
//! it comes from (`guard::origin`), what it carries (`guard::content`), its credential and the
//! scope its route needs (`auth::gate`), and its route (`route`). Each answer can be an error;
//! all of those are in `problem`.

mod api;
mod app;
mod auth;
mod config;
mod error;
mod guard;
mod input;
mod listen;
mod markdown;
mod metrics;
mod openapi;
mod page;
mod problem;
mod render;
mod roots;
mod route;
mod server;
mod stream;

pub use api::Request;
pub use auth::secret::Secret;
pub use config::{Caps, Proxy, ServerConfig, TlsFiles};
pub use error::Error;
pub use falconer_hub::Bypass;
pub use falconer_store::Scope;
pub use openapi::openapi;
pub use problem::{Code, Problem};
pub use server::Server;
