//! The limits of a run, and how far it is from them.

use std::time::Duration;

use falconer_event::{Body, Failure, Limit, Source};
use tokio::time::Instant;

use super::recorder::Recorder;
use crate::engine::Used;
use crate::limits::{LimitKind, Limits, Watch};

/// What a run may take, what it has used, and since when it waits.
pub(super) struct Bounds {
    limits: Limits,
    used: Used,
    watch: Watch,
}

impl Bounds {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            used: Used::default(),
            watch: Watch::new(Instant::now()),
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The engine said something, or was told something.
    pub(super) fn heard(&mut self) {
        self.watch.heard(Instant::now());
    }

    pub(super) fn observe(&mut self, body: &Body) {
        self.watch.observe(body);
    }

    /// Takes the totals of the run.
    pub(super) fn used(&mut self, used: Option<Used>) {
        self.used = used.unwrap_or(self.used);
    }

    /// Returns the limit that the run has used up.
    pub(super) fn used_up(&self) -> Option<LimitKind> {
        self.limits.used_up(&self.used)
    }

    /// Notes whether the engine is at work and whether a person is asked.
    pub(super) fn look(&mut self, at_work: bool, is_asking: bool) {
        self.watch.at_work = at_work;
        self.watch.asking(is_asking, Instant::now());
    }

    /// Everything is answered; the engine has to be idle soon.
    pub(super) fn settling(&mut self) {
        self.watch.settling_since = Some(Instant::now());
    }

    /// There is something to do, or the engine is idle.
    pub(super) fn settled(&mut self) {
        self.watch.settling_since = None;
    }

    /// Returns when a limit of time is reached if nothing happens.
    pub(super) fn next(&self) -> Option<Instant> {
        self.watch.next(&self.limits)
    }

    /// Returns when the run is over, whatever happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.watch.next(&Limits {
            deadline: self.limits.deadline,
            grace: None,
            ..Limits::default()
        })
    }

    /// Returns the limit of time that is reached.
    pub(super) fn reached(&self, now: Instant) -> Option<LimitKind> {
        self.watch.reached(&self.limits, now)
    }

    /// Returns the time that is left for the run.
    pub(super) fn left(&self) -> Option<Duration> {
        self.watch.left(&self.limits, Instant::now())
    }

    /// Tells that a limit is reached.
    pub(super) fn tell(&self, kind: LimitKind, recorder: &mut Recorder) -> Failure {
        let failure = Failure::new(kind.class(), kind.text(&self.limits)).hint(kind.advice());
        let mut limit = Limit::default();
        limit.kind = kind.class().to_owned();
        limit.reached = true;
        limit.text.clone_from(&failure.text);
        recorder.note(Source::Falconer, Body::Limit(limit));
        failure
    }
}
