//! A live session, and its way from start to end.

use std::sync::Arc;

use falconer_event::{End, Sequence};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::bounds::Bounds;
use super::course::Course;
use super::gate::Gate;
use super::identity::Identity;
use super::prompts::Prompts;
use super::recorder::{Out, Recorder};
use super::renewing::Renewing;
use super::requests::Requests;
use super::retrying::Retrying;
use crate::engine::{Engine, Opening};
use crate::handle::Command;
use crate::lock::SessionLock;
use crate::message::MessageId;
use crate::spec::SessionSpec;
use crate::stream::Outlet;
use crate::transcript::{Archive, Transcript};

/// Everything a live session knows. One task owns it.
pub(super) struct Live {
    pub(super) recorder: Recorder,
    pub(super) requests: Requests,
    pub(super) prompts: Prompts,
    pub(super) retrying: Retrying,
    pub(super) identity: Identity,
    pub(super) bounds: Bounds,
    pub(super) course: Course,
    pub(super) renewing: Renewing,
    /// What the engine was asked on behalf of callers; gives the message it took back, if any.
    pub(super) jobs: JoinSet<Option<MessageId>>,
}

/// What a session is told from outside.
pub(super) struct Told {
    pub(super) commands: mpsc::Receiver<Command>,
    /// Whether somebody can still send commands.
    pub(super) has_handles: bool,
}

/// What every start of the engine is told.
pub(super) struct Start {
    about: falconer_event::Run,
    archive: Option<Archive>,
    /// Told when the engine is up.
    warnings: Vec<(String, String)>,
}

impl Live {
    pub(super) fn new(
        spec: SessionSpec,
        lock: Option<SessionLock>,
        transcript: Option<Transcript>,
        outlet: Outlet,
    ) -> (Self, Box<dyn Engine>, Start) {
        let gate = Arc::new(Gate::new(&spec));
        let engine: Box<dyn Engine> = match spec.engine {
            Some(engine) => engine,
            None => Box::new(spec.claude),
        };
        let can_renew = spec.resume.is_some() && engine.can_start_again();
        let archive = spec
            .archive
            .map(|directory| Archive::new(directory, spec.redactor.clone()));
        let run = spec.run.as_str().to_owned();
        let sequence = Sequence::after(spec.name, spec.last_event);
        let out = Out {
            redactor: spec.redactor,
            transcript,
            outlet,
        };
        let live = Self {
            recorder: Recorder::new(spec.run, sequence, spec.clock, out),
            requests: Requests::new(run, gate.clone(), spec.answer_within),
            prompts: Prompts::new(spec.queue),
            retrying: Retrying::new(spec.retries),
            identity: Identity::new(spec.locks, lock, spec.resume),
            bounds: Bounds::new(spec.limits),
            course: Course::new(spec.lifetime, gate),
            renewing: Renewing::new(spec.on_missing, can_renew),
            jobs: JoinSet::new(),
        };
        let start = Start {
            about: spec.about,
            archive,
            warnings: spec.warnings,
        };
        (live, engine, start)
    }

    /// Runs to the end; the last thing that happens is `run.completed`.
    pub(super) async fn run(mut self, mut engine: Box<dyn Engine>, mut start: Start, told: Told) {
        let mut told = told;
        let mut end = self.lead(&mut *engine, &mut start, &mut told).await;
        if self.begin_anew(&end).await {
            end = self.lead(&mut *engine, &mut start, &mut told).await;
        }
        self.finish(end);
    }

    /// From the start of an engine to its end.
    async fn lead(&mut self, engine: &mut dyn Engine, start: &mut Start, told: &mut Told) -> End {
        let starting = engine.start(self.opening(start));
        match self.connect(starting, told).await {
            Ok((running, early)) => {
                for (kind, text) in std::mem::take(&mut start.warnings) {
                    self.recorder.warn(&kind, &text);
                }
                self.drive(running, early, told).await
            }
            Err(end) => end,
        }
    }

    fn opening(&self, start: &Start) -> Opening {
        let limits = self.bounds.limits();
        Opening {
            about: start.about.clone(),
            resume: self.identity.resume().cloned(),
            turns: self.recorder.turns(),
            budget_usd: limits.usd,
            meters_output: limits.meter_output(),
            keeps_raw: self.recorder.keeps_raw(),
            archive: start.archive.clone(),
        }
    }

    fn finish(mut self, end: End) {
        let denied = "the run ended, so this was denied";
        self.requests
            .deny_all("falconer", denied, &mut self.recorder);
        let unsent = "the run ended before it was sent";
        self.prompts.drop_all(unsent, &mut self.recorder);
        // Given back first: who hears of the end may want to go on at once.
        self.identity.release();
        self.recorder.end(end);
    }
}
