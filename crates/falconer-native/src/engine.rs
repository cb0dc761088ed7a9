//! Opens sessions.

use falconer::{EngineLaunch, Error, InProcessEngine, Link};
use falconer_engine::{Launch, Model};
use falconer_scenario::Scenario;
use falconer_secret::Redactor;
use futures_util::future::BoxFuture;

use crate::life::{Life, Stderr};

/// Falconer's own engine, for [`Options::engine`](falconer::Options::engine).
///
/// One value serves any number of sessions.
#[derive(Debug, Clone, Default)]
pub struct NativeEngine {
    model: Model,
    redactor: Redactor,
}

impl NativeEngine {
    /// Sessions on the service that the environment and the settings of each name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sessions on a scripted model, without a key or a network.
    ///
    /// Each session plays the scenario from its beginning.
    #[must_use]
    pub fn scripted(scenario: Scenario) -> Self {
        Self {
            model: Model::Scripted(Box::new(scenario)),
            redactor: Redactor::default(),
        }
    }

    /// Shares a redactor: it learns the secrets that sessions come to know, such as the key a
    /// helper prints, and takes them out of the transcripts on disk.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }
}

impl InProcessEngine for NativeEngine {
    fn name(&self) -> &str {
        "falconer-native"
    }

    fn open(&self, launch: EngineLaunch) -> BoxFuture<'static, Result<Link, Error>> {
        let (model, redactor) = (self.model.clone(), self.redactor.clone());
        Box::pin(async move {
            let stderr = Stderr::of(&launch);
            let launch = Launch {
                args: launch.args,
                env: launch.env,
                cwd: launch.cwd,
                redactor,
            };
            let session = falconer_engine::open(launch, model);
            stderr.say(session.warnings);
            let life = Box::new(Life::new(session.end, stderr));
            Ok(Link::over_queues(session.output, session.input, life))
        })
    }
}
