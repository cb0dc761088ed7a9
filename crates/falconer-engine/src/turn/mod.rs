//! One turn: ask the model, run its tools, until it is done.
//!
//! [`decide`] says what follows what; this file does it. Everything a turn shows goes out in the
//! order of the code below, because one task runs all of it.

pub(crate) mod answer;
pub(crate) mod attempts;
pub(crate) mod call;
pub(crate) mod decide;
pub(crate) mod failure;
pub(crate) mod hooks;
pub(crate) mod interrupt;
pub(crate) mod listen;
pub(crate) mod permit;
pub(crate) mod prompt;
pub(crate) mod request;
pub(crate) mod schedule;
pub(crate) mod tally;
pub(crate) mod tools;

mod batch;
mod consult;
mod display;
mod ending;
mod fallback;
mod nudge;
mod opening;
mod question;
mod settle;
mod tool_hooks;

use std::sync::Arc;
use std::time::Instant;

use falconer_model::ApiRequest;
use falconer_protocol::MessageUuid;
use falconer_protocol::message::{CommandState, DeferredToolUse, MessageOrigin};
use serde_json::Value;

use self::attempts::Asked;
use self::call::Context;
use self::decide::{AfterTools, Answer, Next, Structured};
use self::interrupt::Interrupt;
use self::listen::Heard;
use self::tally::Tally;
use self::tools::Tools;
use crate::frame::assistant;
use crate::frame::lifecycle;
use crate::frame::result::Ending;
use crate::session::core::Core;
use crate::session::queue::Prompt;
use crate::session::switch::LastAnswer;

/// A turn while it runs.
pub(crate) struct Turn {
    pub(crate) core: Arc<Core>,
    pub(crate) interrupt: Interrupt,
    /// All entries of a turn have the same.
    prompt_id: String,
    /// What hooks on what is shown know the turn by.
    turn_id: String,
    /// What checkpoints of this turn belong to.
    prompt: MessageUuid,
    /// Prompts that carried a uuid, folded ones included.
    pub(crate) prompts: Vec<MessageUuid>,
    /// Prompts that joined while the turn ran.
    folded: Vec<MessageUuid>,
    /// What the host has not been shown again yet.
    unshown: Option<Prompt>,
    /// The first line of the turn names the prompts.
    marked: bool,
    origin: Option<MessageOrigin>,
    /// In use now; another one after a fallback.
    model: String,
    fallbacks: std::collections::VecDeque<String>,
    pub(crate) tally: Tally,
    /// Lines of a broken answer, which the next one replaces.
    pub(crate) superseded: Vec<MessageUuid>,
    fates: Fates,
    /// Results and notes for the next request, in the order in which they came.
    feedback: Vec<Value>,
    /// Texts of hooks for the model.
    contexts: Vec<String>,
    /// The same of hooks on a change of the model before this turn.
    switch_contexts: Vec<String>,
}

/// What the calls of a batch mean for the turn.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    pub(crate) interrupted: bool,
    pub(crate) hook_stopped: bool,
    /// The call that a hook put off.
    pub(crate) deferred: Option<DeferredToolUse>,
}

impl Fates {
    /// Whether it is clear already that no request follows.
    fn ends_the_turn(&self) -> bool {
        self.interrupted || self.hook_stopped || self.deferred.is_some()
    }
}

/// How a turn ended, for the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) is_error: bool,
    /// What became of its prompts.
    pub(crate) prompts: CommandState,
}

/// Runs a turn for these prompts, from its first line to its result.
pub(crate) async fn run(core: Arc<Core>, prompts: Vec<Prompt>, interrupt: Interrupt) -> Finished {
    let mut turn = Turn::new(core, &prompts, interrupt);
    turn.core.state().last_prompt_id = Some(turn.prompt_id.clone());
    let ending = match turn.open(&prompts).await {
        Ok(()) => turn.converse().await,
        Err(ending) => ending,
    };
    turn.finish(ending).await
}

impl Turn {
    fn new(core: Arc<Core>, prompts: &[Prompt], interrupt: Interrupt) -> Self {
        let uuids: Vec<MessageUuid> = prompts.iter().filter_map(|it| it.uuid.clone()).collect();
        let fresh = || MessageUuid::new(uuid::Uuid::new_v4().to_string());
        Self {
            prompt: uuids.last().cloned().unwrap_or_else(fresh),
            prompt_id: uuid::Uuid::new_v4().to_string(),
            turn_id: uuid::Uuid::new_v4().to_string(),
            prompts: uuids,
            folded: Vec::new(),
            unshown: None,
            marked: false,
            origin: prompts.first().and_then(|it| it.origin.clone()),
            model: core.model(),
            fallbacks: core.options.fallbacks.iter().cloned().collect(),
            tally: Tally::new(),
            superseded: Vec::new(),
            fates: Fates::default(),
            feedback: Vec::new(),
            contexts: Vec::new(),
            switch_contexts: Vec::new(),
            interrupt,
            core,
        }
    }

    fn context(&self) -> Context {
        Context {
            core: Arc::clone(&self.core),
            interrupt: self.interrupt.clone(),
            prompt_id: self.prompt_id.clone(),
            prompt: self.prompt.clone(),
        }
    }

    /// Requests and tools, until something ends the turn.
    async fn converse(&mut self) -> Ending {
        if self.core.schema().is_some() {
            self.tally.structured = Structured::Owed { nudged: false };
        }
        loop {
            if self.over_budget() {
                return self.budget_ending(None);
            }
            let mut tools = Tools::new(self.context());
            let heard = match attempts::ask(self, &mut tools).await {
                Asked::Answered(heard) => heard,
                Asked::Failed(failure) => return self.api_failure(&failure).await,
                Asked::Interrupted(heard) => return self.interrupted_ending(&heard),
            };
            self.book(&heard);
            if let Some(ending) = self.follow(&heard, &mut tools).await {
                return ending;
            }
        }
    }

    /// Does what follows a response. Gives the ending, if it is one.
    async fn follow(&mut self, heard: &Heard, tools: &mut Tools) -> Option<Ending> {
        let answer = Answer {
            stop_reason: heard.stop_reason(),
            tool_calls: tools.calls,
            visible: is_visible(heard),
            server_tool_open: server_tool_open(heard),
        };
        let fallback_left = self.model_after_refusal(heard).is_some();
        let limits = self.core.options.limits;
        let max_turns = limits.max_turns.unwrap_or(0);
        let progress = self
            .tally
            .progress(max_turns, self.over_budget(), fallback_left);
        match decide::after_response(&answer, &progress) {
            Next::RunTools => self.run_tools(heard, tools).await,
            Next::Stop => self.stop(heard).await,
            Next::Nudge(nudge) => {
                self.nudge(nudge, heard).await;
                None
            }
            Next::Resume => None,
            Next::FallBack => {
                self.fall_back_from_refusal(heard).await;
                None
            }
            Next::OverBudget => {
                self.drop_tools(tools).await;
                Some(self.budget_ending(heard.stop()))
            }
            Next::OutputLimit => Some(self.output_limit().await),
            Next::Refused => Some(self.refused(heard).await),
        }
    }

    async fn run_tools(&mut self, heard: &Heard, tools: &mut Tools) -> Option<Ending> {
        self.interrupt.tools_begin();
        let cwd = self.core.workbench.cwd();
        while !tools.is_done() {
            tokio::select! {
                biased;
                () = self.interrupt.token().cancelled(), if !self.fates.interrupted => {
                    self.let_go(tools).await;
                }
                done = tools.next() => self.settle(done).await,
            }
        }
        self.ask_batch_hooks(heard).await;
        self.tell_cwd(&cwd).await;
        self.fates.interrupted |= self.interrupt.tools_end();
        let limits = self.core.options.limits;
        let progress = self
            .tally
            .progress(limits.max_turns.unwrap_or(0), false, false);
        let after = decide::after_tools(&self.tally.batch(&self.fates), &progress);
        if after == AfterTools::Request {
            self.fold().await;
        } else if after == AfterTools::Interrupted {
            self.interrupt.acknowledge(&self.core.speaker).await;
            self.say_cut_short(true).await;
        }
        self.feed_back();
        self.after_tools(after, heard)
    }

    /// The turn was interrupted while tools ran: open questions are taken back first, then the
    /// host is told that the interrupt has arrived, then it sees what became of the calls.
    async fn let_go(&mut self, tools: &mut Tools) {
        self.fates.interrupted = true;
        let ended = tools.let_go();
        self.interrupt.acknowledge(&self.core.speaker).await;
        for done in ended {
            self.settle(done).await;
        }
    }

    /// Ends calls of an answer that will not be followed; the host does not hear of them.
    async fn drop_tools(&mut self, tools: &mut Tools) {
        self.interrupt.token().cancel();
        let mut ended = tools.let_go();
        while !tools.is_done() {
            ended.push(tools.next().await);
        }
        let blocks = ended.iter().map(settle::result_block);
        self.feedback.extend(blocks);
        self.feed_back();
    }

    /// Books a response and adds it to the conversation.
    fn book(&mut self, heard: &Heard) {
        let model = heard.message.get("model").and_then(Value::as_str);
        let model = model.unwrap_or(&self.model).to_owned();
        let tokens = self.core.ledger().book(&model, &heard.usage());
        self.tally.answered(tokens);
        self.core.state().last_answer = Some(LastAnswer {
            tokens: tokens.input + tokens.cache_read + tokens.cache_creation + tokens.output,
            at: Instant::now(),
        });
        self.tally.last_stop = heard.stop();
        if heard.stop_reason() == Some("refusal") {
            self.core.ledger().safety_stops += 1;
        }
        self.core.push_assistant(heard.content());
    }

    /// Adds results and notes to the conversation, as one message.
    pub(super) fn feed_back(&mut self) {
        if !self.contexts.is_empty() {
            let notes = prompt::reminder(&std::mem::take(&mut self.contexts).join("\n"));
            settle::append_note(&mut self.feedback, &notes);
        }
        let content = std::mem::take(&mut self.feedback);
        if !content.is_empty() {
            self.core.push_user(&Value::Array(content));
        }
    }

    /// Prompts that came while tools ran join the turn.
    async fn fold(&mut self) {
        let prompts = self.core.queue().take_foldable();
        for prompt in &prompts {
            self.core.replay(prompt).await;
        }
        for prompt in prompts {
            if let Some(uuid) = &prompt.uuid {
                let frame = lifecycle::command(uuid, CommandState::Started);
                self.core.speaker.say(frame).await;
                self.prompts.push(uuid.clone());
                self.folded.push(uuid.clone());
            }
            self.core.record.folded(&prompt);
            self.feedback.push(prompt::folded(&prompt.content));
        }
    }

    /// The request for the conversation as it is now.
    pub(crate) fn request(&self) -> ApiRequest {
        let parts = self.core.request_parts(&self.model);
        request::build(parts, &self.core.provider.capabilities())
    }

    /// The prompts, for the first line of the turn only.
    pub(crate) fn first_marks(&mut self) -> Vec<MessageUuid> {
        let prompts = self.unmarked_prompts();
        self.marked = true;
        prompts
    }

    pub(crate) fn unmarked_prompts(&self) -> Vec<MessageUuid> {
        if self.marked {
            Vec::new()
        } else {
            self.prompts.clone()
        }
    }

    pub(crate) fn thinking_display(&self) -> Option<String> {
        self.core.options.thinking_display.clone()
    }

    fn over_budget(&self) -> bool {
        let budget = self.core.options.limits.max_budget_usd;
        self.core.ledger().is_over(budget)
    }

    pub(crate) fn record_block(
        &self,
        line: &MessageUuid,
        head: &assistant::Head,
        block: &Value,
        index: u64,
    ) {
        self.core
            .record
            .block(line, head, block, index, &self.model);
    }

    fn max_output(&self) -> u64 {
        self.core.max_output(&self.model)
    }
}

fn is_visible(heard: &Heard) -> bool {
    let visible = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty()),
        Some("thinking" | "redacted_thinking") => false,
        _ => true,
    };
    heard.blocks.iter().any(|it| visible(&it.block))
}

/// Whether the answer ends inside a tool that the API runs.
fn server_tool_open(heard: &Heard) -> bool {
    let last = heard.blocks.last();
    last.is_some_and(|it| it.block["type"] == "server_tool_use")
}
