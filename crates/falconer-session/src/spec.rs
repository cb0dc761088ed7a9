//! What a session is started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer::{Options, Transport};
use falconer_event::{Run, RunId};
use falconer_secret::Redactor;
use futures_util::future::BoxFuture;

use crate::claude::Claude;
use crate::clock::{Clock, SystemClock};
use crate::engine::Engine;
use crate::exchange::Exchange;
use crate::limits::{Limits, Retries};
use crate::lock::SessionLocks;
use crate::policy::{Policy, Restrictions};

/// Everything a session needs to start.
///
/// The handlers for permissions, questions, plans and elicitations of the options are replaced:
/// the session asks through its events.
#[must_use]
pub struct SessionSpec {
    pub(crate) name: String,
    pub(crate) run: RunId,
    pub(crate) last_event: u64,
    pub(crate) locks: SessionLocks,
    pub(crate) claude: Claude,
    /// In the place of `claude`.
    pub(crate) engine: Option<Box<dyn Engine>>,
    pub(crate) about: Run,
    pub(crate) warnings: Vec<(String, String)>,
    pub(crate) resume: Option<Resume>,
    pub(crate) wait: Duration,
    pub(crate) lifetime: Lifetime,
    pub(crate) limits: Limits,
    pub(crate) retries: Retries,
    pub(crate) policy: Option<Arc<Policy>>,
    pub(crate) restrictions: Option<Arc<dyn Restrictions>>,
    pub(crate) answer_within: Duration,
    pub(crate) redactor: Redactor,
    pub(crate) transcript: Option<PathBuf>,
    pub(crate) archive: Option<PathBuf>,
    pub(crate) backlog: usize,
    pub(crate) queue: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) on_missing: OnMissing,
}

/// The session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Resume {
    pub(crate) session: String,
    pub(crate) at: Option<String>,
    pub(crate) fork: bool,
}

/// What happens when the conversation to resume does not exist any more.
#[derive(Default)]
#[non_exhaustive]
pub enum OnMissing {
    /// The run fails with the class `session_not_found`.
    #[default]
    Fail,
    /// A new conversation is begun, once, with a warning. Its first message is told the last
    /// exchange, if there is one; it is looked up only then. Not for an engine given by
    /// [`SessionSpec::through`], which can be opened once only.
    StartAnew(LastExchange),
}

/// Finds the last exchange of a conversation that is gone.
pub type LastExchange = BoxFuture<'static, Option<Exchange>>;

/// When a run ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Lifetime {
    /// When it is closed, or the last handle is gone.
    #[default]
    UntilClosed,
    /// When the first message, and what followed from it, is done.
    UntilIdle,
}

impl Resume {
    /// Goes on with this session, by the engine's id of it.
    pub fn session(id: impl Into<String>) -> Self {
        Self {
            session: id.into(),
            at: None,
            fork: false,
        }
    }

    /// Goes on after this message; what came later is left out.
    pub fn at(mut self, message: impl Into<String>) -> Self {
        self.at = Some(message.into());
        self
    }

    /// Goes on with a copy, under an id of its own.
    pub fn fork(mut self) -> Self {
        self.fork = true;
        self
    }

    /// The engine's id of the session.
    pub fn id(&self) -> &str {
        &self.session
    }

    /// Whether it goes on with a copy.
    pub fn is_fork(&self) -> bool {
        self.fork
    }
}

impl SessionSpec {
    /// A new session with the official CLI and its defaults.
    pub fn new(locks: SessionLocks) -> Self {
        let mut about = Run::default();
        about.engine = "claude".to_owned();
        Self {
            name: uuid::Uuid::new_v4().to_string(),
            run: uuid::Uuid::new_v4().to_string().into(),
            last_event: 0,
            locks,
            claude: Claude::default(),
            engine: None,
            about,
            warnings: Vec::new(),
            resume: None,
            wait: Duration::ZERO,
            lifetime: Lifetime::default(),
            limits: Limits::default(),
            retries: Retries::default(),
            policy: None,
            restrictions: None,
            answer_within: Duration::from_secs(300),
            redactor: Redactor::default(),
            transcript: None,
            archive: None,
            backlog: 128,
            queue: 256,
            clock: Arc::new(SystemClock),
            on_missing: OnMissing::default(),
        }
    }

    /// The name Falconer gives the session, and the number of its last event.
    pub fn name(mut self, name: impl Into<String>, last_event: u64) -> Self {
        self.name = name.into();
        self.last_event = last_event;
        self
    }

    /// The id of the run.
    pub fn run(mut self, run: impl Into<RunId>) -> Self {
        self.run = run.into();
        self
    }

    /// How an engine that speaks the Claude protocol is started.
    pub fn options(mut self, options: Options) -> Self {
        self.claude.options = options;
        self
    }

    /// Another engine than the official CLI that speaks the Claude protocol.
    pub fn through(mut self, transport: impl Transport) -> Self {
        self.claude.through(Box::new(transport));
        self
    }

    /// An engine of any other kind, in the place of one that speaks the Claude protocol.
    pub fn engine(mut self, engine: impl Engine) -> Self {
        self.engine = Some(Box::new(engine));
        self
    }

    /// What is known about the run; `run.started` says it.
    pub fn about(mut self, about: Run) -> Self {
        self.about = about;
        self
    }

    /// A warning that is told when the engine is up: a word a program can match, and a text.
    pub fn warning(mut self, kind: impl Into<String>, text: impl Into<String>) -> Self {
        self.warnings.push((kind.into(), text.into()));
        self
    }

    /// Goes on with a session. Its lock is taken before anything is started.
    pub fn resume(mut self, resume: Resume) -> Self {
        self.resume = Some(resume);
        self
    }

    /// The session it goes on with, if it does.
    pub fn resumed(&self) -> Option<&Resume> {
        self.resume.as_ref()
    }

    /// How long to wait for a session that another run holds; not at all unless said.
    /// `Duration::MAX` is without a limit.
    pub fn wait(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// How long it waits for a session that another run holds.
    pub fn waits(&self) -> Duration {
        self.wait
    }

    /// Ends the run when everything that was sent is done.
    pub fn until_idle(mut self) -> Self {
        self.lifetime = Lifetime::UntilIdle;
        self
    }

    /// What the run may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// When a turn that failed is tried again.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Rules that decide before anybody is asked; they also see the calls that the engine would
    /// allow by itself.
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Rules that may change while the session runs, for calls that the engine would allow by
    /// itself.
    pub fn restrictions(mut self, restrictions: Arc<dyn Restrictions>) -> Self {
        self.restrictions = Some(restrictions);
        self
    }

    /// How long a permission or a question stays open; 300 seconds unless said. After that it
    /// is denied. `Duration::MAX` is without a limit.
    pub fn answer_within(mut self, time: Duration) -> Self {
        self.answer_within = time;
        self
    }

    /// What must never be in an event or a transcript. What looks like a secret is taken out
    /// in any case.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Where the transcript of the run is written; see [`crate::replay`].
    pub fn transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.transcript = Some(path.into());
        self
    }

    /// Where the engine's own transcript is kept before it is compacted, every line of it,
    /// without secrets. If that fails, a warning says so and nothing is compacted.
    pub fn archive(mut self, directory: impl Into<PathBuf>) -> Self {
        self.archive = Some(directory.into());
        self
    }

    /// How many events may wait for a reader before the session stops reading the engine's
    /// messages; 128 unless said.
    pub fn backlog(mut self, events: usize) -> Self {
        self.backlog = events;
        self
    }

    /// How many messages may wait for their turn; 256 unless said.
    pub fn queue(mut self, messages: usize) -> Self {
        self.queue = messages;
        self
    }

    /// What happens when the conversation to resume does not exist any more.
    pub fn on_missing(mut self, what: OnMissing) -> Self {
        self.on_missing = what;
        self
    }

    /// Where the times of events come from.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl std::fmt::Debug for OnMissing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fail => "Fail",
            Self::StartAnew(_) => "StartAnew",
        })
    }
}

impl std::fmt::Debug for SessionSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionSpec")
            .field("name", &self.name)
            .field("run", &self.run)
            .field("resume", &self.resume)
            .field("lifetime", &self.lifetime)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
