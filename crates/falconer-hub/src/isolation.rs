//! How a session is kept apart from the machine: kept in its record, applied at every start.
//!
//! What is asked for is had or refused; nothing here makes it less. What a run really has is told
//! by its `run.started`.

use std::path::PathBuf;
use std::sync::Arc;

use falconer::Options;
use falconer::isolation::{IsolationConfig, NetworkPolicy, Sandbox, SandboxConfig, Skill};
use falconer::mirror::{
    DirectorySessionStore, FlushMode, SessionKey, SessionStore, SessionStoreError,
};
use falconer::sessions::{SessionId as NativeId, check_session_id, project_key};
use falconer_store::SessionRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Variables that say what an engine must not send; they hold for isolated runs too.
const QUIET: [&str; 3] = [
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
];

/// More domains than anybody would list by hand, and the longest name there can be.
const MOST_DOMAINS: usize = 256;
const LONGEST_DOMAIN: usize = 255;

/// How a session is kept apart from the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SessionIsolation {
    /// Not at all: it sees what the server sees.
    None {},
    /// A fresh home and environment with the credentials of the server; commands run unprotected.
    Home {},
    /// A fresh home and environment, and a sandbox around commands that is tried before each run.
    Sandbox {
        /// What tools may reach; nothing unless said.
        #[serde(default)]
        network: SessionNetwork,
        /// Whether commands in the sandbox are asked about.
        #[serde(default)]
        commands: SandboxedCommands,
    },
}

/// What the tools of a sandboxed session may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionNetwork {
    /// These domains and nothing else; `*.example.org` covers everything below one. None: nothing.
    #[serde(default)]
    pub domains: Vec<String>,
}

/// Whether commands in the sandbox are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxedCommands {
    /// As those of every session: rules and modes decide, else somebody is asked.
    #[default]
    Ask,
    /// They run without being asked about.
    Run,
}

impl Default for SessionIsolation {
    fn default() -> Self {
        Self::None {}
    }
}

impl SessionIsolation {
    /// The isolation in the record of a session.
    ///
    /// # Errors
    /// If it makes no sense: a session must not run with less than it was given.
    pub fn of(config: &Value) -> Result<Self, String> {
        let isolation = match config.get("isolation") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(isolation) => Self::deserialize(isolation)
                .map_err(|error| format!("the isolation makes no sense: {error}"))?,
        };
        isolation.check()?;
        Ok(isolation)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None {})
    }

    /// Whether it lets something happen unasked that is asked about without it: commands in the
    /// sandbox, or fetching from the domains named.
    #[must_use]
    pub fn asks_less(&self) -> bool {
        match self {
            Self::None {} | Self::Home {} => false,
            Self::Sandbox { network, commands } => {
                *commands == SandboxedCommands::Run || !network.domains.is_empty()
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let Self::Sandbox { network, .. } = self else {
            return Ok(());
        };
        if network.domains.len() > MOST_DOMAINS {
            return Err(format!("at most {MOST_DOMAINS} domains can be allowed"));
        }
        match network.domains.iter().find(|domain| !is_domain(domain)) {
            Some(wrong) => Err(format!(
                "`{wrong}` is no domain such as `docs.rs` or `*.example.org`"
            )),
            None => Ok(()),
        }
    }

    /// As the SDK understands it; nothing if there is none.
    #[must_use]
    pub fn config(&self) -> Option<IsolationConfig> {
        let config = IsolationConfig::inherit_host_auth();
        let config = QUIET
            .into_iter()
            .fold(config, |config, name| config.inherit_variable(name));
        match self {
            Self::None {} => None,
            // Commands reach whatever they like, so that rules for the other tools would only
            // look like a closed network.
            Self::Home {} => Some(
                config
                    .sandbox_mode(Sandbox::OffByChoice)
                    .network(NetworkPolicy::open_by_choice()),
            ),
            Self::Sandbox { network, commands } => {
                let sandbox = match commands {
                    SandboxedCommands::Ask => SandboxConfig::new().ask_for_commands(),
                    SandboxedCommands::Run => SandboxConfig::new(),
                };
                let network = NetworkPolicy::with_domains(network.domains.iter().cloned());
                Some(config.sandbox(sandbox).network(network))
            }
        }
    }
}

/// `*` alone would be every host, which has to be chosen by another name.
fn is_domain(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(known)
    };
    text.len() <= LONGEST_DOMAIN && name.split('.').all(is_label)
}

/// The conversations of sessions whose homes are gone after each run.
#[derive(Debug, Clone)]
pub(crate) struct Conversations(Arc<DirectorySessionStore>);

impl Conversations {
    /// Beside the locks: whoever shares the sessions names the same directory.
    pub(crate) fn new(locks: &std::path::Path) -> Self {
        Self(Arc::new(DirectorySessionStore::new(
            locks.join("conversations"),
        )))
    }

    /// Options under which the session is kept apart and its conversation outlives its home.
    pub(crate) fn isolate(
        &self,
        options: Options,
        isolation: &SessionIsolation,
        skills: Vec<PathBuf>,
    ) -> Options {
        let skills = skills.into_iter().map(Skill::new);
        match isolation.config() {
            Some(config) => options
                .isolation(skills.fold(config, IsolationConfig::skill))
                .shared_session_store(self.0.clone(), FlushMode::Eager),
            None => options,
        }
    }

    /// Forgets what a session said.
    pub(crate) async fn forget(&self, session: &SessionRecord) -> Result<(), SessionStoreError> {
        let native = session.native_session.as_deref();
        let Some(native) = native.map(NativeId::new) else {
            return Ok(());
        };
        if check_session_id(&native).is_err() {
            return Ok(());
        }
        let key = SessionKey::new(project_key(&session.cwd), native);
        self.0.delete(&key).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_understood_is_refused_and_nothing_is_dropped() {
        let good = [
            (json!({}), SessionIsolation::None {}),
            (json!({"isolation": null}), SessionIsolation::None {}),
            (
                json!({"isolation": {"type": "none"}}),
                SessionIsolation::None {},
            ),
            (
                json!({"isolation": {"type": "home"}}),
                SessionIsolation::Home {},
            ),
            (
                json!({"isolation": {"type": "sandbox", "network": {"domains": ["*.docs.rs"]}}}),
                SessionIsolation::Sandbox {
                    network: SessionNetwork {
                        domains: vec!["*.docs.rs".to_owned()],
                    },
                    commands: SandboxedCommands::Ask,
                },
            ),
        ];
        for (config, expected) in good {
            assert_eq!(SessionIsolation::of(&config), Ok(expected), "{config}");
        }
        for wrong in [
            json!("sandbox"),
            json!({"type": "vm"}),
            json!({"type": "home", "network": {"domains": []}}),
            json!({"type": "sandbox", "netwrok": {"domains": []}}),
            json!({"type": "sandbox", "network": {"domains": ["*"]}}),
            json!({"type": "sandbox", "network": {"domains": ["a b"]}}),
            json!({"type": "sandbox", "network": {"domains": [""]}}),
            json!({"type": "sandbox", "network": {"domain": ["docs.rs"]}}),
            json!({"type": "sandbox", "commands": "allow"}),
            json!({"type": "sandbox", "network": {"domains": vec!["a.b"; 300]}}),
        ] {
            let config = json!({"isolation": wrong});
            assert!(SessionIsolation::of(&config).is_err(), "{config}");
        }
    }

    #[test]
    fn only_none_is_no_isolation_and_only_running_unasked_asks_less() {
        let of = |text: Value| SessionIsolation::of(&json!({"isolation": text})).unwrap();
        assert!(of(json!({"type": "none"})).config().is_none());
        assert!(of(json!({"type": "home"})).config().is_some());
        assert!(of(json!({"type": "sandbox"})).config().is_some());
        assert!(!of(json!({"type": "sandbox"})).asks_less());
        assert!(of(json!({"type": "sandbox", "commands": "run"})).asks_less());
        let open = json!({"type": "sandbox", "network": {"domains": ["docs.rs"]}});
        assert!(of(open).asks_less());
    }
}
