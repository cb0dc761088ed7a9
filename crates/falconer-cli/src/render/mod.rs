//! A session on a terminal, or in a pipe: one line per action, diffs for edits, answers as they
//! are written.
//!
//! Everything goes through [`Screen`], so lines never mix. It writes styled text; the writer
//! below it takes the styles out where they are not wanted.

mod action;
mod diff;
mod markdown;
mod notice;
mod outcome;
mod plain;
mod sheet;
mod spinner;
mod summary;
mod window;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use falconer_event::{Action as Call, ActionStatus, Body, Event, Item, ItemContent, ItemId};
use falconer_event::{PermissionResolved, Preview, PromptState, Resolution};
use owo_colors::OwoColorize;
use serde_json::Value;

use crate::log::screen;
use action::Action;
use markdown::Markdown;
#[cfg(test)]
pub(crate) use plain::visible;
pub(crate) use plain::{clean, first_line, for_stdout, visible_line};
pub(crate) use sheet::Sheet;
pub(crate) use spinner::Motion;
use spinner::Spinner;
pub(crate) use summary::Resumable;
use summary::Totals;
pub(crate) use window::Window;

/// Lines of a command's output that are shown.
const OUTPUT_LINES: usize = 6;

/// An action that took longer says how long.
const WORTH_TELLING: Duration = Duration::from_secs(2);

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Everything that happens in a run.
    Run,
    /// The same, with a line after every turn: a conversation.
    Conversation,
    /// Nothing but questions.
    Questions,
}

/// Whether messages of the user are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompts {
    /// Whoever typed them has seen them.
    Hidden,
    /// They come from elsewhere.
    Shown,
}

/// Writes events for people.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    cwd: PathBuf,
    detail: Detail,
    prompts: Prompts,
    resumable: Resumable,
    spinner: Spinner,
    markdown: Markdown,
    /// Texts of the agent that are being written, and how many characters of them were shown.
    texts: HashMap<ItemId, u64>,
    /// The text that is being shown piece by piece.
    streamed: Option<ItemId>,
    /// Calls shown, by id, until their result has come.
    calls: HashMap<String, Shown>,
    /// Something was written since the last blank line.
    dirty: bool,
    /// The line has no end yet, because an answer is expected on it.
    prompting: bool,
    totals: Totals,
}

/// A call that was shown.
#[derive(Debug)]
struct Shown {
    action: Action,
    since: Instant,
    /// A question shows all of it, so its details are not shown again.
    is_asked: bool,
}

impl<W: Write> Screen<W> {
    /// Paths below `cwd` are shown relative to it.
    pub(crate) fn new(out: W, cwd: impl Into<PathBuf>) -> Self {
        Self {
            out,
            cwd: cwd.into(),
            detail: Detail::Run,
            prompts: Prompts::Hidden,
            resumable: Resumable::Yes,
            spinner: Spinner::new(Motion::None),
            markdown: Markdown::default(),
            texts: HashMap::new(),
            streamed: None,
            calls: HashMap::new(),
            dirty: false,
            prompting: false,
            totals: Totals::default(),
        }
    }

    pub(crate) fn detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    pub(crate) fn prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = prompts;
        self
    }

    pub(crate) fn resumable(mut self, resumable: Resumable) -> Self {
        self.resumable = resumable;
        self
    }

    pub(crate) fn motion(mut self, motion: Motion) -> Self {
        self.spinner = Spinner::new(motion);
        self
    }

    #[cfg(test)]
    pub(crate) fn written(&self) -> &W {
        &self.out
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
        self.prompting = true;
        screen::hold();
        write!(self.out, "{text}")?;
        self.out.flush()
    }

    /// The person has ended the line of a prompt. The time he took is not the call's.
    pub(crate) fn answered(&mut self) {
        self.prompting = false;
        screen::release();
        for shown in self.calls.values_mut() {
            shown.since = Instant::now();
        }
    }

    /// Answers a prompt in the place of a person.
    pub(crate) fn finish_prompt(&mut self, text: &str) -> io::Result<()> {
        self.prompting = false;
        writeln!(self.out, "{text}")?;
        screen::release();
        Ok(())
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

    /// Writes a text in Markdown as a block of its own.
    pub(crate) fn markdown_block(&mut self, text: &str) -> io::Result<()> {
        self.gap()?;
        self.dirty = true;
        let mut markdown = Markdown::default();
        markdown.write(&clean(text), &mut self.out)?;
        markdown.finish(&mut self.out)
    }

    /// Shows the call a question is about, unless it is there already.
    pub(crate) fn ensure_call(&mut self, id: &str, tool: &str, input: &Value) -> io::Result<()> {
        if self.calls.contains_key(id) {
            self.end_text()?;
        } else {
            self.action(id, tool, input)?;
        }
        if let Some(shown) = self.calls.get_mut(id) {
            shown.is_asked = true;
        }
        Ok(())
    }

    /// Shows an event, or nothing if it says nothing to people.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.detail == Detail::Questions {
            return Ok(());
        }
        match &event.body {
            Body::RunStarted(run) => self.line(notice::started(run))?,
            Body::TurnStarted(_) => self.spinner.spin("thinking".to_owned()),
            Body::ItemStarted(item) => self.started(event, item)?,
            Body::ItemDelta { id, offset, text } => self.delta(id, *offset, text)?,
            Body::ItemCompleted(item) => self.completed(event, item)?,
            Body::PermissionResolved(resolved) => self.resolved(resolved)?,
            Body::Retry(retry) => self.line(notice::retry(retry))?,
            Body::Limit(limit) => self.line(notice::limit(limit))?,
            Body::Warning(warning) => self.maybe(notice::warning(warning))?,
            Body::SessionChanged(changed) => self.maybe(notice::changed(changed))?,
            Body::TaskStarted(task) | Body::TaskCompleted(task) => {
                self.maybe(notice::task(task))?;
            }
            Body::TurnCompleted(turn) => {
                self.totals.add(turn);
                self.end_text()?;
                if self.detail == Detail::Conversation {
                    self.failed_turn(turn)?;
                    self.line(summary::turn(turn))?;
                }
            }
            Body::RunCompleted(run) => {
                self.gap()?;
                for line in summary::lines(run, self.totals, self.resumable) {
                    self.line(line)?;
                }
            }
            _ => return Ok(()),
        }
        self.out.flush()
    }

    fn failed_turn(&mut self, turn: &falconer_event::TurnCompleted) -> io::Result<()> {
        let lines = turn.failure.as_ref().map(summary::failed);
        for line in lines.unwrap_or_default() {
            self.line(line)?;
        }
        Ok(())
    }

    fn maybe(&mut self, line: Option<String>) -> io::Result<()> {
        match line {
            Some(line) => self.line(line),
            None => Ok(()),
        }
    }

    fn started(&mut self, event: &Event, item: &Item) -> io::Result<()> {
        match (&item.content, &event.parent) {
            (ItemContent::Message { .. }, None) => {
                self.texts.entry(item.id.clone()).or_default();
                Ok(())
            }
            (ItemContent::Action(call), None) => {
                if self.calls.contains_key(item.id.as_str()) {
                    Ok(())
                } else {
                    self.action(item.id.as_str(), &call.tool, &call.input)
                }
            }
            // What sub-agents do is shown in short, what they say is not part of the answer.
            (ItemContent::Action(call), Some(_)) => {
                let action = Action::of(&call.tool, &call.input, &self.cwd);
                self.line(format!("    · {}", action.title()).dimmed())
            }
            _ => Ok(()),
        }
    }

    /// Streams what is new of a piece. One whose beginning is missing waits for the whole text.
    fn delta(&mut self, id: &ItemId, offset: u64, text: &str) -> io::Result<()> {
        let Some(shown) = self.texts.get_mut(id).filter(|shown| offset <= **shown) else {
            return Ok(());
        };
        let skipped = usize::try_from(*shown - offset).unwrap_or(usize::MAX);
        let fresh = rest_of(text, skipped);
        *shown += fresh.chars().count() as u64;
        if fresh.is_empty() {
            Ok(())
        } else {
            self.stream(id, fresh)
        }
    }

    fn stream(&mut self, id: &ItemId, text: &str) -> io::Result<()> {
        if self.streamed.as_ref() != Some(id) {
            self.gap()?;
            self.streamed = Some(id.clone());
            // Log lines wait for the end of the text: its last line is not complete before.
            screen::hold();
        }
        self.spinner.rest();
        self.dirty = true;
        self.markdown.write(&clean(text), &mut self.out)
    }

    fn completed(&mut self, event: &Event, item: &Item) -> io::Result<()> {
        match (&item.content, &event.parent) {
            (ItemContent::Message { text }, None) => {
                let shown = self.texts.remove(&item.id).unwrap_or(0);
                let rest = rest_of(text, usize::try_from(shown).unwrap_or(usize::MAX));
                if !rest.is_empty() {
                    self.stream(&item.id, rest)?;
                }
                self.end_text()
            }
            (ItemContent::Prompt(prompt), _)
                if self.prompts == Prompts::Shown && prompt.state == PromptState::Sent =>
            {
                self.gap()?;
                let who = prompt.by.as_deref().unwrap_or("you");
                let text = clean(&prompt.text);
                self.line(format!("{} {text}", format!("{}:", clean(who)).bold()))
            }
            (ItemContent::Action(call), None) => {
                let shown = self.calls.remove(item.id.as_str());
                self.result(shown, call)?;
                self.spinner.spin("thinking".to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn action(&mut self, id: &str, tool: &str, input: &Value) -> io::Result<()> {
        self.gap()?;
        let action = Action::of(tool, input, &self.cwd);
        let title = action.title();
        self.line(format!("{} {title}", "▸".cyan()))?;
        let shown = Shown {
            action,
            since: Instant::now(),
            is_asked: false,
        };
        self.calls.insert(id.to_owned(), shown);
        self.out.flush()?;
        self.spinner
            .spin(anstream::adapter::strip_str(&title).to_string());
        Ok(())
    }

    fn result(&mut self, shown: Option<Shown>, call: &Call) -> io::Result<()> {
        let preview = call.result.clone().unwrap_or_default();
        match call.status {
            ActionStatus::Ok => {}
            ActionStatus::Aborted => return self.line("  ✗ stopped".red()),
            _ => return self.failed_call(shown.as_ref(), &preview),
        }
        let Some(Shown {
            action,
            since,
            is_asked,
        }) = shown
        else {
            return Ok(());
        };
        let details = action.details().iter().filter(|_| !is_asked);
        for line in details {
            self.line(format!("  {line}"))?;
        }
        if action.shows_output() {
            self.output(&preview)?;
        } else if let Some(outcome) = action.outcome(&preview) {
            self.line(format!("  {outcome}").dimmed())?;
        }
        match since.elapsed() {
            long if long >= WORTH_TELLING => {
                self.line(format!("  took {} s", long.as_secs()).dimmed())
            }
            _ => Ok(()),
        }
    }

    /// The end of what a command wrote, or its beginning if only that is known.
    /// Why a call failed. A command that ran shows its output, too.
    fn failed_call(&mut self, shown: Option<&Shown>, preview: &Preview) -> io::Result<()> {
        let why = first_line(&clean(&preview.first_line));
        self.line(format!("  ✗ {why}").red())?;
        match shown {
            Some(shown) if shown.action.shows_output() => self.output_after(preview, 1),
            _ => Ok(()),
        }
    }

    fn output(&mut self, preview: &Preview) -> io::Result<()> {
        self.output_after(preview, 0)
    }

    /// The output without its first lines, which were shown already.
    fn output_after(&mut self, preview: &Preview, shown: usize) -> io::Result<()> {
        let text = clean(&preview.text);
        let lines: Vec<_> = text.trim_end().lines().skip(shown).collect();
        let hidden = lines.len().saturating_sub(OUTPUT_LINES);
        let from = if preview.truncated { 0 } else { hidden };
        if from > 0 {
            self.line(format!("  │ … {hidden} more lines above").dimmed())?;
        }
        for line in lines.iter().skip(from).take(OUTPUT_LINES) {
            self.line(format!("  {} {line}", "│".dimmed()))?;
        }
        if preview.truncated {
            let length = preview.length;
            self.line(format!("  │ … {length} characters in all").dimmed())?;
        }
        Ok(())
    }

    /// Answers of others than the person at this terminal.
    fn resolved(&mut self, resolved: &PermissionResolved) -> io::Result<()> {
        let word = match resolved.resolution {
            Resolution::Expired => "denied: nobody answered in time",
            Resolution::Withdrawn => "no longer asked",
            _ => return Ok(()),
        };
        self.line(format!("  {word}").dimmed())
    }

    /// Ends a text or a prompt that was being written, and the moving line.
    fn end_text(&mut self) -> io::Result<()> {
        self.spinner.rest();
        let (text, prompt) = (self.streamed.take(), std::mem::take(&mut self.prompting));
        if text.is_some() {
            self.markdown.finish(&mut self.out)?;
        }
        if prompt {
            writeln!(self.out)?;
        }
        if text.is_some() || prompt {
            screen::release();
        }
        Ok(())
    }
}

/// A text without its first characters.
fn rest_of(text: &str, skipped: usize) -> &str {
    let mut places = text.char_indices().map(|(at, _)| at);
    places.nth(skipped).map_or("", |at| &text[at..])
}

#[cfg(test)]
mod tests;
