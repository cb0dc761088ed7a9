//! Behaviour of the test kit, seen from outside.

#[cfg(test)]
mod cassette;
#[cfg(test)]
mod fake_engine;
#[cfg(test)]
mod http;
#[cfg(test)]
mod real_cli;
#[cfg(test)]
mod server;
