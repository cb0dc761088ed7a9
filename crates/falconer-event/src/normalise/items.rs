//! Messages, thoughts and actions.

use falconer_protocol::content::{Content, ContentBlock, ToolResultBlock};
use falconer_protocol::message::{
    AssistantMessage, ToolProgressMessage, ToolUseSummaryMessage, UserMessage,
};
use falconer_protocol::{Message, ToolUseId};
use serde_json::Value;

use super::Normaliser;
use super::calls::Open;
use crate::action::{Action, ActionStatus};
use crate::body::{Body, Item, ItemContent};
use crate::diff::Diff;
use crate::envelope::Draft;
use crate::preview::Preview;

impl Normaliser {
    pub(super) fn assistant(&mut self, message: &AssistantMessage, out: &mut Vec<Draft>) {
        // A sub-agent in the background speaks between turns.
        if message.parent_tool_use_id.is_none() {
            self.speaks(out);
            self.turns.carries(message.error.as_ref());
        }
        for block in &message.message.content {
            self.block(block, message, out);
        }
    }

    fn block(&mut self, block: &ContentBlock, message: &AssistantMessage, out: &mut Vec<Draft>) {
        let parent = message.parent_tool_use_id.as_ref();
        let uuid = || message.uuid.as_ref().map(|id| id.as_str().to_owned());
        let name = message.message.id.clone().or_else(uuid).unwrap_or_default();
        let id = self.texts.next_id(&name);
        let content = match block {
            ContentBlock::Text(block) => self.text(&block.text, message),
            ContentBlock::Thinking(block) => ItemContent::Thought {
                text: block.thinking.clone(),
            },
            ContentBlock::RedactedThinking(_) => ItemContent::Thought {
                text: String::new(),
            },
            ContentBlock::ToolUse(block) => {
                let agent = message.agent_id.as_ref().map(|id| id.as_str().to_owned());
                let action = Action::begun(&block.name, &block.input, agent);
                return self.begin_action(&block.id, action, parent, out);
            }
            _ => return self.other_block(block, message, out),
        };
        self.texts.complete(&id);
        self.push(
            parent,
            Body::ItemCompleted(Box::new(Item { id, content })),
            out,
        );
    }

    /// A text of the agent; that of an error is the engine's, and no part of an answer.
    fn text(&mut self, text: &str, message: &AssistantMessage) -> ItemContent {
        let text = text.to_owned();
        if message.error.is_some() {
            return ItemContent::Injected { text };
        }
        if message.parent_tool_use_id.is_none() {
            self.turns.says(&text);
        }
        ItemContent::Message { text }
    }

    /// Tools the API runs itself, and blocks this version does not know.
    fn other_block(
        &mut self,
        block: &ContentBlock,
        message: &AssistantMessage,
        out: &mut Vec<Draft>,
    ) {
        let parent = message.parent_tool_use_id.as_ref();
        let raw = serde_json::to_value(block).unwrap_or(Value::Null);
        let text = |name: &str| raw[name].as_str().map(str::to_owned);
        if let (Some(id), Some(name)) = (text("id"), text("name")) {
            let action = Action::begun(&name, &raw["input"], None);
            self.begin_action(&id.into(), action, parent, out);
        } else if let Some(id) = text("tool_use_id") {
            self.end_action(&id.into(), &raw["content"], ActionStatus::Ok, None, out);
        } else {
            self.unknown(&Message::Assistant(Box::new(message.clone())), out);
        }
    }

    fn begin_action(
        &mut self,
        id: &ToolUseId,
        action: Action,
        parent: Option<&ToolUseId>,
        out: &mut Vec<Draft>,
    ) {
        let item = action_item(id, action.clone());
        let begun = Open {
            action,
            turn: self.turn(),
            parent: parent.cloned(),
        };
        if self.calls.begin(id, begun) {
            self.push(parent, Body::ItemStarted(Box::new(item)), out);
        }
    }

    /// Ends an action once; a result nobody asked for is an action of its own.
    pub(super) fn end_action(
        &mut self,
        id: &ToolUseId,
        content: &Value,
        status: ActionStatus,
        output: Option<&Value>,
        out: &mut Vec<Draft>,
    ) {
        let Some(open) = self.calls.end(id, self.turn()) else {
            return;
        };
        let mut action = open.action;
        action.status = status;
        let (result, images) = Preview::with_images(content);
        (action.result, action.images) = (Some(result), images);
        if let Some(diff) = output.and_then(|output| Diff::of_result(&action.title, output)) {
            action.diff = Some(diff);
        }
        let before = out.len();
        let item = action_item(id, action);
        self.push(
            open.parent.as_ref(),
            Body::ItemCompleted(Box::new(item)),
            out,
        );
        out[before].turn = open.turn;
    }

    pub(super) fn user(&mut self, message: &UserMessage, out: &mut Vec<Draft>) {
        match &message.message.content {
            Content::Text(text) => self.injected(text, message, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        ContentBlock::ToolResult(result) => self.tool_result(result, message, out),
                        ContentBlock::Text(block) => self.injected(&block.text, message, out),
                        _ => {}
                    }
                }
            }
        }
    }

    fn tool_result(
        &mut self,
        result: &ToolResultBlock,
        message: &UserMessage,
        out: &mut Vec<Draft>,
    ) {
        let meta = message.tool_result_meta.iter().flatten();
        let kind = meta
            .filter(|meta| meta.id.as_ref() == Some(&result.tool_use_id))
            .find_map(|meta| meta.non_execution_kind.as_ref());
        let content = result
            .content
            .as_ref()
            .and_then(|content| serde_json::to_value(content).ok());
        let content = content.unwrap_or(Value::Null);
        let status = match (kind.map(|kind| kind.as_str()), result.failed()) {
            (Some("cancelled"), _) => ActionStatus::Aborted,
            (Some("user-rejected"), _) if may_have_run(&content) => ActionStatus::Aborted,
            (Some(_), _) => ActionStatus::Denied,
            (None, true) => ActionStatus::Failed,
            (None, false) => ActionStatus::Ok,
        };
        let output = message.tool_use_result.as_ref();
        self.end_action(&result.tool_use_id, &content, status, output, out);
    }

    /// Text the engine put into the conversation; what the host said itself is not repeated.
    fn injected(&mut self, text: &str, message: &UserMessage, out: &mut Vec<Draft>) {
        if message.is_replay == Some(true) || text.is_empty() {
            return;
        }
        let uuid = message.uuid.as_ref().map(|id| id.as_str().to_owned());
        let item = Item {
            id: uuid.unwrap_or_default().into(),
            content: ItemContent::Injected {
                text: text.to_owned(),
            },
        };
        let parent = message.parent_tool_use_id.as_ref();
        self.push(parent, Body::ItemCompleted(Box::new(item)), out);
    }

    /// A sign of life of a call, perhaps of one that has not been announced yet.
    pub(super) fn tool_progress(&mut self, progress: &ToolProgressMessage, out: &mut Vec<Draft>) {
        // A heartbeat names the call as its parent.
        let heartbeat = progress.heartbeat == Some(true);
        let real = progress.parent_tool_use_id.as_ref().filter(|_| heartbeat);
        let id = real.unwrap_or(&progress.tool_use_id).clone();
        if !self.calls.is_open(&id) {
            let action = Action::begun(&progress.tool_name, &Value::Null, None);
            self.begin_action(&id, action, None, out);
        }
    }

    pub(super) fn summary(&mut self, summary: &ToolUseSummaryMessage, out: &mut Vec<Draft>) {
        let uuid = summary.uuid.as_ref().map(|id| id.as_str().to_owned());
        let of = summary.preceding_tool_use_ids.iter();
        let item = Item {
            id: uuid.unwrap_or_default().into(),
            content: ItemContent::Summary {
                text: summary.summary.clone(),
                of: of.map(|id| id.as_str().to_owned()).collect(),
            },
        };
        self.push(None, Body::ItemCompleted(Box::new(item)), out);
    }
}

/// A call that was stopped has the same mark as one that was refused; only its text tells them
/// apart, and whether something has happened is what people need to know.
fn may_have_run(content: &Value) -> bool {
    let text = content.to_string();
    text.contains("stopped while running") || text.contains("while it was running")
}

pub(super) fn action_item(id: &ToolUseId, action: Action) -> Item {
    Item {
        id: id.as_str().into(),
        content: ItemContent::Action(Box::new(action)),
    }
}
