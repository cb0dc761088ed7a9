//! Commands that can only read.
//!
//! A confined command may read whatever its user may, and change nothing: no file outside a
//! directory of its own, no metadata, no socket, no other process, no new privileges. The kernel
//! enforces it with Landlock and seccomp for the command and everything it starts, until the
//! last of them has ended. Output goes to pipes that were open before.
//!
//! What remains possible: to read, and to say on the output what was read; to use time, memory
//! and processes; to fill the private directory, which is removed when the command has ended; to
//! update the times of last access; to take advisory locks on files that can be read.

#[expect(
    unsafe_code,
    reason = "a child between clone and execve makes system calls only"
)]
mod apply;
mod filter;
#[expect(unsafe_code, reason = "the kernel's interface has no safe wrapper")]
mod landlock;
mod private;
#[expect(unsafe_code, reason = "the attempts of a child are system calls")]
mod probe;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use libc::sock_filter;

pub(crate) use apply::Bars;
use filter::Signals;
use landlock::Writable;
pub(crate) use private::{PrivateDirectory, base as private_base};
pub(crate) use probe::Attempts;

/// Proof that this kernel confines commands, by having tried.
///
/// Put it into [`Spec::confinement`](crate::Spec::confinement), or use
/// [`Spec::confined`](crate::Spec::confined).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confinement {
    landlock: u32,
}

/// A reason why commands cannot be confined on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unconfined {
    /// There is no table of system calls for this architecture.
    #[error("confining commands is not supported on {0}")]
    Architecture(&'static str),
    /// The kernel has no Landlock, or it is switched off.
    #[error("the kernel does not offer Landlock (Linux 6.2 or newer, enabled at boot): {0}")]
    NoLandlock(String),
    /// The kernel's Landlock cannot keep files from being truncated.
    #[error("the kernel's Landlock is version {0}, and version 3 (Linux 6.2) is needed")]
    OldLandlock(u32),
    /// A confined process could not be set up.
    #[error("failed to start a confined process: {0}")]
    Failed(String),
    /// A confined process was started and could do what it must not, or could not write where it
    /// may.
    #[error("a confined process was not held back as it must be: {0}")]
    Leaky(&'static str),
}

/// Tries whether commands can be confined, once per process.
///
/// A child confines itself and attempts to write, to truncate, to change metadata, to open
/// sockets and to signal its parent. It takes less than a millisecond and blocks.
///
/// # Errors
/// [`Unconfined`] says what is missing. Nothing must then be run as if it were confined.
pub fn confinement() -> Result<Confinement, Unconfined> {
    static TRIED: OnceLock<Result<Confinement, Unconfined>> = OnceLock::new();
    TRIED.get_or_init(try_confinement).clone()
}

fn try_confinement() -> Result<Confinement, Unconfined> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err(Unconfined::Architecture(std::env::consts::ARCH));
    }
    let no_landlock = |error: io::Error| Unconfined::NoLandlock(error.to_string());
    let confinement = Confinement {
        landlock: landlock::version().map_err(no_landlock)?,
    };
    if confinement.landlock < landlock::OLDEST {
        return Err(Unconfined::OldLandlock(confinement.landlock));
    }
    probe::run(confinement)?;
    Ok(confinement)
}

/// The rules for one command.
#[derive(Debug)]
pub(crate) struct Cage {
    ruleset: OwnedFd,
    filter: &'static [sock_filter],
    private: PrivateDirectory,
}

impl Cage {
    /// Prepares the rules and the private directory of a command.
    pub(crate) fn build(confinement: Confinement, name: &str) -> io::Result<Self> {
        let private = PrivateDirectory::make(name)?;
        let null = private::open_null()?;
        let directory = private.open()?;
        let places = [
            Writable::Below(directory.as_fd()),
            Writable::Device(null.as_fd()),
        ];
        let ruleset = landlock::ruleset(confinement.landlock, &places)?;
        Ok(Self {
            ruleset: crate::supervise::above_stdio(ruleset)?,
            filter: filter_for(confinement),
            private,
        })
    }

    pub(crate) fn private(&self) -> &Path {
        self.private.path()
    }

    /// Keeps the directory after the rules have been applied.
    pub(crate) fn into_private(self) -> PrivateDirectory {
        self.private
    }
}

/// One program serves all commands.
fn filter_for(confinement: Confinement) -> &'static [sock_filter] {
    static SCOPED: OnceLock<Vec<sock_filter>> = OnceLock::new();
    static REFUSED: OnceLock<Vec<sock_filter>> = OnceLock::new();
    if confinement.landlock >= landlock::SCOPING {
        SCOPED.get_or_init(|| filter::program(Signals::Scoped))
    } else {
        REFUSED.get_or_init(|| filter::program(Signals::Refused))
    }
}
