//! Lines that an engine sends to the host.

use crate::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use crate::id::{MessageUuid, SessionId, ToolUseId};
use crate::message::{
    ActiveGoalMessage, AssistantMessage, AuthStatusMessage, CommandLifecycleMessage,
    ConversationResetMessage, KeepAliveMessage, PromptSuggestionMessage, RateLimitEvent,
    ResultMessage, ToolProgressMessage, ToolUseSummaryMessage, TranscriptMirrorMessage,
    UserMessage, WarningMessage,
};
use crate::stream::StreamEventMessage;
use crate::system::{
    ApiRetry, BackgroundTasksChanged, CommandsChanged, CompactBoundary, ControlRequestProgress,
    ElicitationComplete, FilesPersisted, HookProgress, HookResponse, HookStarted, Informational,
    Init, LocalCommandOutput, MemoryRecall, MirrorError, ModelFallback, ModelRefusalFallback,
    ModelRefusalNoFallback, Notification, PermissionDenied, PluginInstall, SessionStateChanged,
    SessionTitleChanged, SessionWritesLost, StatusMessage, SystemMessage, TaskNotification,
    TaskProgress, TaskStarted, TaskUpdated, ThinkingTokens, WorkerShuttingDown,
};
use crate::wire::tagged_enum;

tagged_enum! {
    /// A line of the engine.
    ///
    /// ```
    /// use falconer_protocol::Message;
    ///
    /// let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"4"}]}}"#;
    /// let Message::Assistant(answer) = serde_json::from_str(line)? else {
    ///     panic!("not an answer");
    /// };
    /// assert_eq!(answer.text(), "4");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum Message by "type" {
        /// A piece of an API response while it streams.
        StreamEvent(Box<StreamEventMessage>) = "stream_event",
        /// A finished block of the model's answer.
        Assistant(Box<AssistantMessage>) = "assistant",
        /// A tool result or injected text.
        User(Box<UserMessage>) = "user",
        /// Everything with a `subtype`: init, status, tasks, hooks.
        System(SystemMessage) = "system",
        /// The end of a turn.
        Result(Box<ResultMessage>) = "result",
        /// A request that must be answered.
        ControlRequest(Box<ControlRequest>) = "control_request",
        /// The answer to a request of the host.
        ControlResponse(Box<ControlResponse>) = "control_response",
        /// A request is taken back.
        ControlCancelRequest(ControlCancelRequest) = "control_cancel_request",
        /// A tool is still running.
        ToolProgress(Box<ToolProgressMessage>) = "tool_progress",
        /// A summary of a series of tool calls.
        ToolUseSummary(Box<ToolUseSummaryMessage>) = "tool_use_summary",
        /// A step in the life of a prompt that carried a uuid.
        CommandLifecycle(Box<CommandLifecycleMessage>) = "command_lifecycle",
        /// The conversation was cleared.
        ConversationReset(Box<ConversationResetMessage>) = "conversation_reset",
        /// Lines for the host's copy of the transcript.
        TranscriptMirror(Box<TranscriptMirrorMessage>) = "transcript_mirror",
        /// A sign of life.
        KeepAlive(KeepAliveMessage) = "keep_alive",
        /// Progress of a login.
        AuthStatus(Box<AuthStatusMessage>) = "auth_status",
        /// The state of the rate limits.
        RateLimitEvent(Box<RateLimitEvent>) = "rate_limit_event",
        /// A suggestion for the next prompt.
        PromptSuggestion(Box<PromptSuggestionMessage>) = "prompt_suggestion",
        /// The goal the session works on.
        ActiveGoal(Box<ActiveGoalMessage>) = "active_goal",
        /// A warning of the host's library; no engine sends it.
        Warning(WarningMessage) = "falconer_warning",
    }
}

/// Reads one of the fields that most messages have.
macro_rules! common_field {
    ($message:expr, $field:ident) => {
        match $message {
            Message::StreamEvent(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::Assistant(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::User(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::System(body) => body.$field(),
            Message::Result(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::ToolProgress(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::ToolUseSummary(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::CommandLifecycle(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::ConversationReset(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::AuthStatus(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::RateLimitEvent(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::PromptSuggestion(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::ActiveGoal(body) => body.$field.as_ref().map(|id| id.as_str()),
            Message::ControlRequest(_)
            | Message::ControlResponse(_)
            | Message::ControlCancelRequest(_)
            | Message::TranscriptMirror(_)
            | Message::KeepAlive(_)
            | Message::Warning(_) => None,
            Message::Unknown(object) => object.get(stringify!($field))?.as_str(),
        }
    };
}

/// Lets the body of a message stand for the whole line.
macro_rules! line_from {
    (
        { $($body:ident => $variant:ident,)+ }
        System { $($system_body:ident => $system_variant:ident,)+ }
    ) => {
        $(impl From<$body> for Message {
            fn from(body: $body) -> Self {
                Self::$variant(Box::new(body))
            }
        })+
        $(impl From<$system_body> for Message {
            fn from(body: $system_body) -> Self {
                Self::System(SystemMessage::$system_variant(Box::new(body)))
            }
        })+
    };
}

line_from! {
    {
        StreamEventMessage => StreamEvent,
        AssistantMessage => Assistant,
        UserMessage => User,
        ResultMessage => Result,
        ToolProgressMessage => ToolProgress,
        ToolUseSummaryMessage => ToolUseSummary,
        CommandLifecycleMessage => CommandLifecycle,
        ConversationResetMessage => ConversationReset,
        AuthStatusMessage => AuthStatus,
        RateLimitEvent => RateLimitEvent,
        PromptSuggestionMessage => PromptSuggestion,
        ActiveGoalMessage => ActiveGoal,
    }
    System {
        Init => Init,
        StatusMessage => Status,
        ApiRetry => ApiRetry,
        SessionStateChanged => SessionStateChanged,
        TaskStarted => TaskStarted,
        TaskProgress => TaskProgress,
        TaskUpdated => TaskUpdated,
        TaskNotification => TaskNotification,
        BackgroundTasksChanged => BackgroundTasksChanged,
        CompactBoundary => CompactBoundary,
        HookStarted => HookStarted,
        HookProgress => HookProgress,
        HookResponse => HookResponse,
        PermissionDenied => PermissionDenied,
        ModelFallback => ModelFallback,
        ModelRefusalFallback => ModelRefusalFallback,
        ModelRefusalNoFallback => ModelRefusalNoFallback,
        ThinkingTokens => ThinkingTokens,
        Informational => Informational,
        Notification => Notification,
        LocalCommandOutput => LocalCommandOutput,
        CommandsChanged => CommandsChanged,
        ControlRequestProgress => ControlRequestProgress,
        SessionTitleChanged => SessionTitleChanged,
        SessionWritesLost => SessionWritesLost,
        MirrorError => MirrorError,
        WorkerShuttingDown => WorkerShuttingDown,
        ElicitationComplete => ElicitationComplete,
        FilesPersisted => FilesPersisted,
        MemoryRecall => MemoryRecall,
        PluginInstall => PluginInstall,
    }
}

impl Message {
    /// Puts the ids on a line that an engine writes: of the line, of its session, and of the tool
    /// call whose sub-agent speaks.
    ///
    /// Lines of a conversation say `null` where no sub-agent speaks. Lines that have no place for
    /// an id stay without it.
    #[must_use]
    pub fn stamped(
        mut self,
        session: SessionId,
        uuid: MessageUuid,
        parent: Option<&ToolUseId>,
    ) -> Self {
        macro_rules! put {
            ($body:ident) => {{
                $body.session_id = Some(session);
                $body.uuid = Some(uuid);
            }};
        }
        macro_rules! put_in_conversation {
            ($body:ident) => {{
                put!($body);
                $body.parent_tool_use_id = parent.cloned();
                $body.spell_out("parent_tool_use_id");
            }};
        }
        match &mut self {
            Self::StreamEvent(body) => put_in_conversation!(body),
            Self::Assistant(body) => put_in_conversation!(body),
            Self::User(body) => put_in_conversation!(body),
            Self::System(body) => body.stamp(session, uuid),
            Self::Result(body) => put!(body),
            Self::ToolProgress(body) => put!(body),
            Self::ToolUseSummary(body) => put!(body),
            Self::CommandLifecycle(body) => put!(body),
            Self::ConversationReset(body) => put!(body),
            Self::AuthStatus(body) => put!(body),
            Self::RateLimitEvent(body) => put!(body),
            Self::PromptSuggestion(body) => put!(body),
            Self::ActiveGoal(body) => put!(body),
            Self::ControlRequest(_)
            | Self::ControlResponse(_)
            | Self::ControlCancelRequest(_)
            | Self::TranscriptMirror(_)
            | Self::KeepAlive(_)
            | Self::Warning(_) => {}
            Self::Unknown(object) => {
                object.insert("session_id".to_owned(), session.into_string().into());
                object.insert("uuid".to_owned(), uuid.into_string().into());
            }
        }
        self
    }

    /// Returns the session it belongs to, if the line names one.
    pub fn session_id(&self) -> Option<&str> {
        common_field!(self, session_id)
    }

    /// Returns the id of the line, if it has one.
    pub fn uuid(&self) -> Option<&str> {
        common_field!(self, uuid)
    }

    /// Returns the tool call whose sub-agent it comes from; `None` in the main conversation.
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        let id = match self {
            Self::StreamEvent(body) => &body.parent_tool_use_id,
            Self::Assistant(body) => &body.parent_tool_use_id,
            Self::User(body) => &body.parent_tool_use_id,
            Self::ToolProgress(body) => &body.parent_tool_use_id,
            Self::Unknown(object) => return object.get("parent_tool_use_id")?.as_str(),
            _ => return None,
        };
        id.as_ref().map(|id| id.as_str())
    }
}
