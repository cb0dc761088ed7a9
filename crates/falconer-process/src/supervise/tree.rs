//! Processes, their parents and their markers, read from `/proc`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::marker::Marker;
use super::tag;

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// Start time in clock ticks since boot.
    start: u64,
}

impl Process {
    /// Sends a signal, unless the process is gone and its id belongs to another one.
    pub(super) fn signal(self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return;
        };
        // The descriptor pins the process; after that the start time tells whether it is the
        // right one. Errors mean that it is gone, or was never ours to signal.
        let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        if Stat::read(self.pid, &mut Vec::new()).is_some_and(|stat| stat.start == self.start) {
            let _ = pidfd_send_signal(&pidfd, signal);
        }
    }
}

/// Returns the start of a process, in clock ticks since boot.
pub(super) fn start_time(pid: Pid) -> Option<u64> {
    let pid = pid.as_raw_nonzero().get().unsigned_abs();
    Some(Stat::read(pid, &mut Vec::new())?.start)
}

/// The content of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    state: u8,
    parent: u32,
    flags: u64,
    threads: u64,
    start: u64,
    /// Address of its program's code; 0 while it has none.
    code: u64,
}

impl Stat {
    fn read(pid: u32, buffer: &mut Vec<u8>) -> Option<Self> {
        read_file(&format!("/proc/{pid}/stat"), buffer).ok()?;
        Self::parse(buffer)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The command name, in parentheses, may itself contain anything.
        let after_name = memchr::memrchr(b')', line)? + 1;
        let rest = std::str::from_utf8(&line[after_name..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        Some(Self {
            state: *fields.next()?.as_bytes().first()?,
            parent: fields.next()?.parse().ok()?,
            flags: fields.nth(4)?.parse().ok()?,
            threads: fields.nth(10)?.parse().ok()?,
            start: fields.nth(1)?.parse().ok()?,
            code: fields.nth(3)?.parse().ok()?,
        })
    }

    fn is_kernel(self, pid: u32) -> bool {
        pid == KTHREADD || self.parent == KTHREADD
    }

    /// It is on its way out and starts nothing any more.
    fn is_exiting(self) -> bool {
        self.flags & PF_EXITING != 0
    }

    /// A zombie is not alive, except while threads other than its first one still run.
    fn is_alive(self) -> bool {
        !matches!(self.state, b'Z' | b'X') || self.threads > 1
    }

    /// Returns `true` if it cannot make children: stopped, or in an uninterruptible wait with a
    /// stop pending.
    fn is_frozen(self) -> bool {
        matches!(self.state, b'T' | b't' | b'D')
    }
}

/// The process that all kernel threads descend from.
const KTHREADD: u32 = 2;

/// The kernel's mark of a process that is exiting.
const PF_EXITING: u64 = 0x4;

/// Number of looks in a round at a process that is in the middle of `execve`, and the pause between
/// them.
const EXEC_CHECKS: usize = 20;
const EXEC_PAUSE: Duration = Duration::from_micros(50);

/// A living process, as it is come across while reading `/proc`.
#[derive(Debug)]
pub(super) struct Sighting<'a> {
    pub(super) process: Process,
    pub(super) parent: u32,
    /// `true` if it cannot make children any more.
    pub(super) frozen: bool,
    pub(super) markers: &'a [Marker],
    /// The numbers of its limits; see [`tag`].
    pub(super) numbers: [u64; 2],
}

/// The completeness of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Everybody who was there at the beginning of the round was met.
    Complete,
    /// Somebody ended before it could be looked at, and may have left a child.
    Gaps,
    /// Somebody is in the middle of `execve` and may turn out to be marked.
    Pending,
}

impl Coverage {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Pending, _) | (_, Self::Pending) => Self::Pending,
            (Self::Gaps, _) | (_, Self::Gaps) => Self::Gaps,
            (Self::Complete, Self::Complete) => Self::Complete,
        }
    }
}

/// The processes to be met in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Everybody,
    /// Only those who carry a marker and were not there in an earlier round. Much cheaper.
    Marked,
}

/// Repeated rounds over all processes.
///
/// Made for catching processes that fork and exit all the time: those that are new since the
/// last round are visited first, within microseconds of being listed, and only they need their
/// environment read.
#[derive(Debug, Default)]
pub(super) struct Patrol {
    records: HashMap<u32, Record>,
    kernel: HashSet<u32>,
    buffer: Vec<u8>,
}

/// The memory of a process between rounds.
#[derive(Debug, Default)]
struct Record {
    /// `None` if it was dead, or not marked, when it was first looked at.
    start: Option<u64>,
    markers: Vec<Marker>,
    numbers: [u64; 2],
}

impl Patrol {
    /// Shows every living process in scope to `visit`.
    pub(super) fn round(&mut self, scope: Scope, mut visit: impl FnMut(&Sighting<'_>)) -> Coverage {
        let mut coverage = Coverage::Complete;
        let (mut new, mut old): (Vec<u32>, Vec<u32>) = list()
            .filter(|pid| !self.kernel.contains(pid))
            .partition(|pid| !self.records.contains_key(pid));
        new.sort_unstable_by(|one, other| other.cmp(one));
        if scope == Scope::Marked {
            old.clear();
        }
        for pid in new.into_iter().chain(old) {
            if scope == Scope::Marked {
                let (marked, seen) = self.glance(pid);
                coverage = coverage.and(seen);
                if !marked {
                    continue;
                }
            }
            let stat = Stat::read(pid, &mut self.buffer).filter(|stat| stat.is_alive());
            let known = self.records.get(&pid).is_some_and(|record| match stat {
                Some(stat) => record.start == Some(stat.start),
                None => true,
            });
            if !known {
                coverage = coverage.and(self.record(pid, stat));
            }
            if let Some(stat) = stat {
                visit(&sighting(pid, stat, self.records.get(&pid)));
            }
        }
        coverage
    }

    /// Looks for a marker on a process, and at nothing else.
    fn glance(&mut self, pid: u32) -> (bool, Coverage) {
        if tag::numbers_on(pid) != [0; 2] {
            return (true, Coverage::Complete);
        }
        let environ = read_environ(pid, &mut self.buffer);
        let marked = environ == Environ::Read && Marker::find_in(&self.buffer).next().is_some();
        let coverage = match environ {
            Environ::Read | Environ::Forbidden => Coverage::Complete,
            Environ::Gone if is_known_kernel_thread(pid) => Coverage::Complete,
            Environ::Gone => Coverage::Gaps,
            Environ::NotYet => Coverage::Pending,
        };
        if !marked && environ != Environ::NotYet {
            self.records.insert(pid, Record::default());
        }
        (marked, coverage)
    }

    fn record(&mut self, pid: u32, stat: Option<Stat>) -> Coverage {
        let Some(stat) = stat else {
            self.records.insert(pid, Record::default());
            return Coverage::Gaps;
        };
        if stat.is_kernel(pid) {
            self.kernel.insert(pid);
            return Coverage::Complete;
        }
        // The start time is older than the environment, so that a process that takes the id in
        // between does not look like the one that was marked.
        let numbers = tag::numbers_on(pid);
        if read_environ(pid, &mut self.buffer) == Environ::NotYet && numbers == [0; 2] {
            // Without a record it is new in the next round, too.
            self.records.remove(&pid);
            return Coverage::Pending;
        }
        let markers = Marker::find_in(&self.buffer).collect();
        let start = Some(stat.start);
        let record = Record {
            start,
            markers,
            numbers,
        };
        self.records.insert(pid, record);
        Coverage::Complete
    }
}

fn sighting(pid: u32, stat: Stat, record: Option<&Record>) -> Sighting<'_> {
    Sighting {
        process: Process {
            pid,
            start: stat.start,
        },
        parent: stat.parent,
        frozen: stat.is_frozen(),
        markers: record.map_or(&[][..], |record| &record.markers),
        numbers: record.map_or([0; 2], |record| record.numbers),
    }
}

fn list() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// This process, its ancestors and init: nobody a sweep may ever signal.
pub(super) fn untouchable() -> HashSet<u32> {
    let mut untouchable = HashSet::from([0, 1]);
    let mut pid = std::process::id();
    while untouchable.insert(pid) {
        pid = Stat::read(pid, &mut Vec::new()).map_or(0, |stat| stat.parent);
    }
    untouchable
}

/// Number of lists of a tree's members until nobody new appears.
const CENSUS_ROUNDS: usize = 10;

/// Everybody who descends from a process, as far as can be seen while they go on.
///
/// Whose parent ends while the list is made moves to another place in the tree, so it is made
/// again until nobody new appears. Empty on kernels without `CONFIG_PROC_CHILDREN`.
pub(super) fn descendants(root: u32) -> Vec<Process> {
    let mut found = HashSet::new();
    for _ in 0..CENSUS_ROUNDS {
        let before = found.len();
        add_descendants(root, &mut found);
        if found.len() == before {
            break;
        }
    }
    found.into_iter().collect()
}

fn add_descendants(root: u32, found: &mut HashSet<Process>) {
    let mut open = vec![root];
    let mut buffer = Vec::new();
    while let Some(parent) = open.pop() {
        for pid in children(parent) {
            if let Some(Stat { start, .. }) = Stat::read(pid, &mut buffer) {
                found.insert(Process { pid, start });
                open.push(pid);
            }
        }
    }
}

/// The children of all threads of a process.
fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
    let lists = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let pids = list.split_ascii_whitespace();
            pids.filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// The result of reading an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Environ {
    Read,
    Forbidden,
    /// It is exiting, or has no memory, as kernel threads have none.
    Gone,
    /// It is in the middle of `execve`.
    NotYet,
}

/// Reads the environment of a process.
///
/// In the middle of `execve` a process has no environment. Mostly that lasts for microseconds, but
/// a tree that forks and execs all the time has always some process in it, and one whose program
/// has to be read from a busy disk may be in it for long.
fn read_environ(pid: u32, environ: &mut Vec<u8>) -> Environ {
    let path = format!("/proc/{pid}/environ");
    let mut other = Vec::new();
    // Which program had none, since its code is there only when its environment is.
    let mut without = None;
    for _ in 0..EXEC_CHECKS {
        match read_file(&path, environ) {
            Ok(()) if !environ.is_empty() => return Environ::Read,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Environ::Forbidden;
            }
            Err(_) => return Environ::Gone,
        }
        let stat = match Stat::read(pid, &mut other) {
            Some(stat) if stat.is_alive() && !stat.is_kernel(pid) && !stat.is_exiting() => stat,
            _ => return Environ::Gone,
        };
        match stat.code {
            0 => std::thread::sleep(EXEC_PAUSE),
            // It was there before the last look, and is the same after it.
            code if without == Some(code) => return Environ::Read,
            code => without = Some(code),
        }
    }
    Environ::NotYet
}

/// Returns `true` if a process without memory is a kernel thread, and so has not just ended.
///
/// Remembered, because there are many. An id that is remembered wrongly, because it was used
/// again, only means that the end of its new owner goes unnoticed, not its life.
fn is_known_kernel_thread(pid: u32) -> bool {
    static KERNEL_THREADS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    let mut known = KERNEL_THREADS
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if known.contains(&pid) {
        return true;
    }
    let kernel = Stat::read(pid, &mut Vec::new()).is_some_and(|stat| stat.is_kernel(pid));
    if kernel {
        known.insert(pid);
    }
    kernel
}

fn read_file(path: &str, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(buffer));
    read.inspect_err(|_| buffer.clear()).map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn stat_lines_are_read_whatever_the_command_is_called() {
        let tail = "S 41 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 98765 1000 10 99 4096 5";
        for name in ["sh", "a b", "x) Z 1 (", ")", "", "é\u{7}"] {
            let line = format!("42 ({name}) {tail}");
            let expected = Stat {
                state: b'S',
                parent: 41,
                flags: 4_194_560,
                threads: 3,
                start: 98765,
                code: 4096,
            };
            assert_eq!(Stat::parse(line.as_bytes()), Some(expected), "{name}");
        }
        for broken in ["", "42 (sh", "42 (sh) S", "42 (sh) S x"] {
            assert_eq!(Stat::parse(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn we_and_our_ancestors_are_untouchable() {
        let untouchable = untouchable();
        for pid in [
            0,
            1,
            std::process::id(),
            std::os::unix::process::parent_id(),
        ] {
            assert!(untouchable.contains(&pid), "{pid}");
        }
    }

    #[test]
    fn every_round_meets_this_process() {
        let mut patrol = Patrol::default();
        for _ in 0..3 {
            let mut met = Vec::new();
            patrol.round(Scope::Everybody, |sighting| {
                if sighting.process.pid == std::process::id() {
                    met.push((sighting.parent, sighting.frozen));
                }
            });
            assert_eq!(met, [(std::os::unix::process::parent_id(), false)]);
        }
    }

    /// Becomes another program again and again. With as many arguments to lay out as the kernel
    /// takes, each time is tens of milliseconds.
    const RESTLESS: &str = "ulimit -s 24576; set -- $(yes env | head -n 100); \
        exec \"$@\" sleep $(yes 0 | head -n 550000) 1000";

    #[test]
    fn a_process_never_seems_to_have_no_environment_while_it_becomes_another_program() {
        let mut shell = std::process::Command::new("sh");
        let mut child = shell.args(["-c", RESTLESS]).spawn().unwrap();
        let mut environ = Vec::new();
        let (mut read, mut empty, mut not_yet) = (0, 0, 0);
        let deadline = Instant::now() + Duration::from_secs(60);
        while not_yet < 20 && Instant::now() < deadline {
            match read_environ(child.id(), &mut environ) {
                Environ::Read if environ.is_empty() => empty += 1,
                Environ::Read => read += 1,
                Environ::NotYet => not_yet += 1,
                Environ::Forbidden | Environ::Gone => break,
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(read > 0, "its environment was never seen");
        assert_eq!((empty, not_yet), (0, 20));
    }
}
