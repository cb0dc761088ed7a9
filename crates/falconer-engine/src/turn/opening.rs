//! How turns begin: hooks on the prompt, commands, `system/init`, the first message.

use falconer_protocol::MessageUuid;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::system::{Informational, Level, PromptSubmitOutcome};
use serde_json::{Value, json};

use super::Turn;
use super::hooks::Base;
use super::prompt;
use crate::frame::result::{self, Ending};
use crate::frame::system;
use crate::hook::{Fired, NoVerdict};
use crate::session::queue::{self, Handling, Prompt};

/// What hooks made of a prompt.
enum Submitted {
    Passed {
        /// Texts for the model.
        contexts: Vec<String>,
        /// Lines for the host.
        notices: Vec<Informational>,
    },
    Blocked {
        text: String,
        outcome: PromptSubmitOutcome,
    },
}

impl Turn {
    /// Everything before the first request. Fails with the ending if there is none to make.
    pub(super) async fn open(&mut self, prompts: &[Prompt]) -> Result<(), Ending> {
        let content = queue::merge(prompts);
        if let Some((name, arguments)) = prompts.first().and_then(Prompt::command)
            && let Some(ending) = self.command(name, arguments, &prompts[0]).await
        {
            return Err(ending);
        }
        let submitted = self.submit(prompts).await;
        self.core.servers_settled().await;
        self.core.say_init(&self.prompts).await;
        let notices = std::mem::take(&mut self.core.state().notices);
        for text in notices {
            let frame = system::informational(text, Level::Warning);
            self.core.speaker.say(frame).await;
        }
        let contexts = match submitted {
            Submitted::Passed { contexts, notices } => {
                self.say_all(notices).await;
                contexts
            }
            Submitted::Blocked { text, outcome } => {
                let frame = system::prompt_blocked(&text, outcome);
                self.core.speaker.say(frame).await;
                return Err(result::local(text));
            }
        };
        let notes = std::mem::take(&mut self.core.state().switch_notes);
        self.say_all(notes.notices).await;
        if self.core.options.output.replay {
            self.unshown = shown_as(prompts, &content, &self.prompt);
        }
        self.switch_contexts = notes.contexts;
        self.add_prompt(&content, &contexts).await;
        if prompts.iter().all(|it| it.handling == Handling::Keep) {
            self.show_prompt().await;
            return Err(result::local(String::new()));
        }
        Ok(())
    }

    async fn submit(&mut self, prompts: &[Prompt]) -> Submitted {
        if !self.core.hooks.has(&HookEvent::UserPromptSubmit) {
            return Submitted::Passed {
                contexts: Vec::new(),
                notices: Vec::new(),
            };
        }
        let text = prompts.iter().map(said).collect::<Vec<_>>().join("\n");
        let base = Base::of(&self.core, Some(&self.prompt_id));
        let input = base.prompt_submit(text.clone());
        let fired = self
            .core
            .hooks
            .fire(&input, None, self.interrupt.token())
            .await;
        read_submission(fired, &text)
    }

    /// Sends lines in their order.
    pub(super) async fn say_all(&self, lines: Vec<Informational>) {
        for line in lines {
            self.core.speaker.say(line).await;
        }
    }

    /// Shows the prompt, unless that was done. A host sees it when something comes of it: the
    /// first word of an answer, or the end of the turn.
    pub(super) async fn show_prompt(&mut self) {
        if let Some(prompt) = self.unshown.take() {
            self.core.replay(&prompt).await;
        }
    }

    /// Nothing came of the prompt: another one took its place.
    pub(super) fn hide_prompt(&mut self) {
        self.unshown = None;
    }

    async fn add_prompt(&mut self, content: &Value, contexts: &[String]) {
        let started = std::mem::take(&mut self.core.state().start_contexts);
        let mode = self.core.permission_mode();
        self.core
            .record
            .prompt(&self.prompt, content, &self.prompt_id, &mode, contexts);
        self.core.begin_checkpoint(&self.prompt);
        let mut blocks: Vec<Value> = self.core.surroundings().into_iter().collect();
        blocks.extend(blocks_of(content));
        let note = |event: &str, text: &String| format!("{event} hook additional context: {text}");
        let notes = started.iter().map(|it| note("SessionStart", it));
        let switched = std::mem::take(&mut self.switch_contexts);
        let notes = notes.chain(switched.iter().map(|it| note("PostModelSwitch", it)));
        let notes = notes.chain(contexts.iter().map(|it| note("UserPromptSubmit", it)));
        let notes: Vec<String> = notes.collect();
        if !notes.is_empty() {
            let note = prompt::reminder(&notes.join("\n"));
            blocks.push(json!({"type": "text", "text": note}));
        }
        self.core.push_user(&Value::Array(blocks));
        self.core.mirror().await;
    }
}

/// What is shown of the prompts of a turn: the words of all, under the name of the last that has
/// one. Without any it is the name they have in the transcript, so that a host can name them when
/// it wants to go back.
fn shown_as(prompts: &[Prompt], content: &Value, name: &MessageUuid) -> Option<Prompt> {
    let last = prompts.last()?;
    let named = prompts.iter().rev().find_map(|it| it.uuid.clone());
    Some(Prompt {
        content: content.clone(),
        uuid: named.or_else(|| Some(name.clone())),
        ..last.clone()
    })
}

fn said(prompt: &Prompt) -> String {
    match &prompt.content {
        Value::String(text) => text.clone(),
        content => super::call::text_of(content),
    }
}

/// The blocks of a prompt; empty texts, which the API refuses, are left out.
fn blocks_of(content: &Value) -> Vec<Value> {
    let full = |block: &Value| {
        !(block["type"] == "text" && block["text"].as_str().is_none_or(str::is_empty))
    };
    let blocks: Vec<Value> = match content {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        other => vec![json!({"type": "text", "text": other.to_string()})],
    };
    let blocks: Vec<Value> = blocks.into_iter().filter(full).collect();
    if blocks.is_empty() {
        return vec![json!({"type": "text", "text": "(empty message)"})];
    }
    blocks
}

fn read_submission(fired: Fired, prompt: &str) -> Submitted {
    let prefix = "UserPromptSubmit operation blocked by hook:";
    let no_verdict = |why: String, kind: &str| Submitted::Blocked {
        text: format!("{prefix}\n{why}"),
        outcome: PromptSubmitOutcome {
            kind: "no_verdict".to_owned(),
            prompt_kept: false,
            no_verdict_kind: Some(kind.to_owned()),
            ..PromptSubmitOutcome::default()
        },
    };
    if let Some(block) = fired.block {
        return Submitted::Blocked {
            text: format!("{prefix}\n{}\n\nOriginal prompt: {prompt}", block.told),
            outcome: PromptSubmitOutcome {
                kind: "blocked_by_hook".to_owned(),
                prompt_kept: false,
                reason: Some(block.reason).filter(|reason| !reason.is_empty()),
                ..PromptSubmitOutcome::default()
            },
        };
    }
    match fired.no_verdict {
        Some(NoVerdict::TimedOut(limit)) => {
            let millis = limit.as_millis();
            let why = format!("UserPromptSubmit hook callback timed out after {millis}ms");
            no_verdict(why, "callback_timed_out")
        }
        Some(NoVerdict::HostClosed | NoVerdict::Cancelled) => {
            no_verdict("the hook gave no answer".to_owned(), "cancelled")
        }
        None => Submitted::Passed {
            notices: fired.notices("UserPromptSubmit"),
            contexts: fired.contexts,
        },
    }
}
