//! Flags and keys that say how much of the machine a run sees.

use clap::Args;
use falconer_hub::SessionIsolation;
use serde_json::json;

use crate::config::{Config, Isolation, SandboxedCommands};
use crate::exit::Fault;

/// How much of the machine a run sees.
#[derive(Debug, Args, Default)]
pub(crate) struct Apart {
    /// Isolate the run from the machine
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Permissions")]
    isolation: Option<Isolation>,
    /// Domains that a run in a sandbox may reach, such as `docs.rs` or `*.example.org`
    #[arg(
        long,
        value_name = "DOMAINS",
        value_delimiter = ',',
        help_heading = "Permissions"
    )]
    domains: Vec<String>,
    /// Whether commands in the sandbox run unasked
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Permissions")]
    sandboxed_commands: Option<SandboxedCommands>,
}

impl Apart {
    /// The isolation of flags, and where they say nothing, of the configuration.
    pub(crate) fn isolation(&self, config: &Config) -> Result<SessionIsolation, Fault> {
        let run = &config.run;
        let kind = self.isolation.unwrap_or(run.isolation);
        let is_detailed = !self.domains.is_empty() || self.sandboxed_commands.is_some();
        if is_detailed && kind != Isolation::Sandbox {
            return Err(Fault::usage(
                "`--domains` and `--sandboxed-commands` need a sandbox",
                "add `--isolation sandbox`",
            ));
        }
        let domains = match self.domains.as_slice() {
            [] => &run.domains,
            _ => &self.domains,
        };
        let commands = self.sandboxed_commands.unwrap_or(run.sandboxed_commands);
        let isolation = match kind {
            Isolation::None => json!({"type": "none"}),
            Isolation::Home => json!({"type": "home"}),
            Isolation::Sandbox => json!({"type": "sandbox", "network": {"domains": domains},
                "commands": commands}),
        };
        SessionIsolation::of(&json!({ "isolation": isolation }))
            .map_err(|problem| Fault::usage(problem, "fix `--domains` or `run.domains`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isolation(flags: &Apart, keys: &str) -> Result<serde_json::Value, String> {
        let config = Config {
            run: toml::from_str(keys).unwrap(),
            ..Config::default()
        };
        let isolation = flags.isolation(&config).map_err(|fault| fault.text)?;
        Ok(json!(isolation))
    }

    #[test]
    fn flags_count_more_than_keys_and_details_need_a_sandbox() {
        let keys = "isolation = 'sandbox'\ndomains = ['docs.rs']\nsandboxed_commands = 'ask'\n";
        let sandbox = |domain: &str, commands: &str| json!({"type": "sandbox", "network": {"domains": [domain]}, "commands": commands});
        assert_eq!(
            isolation(&Apart::default(), keys),
            Ok(sandbox("docs.rs", "ask"))
        );
        let flags = Apart {
            domains: vec!["*.example.org".to_owned()],
            sandboxed_commands: Some(SandboxedCommands::Run),
            ..Apart::default()
        };
        assert_eq!(isolation(&flags, keys), Ok(sandbox("*.example.org", "run")));
        assert!(isolation(&flags, "").unwrap_err().contains("`--domains`"));
        let home = Apart {
            isolation: Some(Isolation::Home),
            ..Apart::default()
        };
        assert_eq!(isolation(&home, keys), Ok(json!({"type": "home"})));
        assert!(isolation(&Apart::default(), "isolation = 'sandbox'\ndomains = ['*']").is_err());
        assert_eq!(
            isolation(&Apart::default(), ""),
            Ok(json!({"type": "none"}))
        );
    }
}
