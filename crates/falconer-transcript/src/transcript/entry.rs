//! The entries this engine writes, in the CLI's field names and field order.

use falconer_protocol::{MessageUuid, Object};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::cost::CostState;

/// One line of a transcript, before it gets its place.
#[derive(Debug, Clone)]
pub struct Entry(pub(super) Line);

/// The two kinds of entry.
#[derive(Debug, Clone)]
pub(super) enum Line {
    /// Part of the conversation: has an id and a parent.
    Chained(Chained),
    /// About the session.
    Loose(Loose),
}

/// An entry of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Chained {
    pub(super) uuid: MessageUuid,
    pub(super) parent: Parent,
    /// What stands before the id and the time, and what after them.
    pub(super) head: Object,
    pub(super) tail: Object,
    pub(super) is_prompt: bool,
}

/// What an entry follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parent {
    /// The entry before it.
    Leaf,
    /// A certain entry: the result of a tool call follows its call.
    Of(MessageUuid),
    /// Nothing: the conversation begins anew; the entry before it is only mentioned.
    Nothing,
}

/// An entry about the session.
#[derive(Debug, Clone)]
pub(super) enum Loose {
    Enqueue(Value),
    Dequeue,
    /// A queued prompt was taken into the running turn, or was taken back.
    Unqueue {
        content: Value,
        reason: &'static str,
    },
    LastPrompt(String),
    CustomTitle(String),
    AgentName(String),
    AiTitle(String),
    Tag(String),
    ToolsUsed(Vec<String>),
    Cost(Box<CostState>),
}

/// A message of the user, or one that stands in the user's place.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub uuid: MessageUuid,
    /// The API message: `role` and `content`.
    pub message: Value,
    /// All entries of a turn have the same.
    pub prompt_id: String,
    pub permission_mode: String,
    /// For the model, not written by a person.
    pub is_meta: bool,
}

/// One finished block of a response.
#[derive(Debug, Clone)]
pub struct AssistantBlock {
    pub uuid: MessageUuid,
    /// The API message with this block as its only content.
    pub message: Value,
    pub block_index: Option<u64>,
    pub request_id: Option<String>,
    pub requested_model: Option<String>,
    /// The kind of API failure this message tells the user about; it is no answer of the model.
    pub api_error: Option<String>,
}

/// What a tool call came to.
#[derive(Debug, Clone)]
pub struct ToolResult {
    pub uuid: MessageUuid,
    /// The API message with one `tool_result`.
    pub message: Value,
    pub prompt_id: String,
    /// The entry of the call.
    pub call: MessageUuid,
    /// The tool's structured output.
    pub output: Option<Value>,
    pub permission: Option<PermissionDecision>,
}

/// Why a call was permitted or not.
#[derive(Debug, Clone)]
pub struct PermissionDecision {
    /// `accept` or `reject`.
    pub decision: String,
    pub source: String,
    pub reason_type: Option<String>,
}

/// Something that came to the conversation from elsewhere.
#[derive(Debug, Clone)]
pub enum Attachment {
    /// A prompt that was taken into a running turn. The id is the host's.
    QueuedPrompt { uuid: MessageUuid, content: Value },
    /// What hooks want the model to know.
    HookContext {
        event: String,
        contexts: Vec<String>,
    },
}

/// Where a conversation was replaced by its summary.
#[derive(Debug, Clone)]
pub struct Compaction {
    pub uuid: MessageUuid,
    /// `manual` or `auto`.
    pub trigger: String,
    pub tokens_before: u64,
}

impl Entry {
    /// A message in the user's place.
    pub fn prompt(prompt: Prompt) -> Self {
        let mut head = user(&prompt.prompt_id, prompt.message);
        if prompt.is_meta {
            head.insert("isMeta".to_owned(), json!(true));
        }
        let tail = object(json!({
            "permissionMode": prompt.permission_mode, "promptSource": "sdk",
        }));
        Self::chained(Chained {
            is_prompt: true,
            ..Chained::new(prompt.uuid, head, tail)
        })
    }

    /// One block of a response, or a message about a failure of the API.
    pub fn assistant(block: AssistantBlock) -> Self {
        let mut head = Map::new();
        head.insert("message".to_owned(), block.message);
        insert_some(&mut head, "apiBlockIndex", block.block_index);
        insert_some(&mut head, "requestId", block.request_id);
        insert_some(&mut head, "requestedModel", block.requested_model);
        head.insert("type".to_owned(), json!("assistant"));
        let tail = match block.api_error {
            None => object(json!({ "madeBy": "model" })),
            Some(error) => object(json!({ "error": error, "isApiErrorMessage": true })),
        };
        Self::chained(Chained::new(block.uuid, head, tail))
    }

    /// The result of a tool call.
    pub fn tool_result(result: ToolResult) -> Self {
        let head = user(&result.prompt_id, result.message);
        let mut tail = Map::new();
        insert_some(&mut tail, "toolUseResult", result.output);
        tail.insert("sourceToolAssistantUUID".to_owned(), json!(result.call));
        if let Some(permission) = result.permission {
            let mut decision = object(json!({
                "decision": permission.decision, "source": permission.source,
            }));
            insert_some(&mut decision, "reasonType", permission.reason_type);
            tail.insert("permissionDecision".to_owned(), Value::Object(decision));
        }
        Self::chained(Chained {
            parent: Parent::Of(result.call),
            ..Chained::new(result.uuid, head, tail)
        })
    }

    /// Something that joins the conversation from elsewhere.
    pub fn attachment(attachment: Attachment) -> Self {
        let attachment = match attachment {
            Attachment::QueuedPrompt { uuid, content } => json!({
                "type": "queued_command", "prompt": content, "source_uuid": uuid,
                "commandMode": "prompt",
            }),
            Attachment::HookContext { event, contexts } => json!({
                "type": "hook_additional_context", "content": contexts, "hookEvent": event,
            }),
        };
        let head = object(json!({ "attachment": attachment, "type": "attachment" }));
        Self::chained(Chained::new(new_uuid(), head, Map::new()))
    }

    /// A note for readers of the transcript, which the model does not see.
    pub fn system(subtype: &str, content: &str, level: &str) -> Self {
        let head = object(json!({
            "type": "system", "subtype": subtype, "content": content, "isMeta": false,
        }));
        let tail = object(json!({ "level": level }));
        Self::chained(Chained::new(new_uuid(), head, tail))
    }

    /// The conversation begins anew here; [`Entry::summary`] follows.
    pub fn compact_boundary(compaction: Compaction) -> Self {
        let head = object(json!({
            "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false,
        }));
        let tail = object(json!({
            "level": "info",
            "compactMetadata": {
                "trigger": compaction.trigger, "preTokens": compaction.tokens_before,
            },
        }));
        Self::chained(Chained {
            parent: Parent::Nothing,
            ..Chained::new(compaction.uuid, head, tail)
        })
    }

    /// What stands for the conversation before a boundary.
    pub fn summary(uuid: MessageUuid, message: Value, prompt_id: &str) -> Self {
        let mut head = user(prompt_id, message);
        head.insert("isVisibleInTranscriptOnly".to_owned(), json!(true));
        head.insert("isCompactSummary".to_owned(), json!(true));
        Self::chained(Chained::new(uuid, head, Map::new()))
    }

    /// A prompt that waits for its turn.
    pub fn enqueue(content: Value) -> Self {
        Self::loose(Loose::Enqueue(content))
    }

    /// The waiting prompt whose turn begins.
    pub fn dequeue() -> Self {
        Self::loose(Loose::Dequeue)
    }

    /// A queued prompt that became part of the running turn.
    pub fn absorbed(content: Value) -> Self {
        let reason = "absorbed_mid_turn";
        Self::loose(Loose::Unqueue { content, reason })
    }

    /// A queued prompt that the host took back.
    pub fn cancelled(content: Value) -> Self {
        let reason = "cancelled";
        Self::loose(Loose::Unqueue { content, reason })
    }

    /// The newest prompt, for lists of sessions; names the end of the conversation.
    pub fn last_prompt(prompt: &str) -> Self {
        Self::loose(Loose::LastPrompt(one_line(prompt)))
    }

    /// The name that the session was started with.
    pub fn agent_name(name: &str) -> Self {
        Self::loose(Loose::AgentName(name.trim().to_owned()))
    }

    /// A title that a person gave.
    pub fn custom_title(title: &str) -> Self {
        Self::loose(Loose::CustomTitle(title.trim().to_owned()))
    }

    /// A title that a model gave.
    pub fn ai_title(title: &str) -> Self {
        Self::loose(Loose::AiTitle(title.trim().to_owned()))
    }

    /// The tag of the session.
    pub fn tag(tag: &str) -> Self {
        Self::loose(Loose::Tag(tag.trim().to_owned()))
    }

    /// The tools that were used so far.
    pub fn tools_used(tools: impl IntoIterator<Item = String>) -> Self {
        Self::loose(Loose::ToolsUsed(tools.into_iter().collect()))
    }

    /// What the session has cost so far.
    pub fn cost_state(cost: CostState) -> Self {
        Self::loose(Loose::Cost(Box::new(cost)))
    }
}

impl Entry {
    fn chained(entry: Chained) -> Self {
        Self(Line::Chained(entry))
    }

    fn loose(entry: Loose) -> Self {
        Self(Line::Loose(entry))
    }
}

impl Chained {
    fn new(uuid: MessageUuid, head: Object, tail: Object) -> Self {
        Self {
            uuid,
            parent: Parent::Leaf,
            head,
            tail,
            is_prompt: false,
        }
    }
}

pub(super) fn new_uuid() -> MessageUuid {
    MessageUuid::new(Uuid::new_v4().to_string())
}

/// At most two hundred characters without line breaks: lists show no more.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let flat = text.replace(['\n', '\r'], " ");
    let flat = flat.trim();
    match flat.char_indices().nth(LONGEST) {
        None => flat.to_owned(),
        Some((end, _)) => format!("{}…", flat[..end].trim_end()),
    }
}

/// The first fields of a message in the user's place. Moves the message: it may be large.
fn user(prompt_id: &str, message: Value) -> Object {
    let mut head = object(json!({ "promptId": prompt_id, "type": "user" }));
    head.insert("message".to_owned(), message);
    head
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn insert_some(fields: &mut Object, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value.into());
    }
}
