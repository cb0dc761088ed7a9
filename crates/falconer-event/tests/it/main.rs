//! Recorded sessions become events; any prefix of them keeps the rules.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod cassettes;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod unusual;
