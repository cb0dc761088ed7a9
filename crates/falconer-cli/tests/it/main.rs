//! The executables as people and hosts run them.

#[cfg(test)]
mod claude;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod official_sdks;
#[cfg(test)]
mod program;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod usage;
