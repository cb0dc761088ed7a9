//! Hooks on what is shown of the model's words. The model keeps its own.

use falconer_protocol::hook::{HookEvent, HookSpecificOutput};
use serde_json::{Value, json};

use super::Turn;
use super::hooks::Base;

impl Turn {
    /// The block to show instead of a text, if a hook wants it so.
    pub(super) async fn displayed(&self, block: &Value) -> Option<Value> {
        if block["type"] != "text" {
            return None;
        }
        let text = self.displayed_text(block["text"].as_str()?).await?;
        let mut shown = block.clone();
        shown["text"] = json!(text);
        Some(shown)
    }

    /// The same for a text that is ours.
    pub(super) async fn displayed_text(&self, text: &str) -> Option<String> {
        let hooks = &self.core.hooks;
        if !hooks.has(&HookEvent::MessageDisplay) {
            return None;
        }
        let base = Base::of_session(&self.core, Some(&self.prompt_id));
        let message = uuid::Uuid::new_v4().to_string();
        let input = base.message_display(&self.turn_id, message, text);
        let fired = hooks.fire(&input, None, self.interrupt.token()).await;
        let said = |output: HookSpecificOutput| match output {
            HookSpecificOutput::MessageDisplay(output) => output.display_content,
            _ => None,
        };
        fired.specific.into_iter().rev().find_map(said)
    }
}
