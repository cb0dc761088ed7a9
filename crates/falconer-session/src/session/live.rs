//! What a live session knows, and its way from start to end.

use std::sync::Arc;
use std::time::Duration;

use falconer::{Billing, Client};
use falconer_event::{Body, End, Sequence, Source, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Connecting;
use super::driving::Engine;
use super::ending::Ending;
use super::gate::Gate;
use super::known::Known;
use super::recorder::{Out, Recorder};
use super::renewing::Renewal;
use super::turns::{Message, Turns};
use crate::answer::Answer;
use crate::handle::{Command, Reply};
use crate::limits::{Limits, Meter, Retries, Watch};
use crate::lock::{SessionLock, SessionLocks};
use crate::message::MessageId;
use crate::pending::{Asked, Pending};
use crate::spec::{Lifetime, Resume, SessionSpec};
use crate::stream::Outlet;
use crate::transcript::Transcript;

/// Everything a live session knows. One task owns it.
pub(super) struct Live {
    pub(super) run: String,
    pub(super) recorder: Recorder,
    pub(super) pending: Pending,
    pub(super) answer_within: Duration,
    /// Each waits until its request is withdrawn, or settled.
    pub(super) withdrawals: FuturesUnordered<BoxFuture<'static, Option<String>>>,
    /// Each judges the input of an answer.
    pub(super) edits: FuturesUnordered<BoxFuture<'static, Edited>>,
    pub(super) turns: Turns,
    /// The ids of messages that were accepted.
    pub(super) known: Known,
    pub(super) queue: usize,
    /// Messages to be sent again, and when.
    pub(super) retry: Option<(Instant, Vec<Message>)>,
    pub(super) retries: Retries,
    pub(super) waited: Duration,
    pub(super) had_side_effect: bool,
    /// What the service asked for in the turn under way.
    pub(super) wanted_wait: Option<Duration>,
    /// Attempts the engine made again by itself in this turn.
    pub(super) engine_retries: u32,
    pub(super) locks: SessionLocks,
    pub(super) lock: Option<SessionLock>,
    pub(super) resume: Option<Resume>,
    /// The engine's id of the session, once it has said it.
    pub(super) session: Option<String>,
    /// Where the agent works, once the engine has said it.
    pub(super) cwd: Option<String>,
    pub(super) lifetime: Lifetime,
    pub(super) limits: Limits,
    pub(super) meter: Meter,
    pub(super) watch: Watch,
    pub(super) gate: Arc<Gate>,
    pub(super) ending: Option<Ending>,
    /// What the engine was asked on behalf of callers; gives the message it took back, if any.
    pub(super) jobs: JoinSet<Option<MessageId>>,
    pub(super) not_found: bool,
    /// How to begin anew if the conversation to resume is gone.
    pub(super) renewal: Option<Renewal>,
    /// Messages to a conversation that is gone.
    pub(super) unanswered: Vec<Message>,
    pub(super) streamed: Streamed,
    /// Whether the version of the official CLI is still to be compared with the tested one.
    pub(super) version_unseen: bool,
    /// Told when the engine is up.
    warnings: Vec<(String, String)>,
}

/// An answer whose input was judged.
pub(super) type Edited = (Answer, Reply<()>, Result<(), String>);

/// What becomes of texts while they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streamed {
    /// They are told piece by piece.
    Shown,
    /// Only the complete ones are told; the engine streams for the sake of a limit.
    Hidden,
}

impl Live {
    pub(super) fn new(
        spec: SessionSpec,
        lock: Option<SessionLock>,
        transcript: Option<Transcript>,
        outlet: Outlet,
        gate: Arc<Gate>,
        renewal: Option<Renewal>,
        streamed: Streamed,
    ) -> Self {
        let sequence = Sequence::after(spec.name, spec.last_event);
        let run = spec.run.as_str().to_owned();
        let out = Out {
            redactor: spec.redactor,
            transcript,
            outlet,
        };
        Self {
            recorder: Recorder::new(spec.about, spec.run, sequence, spec.clock, out),
            run,
            pending: Pending::default(),
            answer_within: spec.answer_within,
            withdrawals: FuturesUnordered::new(),
            edits: FuturesUnordered::new(),
            turns: Turns::default(),
            known: Known::default(),
            queue: spec.queue,
            retry: None,
            retries: spec.retries,
            waited: Duration::ZERO,
            had_side_effect: false,
            wanted_wait: None,
            engine_retries: 0,
            locks: spec.locks,
            lock,
            resume: spec.resume,
            session: None,
            cwd: None,
            lifetime: spec.lifetime,
            limits: spec.limits,
            meter: Meter::default(),
            watch: Watch::new(Instant::now()),
            gate,
            ending: None,
            jobs: JoinSet::new(),
            not_found: false,
            renewal,
            unanswered: Vec::new(),
            streamed,
            version_unseen: false,
            warnings: spec.warnings,
        }
    }

    /// Runs to the end; the last thing that happens is `run.completed`.
    pub(super) async fn run(
        mut self,
        connecting: Connecting,
        mut told: mpsc::Receiver<Command>,
        mut asked: mpsc::Receiver<Asked>,
    ) {
        let mut end = self.lead(connecting, &mut told, &mut asked).await;
        if let Some(connecting) = self.renewal(&end).await {
            end = self.lead(connecting, &mut told, &mut asked).await;
        }
        self.finish(end);
    }

    /// From the start of an engine to its end.
    async fn lead(
        &mut self,
        connecting: Connecting,
        told: &mut mpsc::Receiver<Command>,
        asked: &mut mpsc::Receiver<Asked>,
    ) -> End {
        match self.connect(connecting, told).await {
            Ok(connected) => {
                self.learn_from(&connected.client);
                let engine = Engine::new(connected.client, connected.messages);
                self.drive(engine, connected.early, told, asked).await
            }
            Err(end) => end,
        }
    }

    /// What the start of the engine has decided; what the caller said about the run stays.
    fn learn_from(&mut self, client: &Client) {
        self.recorder.resumes_after(client.cost_before());
        self.meter.resumes_after(client.cost_before());
        let about = self.recorder.about();
        // Who pays is told only if it is known.
        let known = client
            .billing()
            .filter(|&billing| billing != Billing::Undetermined);
        let billing = known.map(|billing| billing.to_string());
        about.billing = about.billing.take().or(billing);
        let isolation = client.isolation().map(ToString::to_string);
        about.sandbox = about.sandbox.take().or(isolation);
        for (kind, text) in std::mem::take(&mut self.warnings) {
            self.warn(&kind, &text);
        }
    }

    pub(super) fn warn(&mut self, kind: &str, text: &str) {
        let mut warning = Warning::default();
        warning.kind = kind.to_owned();
        warning.text = text.to_owned();
        self.recorder.note(Source::Falconer, Body::Warning(warning));
    }
}
