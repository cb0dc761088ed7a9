//! The server as its clients see it: a real one on a port of its own, a real HTTP client, the
//! native engine on a scripted model.

#[cfg(test)]
mod access;
#[cfg(test)]
mod apart;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod attack;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod cutting;
#[cfg(test)]
mod death;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod images;
#[cfg(test)]
mod network;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod page;
#[cfg(test)]
mod place;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod soak;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod sse;
#[cfg(test)]
mod streams;
