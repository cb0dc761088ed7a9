//! Typed looks at the settings.

use std::path::PathBuf;

use falconer_protocol::permission::PermissionMode;
use serde_json::Value;

use super::{Settings, Source};
use crate::permission::{Effect, RuleSource, WrittenRule};

/// One entry of a list of hooks, as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingsHook {
    pub(crate) source: Source,
    pub(crate) event: String,
    /// `{"matcher": …, "hooks": […]}`
    pub(crate) matcher: Value,
}

/// The settings want a sandbox, and there is none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the settings ask for a sandbox (`sandbox.enabled`), which this version cannot provide yet; nothing was started. Remove the setting to run commands without one"
)]
pub(crate) struct SandboxRequested;

impl Source {
    pub(crate) fn of_rules(self) -> RuleSource {
        match self {
            Self::Managed => RuleSource::Managed,
            Self::Flag => RuleSource::Flag,
            Self::Local => RuleSource::Local,
            Self::Project => RuleSource::Project,
            Self::User => RuleSource::User,
        }
    }
}

impl Settings {
    fn text(&self, key: &str) -> Option<&str> {
        self.effective()
            .get(key)?
            .as_str()
            .filter(|it| !it.is_empty())
    }

    /// A switch; texts such as `"true"` are not switches.
    pub(crate) fn switch(&self, key: &str) -> Option<bool> {
        self.effective().get(key)?.as_bool()
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.effective().get(key)?.as_u64()
    }

    fn texts(&self, key: &str) -> Vec<String> {
        texts(self.effective().get(key))
    }

    pub(crate) fn managed_switch(&self, key: &str) -> bool {
        let managed = self.layers().iter().find(|it| it.source == Source::Managed);
        managed.and_then(|layer| layer.value.get(key)?.as_bool()) == Some(true)
    }

    /// All rules, those of the strongest layer first.
    pub(crate) fn permission_rules(&self) -> Vec<WrittenRule> {
        let managed_only = self.managed_switch("allowManagedPermissionRulesOnly");
        let mut rules = Vec::new();
        for layer in self.layers().iter().rev() {
            for behavior in [Effect::Deny, Effect::Ask, Effect::Allow] {
                let is_foreign = managed_only && layer.source != Source::Managed;
                if is_foreign && behavior == Effect::Allow {
                    continue;
                }
                let list = layer.value.get("permissions");
                let list = list.and_then(|list| list.get(behavior.key()));
                rules.extend(rule_texts(list).into_iter().map(|text| WrittenRule {
                    text,
                    behavior,
                    source: layer.source.of_rules(),
                }));
            }
        }
        rules
    }

    fn permission(&self, key: &str) -> Option<&Value> {
        self.effective().get("permissions")?.get(key)
    }

    pub(crate) fn default_mode(&self) -> Option<PermissionMode> {
        let mode = self.permission("defaultMode")?.as_str()?;
        Some(PermissionMode::from(mode))
    }

    /// Whether the mode without questions is locked for good.
    pub(crate) fn bypass_is_disabled(&self) -> bool {
        let text = self.permission("disableBypassPermissionsMode");
        text.and_then(Value::as_str) == Some("disable")
    }

    pub(crate) fn additional_directories(&self) -> Vec<PathBuf> {
        let mut directories = texts(self.permission("additionalDirectories"));
        directories.extend(self.texts("additionalDirectories"));
        directories.into_iter().map(PathBuf::from).collect()
    }

    /// Hooks of all layers, the strongest first.
    pub(crate) fn hooks(&self) -> Vec<SettingsHook> {
        if self.disable_all_hooks() {
            return Vec::new();
        }
        let managed_only = self.managed_switch("allowManagedHooksOnly");
        let layers = self.layers().iter().rev();
        layers
            .filter(|layer| !managed_only || layer.source == Source::Managed)
            .filter_map(|layer| Some((layer.source, layer.value.get("hooks")?.as_object()?)))
            .flat_map(|(source, events)| {
                events.iter().flat_map(move |(event, matchers)| {
                    let matchers = matchers.as_array().map_or(&[][..], Vec::as_slice);
                    matchers.iter().map(move |matcher| SettingsHook {
                        source,
                        event: event.clone(),
                        matcher: matcher.clone(),
                    })
                })
            })
            .collect()
    }

    pub(crate) fn disable_all_hooks(&self) -> bool {
        self.switch("disableAllHooks") == Some(true)
    }

    /// Variables for the session; numbers and switches are taken as text.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let variables = self.effective().get("env").and_then(Value::as_object);
        variables
            .into_iter()
            .flatten()
            .filter(|(name, _)| !name.is_empty() && !name.contains(['=', '\0']))
            .filter_map(|(name, value)| {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    Value::Null | Value::Array(_) | Value::Object(_) => return None,
                };
                (!value.contains('\0')).then(|| (name.clone(), value))
            })
            .collect()
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.text("model")
    }

    /// One model, or a list.
    pub(crate) fn fallback_models(&self) -> Vec<String> {
        match self.text("fallbackModel") {
            Some(list) => list.split(',').map(|it| it.trim().to_owned()).collect(),
            None => self.texts("fallbackModel"),
        }
    }

    pub(crate) fn api_key_helper(&self) -> Option<&str> {
        self.text("apiKeyHelper")
    }

    pub(crate) fn output_style(&self) -> Option<&str> {
        self.text("outputStyle")
    }

    /// What is said for this model goes before what is said for all.
    pub(crate) fn effort_level(&self, model: &str) -> Option<&str> {
        let own = self.effective().get("modelSettings");
        let own = own.and_then(|it| it.get(model)?.get("effortLevel")?.as_str());
        own.or_else(|| self.text("effortLevel"))
    }

    pub(crate) fn bash_output_max_chars(&self) -> Option<u64> {
        self.number("bashOutputMaxChars")
    }

    /// Servers of `.mcp.json` that may be started: all of them, or these.
    pub(crate) fn mcp_enable_all(&self) -> bool {
        self.switch("enableAllProjectMcpServers") == Some(true)
    }

    pub(crate) fn mcp_enabled(&self) -> Vec<String> {
        self.texts("enabledMcpjsonServers")
    }

    pub(crate) fn mcp_disabled(&self) -> Vec<String> {
        self.texts("disabledMcpjsonServers")
    }

    /// The part about the sandbox, as written.
    pub(crate) fn sandbox(&self) -> Option<&Value> {
        self.effective().get("sandbox")
    }

    /// Refuses to start when a sandbox is wanted: none is better than a false one.
    pub(crate) fn check_sandbox(&self) -> Result<(), SandboxRequested> {
        let enabled = self.sandbox().and_then(|sandbox| sandbox.get("enabled"));
        match enabled {
            None | Some(Value::Null | Value::Bool(false)) => Ok(()),
            Some(_) => Err(SandboxRequested),
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|it| it.as_str().map(str::to_owned))
        .collect()
}

/// The texts of a list of rules. What is not a text is kept as JSON: as a rule it is broken, and
/// a broken rule that forbids is not dropped.
fn rule_texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(rules)) => rules.iter().map(text).collect(),
        Some(other) => vec![text(other)],
    }
}
