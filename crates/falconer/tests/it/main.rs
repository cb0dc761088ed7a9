//! The library from outside: against scripted engines, real processes, session files and the
//! official CLI and SDKs.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod launch;
#[cfg(test)]
mod ordering;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sessions_official;
#[cfg(test)]
mod sessions_store;
#[cfg(test)]
mod tracing_spans;
#[cfg(test)]
mod transport;
