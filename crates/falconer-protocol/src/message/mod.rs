//! Messages of a conversation: answers, tool results, turn ends and what surrounds them.

mod assistant;
mod origin;
mod reason;
mod result;
mod service;
mod user;
mod warning;

pub use assistant::{
    ApiMessage, AssistantMessage, ContextReport, ContextReportCategory, LocalCommandOutcome,
    LocalCommandRun, StopReason, ToolUseMeta,
};
pub use origin::MessageOrigin;
pub use reason::{AssistantError, StartupFailureReason, TerminalReason};
pub use result::{
    DeferredToolUse, InvalidConfigFile, PermissionDenial, ResultMessage, ResultSubtype,
    SubagentStats, SubagentsKilled, SubagentsRefused, SubagentsRequested,
};
pub use service::{
    ActiveGoal, ActiveGoalMessage, AuthStatusMessage, CommandLifecycleMessage, CommandState,
    ConversationResetMessage, KeepAliveMessage, PromptSuggestionMessage, RateLimitEvent,
    RateLimitInfo, RateLimitStatus, SubagentRetry, ToolProgressMessage, ToolUseSummaryMessage,
    TranscriptMirrorMessage,
};
pub use user::{
    DecisionKind, DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta, UserBody,
    UserMessage,
};
pub use warning::WarningMessage;
