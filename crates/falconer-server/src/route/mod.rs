//! The routes, one file for each kind of thing. All of them are put together in `table`.

pub(crate) mod account;
pub(crate) mod attachments;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod messages;
pub(crate) mod requests;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod streams;
pub(crate) mod surroundings;
pub(crate) mod table;
pub(crate) mod tokens;
pub(crate) mod trust;
