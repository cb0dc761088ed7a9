//! The signals that end a process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals that end a session.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signalled {
    /// SIGINT: the turn is aborted and told about.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP.
    HangUp,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Signalled {
        tokio::select! {
            _ = self.interrupt.recv() => Signalled::Interrupt,
            _ = self.terminate.recv() => Signalled::Terminate,
            _ = self.hang_up.recv() => Signalled::HangUp,
        }
    }
}

impl Signalled {
    /// The exit code of the official CLI.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Interrupt => 0,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}
