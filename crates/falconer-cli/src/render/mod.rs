//! A session on a terminal, or in a pipe: one line per action, diffs for edits, answers as they
//! are written.
//!
//! Everything goes through [`Screen`], so lines never mix. It writes styled text; the writer
//! below it takes the styles out where they are not wanted.

mod action;
mod diff;
mod markdown;
mod notice;
mod plain;
mod summary;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use falconer::Message;
use falconer::protocol::content::{ContentBlock, ToolResultBlock, ToolUseBlock};
use falconer::protocol::message::{AssistantMessage, UserMessage};
use owo_colors::OwoColorize;

use action::Action;
use markdown::Markdown;
pub(crate) use plain::{clean, first_line};

/// Lines of a command's output that are shown.
const OUTPUT_LINES: usize = 6;

/// Writes messages for people.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    cwd: PathBuf,
    markdown: Markdown,
    /// Text of the current block has already been shown piece by piece.
    streamed: bool,
    /// Calls shown, by id, until their result has come.
    calls: HashMap<String, Action>,
    /// Something was written since the last blank line.
    dirty: bool,
}

impl<W: Write> Screen<W> {
    /// Paths below `cwd` are shown relative to it.
    pub(crate) fn new(out: W, cwd: impl Into<PathBuf>) -> Self {
        Self {
            out,
            cwd: cwd.into(),
            markdown: Markdown::default(),
            streamed: false,
            calls: HashMap::new(),
            dirty: false,
        }
    }

    /// Writes a line of our own.
    pub(crate) fn line(&mut self, text: impl std::fmt::Display) -> io::Result<()> {
        self.end_text()?;
        self.dirty = true;
        writeln!(self.out, "{text}")
    }

    /// Writes text without an end of line, and shows it at once.
    pub(crate) fn prompt(&mut self, text: impl std::fmt::Display) -> io::Result<()> {
        self.end_text()?;
        self.dirty = true;
        write!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Leaves a blank line, unless there is one.
    pub(crate) fn gap(&mut self) -> io::Result<()> {
        self.end_text()?;
        if self.dirty {
            self.dirty = false;
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Whether a call has been shown, so that a question about it makes sense.
    pub(crate) fn has_shown(&self, tool_use_id: &str) -> bool {
        self.calls.contains_key(tool_use_id)
    }

    /// Shows a message, or nothing if it says nothing to people.
    pub(crate) fn message(&mut self, message: &Message) -> io::Result<()> {
        match message {
            Message::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                match event.text_delta() {
                    Some(text) => self.stream(text)?,
                    None => return Ok(()),
                }
            }
            Message::Assistant(message) => self.assistant(message)?,
            Message::User(message) => self.results(message)?,
            Message::System(message) => {
                if let Some(notice) = notice::of(message) {
                    self.line(notice)?;
                }
            }
            Message::Result(result) => {
                self.gap()?;
                for line in summary::lines(result) {
                    self.line(line)?;
                }
            }
            Message::Warning(warning) => {
                let text = serde_json::to_string(warning).unwrap_or_default();
                self.line(format!("! {}", clean(&text)).yellow())?;
            }
            _ => return Ok(()),
        }
        self.out.flush()
    }

    fn stream(&mut self, text: &str) -> io::Result<()> {
        if !self.streamed {
            self.gap()?;
            self.streamed = true;
        }
        self.dirty = true;
        self.markdown.write(&clean(text), &mut self.out)
    }

    fn assistant(&mut self, message: &AssistantMessage) -> io::Result<()> {
        // What sub-agents say is not part of the answer.
        if message.parent_tool_use_id.is_some() {
            return Ok(());
        }
        for block in &message.message.content {
            match block {
                ContentBlock::Text(text) if !self.streamed => self.stream(&text.text)?,
                ContentBlock::ToolUse(call) => self.action(call)?,
                _ => {}
            }
        }
        self.end_text()
    }

    fn action(&mut self, call: &ToolUseBlock) -> io::Result<()> {
        self.gap()?;
        let action = Action::of(call, &self.cwd);
        self.line(format!("{} {}", "▸".cyan(), action.title()))?;
        for line in action.details() {
            self.line(format!("  {line}"))?;
        }
        self.calls.insert(call.id.as_str().to_owned(), action);
        Ok(())
    }

    fn results(&mut self, message: &UserMessage) -> io::Result<()> {
        if message.parent_tool_use_id.is_some() {
            return Ok(());
        }
        for result in message.tool_results() {
            let action = self.calls.remove(result.tool_use_id.as_str());
            self.result(action.as_ref(), result)?;
        }
        Ok(())
    }

    fn result(&mut self, action: Option<&Action>, result: &ToolResultBlock) -> io::Result<()> {
        let text = clean(&result.text());
        if result.failed() {
            return self.line(format!("  ✗ {}", first_line(&text)).red());
        }
        match action {
            Some(action) if action.shows_output() => self.output(&text),
            Some(action) => match action.outcome(&text) {
                Some(outcome) => self.line(format!("  {outcome}").dimmed()),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The end of what a command wrote.
    fn output(&mut self, text: &str) -> io::Result<()> {
        let lines: Vec<_> = text.trim_end().lines().collect();
        let hidden = lines.len().saturating_sub(OUTPUT_LINES);
        if hidden > 0 {
            self.line(format!("  │ … {hidden} more lines above").dimmed())?;
        }
        for line in lines.iter().skip(hidden) {
            self.line(format!("  {} {line}", "│".dimmed()))?;
        }
        Ok(())
    }

    /// Ends a text that was being written.
    fn end_text(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.streamed) {
            self.markdown.finish(&mut self.out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
