//! Hooks after a batch of tools: they see all calls at once, and where the shell went.

use std::path::Path;

use falconer_protocol::ToolUseId;
use falconer_protocol::hook::{HookEvent, ToolBatchCall};
use serde_json::Value;

use super::Turn;
use super::hooks::Base;
use super::listen::Heard;

impl Turn {
    /// Asks hooks about a batch that has run. `block` and `continue: false` end the turn.
    pub(super) async fn ask_batch_hooks(&mut self, heard: &Heard) {
        if self.fates.ends_the_turn() || !self.core.hooks.has(&HookEvent::PostToolBatch) {
            return;
        }
        let base = Base::in_turn(&self.core, &self.prompt_id);
        let input = base.post_tool_batch(self.calls_of(heard));
        let token = self.interrupt.token();
        let fired = self.core.hooks.fire(&input, None, token).await;
        for notice in fired.notices("PostToolBatch") {
            self.core.speaker.say(notice).await;
        }
        let context = |text: &String| format!("PostToolBatch hook additional context: {text}");
        self.contexts.extend(fired.contexts.iter().map(context));
        self.fates.hook_stopped |= fired.stop.is_some() || fired.block.is_some();
        self.fates.interrupted |= self.interrupt.is_pulled();
    }

    /// The calls of a message as the model made them, each with what it got.
    fn calls_of(&self, heard: &Heard) -> Vec<ToolBatchCall> {
        let blocks = heard.blocks.iter().map(|it| &it.block);
        let calls = blocks.filter(|block| block["type"] == "tool_use");
        calls
            .map(|block| ToolBatchCall {
                tool_name: block["name"].as_str().unwrap_or_default().to_owned(),
                tool_input: block["input"].clone(),
                tool_use_id: block["id"].as_str().map(ToolUseId::from),
                tool_response: self.result_of(&block["id"]),
                ..ToolBatchCall::default()
            })
            .collect()
    }

    fn result_of(&self, call: &Value) -> Option<Value> {
        let mut results = self.feedback.iter();
        let result = results.find(|it| it["type"] == "tool_result" && it["tool_use_id"] == *call);
        Some(result?["content"].clone())
    }

    /// Tells hooks that the shell works elsewhere now. What is watched is there, too.
    pub(super) async fn tell_cwd(&mut self, before: &Path) {
        let now = self.core.workbench.cwd();
        if now == before || !self.core.is_attentive() {
            return;
        }
        let base = Base::of_session(&self.core, Some(&self.prompt_id));
        let input = base.cwd_changed(before, &now);
        let token = self.interrupt.token();
        let fired = self.core.hooks.fire(&input, None, token).await;
        self.core.watch_files_in(&now, fired.watch_paths);
    }
}
