//! What a session is: shared by its actor, its turn and its slow answers.
//!
//! All of them run in one task, so the locks in here are never waited for; they are held for a
//! few lines and never across an `.await`.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use falconer_model::{PriceTable, Provider};
use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use falconer_protocol::system::{Level, StatusMessage};
use falconer_protocol::{MessageUuid, Object, SessionId};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::config::{Commands, Limits, Output, PermissionPrompt, PromptChoice, Thinking};
use super::ledger::Ledger;
use super::lookout::Lookout;
use super::queue::Queue;
use super::record::Record;
use super::switch::{LastAnswer, SwitchNotes};
use crate::conversation::Conversation;
use crate::frame::{Speaker, system};
use crate::hook::Hooks;
use crate::host::Host;
use crate::mcp::Servers;
use crate::permission::{ModeRefused, Permissions};
use crate::settings::{Files, Settings, Watch};
use crate::task::TaskEvent;
use crate::tool::Tool;
use crate::tool::registry::{self, ToolChoice, Toolbox};
use crate::turn::listen::Heard;
use crate::turn::prompt;
use crate::turn::request::Parts;
use crate::workbench::Workbench;

/// What does not change while a session runs.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) version: String,
    pub(crate) output: Output,
    pub(crate) limits: Limits,
    pub(crate) permission_prompt: PermissionPrompt,
    pub(crate) fallbacks: Vec<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) thinking_display: Option<String>,
    pub(crate) tools: ToolChoice,
    pub(crate) commands: Commands,
    /// The model of the start, to come back to.
    pub(crate) default_model: String,
}

/// What does.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) model: String,
    pub(crate) thinking: Thinking,
    pub(crate) effort: Option<String>,
    pub(crate) prompt: PromptChoice,
    pub(crate) plan_instructions: Option<String>,
    pub(crate) schema: Option<Arc<Value>>,
    pub(crate) structured_tool: Option<Arc<dyn Tool>>,
    pub(crate) aliases: Object,
    pub(crate) title: Option<String>,
    /// An interrupt spares the tasks in the background.
    pub(crate) tasks_are_spared: bool,
    /// What the host is told when the next turn begins.
    pub(crate) notices: Vec<String>,
    /// The model knows where it is.
    pub(crate) introduced: bool,
    pub(crate) conversation: Conversation,
    /// Texts of hooks for the next prompt.
    pub(crate) start_contexts: Vec<String>,
    pub(crate) turns: u64,
    pub(crate) initialized: bool,
    pub(crate) last_prompt_id: Option<String>,
    pub(crate) last_answer: Option<LastAnswer>,
    pub(crate) switch_notes: SwitchNotes,
    /// A task in the background has ended since the state of the session was told.
    pub(crate) task_ended: bool,
    /// Changes of the model that hooks still think about. No turn starts meanwhile.
    pub(crate) pending_switches: usize,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) speaker: Speaker,
    pub(crate) host: Host,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) workbench: Arc<Workbench>,
    pub(crate) hooks: Hooks,
    pub(crate) servers: Servers,
    pub(crate) record: Record,
    pub(crate) options: Options,
    pub(crate) files: Files,
    pub(crate) prices: PriceTable,
    pub(super) watch: Mutex<Watch>,
    pub(super) lookout: Mutex<Lookout>,
    pub(super) permissions: Mutex<Permissions>,
    pub(super) settings: Mutex<Settings>,
    pub(super) queue: Mutex<Queue>,
    pub(super) ledger: Mutex<Ledger>,
    pub(super) state: Mutex<State>,
    pub(super) task_events: Mutex<mpsc::Receiver<TaskEvent>>,
    /// Whether the host was told what the tools take.
    pub(super) schemas_told: AtomicBool,
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    pub(crate) fn permissions(&self) -> MutexGuard<'_, Permissions> {
        hold(&self.permissions)
    }

    pub(super) fn lookout(&self) -> MutexGuard<'_, Lookout> {
        hold(&self.lookout)
    }

    pub(crate) fn watch(&self) -> MutexGuard<'_, Watch> {
        hold(&self.watch)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        hold(&self.settings)
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        hold(&self.queue)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        hold(&self.ledger)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        hold(&self.state)
    }

    pub(crate) fn session_id(&self) -> SessionId {
        self.speaker.session_id()
    }

    pub(crate) fn model(&self) -> String {
        self.state().model.clone()
    }

    pub(crate) fn schema(&self) -> Option<Arc<Value>> {
        self.state().schema.clone()
    }

    /// Whether there is somebody who can be asked for permission.
    pub(crate) fn can_ask(&self) -> bool {
        !matches!(
            self.options.permission_prompt,
            PermissionPrompt::Nobody | PermissionPrompt::Off
        )
    }

    /// `effort` as hooks are told; only for models that know it.
    pub(crate) fn effort_level(&self) -> Option<String> {
        let state = self.state();
        let level = || state.effort.clone().unwrap_or_else(|| "medium".to_owned());
        falconer_model::takes_effort(&state.model).then(level)
    }

    /// Everything the next request is made of.
    pub(crate) fn request_parts(&self, model: &str) -> Parts {
        let tools = self.tools().iter().map(registry::definition).collect();
        let planning = self.permission_mode() == PermissionMode::Plan;
        let max_output = self.max_output(model);
        let user_id = self.user_id();
        let state = self.state();
        let own = state
            .plan_instructions
            .as_deref()
            .unwrap_or(prompt::PLAN_MODE);
        let own = match &self.workbench.plan_file {
            Some(file) => format!(
                "{own}\nWrite the plan to {} first: it is the only file you may write now, and the one that is presented.",
                file.display()
            ),
            None => own.to_owned(),
        };
        Parts {
            model: model.to_owned(),
            system: prompt::system(&state.prompt, planning.then_some(own.as_str())),
            tools,
            conversation: state.conversation.clone(),
            thinking: state.thinking,
            thinking_display: self.options.thinking_display.clone(),
            effort: state.effort.clone(),
            betas: self.options.betas.clone(),
            max_output,
            user_id,
        }
    }

    /// How many tokens an answer may have.
    pub(crate) fn max_output(&self, model: &str) -> u64 {
        let set = self
            .workbench
            .shop
            .environment
            .text("CLAUDE_CODE_MAX_OUTPUT_TOKENS");
        let set = set.and_then(|text| text.trim().parse().ok());
        let set = set.filter(|tokens| *tokens > 0);
        set.unwrap_or_else(|| self.prices.find(model).price().max_output)
    }

    /// `metadata.user_id`: the session, and a name of the machine that tells nothing about it.
    fn user_id(&self) -> String {
        let home = self
            .workbench
            .shop
            .environment
            .text("HOME")
            .unwrap_or_default();
        let device = blake3::hash(format!("falconer device {home}").as_bytes());
        json!({"device_id": device.to_hex().as_str(), "session_id": self.session_id()}).to_string()
    }

    /// Where the session works, for the first prompt of a conversation only.
    pub(crate) fn surroundings(&self) -> Option<Value> {
        let directories: Vec<String> = {
            let permissions = self.permissions();
            let others = permissions.dirs().into_iter().skip(1);
            others.map(|it| it.display().to_string()).collect()
        };
        let mut state = self.state();
        if std::mem::replace(&mut state.introduced, true) {
            return None;
        }
        let cwd = &self.workbench.original_cwd;
        Some(prompt::surroundings(cwd, &directories, &state.model))
    }

    pub(crate) fn push_user(&self, content: &Value) {
        self.state().conversation.push_user(content);
    }

    pub(crate) fn push_assistant(&self, content: Vec<Value>) {
        self.state().conversation.push_assistant(content);
    }

    /// Forgets the answer that was added last.
    pub(crate) fn take_back_answer(&self, heard: &Heard) {
        if !heard.content().is_empty() {
            self.state().conversation.pop();
        }
    }

    pub(crate) fn permission_mode(&self) -> PermissionMode {
        self.permissions().mode().clone()
    }

    /// Changes the mode and tells the host.
    pub(crate) async fn change_mode(&self, mode: PermissionMode) -> Result<(), ModeRefused> {
        if let Some(frame) = self.switch_mode(mode)? {
            self.speaker.say(frame).await;
        }
        Ok(())
    }

    /// Changes the mode. Gives the line that tells of it, if it is another one than before.
    pub(crate) fn switch_mode(
        &self,
        mode: PermissionMode,
    ) -> Result<Option<StatusMessage>, ModeRefused> {
        let mut permissions = self.permissions();
        let line = (*permissions.mode() != mode).then(|| system::mode_changed(mode.clone()));
        permissions.set_mode(mode)?;
        Ok(line)
    }

    pub(crate) async fn enter_plan_mode(&self) {
        if let Err(error) = self.change_mode(PermissionMode::Plan).await {
            tracing::debug!(%error, "plan mode was not entered");
        }
    }

    /// The plan was accepted. A mode that came with the acceptance stays.
    pub(crate) async fn leave_plan_mode(&self) {
        if self.permission_mode() == PermissionMode::Plan
            && let Err(error) = self.change_mode(PermissionMode::Default).await
        {
            tracing::debug!(%error, "plan mode was not left");
        }
    }

    /// Applies what came with a permission. What cannot be applied is left out.
    pub(crate) async fn apply_updates(&self, updates: &[PermissionUpdate]) {
        for update in updates {
            let kept = self.files.apply(&mut self.permissions(), update);
            match kept {
                Ok(kept) => {
                    if let Some(path) = &kept.written {
                        self.watch().accept(path);
                    }
                    if let Some(mode) = kept.mode {
                        self.speaker.say(system::mode_changed(mode)).await;
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    self.speaker
                        .say(system::informational(text, Level::Warning))
                        .await;
                }
            }
        }
    }

    /// The tools of the model, in an order that does not change.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = registry::builtin(&Toolbox {
            choice: &self.options.tools,
            can_ask: self.can_ask(),
        });
        tools.extend(self.servers.tools());
        tools.extend(self.state().structured_tool.clone());
        let permissions = self.permissions();
        tools.retain(|tool| !permissions.removes(tool.name()));
        tools
    }

    pub(crate) fn find_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let tools = self.tools();
        let named = |name: &str| tools.iter().find(|tool| tool.name() == name).cloned();
        let alias = || {
            let state = self.state();
            let alias = state.aliases.get(name).and_then(Value::as_str);
            alias.or(registry::legacy_name(name)).map(str::to_owned)
        };
        named(name).or_else(|| named(&alias()?))
    }

    /// Whether a rule took the tool away.
    pub(crate) fn is_removed(&self, name: &str) -> bool {
        self.permissions().removes(name)
    }

    /// Waits until MCP servers are there or have failed.
    pub(crate) async fn servers_settled(&self) {
        self.servers.settled().await;
    }

    /// Sends the host's copy of new transcript lines, and says what could not be kept.
    pub(crate) async fn mirror(&self) {
        if let Some(frame) = self.record.take_mirror() {
            self.speaker.outbox().send(&frame).await;
        }
        for warning in self.record.take_warnings() {
            self.speaker
                .say(system::informational(warning, Level::Warning))
                .await;
        }
    }

    pub(crate) fn begin_checkpoint(&self, prompt: &MessageUuid) {
        if let Err(error) = self.workbench.shop.checkpoints.begin(prompt) {
            tracing::warn!(%error, "no checkpoint for this prompt");
        }
    }
}
