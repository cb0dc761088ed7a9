//! Features by version of the CLI, measured by starting them.
//!
//! Not every version was tried: between the last one known to lack a thing and the first
//! one known to have it, nothing is known.

use std::fmt;

use crate::options::{Bypass, LaunchOptions, PluginDelivery, Thinking};

use super::super::HostFeatures;
use super::CliVersion;

/// A version's support of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot.
    No,
    /// Nobody tried.
    Unknown,
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $lacks:expr, $has:expr;)*) => {
        /// Something not every version of the CLI can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CliFeature {
            $($(#[$doc])* #[doc = concat!("(", $text, ")")] $name,)*
        }

        impl CliFeature {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns its name, the newest version that surely lacks it, and the oldest that
            /// surely has it.
            fn known(self) -> (&'static str, CliVersion, CliVersion) {
                match self {
                    $(Self::$name => ($text, version($lacks), version($has)),)*
                }
            }
        }
    };
}

fn version((major, minor, patch): (u32, u32, u32)) -> CliVersion {
    CliVersion::new(major, minor, patch)
}

features! {
    /// Choosing the built-in tools.
    BuiltinTools, "`--tools`", (2, 0, 0), (2, 1, 0);
    /// Structured output.
    JsonSchema, "`--json-schema`", (2, 0, 0), (2, 1, 0);
    /// A limit on cost.
    MaxBudget, "`--max-budget-usd`", (2, 0, 0), (2, 1, 0);
    /// A budget for thinking.
    ThinkingBudget, "`--max-thinking-tokens`", (2, 0, 0), (2, 1, 0);
    /// Betas of the API.
    Betas, "`--betas`", (2, 0, 0), (2, 1, 0);
    /// The agent of the main conversation.
    MainAgent, "`--agent`", (2, 0, 0), (2, 1, 0);
    /// Plugins.
    Plugins, "`--plugin-dir`", (2, 0, 0), (2, 1, 0);
    /// Sessions that are not saved.
    Unsaved, "`--no-session-persistence`", (2, 0, 0), (2, 1, 0);
    /// The switch that permits bypassing.
    AllowBypass, "`--allow-dangerously-skip-permissions`", (2, 0, 0), (2, 1, 0);
    /// Adaptive and disabled thinking.
    Thinking, "`--thinking`", (2, 1, 0), (2, 1, 50);
    /// Display of reasoning.
    ThinkingDisplay, "`--thinking-display`", (2, 1, 50), (2, 1, 100);
    /// Effort.
    Effort, "`--effort`", (2, 1, 0), (2, 1, 50);
    /// A budget told to the model.
    TaskBudget, "`--task-budget`", (2, 1, 50), (2, 1, 100);
    /// Messages about the life of hooks.
    HookEvents, "`--include-hook-events`", (2, 1, 50), (2, 1, 100);
    /// Mirroring transcripts to the host.
    SessionMirror, "`--session-mirror`", (2, 1, 50), (2, 1, 100);
    /// The debug log in a file.
    DebugFile, "`--debug-file`", (2, 1, 0), (2, 1, 50);
    /// Plugins without their MCP servers.
    PluginsWithoutMcp, "`--plugin-dir-no-mcp`", (2, 1, 150), (2, 1, 200);
    /// A policy of the host.
    ManagedSettings, "`--managed-settings`", (2, 1, 100), (2, 1, 150);
    /// A checked truncation on resume.
    ResumeDropsTurn, "`--resume-drops-turn`", (2, 1, 200), (2, 1, 240);
    /// Messages that say whether the session is idle.
    SessionState, "`session_state_changed` messages", (2, 1, 200), (2, 1, 240);
    /// Prompts that are not expanded.
    VerbatimPrompts, "`client_composed` prompts", (2, 1, 247), (2, 1, 248);
    /// Choice of the party that answers permission requests.
    PermissionPrompts, "`--permission-prompts`", (2, 1, 240), (2, 1, 260);
    /// Project configuration from elsewhere.
    ProjectConfigRoot, "`--project-config-root`", (2, 1, 260), (2, 1, 280);
    /// Plugins in the initialize request.
    AwaitInitialize, "`--await-initialize`", (2, 1, 260), (2, 1, 280);
    /// A result message when the start is refused.
    StartupFailureResults, "results for refused starts", (2, 1, 260), (2, 1, 280);
    /// Tool lists of in-process servers in the initialize request.
    ServerManifests, "`sdkMcpServerManifests`", (2, 1, 280), (2, 1, 295);
    /// The version in the reply to the initialize request.
    VersionInReply, "`claude_code_version`", (2, 1, 295), (2, 1, 310);
    /// Hooks that fail closed.
    HookFailurePolicy, "`onFailure` of hooks", (2, 1, 310), (2, 1, 325);
}

impl CliFeature {
    /// Returns the support of this version.
    #[must_use]
    pub fn support(self, version: &CliVersion) -> Support {
        let (_, lacks, has) = self.known();
        if *version >= has {
            Support::Yes
        } else if *version <= lacks {
            Support::No
        } else {
            Support::Unknown
        }
    }

    /// The first version known to have it.
    #[must_use]
    pub fn known_since(self) -> CliVersion {
        self.known().2
    }

    /// Returns the features that these options need.
    pub(crate) fn used_by(options: &LaunchOptions, host: &HostFeatures) -> Vec<Self> {
        let mut used = Vec::new();
        let mut uses = |condition: bool, feature| {
            if condition {
                used.push(feature);
            }
        };
        let model = &options.model;
        let extensions = &options.extensions;
        let adaptive = matches!(
            model.thinking,
            Some(Thinking::Adaptive | Thinking::Disabled)
        );
        let in_initialize = extensions.plugin_delivery == PluginDelivery::Initialize;
        let has_plugins = !extensions.plugins.is_empty();
        uses(options.tools.builtin.is_some(), Self::BuiltinTools);
        uses(options.prompt.output_schema.is_some(), Self::JsonSchema);
        uses(options.prompt.verbatim, Self::VerbatimPrompts);
        uses(options.caps.budget_usd.is_some(), Self::MaxBudget);
        uses(options.caps.task_tokens.is_some(), Self::TaskBudget);
        uses(adaptive, Self::Thinking);
        uses(
            matches!(model.thinking, Some(Thinking::Budget(_))),
            Self::ThinkingBudget,
        );
        uses(model.thinking_display.is_some(), Self::ThinkingDisplay);
        uses(model.effort.is_some(), Self::Effort);
        uses(!model.betas.is_empty(), Self::Betas);
        uses(extensions.main_agent.is_some(), Self::MainAgent);
        uses(has_plugins && !in_initialize, Self::Plugins);
        uses(has_plugins && in_initialize, Self::AwaitInitialize);
        let without_mcp = extensions.plugins.iter().any(|plugin| plugin.skip_mcp);
        uses(without_mcp && !in_initialize, Self::PluginsWithoutMcp);
        uses(
            options.permissions.bypass == Bypass::Accepted,
            Self::AllowBypass,
        );
        uses(
            options.permissions.prompts.is_some(),
            Self::PermissionPrompts,
        );
        uses(options.session.unsaved, Self::Unsaved);
        uses(
            options.session.start.resume_drops_turn.is_some(),
            Self::ResumeDropsTurn,
        );
        uses(host.mirrors_session, Self::SessionMirror);
        uses(options.settings.managed.is_some(), Self::ManagedSettings);
        uses(
            options.environment.project_config_root.is_some(),
            Self::ProjectConfigRoot,
        );
        uses(options.process.hook_events, Self::HookEvents);
        uses(options.process.debug_file.is_some(), Self::DebugFile);
        let policy = |matcher: &falconer_protocol::hook::HookMatcher| matcher.on_failure.is_some();
        uses(
            host.hooks.values().flatten().any(policy),
            Self::HookFailurePolicy,
        );
        used
    }
}

impl fmt::Display for CliFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.known().0)
    }
}
