//! Supervised processes: what happens to them and to everything they start.

#[cfg(test)]
mod confined;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod host_killed;
#[cfg(test)]
mod output;
#[cfg(test)]
mod process;
#[cfg(test)]
mod spawning;
#[cfg(test)]
mod trees;
