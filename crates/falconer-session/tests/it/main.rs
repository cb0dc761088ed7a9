//! Live sessions from outside: scripted engines in the process, fake engines as processes, and
//! the official CLI.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod continuing;
#[cfg(test)]
mod engines;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod port;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod transcripts;
