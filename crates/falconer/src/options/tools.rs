//! The tools, and those that need no permission.

use super::Options;

/// The built-in tools that the model gets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltinTools {
    /// All that the engine offers by default.
    Preset,
    /// None; MCP tools remain.
    None,
    /// Only these.
    Only(Vec<String>),
}

/// The markup of previews in questions to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreviewFormat {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

impl PreviewFormat {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolOptions {
    pub(crate) builtin: Option<BuiltinTools>,
    pub(crate) allowed: Vec<String>,
    pub(crate) disallowed: Vec<String>,
    pub(crate) aliases: Vec<(String, String)>,
    pub(crate) preview_format: Option<PreviewFormat>,
}

impl Options {
    /// Chooses the built-in tools.
    ///
    /// Carried by `--tools`. Default: the engine's set.
    #[must_use]
    pub fn builtin_tools(mut self, tools: BuiltinTools) -> Self {
        self.launch.tools.builtin = Some(tools);
        self
    }

    /// Gives the model only these built-in tools; shorthand for [`BuiltinTools::Only`].
    #[must_use]
    pub fn only_tools<T: Into<String>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        let tools = tools.into_iter().map(T::into).collect();
        self.builtin_tools(BuiltinTools::Only(tools))
    }

    /// Lets these tools run without asking; rules such as `Bash(git *)` are possible.
    ///
    /// This restricts nothing: see [`Options::builtin_tools`] and
    /// [`Options::disallow_tools`]. Carried by `--allowedTools`. Default: none.
    #[must_use]
    pub fn allow_tools<T: Into<String>>(mut self, rules: impl IntoIterator<Item = T>) -> Self {
        let rules = rules.into_iter().map(T::into);
        self.launch.tools.allowed.extend(rules);
        self
    }

    /// Takes these tools away from the model; rules forbid matching calls.
    ///
    /// Carried by `--disallowedTools`. Default: none.
    #[must_use]
    pub fn disallow_tools<T: Into<String>>(mut self, rules: impl IntoIterator<Item = T>) -> Self {
        let rules = rules.into_iter().map(T::into);
        self.launch.tools.disallowed.extend(rules);
        self
    }

    /// Runs the tool `target` when the model calls `name`; one hop only.
    ///
    /// Carried by the initialize request. Default: none.
    #[must_use]
    pub fn tool_alias(mut self, name: impl Into<String>, target: impl Into<String>) -> Self {
        let alias = (name.into(), target.into());
        self.launch.tools.aliases.push(alias);
        self
    }

    /// Sets the markup of previews in questions to the user.
    ///
    /// Carried by `CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`. Default: Markdown.
    #[must_use]
    pub fn question_previews(mut self, format: PreviewFormat) -> Self {
        self.launch.tools.preview_format = Some(format);
        self
    }
}
