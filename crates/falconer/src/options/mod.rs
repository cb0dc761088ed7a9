//! The options of a run, as one builder.
//!
//! [`Options`] only records. Nothing is looked up, checked or started before
//! [`Options::plan`] or a query: contradictions are found there, all at once. One file per
//! concept; each holds its data and the builder methods for it.

mod auth;
mod caps;
mod environment;
mod extensions;
mod mcp;
mod model;
mod parameters;
mod permissions;
mod process;
mod prompt;
mod session;
mod settings;
mod timeouts;
mod tools;

use std::sync::Arc;

use crate::engine_choice::InProcessEngine;
use crate::handlers::Handlers;
use crate::launch::redact::masked_text;
use crate::transport::Around;

pub use auth::{Auth, Billing};
pub use environment::TraceContext;
pub use extensions::{Plugin, Skills};
pub use mcp::mcp_tool_name;
pub use model::{Effort, Thinking, ThinkingDisplay};
pub use permissions::{Bypass, PermissionPrompts};
pub use prompt::SystemPrompt;
pub use settings::{SettingSource, Settings};
pub use timeouts::{BacklogLimits, CloseLadder, RuntimeLimits};
pub use tools::{BuiltinTools, PreviewFormat};

pub(crate) use auth::API_CREDENTIALS;
pub(crate) use auth::PROVIDER_SWITCHES;
pub(crate) use environment::EnvironmentChange;
pub(crate) use extensions::PluginDelivery;
pub(crate) use mcp::sanitised;
pub(crate) use permissions::ModeChoice;
pub(crate) use prompt::PromptBase;
pub(crate) use settings::{SandboxFallback, SettingsOptions};

/// Everything that can be asked of a run; the default asks for nothing special.
///
/// ```
/// use falconer::{Options, SystemPrompt, Thinking};
///
/// let options = Options::new()
///     .system_prompt(SystemPrompt::claude_code().append("Answer in French."))
///     .model("sonnet")
///     .thinking(Thinking::Budget(4_000))
///     .max_turns(12)
///     .allow_tools(["Read", "Grep"]);
/// # let _ = options;
/// ```
///
/// `Debug` and [`LaunchPlan`](crate::LaunchPlan) mask secrets; the values themselves are
/// handed to the engine only.
#[derive(Clone, Default)]
pub struct Options {
    pub(crate) launch: LaunchOptions,
    pub(crate) handlers: Handlers,
    pub(crate) limits: RuntimeLimits,
    /// Instead of the CLI.
    pub(crate) engine: Option<Arc<dyn InProcessEngine>>,
    /// Put around the transport, whichever it is.
    pub(crate) around: Option<Around>,
}

impl Options {
    /// Options with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Each part masks what it knows to be secret; keys in prompts and the values of secret
        // variables are found in the text, so the alternate form is not offered.
        let text = format!(
            "Options {{ launch: {:?}, limits: {:?}, engine: {:?} }}",
            self.launch,
            self.limits,
            self.engine.as_ref().map(|engine| engine.name())
        );
        f.write_str(
            &self
                .launch
                .environment
                .known_secrets()
                .masked(masked_text(&text)),
        )
    }
}

/// The part of the options that decides how an engine is started.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaunchOptions {
    pub(crate) prompt: prompt::PromptOptions,
    pub(crate) model: model::ModelOptions,
    pub(crate) caps: caps::CapOptions,
    pub(crate) tools: tools::ToolOptions,
    pub(crate) extensions: extensions::ExtensionOptions,
    pub(crate) permissions: permissions::PermissionOptions,
    pub(crate) mcp: mcp::McpOptions,
    pub(crate) session: session::SessionOptions,
    pub(crate) environment: environment::EnvironmentOptions,
    pub(crate) auth: auth::AuthOptions,
    pub(crate) settings: settings::SettingsOptions,
    pub(crate) process: process::ProcessOptions,
    pub(crate) refused: parameters::RefusedParameters,
    pub(crate) isolation: Option<Box<crate::isolation::IsolationConfig>>,
}
