//! The system prompt and the form of prompts and answers.

use std::path::PathBuf;

use super::Options;

/// The system prompt of a session.
///
/// The default is the empty prompt, as in the official SDKs; [`SystemPrompt::claude_code`]
/// is the prompt of the interactive CLI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    pub(crate) base: PromptBase,
    pub(crate) append: Option<String>,
    pub(crate) exclude_dynamic_sections: bool,
    pub(crate) snapshot: Option<bool>,
}

/// The basis of a system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PromptBase {
    #[default]
    Empty,
    Parts(Vec<String>),
    ClaudeCode,
    File(PathBuf),
}

impl SystemPrompt {
    fn from_base(base: PromptBase) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// No system prompt of ours; the engine adds its own one-line identity.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// A prompt that replaces the engine's.
    #[must_use]
    pub fn custom(text: impl Into<String>) -> Self {
        Self::from_base(PromptBase::Parts(vec![text.into()]))
    }

    /// A prompt in several blocks, which are cached separately.
    #[must_use]
    pub fn parts<T: Into<String>>(parts: impl IntoIterator<Item = T>) -> Self {
        Self::from_base(PromptBase::Parts(parts.into_iter().map(T::into).collect()))
    }

    /// The full prompt of Claude Code.
    #[must_use]
    pub fn claude_code() -> Self {
        Self::from_base(PromptBase::ClaudeCode)
    }

    /// A prompt that replaces the engine's and is read by it from a file
    /// (`--system-prompt-file`).
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::from_base(PromptBase::File(path.into()))
    }

    /// Adds text at the end of the prompt.
    #[must_use]
    pub fn append(mut self, text: impl Into<String>) -> Self {
        self.append = Some(text.into());
        self
    }

    /// Moves what differs between users (working directory, memory path) out of the system
    /// prompt into the first message, so that its cache is shared.
    #[must_use]
    pub fn exclude_dynamic_sections(mut self) -> Self {
        self.exclude_dynamic_sections = true;
        self
    }

    /// Records the prompt once and reuses it verbatim until compaction.
    #[must_use]
    pub fn recorded_once(mut self) -> Self {
        self.snapshot = Some(true);
        self
    }

    /// Renders the prompt afresh for every request.
    #[must_use]
    pub fn rendered_fresh(mut self) -> Self {
        self.snapshot = Some(false);
        self
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::custom(text)
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::custom(text)
    }
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptOptions {
    pub(crate) system: SystemPrompt,
    pub(crate) output_schema: Option<serde_json::Value>,
    pub(crate) verbatim: bool,
    pub(crate) suggestions: bool,
    pub(crate) title: Option<String>,
    pub(crate) plan_mode_instructions: Option<String>,
}

impl Options {
    /// Sets the system prompt.
    ///
    /// Carried by the initialize request. Default: [`SystemPrompt::empty`].
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.launch.prompt.system = prompt.into();
        self
    }

    /// Asks for an answer that fits a JSON schema.
    ///
    /// The value is in the result's structured output. Carried by `--json-schema` and the
    /// initialize request. Default: free text.
    #[must_use]
    pub fn output_schema(mut self, schema: serde_json::Value) -> Self {
        self.launch.prompt.output_schema = Some(schema);
        self
    }

    /// Sends prompts as they are: no `@path` expansion, no slash commands.
    ///
    /// Carried by `client_composed` on each user message. Default: expanded.
    #[must_use]
    pub fn verbatim_prompts(mut self) -> Self {
        self.launch.prompt.verbatim = true;
        self
    }

    /// Asks for a guess at the next prompt after each result.
    ///
    /// Carried by the initialize request. Default: off.
    #[must_use]
    pub fn prompt_suggestions(mut self) -> Self {
        self.launch.prompt.suggestions = true;
        self
    }

    /// Names the session instead of letting the engine find a title.
    ///
    /// Carried by the initialize request. Default: generated.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.launch.prompt.title = Some(title.into());
        self
    }

    /// Replaces the description of the work to do in plan mode.
    ///
    /// Carried by the initialize request. Default: the engine's.
    #[must_use]
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.launch.prompt.plan_mode_instructions = Some(text.into());
        self
    }
}
