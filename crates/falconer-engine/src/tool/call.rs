//! One call of a tool: its circumstances, and what came of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_process::Confinement;
use falconer_protocol::content::{Content, ContentBlock};
use falconer_protocol::{MessageUuid, ToolUseId};
use falconer_rule::Place;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::permission::Hidden;
use crate::workbench::Workbench;

/// The circumstances of a call; its input is the tool's own.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: ToolUseId,
    /// The prompt that led to the call: checkpoints belong to it.
    pub(crate) prompt: MessageUuid,
    pub(crate) workbench: Arc<Workbench>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) bounds: Bounds,
}

/// The limits of a call's permission.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    /// Nobody was asked about the command, because it only reads.
    pub(crate) only_reads: bool,
    /// The command was allowed because it only reads, so it is kept from doing anything else.
    pub(crate) confinement: Option<Confinement>,
    /// The file that was judged, without links.
    pub(crate) file: Option<PathBuf>,
    /// Files that a search must not show.
    pub(crate) hidden: Hidden,
}

impl Call {
    /// Returns where to read the file that the input names.
    pub(crate) fn source(&self, path: &Path) -> PathBuf {
        let judged = self.bounds.file.clone();
        judged.unwrap_or_else(|| Place::of(path).real)
    }

    /// Returns where to write the file that the input names.
    pub(crate) fn destination(&self, path: &Path) -> PathBuf {
        let judged = self.bounds.file.clone();
        judged.unwrap_or_else(|| Place::destination(path))
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// What the model sees: text, or a list of content blocks.
    pub(crate) content: Content,
    pub(crate) is_error: bool,
    pub(crate) attempt: Attempt,
    /// `tool_use_result` on the wire: the output shape of `sdk-tools.d.ts`, or an error text.
    pub(crate) output: Option<Value>,
    /// What else it means for the session.
    pub(crate) effects: Vec<Effect>,
}

/// Whether anything was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Made,
    /// The call made no sense as it stood.
    Refused,
}

/// A consequence beyond the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// The permission mode changes, by entering or leaving plan mode.
    EnterPlanMode,
    LeavePlanMode,
    /// The value asked for by a schema; the turn ends.
    StructuredOutput(Value),
}

impl Outcome {
    /// A success: a text for the model, and the shape that hosts know for the tool.
    pub(crate) fn text(text: impl Into<String>, output: impl Serialize) -> Self {
        Self {
            content: Content::Text(text.into()),
            is_error: false,
            attempt: Attempt::Made,
            // Strings, numbers, lists and flags always have a JSON text.
            output: serde_json::to_value(output).ok(),
            effects: Vec::new(),
        }
    }

    /// A success that the model sees as blocks.
    pub(crate) fn blocks(content: Vec<ContentBlock>, output: impl Serialize) -> Self {
        Self {
            content: Content::Blocks(content),
            ..Self::text("", output)
        }
    }

    /// The text that the model sees; those of several blocks in lines.
    pub(crate) fn words(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(ContentBlock::as_text);
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// A failure, told to the model as it is and to the host as `Error: …`.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            output: Some(Value::String(format!("Error: {text}"))),
            content: Content::Text(text),
            is_error: true,
            attempt: Attempt::Made,
            effects: Vec::new(),
        }
    }

    /// A call that makes no sense as it stands, so that nothing was tried.
    ///
    /// The model sees the text inside `<tool_use_error>`, as for an input that is not valid.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            output: Some(Value::String(format!("Error: {text}"))),
            content: Content::Text(format!("<tool_use_error>{text}</tool_use_error>")),
            is_error: true,
            attempt: Attempt::Refused,
            effects: Vec::new(),
        }
    }
}

#[cfg(test)]
impl Outcome {
    /// The text that the model sees, if it is only that.
    pub(crate) fn said(&self) -> &str {
        match &self.content {
            Content::Text(text) => text,
            Content::Blocks(blocks) => panic!("more than a text: {blocks:?}"),
        }
    }

    /// The content on the wire.
    pub(crate) fn shown(&self) -> Value {
        serde_json::to_value(&self.content).unwrap()
    }
}
