//! Accounts, and which engine would run with them.

use std::path::{Path, PathBuf};

use falconer_choice::{Credentials, EngineChoice, EngineRequest, Environment, Serves, choose};

use super::check::Check;
use crate::config::{Config, EngineName};
use crate::here;

pub(super) fn checks(config: &Config, cwd: &Path) -> Vec<Check> {
    let environment = here::environment();
    let looked = Credentials::look(environment, Some(cwd));
    let account = match looked.found().first() {
        Some(credential) => {
            let who = match credential.serves {
                Serves::Claude => ", for Claude Code only",
                _ => "",
            };
            let text = format!(
                "{} (billed: {}{who})",
                credential.source, credential.billing
            );
            Check::ok("account", text)
        }
        None => Check::failed(
            "account",
            "no credentials found",
            "set ANTHROPIC_API_KEY, or log in with `claude` and `/login`",
        ),
    };
    vec![
        account.details(looked.looked_at()),
        engine(config, cwd, environment),
    ]
}

fn engine(config: &Config, cwd: &Path, environment: &Environment) -> Check {
    let engine = match config.run.engine {
        EngineName::Auto => EngineChoice::Auto,
        EngineName::Claude => EngineChoice::Claude,
        EngineName::Native => EngineChoice::Native,
        EngineName::Script => return Check::ok("engine", "script, as configured".to_owned()),
    };
    let mut request = EngineRequest::new(engine);
    request.cwd = Some(cwd.to_owned());
    request.executable = config.claude.path.as_deref().map(PathBuf::from);
    match choose(&request, environment) {
        Ok(chosen) => {
            let reason = chosen.about.engine_reason.unwrap_or_default();
            Check::ok("engine", format!("{} ({reason})", chosen.about.engine))
        }
        Err(error) => Check::failed("engine", "no engine can run", error.advice()),
    }
}
