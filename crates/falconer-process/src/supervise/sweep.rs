//! Kills whole trees: freeze until nobody new appears, then kill everybody.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::marker::{HostId, Marker};
use super::tag;
use super::tree::{self, Coverage, Patrol, Process, Scope, Sighting};

/// Time for which the members of a tree may resist, or hide, before it is given up.
pub(super) const SWEEP_LIMIT: Duration = Duration::from_secs(2);

/// Number of looks at the trees until nobody new appears. Freezing wins against any number of forks
/// in a few rounds; a process that escapes is caught by the next sweep.
const FREEZE_ROUNDS: usize = 30;

/// Kills what a process that is gone has left behind, and says how many there were.
///
/// The watchdog of a process does this when it ends. This is for the case that the watchdog was
/// killed too. It blocks while it reads `/proc`.
pub fn end_leftovers(host: HostId) -> usize {
    if host == HostId::this() {
        return 0;
    }
    let target = Target {
        root: None,
        marker: Marker::of(host),
        known: &[],
    };
    let limit = Instant::now() + SWEEP_LIMIT;
    let mut ended = HashSet::new();
    loop {
        let swept = kill(std::slice::from_ref(&target));
        ended.extend(swept.alive.into_iter().flatten());
        if !swept.pending || Instant::now() >= limit {
            return ended.len();
        }
    }
}

/// A tree to be killed.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// The root, unless it has ended.
    pub(super) root: Option<u32>,
    pub(super) marker: Marker,
    /// Members known from an earlier sweep.
    pub(super) known: &'a [Process],
}

/// The result of a sweep.
#[derive(Debug)]
pub(super) struct Swept {
    /// For each tree, who was found alive, and was sent SIGKILL.
    pub(super) alive: Vec<Vec<Process>>,
    /// Somebody was in the middle of `execve` all the time, and may be a member.
    pub(super) pending: bool,
}

/// Kills all members of the trees that can be found.
///
/// All trees share the cost of reading `/proc`.
pub(super) fn kill(targets: &[Target<'_>]) -> Swept {
    let mut hunt = Hunt::new(targets);
    let mut patrol = Patrol::default();
    let mut pending = false;
    for _ in 0..FREEZE_ROUNDS {
        let scope = hunt.scope();
        hunt.settled = true;
        let coverage = patrol.round(scope, |sighting| hunt.meet(sighting));
        pending = coverage == Coverage::Pending;
        if hunt.settled && coverage == Coverage::Complete {
            break;
        }
    }
    let mut alive = vec![Vec::new(); targets.len()];
    for (process, tree) in hunt.members {
        process.signal(Signal::KILL);
        alive[tree].push(process);
    }
    Swept { alive, pending }
}

/// Whose tree a process belongs to is an index into the targets.
struct Hunt {
    untouchable: HashSet<u32>,
    roots: HashMap<u32, usize>,
    markers: HashMap<Marker, usize>,
    numbers: HashMap<u64, usize>,
    known: HashMap<Process, usize>,
    members: HashMap<Process, usize>,
    /// The roots and members by their ids, to recognise children.
    parents: HashMap<u32, usize>,
    /// Nobody new in this round, and everybody stands still.
    settled: bool,
}

impl Hunt {
    fn new(targets: &[Target<'_>]) -> Self {
        let indexed = || targets.iter().enumerate();
        let roots: HashMap<u32, usize> = indexed()
            .filter_map(|(tree, target)| Some((target.root?, tree)))
            .collect();
        Self {
            untouchable: tree::untouchable(),
            // Children of a root may be met before it.
            parents: roots.clone(),
            roots,
            markers: indexed()
                .map(|(tree, target)| (target.marker, tree))
                .collect(),
            numbers: indexed()
                .flat_map(|(tree, target)| numbers(target.marker).map(|number| (number, tree)))
                .collect(),
            known: indexed()
                .flat_map(|(tree, target)| target.known.iter().map(move |process| (*process, tree)))
                .collect(),
            members: HashMap::new(),
            settled: false,
        }
    }

    /// Processes without a marker can be members only if there are others, living or known,
    /// and after a round in which those all stood still there can be no more of them.
    fn scope(&self) -> Scope {
        if self.settled || (self.parents.is_empty() && self.known.is_empty()) {
            Scope::Marked
        } else {
            Scope::Everybody
        }
    }

    fn meet(&mut self, sighting: &Sighting<'_>) {
        let process = sighting.process;
        if self.members.contains_key(&process) {
            self.settled &= sighting.frozen;
            return;
        }
        let Some(tree) = self.tree_of(sighting) else {
            return;
        };
        if self.untouchable.contains(&process.pid) {
            return;
        }
        process.signal(Signal::STOP);
        self.members.insert(process, tree);
        self.parents.insert(process.pid, tree);
        self.settled = false;
    }

    fn tree_of(&self, sighting: &Sighting<'_>) -> Option<usize> {
        let pid = sighting.process.pid;
        (self.roots.get(&pid))
            .or_else(|| self.parents.get(&sighting.parent))
            .or_else(|| self.known.get(&sighting.process))
            .or_else(|| (sighting.markers.iter()).find_map(|marker| self.markers.get(marker)))
            .or_else(|| (sighting.numbers.iter()).find_map(|number| self.numbers.get(number)))
            .copied()
    }
}

/// The limits of what a marker names, be it a supervised process or a host.
fn numbers(marker: Marker) -> [u64; 2] {
    [tag::root_number(marker), tag::host_number(marker)]
}
