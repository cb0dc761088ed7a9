//! Sub-agents, skills and plugins.

use std::path::PathBuf;

use falconer_protocol::agent::AgentDefinition;

use super::Options;

/// The skills that the main session knows.
///
/// This filters what the model sees. The files stay readable; it is no sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skills {
    /// Every skill found.
    All,
    /// Only these: `name` or `plugin:name`.
    Only(Vec<String>),
}

/// A plugin on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    pub(crate) path: PathBuf,
    pub(crate) skip_mcp: bool,
}

impl Plugin {
    /// The plugin in this directory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            skip_mcp: false,
        }
    }

    /// Leaves the plugin's MCP servers alone.
    #[must_use]
    pub fn without_mcp_servers(mut self) -> Self {
        self.skip_mcp = true;
        self
    }
}

/// The way plugins reach the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PluginDelivery {
    #[default]
    Arguments,
    Initialize,
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExtensionOptions {
    pub(crate) agents: Vec<(String, AgentDefinition)>,
    pub(crate) main_agent: Option<String>,
    pub(crate) skills: Option<Skills>,
    pub(crate) plugins: Vec<Plugin>,
    pub(crate) plugin_delivery: PluginDelivery,
    pub(crate) progress_summaries: bool,
    pub(crate) forward_subagent_text: bool,
}

impl Options {
    /// Defines a sub-agent; a later definition of the same name replaces an earlier one.
    ///
    /// Carried by the initialize request, so size is no concern. Default: none.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>, definition: AgentDefinition) -> Self {
        let name = name.into();
        let agents = &mut self.launch.extensions.agents;
        agents.retain(|(other, _)| *other != name);
        agents.push((name, definition));
        self
    }

    /// Runs the main conversation as this agent.
    ///
    /// Carried by `--agent`. Default: none.
    #[must_use]
    pub fn main_agent(mut self, name: impl Into<String>) -> Self {
        self.launch.extensions.main_agent = Some(name.into());
        self
    }

    /// Chooses the skills of the main session and lets them run without asking.
    ///
    /// Carried by `--allowedTools` (`Skill` or `Skill(name)`) and the initialize request.
    /// Default: what the engine finds, asked for as usual.
    #[must_use]
    pub fn skills(mut self, skills: Skills) -> Self {
        self.launch.extensions.skills = Some(skills);
        self
    }

    /// Loads a plugin.
    ///
    /// Carried by `--plugin-dir` or `--plugin-dir-no-mcp`. Default: none.
    #[must_use]
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.launch.extensions.plugins.push(plugin);
        self
    }

    /// Sends the list of plugins in the initialize request instead of the command line.
    ///
    /// Carried by `--await-initialize`. Default: on the command line.
    #[must_use]
    pub fn plugins_in_initialize(mut self) -> Self {
        self.launch.extensions.plugin_delivery = PluginDelivery::Initialize;
        self
    }

    /// Asks for summaries of what sub-agents do, about every 30 s.
    ///
    /// Carried by the initialize request. Default: off.
    #[must_use]
    pub fn agent_progress_summaries(mut self) -> Self {
        self.launch.extensions.progress_summaries = true;
        self
    }

    /// Passes on what sub-agents write and think.
    ///
    /// Carried by the initialize request. Default: only their tool calls.
    #[must_use]
    pub fn forward_subagent_text(mut self) -> Self {
        self.launch.extensions.forward_subagent_text = true;
        self
    }
}
