//! Setting an isolated run up: home, plan, files, probe.

use super::furnish::furnish;
use super::plan::child_path;
use super::probe::prove;
use super::{Home, IsolationError, IsolationInForce, Sandbox, SandboxInForce};
use crate::error::Error;
use crate::launch::{HostFeatures, LaunchPlan, Surroundings};
use crate::options::Options;

/// The resources of an isolated run.
pub(crate) struct Standing {
    pub(crate) home: Home,
    pub(crate) in_force: IsolationInForce,
}

/// Plans a run and, if it is to be isolated, makes its home and proves its sandbox. Whatever
/// fails, nothing is left.
pub(crate) async fn settle(
    options: &Options,
    host: &HostFeatures,
    surroundings: &mut Surroundings,
) -> Result<(LaunchPlan, Option<Standing>), Error> {
    let Some(config) = &options.launch.isolation else {
        return Ok((options.plan(host, surroundings)?, None));
    };
    // What is wrong with the options is found before anything is written.
    options.plan(host, surroundings)?;
    let homes = config.homes();
    let home = blocking(move || Home::create(&homes)).await?;
    let mut facts = surroundings.isolation.take().unwrap_or_default();
    facts.home = Some(home.path().to_owned());
    surroundings.isolation = Some(facts.clone());
    let plan = options.plan(host, surroundings)?;
    let Some(isolated) = plan.isolation.clone() else {
        return Ok((plan, None));
    };
    let furnished = isolated.clone();
    let home = blocking(move || furnish(&home, &furnished, &facts).map(|()| home)).await?;
    let sandbox = match &config.sandbox {
        Sandbox::OffByChoice => SandboxInForce::OffByChoice,
        Sandbox::Required(sandbox) if config.needs_probe() => {
            let path = child_path(config, &options.launch, &surroundings.env);
            let proof = Box::pin(prove(&plan.program, config, path.as_deref())).await?;
            let nesting = sandbox.nesting;
            SandboxInForce::Sandboxed { nesting, proof }
        }
        // The probe itself says nothing about its sandbox.
        Sandbox::Required(_) => SandboxInForce::Unproven,
    };
    let in_force = IsolationInForce {
        home: isolated.home,
        sandbox,
        network: isolated.network,
        skills: isolated.skills,
    };
    Ok((plan, Some(Standing { home, in_force })))
}

/// Does work on files off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IsolationError> + Send + 'static,
) -> Result<T, IsolationError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        let path = std::path::Path::new("home");
        Err(IsolationError::home("set up", path)(std::io::Error::other(
            error,
        )))
    })
}
