//! The executables as people and hosts run them.

#[cfg(test)]
mod book;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod config;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod official_sdks;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod program;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod run;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod usage;
