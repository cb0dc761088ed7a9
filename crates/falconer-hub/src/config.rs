//! What a hub is made with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer::Bypass;
use falconer_session::{Policy, Redactor};

use crate::engines::Engines;

/// What a hub is made with.
#[derive(Clone)]
#[must_use]
pub struct HubConfig {
    pub(crate) engines: Arc<dyn Engines>,
    pub(crate) locks: PathBuf,
    pub(crate) policy: Option<Arc<Policy>>,
    pub(crate) redactor: Redactor,
    pub(crate) bypass: Bypass,
    pub(crate) park_after: Option<Duration>,
    pub(crate) answer_within: Duration,
    pub(crate) lease: Duration,
    pub(crate) program: String,
}

impl HubConfig {
    /// A hub with these engines. Locks of conversations are files in `locks`; who runs a session
    /// is in the store.
    pub fn new(engines: impl Engines, locks: impl Into<PathBuf>) -> Self {
        Self {
            engines: Arc::new(engines),
            locks: locks.into(),
            policy: None,
            redactor: Redactor::default(),
            bypass: Bypass::default(),
            park_after: Some(Duration::from_secs(30 * 60)),
            answer_within: Duration::MAX,
            lease: Duration::from_secs(30),
            program: "falconer".to_owned(),
        }
    }

    /// Rules that hold before anybody is asked, for all sessions.
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Takes secrets out of all sessions; the caller may teach it more of them later.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Whether sessions may run without asking; refused unless said.
    pub fn bypass(mut self, bypass: Bypass) -> Self {
        self.bypass = bypass;
        self
    }

    /// How long an engine without anything to do is kept; half an hour unless said, `None` is
    /// for ever. The session goes on with the next message.
    pub fn park_after(mut self, time: Option<Duration>) -> Self {
        self.park_after = time;
        self
    }

    /// How long a permission or question may stay open before it is denied; for ever unless said.
    pub fn answer_within(mut self, time: Duration) -> Self {
        self.answer_within = time;
        self
    }

    /// What people call the process of this hub; others show it with its sessions.
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// How long others wait before they take over the sessions of a hub they hear nothing of.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }
}

impl std::fmt::Debug for HubConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubConfig")
            .field("locks", &self.locks)
            .field("bypass", &self.bypass)
            .field("park_after", &self.park_after)
            .finish_non_exhaustive()
    }
}
