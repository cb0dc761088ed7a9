//! Who is asking, and what they may do.
//!
//! A credential is a token (`secret`), sent as a bearer header or as the page's cookie. Its hash
//! is looked up on every request (`gate`), so a revoked one ends at once. What a route needs is
//! one table (`access`). The page gets its cookie for a one-time code (`codes`); wrong
//! credentials are counted by address (`attempts`).

pub(crate) mod access;
pub(crate) mod attempts;
pub(crate) mod codes;
pub(crate) mod cookie;
pub(crate) mod gate;
pub(crate) mod principal;
pub(crate) mod secret;
