//! One supervised process as the supervisor sees it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

use super::exec::Started;
use super::handle::{Exit, ExitStatus};
use super::ladder::{Ladder, Rung, Schedule};
use super::marker::Marker;
use super::sweep::SWEEP_LIMIT;
use super::tree::Process;
use crate::confine::PrivateDirectory;

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChildId(pub(super) u64);

impl ChildId {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
pub(super) struct Child {
    pub(super) id: ChildId,
    pub(super) pid: Pid,
    pub(super) marker: Marker,
    pidfd: OwnedFd,
    phase: Phase,
    exit: watch::Sender<Option<Exit>>,
    /// Members of the tree that must not be forgotten: seen before the end was asked for, or
    /// sent SIGKILL and not yet seen gone.
    pub(super) known: Vec<Process>,
    census_due: bool,
    /// The directory of a confined process; removed before its exit is published.
    private: Option<PrivateDirectory>,
    /// The root has ended; it stays a zombie, and its id reserved, until the sweep is done.
    pub(super) root_ended: bool,
}

#[derive(Debug)]
enum Phase {
    Running(Schedule),
    Sweeping {
        next: Instant,
        pause: Duration,
        /// Counted from the first SIGKILL.
        limit: Option<Instant>,
    },
    /// The exit was published although the root would not die; it only has to be reaped.
    Given,
}

impl Child {
    pub(super) fn new(
        id: ChildId,
        started: Started,
        marker: Marker,
        exit: watch::Sender<Option<Exit>>,
        private: Option<PrivateDirectory>,
    ) -> Self {
        Self {
            id,
            pid: started.pid,
            marker,
            pidfd: started.pidfd,
            phase: Phase::Running(Schedule::default()),
            exit,
            known: Vec::new(),
            census_due: false,
            private,
            root_ended: false,
        }
    }

    pub(super) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    pub(super) fn request(&mut self, ladder: Ladder, now: Instant) {
        if let Phase::Running(schedule) = &mut self.phase {
            schedule.request(ladder, now);
            self.census_due = true;
        }
    }

    /// Returns `true` if the tree is to be listed before the root is told to end: once it is gone,
    /// its descendants without a marker could not be told from strangers.
    pub(super) fn take_census_due(&mut self, now: Instant) -> bool {
        let asked = std::mem::take(&mut self.census_due);
        match &self.phase {
            Phase::Running(schedule) if !self.root_ended => match schedule.peek(now) {
                None => asked,
                Some(Rung::Term) => true,
                // Killing begins with a list of its own.
                Some(Rung::Kill) => false,
            },
            Phase::Running(_) | Phase::Sweeping { .. } | Phase::Given => false,
        }
    }

    /// The root has ended, by whatever cause.
    pub(super) fn root_has_ended(&mut self, now: Instant) {
        self.root_ended = true;
        match self.phase {
            Phase::Running(_) => self.start_sweep(now),
            Phase::Sweeping { ref mut next, .. } => *next = now,
            Phase::Given => {}
        }
    }

    /// Does what the ladder says is due.
    pub(super) fn climb(&mut self, now: Instant) {
        let Phase::Running(schedule) = &mut self.phase else {
            return;
        };
        match schedule.due(now) {
            None => {}
            Some(Rung::Term) => {
                // The root has not been reaped, so the group id is still its own. It may have
                // ended this moment; then there may be no group left.
                let _ = kill_process_group(self.pid, Signal::TERM);
            }
            Some(Rung::Kill) => self.start_sweep(now),
        }
    }

    fn start_sweep(&mut self, now: Instant) {
        self.phase = Phase::Sweeping {
            next: now,
            pause: FIRST_PAUSE,
            limit: None,
        };
    }

    pub(super) fn is_sweep_due(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Sweeping { next, .. } if next <= now)
    }

    /// Returns the time at which something has to be done without being asked.
    pub(super) fn next(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Running(schedule) => schedule.next(),
            Phase::Sweeping { next, .. } => Some(*next),
            Phase::Given => None,
        }
    }

    /// Takes the outcome of a sweep: who of the tree was found alive, and sent SIGKILL, and
    /// whether others may yet be found.
    pub(super) fn swept(&mut self, alive: Vec<Process>, pending: bool, now: Instant) {
        let Phase::Sweeping {
            ref mut next,
            ref mut pause,
            ref mut limit,
        } = self.phase
        else {
            return;
        };
        let limit = *limit.get_or_insert(now + SWEEP_LIMIT);
        if alive.is_empty() && !pending && self.root_ended {
            self.publish(Vec::new());
        } else if now < limit {
            *next = now + *pause;
            *pause = (*pause * 2).min(LONGEST_PAUSE);
            self.known = alive;
        } else if alive.is_empty() && self.root_ended {
            tracing::warn!(root = %self.pid, "a process is busy becoming another program for long, not waiting for it");
            self.publish(Vec::new());
        } else {
            let leftovers = alive.iter().map(|process| process.pid).collect::<Vec<_>>();
            tracing::error!(root = %self.pid, ?leftovers, "processes resist SIGKILL, giving up on them");
            self.publish(leftovers);
        }
    }

    fn publish(&mut self, leftovers: Vec<u32>) {
        self.phase = Phase::Given;
        self.private = None;
        let status = if self.root_ended {
            self.reap()
        } else {
            ExitStatus::Unknown
        };
        self.exit.send_replace(Some(Exit { status, leftovers }));
    }

    fn reap(&self) -> ExitStatus {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let waited = rustix::io::retry_on_intr(|| waitid(WaitId::PidFd(self.pidfd()), options));
        let Ok(Some(status)) = waited else {
            return ExitStatus::Unknown;
        };
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ExitStatus::Code(code),
            (_, Some(signal)) => ExitStatus::Signal(signal),
            (None, None) => ExitStatus::Unknown,
        }
    }

    /// Returns `true` if nothing more is to be done. Reaps a root that died after it was given up.
    pub(super) fn is_done(&self) -> bool {
        let done = matches!(self.phase, Phase::Given) && self.root_ended;
        if done {
            self.reap();
        }
        done
    }
}
