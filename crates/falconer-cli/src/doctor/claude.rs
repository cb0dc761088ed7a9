//! The official CLI: where it is, and which version.

use std::path::PathBuf;

use falconer::{Error, OLDEST_CLI_VERSION, Options, TESTED_CLI_VERSION, find_cli};

use super::check::Check;
use crate::config::Config;
use crate::here;

const NAME: &str = "claude";

pub(super) async fn check(config: &Config) -> Check {
    let environment = here::environment();
    let named = config.claude.path.as_deref().map(PathBuf::from);
    let path = match find_cli(named.as_deref(), environment.variables()) {
        Ok(path) => path,
        Err(Error::CliNotFound { .. }) => {
            return Check::warning(
                NAME,
                "Claude Code is not installed; the native engine does not need it",
                "to use it, `npm install -g @anthropic-ai/claude-code`, or set claude.path",
            );
        }
        // Somebody named a path that is of no use.
        Err(error) => return Check::failed(NAME, &error, error.advice()),
    };
    match Options::new().executable(&path).cli_version().await {
        Err(error) => Check::failed(NAME, &error, "reinstall it, or run `claude update`"),
        Ok(version) if version < OLDEST_CLI_VERSION => Check::failed(
            NAME,
            format!(
                "{} is {version}, older than {OLDEST_CLI_VERSION}",
                path.display()
            ),
            "run `claude update`",
        ),
        Ok(version) if version > TESTED_CLI_VERSION => Check::warning(
            NAME,
            format!(
                "{} is {version}, newer than the tested version",
                path.display()
            ),
            format!(
                "if something misbehaves, update falconer; it is tested with {TESTED_CLI_VERSION}"
            ),
        ),
        Ok(version) => Check::ok(NAME, format!("{version} at {}", path.display())),
    }
}
