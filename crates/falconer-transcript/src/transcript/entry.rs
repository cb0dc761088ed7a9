//! The entries this engine writes, in the CLI's field names and field order.

use falconer_protocol::{MessageUuid, Object};
use serde::Serialize;
use serde_json::Value;

use super::cost::CostState;
use super::messages::message;
use crate::id::new_uuid;
use crate::session_entry::object;

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
pub struct PromptEntry {
    /// The id of the entry.
    pub uuid: MessageUuid,
    /// The text or the blocks of the message.
    pub content: Value,
    /// All entries of a turn have the same.
    pub prompt_id: String,
    /// The permission mode in which it was sent.
    pub permission_mode: String,
    /// For the model, not written by a person.
    pub is_meta: bool,
}

/// One finished block of a response.
#[derive(Debug, Clone)]
pub struct AssistantEntry {
    /// The id of the entry.
    pub uuid: MessageUuid,
    /// The API message with this block as its only content.
    pub message: Value,
    /// The place of the block in its response.
    pub block_index: Option<u64>,
    /// The API's id of the request.
    pub request_id: Option<String>,
    /// The model that was asked, which need not be the one that answered.
    pub requested_model: Option<String>,
    /// The kind of API failure this message tells the user about; it is no answer of the model.
    pub api_error: Option<String>,
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct ToolResultEntry {
    /// The id of the entry.
    pub uuid: MessageUuid,
    /// The block with the result.
    pub block: Value,
    /// The turn it belongs to.
    pub prompt_id: String,
    /// The entry of the call.
    pub call: MessageUuid,
    /// The tool's structured output.
    pub output: Option<Value>,
    /// The decision on the call, if somebody or something decided.
    pub permission: Option<RecordedDecision>,
}

/// The decision on a tool call.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDecision {
    /// `accept` or `reject`.
    pub decision: String,
    /// The rule, mode or person that decided, in the CLI's words.
    pub source: String,
    /// The kind of reason, in the CLI's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_type: Option<String>,
}

/// Something that came to the conversation from elsewhere.
#[derive(Debug, Clone)]
pub enum AttachmentEntry {
    /// A prompt that was taken into a running turn. The id is the host's.
    QueuedPrompt {
        /// The id of the prompt.
        uuid: MessageUuid,
        /// The text or the blocks of the prompt.
        content: Value,
    },
    /// Context from hooks for the model.
    HookContext {
        /// The event of the hooks.
        event: String,
        /// One text for each hook.
        contexts: Vec<String>,
    },
}

/// Where a conversation was replaced by its summary.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// The id of the boundary.
    pub uuid: MessageUuid,
    /// `manual` or `auto`.
    pub trigger: String,
    /// The size of the conversation that was replaced.
    pub tokens_before: u64,
}

impl Entry {
    /// A message in the user's place.
    pub fn prompt(prompt: PromptEntry) -> Self {
        let mut head = user(&prompt.prompt_id, prompt.content);
        if prompt.is_meta {
            head.insert("isMeta".to_owned(), true.into());
        }
        let tail = object(&PromptTail {
            permission_mode: &prompt.permission_mode,
            prompt_source: "sdk",
        });
        Self::chained(Chained {
            is_prompt: true,
            ..Chained::new(prompt.uuid, head, tail)
        })
    }

    /// One block of a response, or a message about a failure of the API.
    pub fn assistant(block: AssistantEntry) -> Self {
        let mut head = Object::new();
        head.insert("message".to_owned(), block.message);
        head.extend(object(&AssistantHead {
            api_block_index: block.block_index,
            request_id: block.request_id.as_deref(),
            requested_model: block.requested_model.as_deref(),
            kind: "assistant",
        }));
        let tail = object(&AssistantTail {
            made_by: block.api_error.is_none().then_some("model"),
            is_api_error_message: block.api_error.is_some().then_some(true),
            error: block.api_error,
        });
        Self::chained(Chained::new(block.uuid, head, tail))
    }

    /// The result of a tool call.
    pub fn tool_result(result: ToolResultEntry) -> Self {
        let head = user(&result.prompt_id, vec![result.block].into());
        let mut tail = Object::new();
        if let Some(output) = result.output {
            tail.insert("toolUseResult".to_owned(), output);
        }
        tail.extend(object(&ToolResultTail {
            call: &result.call,
            permission_decision: result.permission.as_ref(),
        }));
        Self::chained(Chained {
            parent: Parent::Of(result.call),
            ..Chained::new(result.uuid, head, tail)
        })
    }

    /// Something that joins the conversation from elsewhere.
    pub fn attachment(attachment: AttachmentEntry) -> Self {
        let attachment = match attachment {
            AttachmentEntry::QueuedPrompt { uuid, content } => Attached::QueuedCommand {
                prompt: content,
                source_uuid: uuid,
                command_mode: "prompt",
            },
            AttachmentEntry::HookContext { event, contexts } => Attached::HookAdditionalContext {
                content: contexts,
                hook_event: event,
            },
        };
        let head = object(&AttachmentHead {
            attachment,
            kind: "attachment",
        });
        Self::chained(Chained::new(new_uuid(), head, Object::new()))
    }

    /// A note for readers of the transcript, which the model does not see.
    pub fn system(subtype: &str, content: &str, level: &str) -> Self {
        let head = system(subtype, content);
        let tail = object(&SystemTail {
            level,
            compact_metadata: None,
        });
        Self::chained(Chained::new(new_uuid(), head, tail))
    }

    /// The conversation begins anew here; [`Entry::summary`] follows.
    pub fn compact_boundary(compaction: Compaction) -> Self {
        let head = system("compact_boundary", "Conversation compacted");
        let tail = object(&SystemTail {
            level: "info",
            compact_metadata: Some(CompactMetadata {
                trigger: compaction.trigger,
                pre_tokens: compaction.tokens_before,
            }),
        });
        Self::chained(Chained {
            parent: Parent::Nothing,
            ..Chained::new(compaction.uuid, head, tail)
        })
    }

    /// What stands for the conversation before a boundary.
    pub fn summary(uuid: MessageUuid, content: Value, prompt_id: &str) -> Self {
        let mut head = user(prompt_id, content);
        head.insert("isVisibleInTranscriptOnly".to_owned(), true.into());
        head.insert("isCompactSummary".to_owned(), true.into());
        Self::chained(Chained::new(uuid, head, Object::new()))
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

/// The first fields of a message in the user's place. Moves the content: it may be large.
fn user(prompt_id: &str, content: Value) -> Object {
    let mut head = object(&UserHead {
        prompt_id,
        kind: "user",
    });
    head.insert("message".to_owned(), message("user", content));
    head
}

fn system(subtype: &str, content: &str) -> Object {
    object(&SystemHead {
        kind: "system",
        subtype,
        content,
        is_meta: false,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserHead<'a> {
    prompt_id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptTail<'a> {
    permission_mode: &'a str,
    prompt_source: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssistantHead<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_block_index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_model: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssistantTail {
    #[serde(skip_serializing_if = "Option::is_none")]
    made_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_api_error_message: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResultTail<'a> {
    #[serde(rename = "sourceToolAssistantUUID")]
    call: &'a MessageUuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a RecordedDecision>,
}

#[derive(Serialize)]
struct AttachmentHead {
    attachment: Attached,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// An attachment as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Attached {
    QueuedCommand {
        prompt: Value,
        source_uuid: MessageUuid,
        #[serde(rename = "commandMode")]
        command_mode: &'static str,
    },
    HookAdditionalContext {
        content: Vec<String>,
        #[serde(rename = "hookEvent")]
        hook_event: String,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemHead<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    subtype: &'a str,
    content: &'a str,
    is_meta: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemTail<'a> {
    level: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compact_metadata: Option<CompactMetadata>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactMetadata {
    trigger: String,
    pre_tokens: u64,
}
