//! The executables as people and hosts run them.

#[cfg(test)]
mod beside;
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
mod dialogue;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod hosted;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod official_sdks;
#[cfg(test)]
mod options;
#[cfg(test)]
mod output;
#[cfg(test)]
mod patience;
#[cfg(test)]
mod piped;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod program;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod run;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod seeing;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_apart;
#[cfg(test)]
mod serve_project;
#[cfg(test)]
mod server_process;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod shelf;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod trust_official;
#[cfg(test)]
mod two_servers;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod whole;
