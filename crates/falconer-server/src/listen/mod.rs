//! Taking connections: how many, how slow, encrypted or not.

pub(crate) mod accept;
pub(crate) mod patience;
pub(crate) mod tls;
