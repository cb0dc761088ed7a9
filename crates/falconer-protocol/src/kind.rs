//! The kind of a line, found without parsing it.

use std::borrow::Cow;

use crate::scan::Scanner;

macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal),+ $(,)?) => {
        /// The `type` of a line.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageKind {
            $($(#[$meta])* $kind,)+
            /// A type this version does not know, or none.
            Other,
        }

        impl MessageKind {
            /// Returns the name on the wire; `None` for [`MessageKind::Other`].
            pub fn as_str(self) -> Option<&'static str> {
                match self {
                    $(Self::$kind => Some($name),)+
                    Self::Other => None,
                }
            }

            /// The kind whose name, with its closing quote, `text` starts with.
            #[inline]
            fn starting(text: &[u8]) -> Option<Self> {
                $(if text.starts_with(const { concat!($name, "\"").as_bytes() }) {
                    return Some(Self::$kind);
                })+
                None
            }

            fn of(name: &[u8]) -> Self {
                $(if name == const { $name.as_bytes() } {
                    return Self::$kind;
                })+
                Self::Other
            }
        }
    };
}

// The frequent ones first: the names are compared in this order.
kinds! {
    /// A piece of an API response while it streams.
    StreamEvent = "stream_event",
    /// A finished block of the model's answer.
    Assistant = "assistant",
    /// A tool result or injected text; from the host: a prompt.
    User = "user",
    /// Everything with a `subtype`: init, status, tasks, hooks.
    System = "system",
    /// The end of a turn.
    Result = "result",
    /// A request that must be answered.
    ControlRequest = "control_request",
    /// The answer to a request.
    ControlResponse = "control_response",
    /// A request is taken back.
    ControlCancelRequest = "control_cancel_request",
    /// A tool is still running.
    ToolProgress = "tool_progress",
    /// A summary of a series of tool calls.
    ToolUseSummary = "tool_use_summary",
    /// A step in the life of a prompt that carried a uuid.
    CommandLifecycle = "command_lifecycle",
    /// The conversation was cleared; the session id changes.
    ConversationReset = "conversation_reset",
    /// Lines for the host's copy of the transcript.
    TranscriptMirror = "transcript_mirror",
    /// Nothing but a sign of life.
    KeepAlive = "keep_alive",
    /// Progress of a login.
    AuthStatus = "auth_status",
    /// The state of the rate limits.
    RateLimitEvent = "rate_limit_event",
    /// A suggestion for the next prompt.
    PromptSuggestion = "prompt_suggestion",
    /// The goal the session works on.
    ActiveGoal = "active_goal",
    /// A warning of the host's library; no engine sends it.
    Warning = "falconer_warning",
    /// Host to engine: variables to set.
    UpdateEnvironmentVariables = "update_environment_variables",
}

/// Finds the kind of a line; returns `None` if it is not a JSON object or has no `type`.
///
/// The line is not checked: a broken rest goes unnoticed.
///
/// ```
/// use falconer_protocol::{MessageKind, peek_kind};
///
/// let line = br#"{"duration_ms":3,"usage":{"type":"x"},"type":"result"}"#;
/// assert_eq!(peek_kind(line), Some(MessageKind::Result));
/// assert_eq!(peek_kind(b"hello"), None);
/// ```
#[inline]
pub fn peek_kind(line: &[u8]) -> Option<MessageKind> {
    let name = line.strip_prefix(br#"{"type":""#);
    match name.and_then(MessageKind::starting) {
        Some(kind) => Some(kind),
        None => peek_slowly(line),
    }
}

#[cold]
fn peek_slowly(line: &[u8]) -> Option<MessageKind> {
    let value = Scanner::new(line).string_at("type")?;
    Some(match value {
        Cow::Borrowed(name) => MessageKind::of(name),
        Cow::Owned(name) => MessageKind::of(&name),
    })
}
