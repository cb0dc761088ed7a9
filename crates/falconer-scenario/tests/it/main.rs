//! Behaviour of scripted models, seen from outside.

#[cfg(test)]
mod scenario;
