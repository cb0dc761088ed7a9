//! The handle of a supervised process's owner.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::child::ChildId;
use super::ladder::Ladder;
use super::supervisor::{Command, Inbox};

/// A process that was started, with our ends of its pipes.
///
/// The pipes are in blocking mode and close on exec.
#[derive(Debug)]
#[non_exhaustive]
pub struct Supervised {
    /// Its process id, which is its process group id as well.
    pub pid: u32,
    /// Its standard input, to be written.
    pub stdin: OwnedFd,
    /// Its standard output, to be read.
    pub stdout: OwnedFd,
    /// Its standard error, to be read.
    pub stderr: OwnedFd,
    /// Its life.
    pub handle: Handle,
}

/// The life of a supervised process and of everything it starts.
///
/// Dropping it sends SIGTERM at once and SIGKILL to the whole tree after
/// [`Spec::drop_grace`](crate::Spec::drop_grace). That happens on a thread of its own and so
/// does not need an async runtime.
#[derive(Debug)]
#[must_use = "dropping the handle ends the process"]
pub struct Handle {
    pub(super) id: ChildId,
    pub(super) inbox: Arc<Inbox>,
    pub(super) exit: watch::Receiver<Option<Exit>>,
    pub(super) drop_grace: Duration,
}

/// The end of a supervised process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// End of the process itself; not of its descendants.
    pub status: ExitStatus,
    /// Processes of its tree that could not be killed in time. Normally empty.
    pub leftovers: Vec<u32>,
}

/// The status of a process that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// It returned this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// The status could not be had: somebody else collected it, or the process would not die.
    Unknown,
}

impl Handle {
    /// Ends the process, by and by.
    ///
    /// May be called again; a later call can only bring the end forward. Does nothing if the
    /// process has ended.
    pub fn end(&self, ladder: Ladder) {
        self.inbox.push(Command::End(self.id, ladder));
    }

    /// Waits until the process has ended, been reaped, and nothing that it started is left.
    ///
    /// Does not end it. If descendants cannot be killed within two seconds it resolves all the
    /// same and names them.
    pub fn exited(&self) -> impl Future<Output = Exit> + Send + 'static {
        let mut exit = self.exit.clone();
        async move {
            let gone = Exit {
                status: ExitStatus::Unknown,
                leftovers: Vec::new(),
            };
            match exit.wait_for(Option::is_some).await {
                Ok(exit) => exit.clone().unwrap_or(gone),
                Err(_) => gone,
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.exit.borrow().is_none() {
            self.end(Ladder {
                exit: Duration::ZERO,
                term: self.drop_grace,
            });
        }
    }
}
