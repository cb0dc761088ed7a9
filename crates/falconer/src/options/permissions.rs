//! Decisions about tool calls.

use falconer_protocol::permission::PermissionMode;

use super::Options;

/// The party that answers permission requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// This program, through its permission handler.
    Host,
    /// Nobody: what would be asked is denied at once.
    None,
}

impl PermissionPrompts {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

/// The origin of the permission mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum ModeChoice {
    /// Ask, whatever the settings of the machine say.
    #[default]
    Ask,
    FromSettings,
    Mode(PermissionMode),
}

/// Consent to running tools without any question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bypass {
    /// Nobody did; the mode `bypassPermissions` is refused.
    #[default]
    Forbidden,
    /// Somebody did. Still refused for root.
    Accepted,
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct PermissionOptions {
    pub(crate) mode: ModeChoice,
    pub(crate) bypass: Bypass,
    pub(crate) prompt_tool: Option<String>,
    pub(crate) prompts: Option<PermissionPrompts>,
    pub(crate) per_task_stop: bool,
}

impl Options {
    /// Sets the permission mode.
    ///
    /// Bypassing also needs [`Options::allow_dangerously_skip_permissions`]. Carried by
    /// `--permission-mode`. Default: `default`, that is ask; it is always sent, because
    /// settings on the machine could otherwise choose a weaker one.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.launch.permissions.mode = ModeChoice::Mode(mode);
        self
    }

    /// Leaves the permission mode to the settings on the machine.
    #[must_use]
    pub fn permission_mode_from_settings(mut self) -> Self {
        self.launch.permissions.mode = ModeChoice::FromSettings;
        self
    }

    /// The second switch that running without any question needs.
    ///
    /// Carried by `--allow-dangerously-skip-permissions`. Default: off. Refused for root.
    #[must_use]
    pub fn allow_dangerously_skip_permissions(mut self) -> Self {
        self.launch.permissions.bypass = Bypass::Accepted;
        self
    }

    /// Lets an MCP tool (`mcp__server__tool`) answer permission questions.
    ///
    /// Excludes a permission handler. Carried by `--permission-prompt-tool`. Default: none.
    #[must_use]
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.launch.permissions.prompt_tool = Some(tool.into());
        self
    }

    /// Says who answers permission questions.
    ///
    /// Carried by `--permission-prompts`. Default: not sent, which means the host.
    #[must_use]
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.launch.permissions.prompts = Some(prompts);
        self
    }

    /// Declares that single background tasks can be stopped, so an interrupt spares them.
    ///
    /// Carried by the initialize request. Default: an interrupt stops them all.
    #[must_use]
    pub fn per_task_stop(mut self) -> Self {
        self.launch.permissions.per_task_stop = true;
        self
    }
}
