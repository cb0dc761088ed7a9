//! The engines a server has: those the other commands have.

use std::path::PathBuf;

use falconer_hub::{EngineName, Engines, Launch, LaunchError};
use falconer_native::choose::{
    Bypass, ChooseError, EngineChoice, EngineRequest, Environment, choose,
};
use falconer_store::SessionRecord;

/// Chooses as `falconer run` does, for each session anew.
#[derive(Debug)]
pub(crate) struct Chooser {
    environment: Environment,
    scenario: Option<PathBuf>,
    bypass: Bypass,
}

impl Chooser {
    pub(crate) fn new(scenario: Option<PathBuf>, allow_bypass: bool) -> Self {
        Self {
            environment: Environment::of_this_process(),
            scenario,
            bypass: match allow_bypass {
                true => Bypass::Accepted,
                false => Bypass::Forbidden,
            },
        }
    }

    /// Scripted sessions in an environment of their own.
    pub(crate) fn scripted(scenario: PathBuf, environment: Environment) -> Self {
        Self {
            environment,
            scenario: Some(scenario),
            bypass: Bypass::Forbidden,
        }
    }

    fn request(&self, engine: EngineChoice) -> EngineRequest {
        let mut request = EngineRequest::new(engine);
        request.scenario.clone_from(&self.scenario);
        request.bypass = self.bypass;
        request
    }
}

impl Engines for Chooser {
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        // Whoever asked to be kept apart must not run without it.
        let isolation = session.config.get("isolation");
        if isolation.is_some_and(|isolation| !isolation.is_null()) {
            let error = LaunchError::new("isolation", "this server cannot keep sessions apart yet");
            return Err(error.hint("make the session without `isolation`"));
        }
        let engine = session.engine.parse::<EngineChoice>();
        let engine =
            engine.map_err(|error| LaunchError::new("unknown_engine", error.to_string()))?;
        let mut request = self.request(engine);
        request.model.clone_from(&session.model);
        request.cwd = Some(PathBuf::from(&session.cwd));
        request.mode = Some(session.mode.as_str().into());
        let chosen = choose(&request, &self.environment).map_err(|error| refusal(&error))?;
        Ok(Launch::new(chosen.options, chosen.about))
    }

    fn names(&self) -> Vec<EngineName> {
        let all = [
            EngineChoice::Auto,
            EngineChoice::Claude,
            EngineChoice::Native,
            EngineChoice::Script,
        ];
        all.into_iter()
            .map(
                |engine| match choose(&self.request(engine), &self.environment) {
                    Ok(chosen) => {
                        let reason = chosen.about.engine_reason.unwrap_or_default();
                        EngineName::available(engine.as_str(), reason)
                    }
                    Err(error) => EngineName::missing(engine.as_str(), error.to_string()),
                },
            )
            .collect()
    }
}

fn refusal(error: &ChooseError) -> LaunchError {
    LaunchError::new("engine_not_usable", error.to_string()).hint(error.advice())
}
