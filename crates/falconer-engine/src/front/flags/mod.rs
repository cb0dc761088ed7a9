//! The command line as it was meant: every flag of the official CLI that matters without a
//! terminal, in both of its spellings, as typed values.
//!
//! Nothing is looked up here: files named by flags are read when the session is prepared.

mod given;
mod name;
mod table;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;

use super::debug_log::DebugFlags;
use crate::session::config::{
    Commands, Decided, History, Limits, ModelChoice, Output, PermissionChoice, PromptChoice,
    SettingSources,
};
use crate::tool::registry::ToolChoice;

use table::Flag;

pub(crate) use given::FlagProblem;
pub(crate) use table::help_lines;

/// What the command line says.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    /// `--help` or `--version`: nothing else counts.
    pub(crate) show: Option<Show>,
    pub(crate) print: bool,
    pub(crate) verbose: bool,
    pub(crate) output_format: OutputFormat,
    pub(crate) input_format: InputFormat,
    pub(crate) await_initialize: bool,
    /// The words that are no flags; the first is the prompt.
    pub(crate) prompt: Option<String>,
    pub(crate) model: ModelChoice,
    pub(crate) permissions: PermissionChoice,
    /// `--permission-prompt-tool`.
    pub(crate) prompt_tool: Option<String>,
    /// `--permission-prompts`.
    pub(crate) prompts: Prompts,
    /// `--dangerously-skip-permissions`.
    pub(crate) skip_permissions: bool,
    pub(crate) tools: ToolChoice,
    pub(crate) limits: Limits,
    pub(crate) system_prompt: PromptChoice,
    pub(crate) system_prompt_file: Option<PathBuf>,
    pub(crate) append_system_prompt_file: Option<PathBuf>,
    /// `--mcp-config`: files or JSON.
    pub(crate) mcp_configs: Vec<OsString>,
    pub(crate) strict_mcp: bool,
    /// `--settings`: a file or JSON.
    pub(crate) settings: Option<OsString>,
    /// `--managed-settings`: a file or JSON.
    pub(crate) managed_settings: Option<OsString>,
    pub(crate) sources: SettingSources,
    pub(crate) decided: Decided,
    /// `--project-config-root`.
    pub(crate) project_config_root: Option<PathBuf>,
    /// `--resume`: an id, a title, or nothing at all.
    pub(crate) resume: Option<String>,
    pub(crate) continue_latest: bool,
    /// `--session-id`, unchecked.
    pub(crate) session_id: Option<String>,
    /// `--resume-session-at`, unchecked.
    pub(crate) resume_at: Option<String>,
    /// `--resume-drops-turn`.
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) history: History,
    pub(crate) output: Output,
    /// `--agents`: a file or JSON.
    pub(crate) agents: Option<OsString>,
    /// `--disable-slash-commands`.
    pub(crate) commands: Commands,
    /// `--json-schema`, unchecked.
    pub(crate) json_schema: Option<String>,
    pub(crate) debug: DebugFlags,
    /// What was understood differently than the user may think.
    pub(crate) warnings: Vec<String>,
}

/// Something to print instead of running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    Help,
    Version,
}

/// `--output-format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// The answer, for people.
    #[default]
    Text,
    /// The result, as one JSON value.
    Json,
    /// Every frame, one per line.
    StreamJson,
}

/// `--input-format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// One prompt.
    #[default]
    Text,
    /// Frames, one per line.
    StreamJson,
}

/// `--permission-prompts`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Prompts {
    #[default]
    Host,
    Nobody,
}

impl Flags {
    /// Warns that a flag has no effect, and why.
    fn ignored(&mut self, flag: &Flag, consequence: &str) {
        let usage = flag.usage();
        self.warnings
            .push(format!("{usage} is ignored: {consequence}"));
    }

    /// Reads the arguments that follow the name of the program.
    ///
    /// Unknown flags are warned about and ignored: hosts pass flags of newer versions, and a
    /// flag that was never known cannot have been relied on. A word behind an unknown flag is
    /// taken as its value if another word follows that can be the prompt, and as the prompt if
    /// none does. Flags that are known but would weaken or change what the user gets when
    /// ignored are errors.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, FlagProblem> {
        let mut flags = Self::default();
        let words = words::read(args, &mut flags)?;
        flags.prompt = words.into_prompt(&mut flags.warnings)?;
        Ok(flags)
    }
}

#[cfg(test)]
mod tests;
