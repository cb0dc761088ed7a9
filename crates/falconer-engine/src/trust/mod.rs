//! Trust in what a project brings along: hooks, servers, variables, rules that allow.
//!
//! A project may narrow a session before anybody trusts it. Everything else is an item that needs
//! trust in exactly this content: a digest over all items and the scripts they name. The digest
//! is computed over the same values that the session then uses.

mod class;
mod content;
mod definition;
mod inspection;
mod item;
mod script;
mod seal;
mod store;
mod variable;

pub(crate) use content::{Content, ProjectFile};
pub use inspection::{InspectError, InspectedItem, Inspection, Standing, inspect};
pub use item::ItemKind;
pub(crate) use item::item_digest;
pub use script::Script;
pub(crate) use seal::Seal;
pub use store::{Grant, GrantedItem, TrustError, TrustStore, state_directory};

#[cfg(test)]
mod tests;
