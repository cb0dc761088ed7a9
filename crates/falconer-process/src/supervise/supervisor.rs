//! The thread that watches, ends and reaps processes.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::process::Pid;

use super::child::{Child, ChildId};
use super::exec;
use super::guard_list::GuardList;
use super::ladder::Ladder;
use super::sweep::{self, Target};
use super::tree;
use super::watchdog::Watchdog;

/// A command to the supervisor.
#[derive(Debug)]
pub(super) enum Command {
    Watch(Child),
    End(ChildId, Ladder),
}

/// The way into the supervisor thread.
///
/// Needs no bound: there are as many entries as processes and calls of `end`.
#[derive(Debug)]
pub(super) struct Inbox {
    commands: Mutex<Vec<Command>>,
    bell: OwnedFd,
}

impl Inbox {
    pub(super) fn push(&self, command: Command) {
        self.push_quietly(command);
        self.wake();
    }

    /// Leaves the command for when the supervisor wakes up anyway.
    pub(super) fn push_quietly(&self, command: Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.push(command);
    }

    pub(super) fn wake(&self) {
        // Fails only if the counter is full, and then the thread is being woken already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    fn take(&self) -> Vec<Command> {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.bell, &mut count);
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut commands)
    }
}

/// Starts the thread. The receiver is cut off once the watchdog is at its post; nothing may be
/// started before that.
pub(super) fn start(guarded: Arc<GuardList>) -> io::Result<(Arc<Inbox>, mpsc::Receiver<()>)> {
    let inbox = Arc::new(Inbox {
        commands: Mutex::default(),
        bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
    });
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &inbox.bell, BELL, EventFlags::IN)?;
    let supervisor = Supervisor {
        inbox: Arc::clone(&inbox),
        epoll,
        children: HashMap::new(),
        watchdog: Watchdog::new(guarded),
    };
    let (ready, is_ready) = mpsc::channel();
    std::thread::Builder::new()
        .name("falconer-supervisor".to_owned())
        .spawn(move || supervisor.run(ready))?;
    Ok((inbox, is_ready))
}

/// The tokens of what is waited for; children have their own id.
const BELL: EventData = EventData::new_u64(0);
const WATCHDOG: EventData = EventData::new_u64(u64::MAX);

struct Supervisor {
    inbox: Arc<Inbox>,
    epoll: OwnedFd,
    children: HashMap<ChildId, Child>,
    watchdog: Watchdog,
}

impl Supervisor {
    fn run(mut self, ready: mpsc::Sender<()>) {
        exec::block_signals();
        self.survive(Self::keep_watchdog);
        drop(ready);
        loop {
            self.survive(Self::turn);
        }
    }

    /// Whatever goes wrong with one process, the others need this thread.
    fn survive(&mut self, act: fn(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| act(self))).is_err() {
            tracing::error!("bug: the process supervisor panicked; it goes on");
        }
    }

    fn turn(&mut self) {
        let events = self.wait();
        let now = Instant::now();
        self.obey(now);
        for event in events {
            self.notice(event.data, now);
        }
        self.list_members(now);
        for child in self.children.values_mut() {
            child.climb(now);
        }
        self.sweep(now);
        self.forget();
        self.keep_watchdog();
    }

    fn wait(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(64);
        let next = (self.children.values().filter_map(Child::next))
            .chain(self.watchdog.next())
            .min();
        let timeout = next.map(|next| timespec(next.saturating_duration_since(Instant::now())));
        let buffer = rustix::buffer::spare_capacity(&mut events);
        if let Err(error) = epoll::wait(&self.epoll, buffer, timeout.as_ref())
            && error != rustix::io::Errno::INTR
        {
            tracing::error!(%error, "bug: the process supervisor cannot wait");
            std::thread::sleep(Duration::from_millis(50));
        }
        events
    }

    fn obey(&mut self, now: Instant) {
        for command in self.inbox.take() {
            match command {
                Command::Watch(child) => self.watch(child, now),
                Command::End(id, ladder) => {
                    if let Some(child) = self.children.get_mut(&id) {
                        child.request(ladder, now);
                    }
                }
            }
        }
    }

    fn watch(&mut self, mut child: Child, now: Instant) {
        let token = EventData::new_u64(child.id.0);
        if let Err(error) = epoll::add(&self.epoll, child.pidfd(), token, EventFlags::IN) {
            // Without notice of its end it cannot be supervised, so it may not live.
            tracing::error!(%error, pid = %child.pid, "cannot watch a process, killing it");
            child.request(
                Ladder {
                    exit: Duration::ZERO,
                    term: Duration::ZERO,
                },
                now,
            );
        }
        self.children.insert(child.id, child);
    }

    fn notice(&mut self, token: EventData, now: Instant) {
        if token == BELL {
            return;
        }
        if token == WATCHDOG {
            self.watchdog.has_ended();
            return;
        }
        if let Some(child) = self.children.get_mut(&ChildId(token.u64())) {
            // It stays readable; once is enough.
            let _ = epoll::delete(&self.epoll, child.pidfd());
            child.root_has_ended(now);
        }
    }

    /// Remembers who is there before a root is told to end.
    fn list_members(&mut self, now: Instant) {
        for child in self.children.values_mut() {
            if child.take_census_due(now) {
                child.known = tree::descendants(raw(child.pid));
            }
        }
    }

    fn sweep(&mut self, now: Instant) {
        let mut due: Vec<&mut Child> = (self.children.values_mut())
            .filter(|child| child.is_sweep_due(now))
            .collect();
        if due.is_empty() {
            return;
        }
        let swept = sweep::kill(&targets(&due));
        let now = Instant::now();
        for (child, alive) in due.iter_mut().zip(swept.alive) {
            child.swept(alive, swept.pending, now);
        }
    }

    fn forget(&mut self) {
        let watchdog = &mut self.watchdog;
        self.children.retain(|_, child| {
            let done = child.is_done();
            if done {
                watchdog.release(child.marker);
            }
            !done
        });
    }

    fn keep_watchdog(&mut self) {
        if let Some(pidfd) = self.watchdog.attend(Instant::now())
            && let Err(error) = epoll::add(&self.epoll, pidfd, WATCHDOG, EventFlags::IN)
        {
            tracing::warn!(%error, "cannot watch the watchdog");
        }
    }
}

fn targets<'a>(children: &'a [&mut Child]) -> Vec<Target<'a>> {
    let target = |child: &'a Child| Target {
        root: (!child.root_ended).then(|| raw(child.pid)),
        marker: child.marker,
        known: &child.known,
    };
    children.iter().map(|child| target(child)).collect()
}

fn raw(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn timespec(duration: Duration) -> Timespec {
    // A little late is right, a little early would be a busy loop.
    let duration = duration + Duration::from_micros(100);
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
