//! Messages of type `system`, told apart by `subtype`.

mod hook;
mod init;
mod model;
mod notice;
mod session;
mod task;

use crate::id::{MessageUuid, SessionId};
use crate::wire::tagged_enum;

pub use hook::{HookOutcome, HookProgress, HookResponse, HookStarted};
pub use init::{Init, InitMcpServer, InitPlugin, PluginError};
pub use model::{
    ApiRetry, ModelFallback, ModelRefusalFallback, ModelRefusalNoFallback, NoResponse,
    ThinkingTokens,
};
pub use notice::{
    CommandsChanged, ControlRequestProgress, ElicitationComplete, FilePersistFailure,
    FilesPersisted, Informational, Level, LocalCommandOutput, MemoryRecall, Notification,
    PermissionDenied, PersistedFile, PluginInstall, PromptSubmitOutcome, RecalledMemory,
};
pub use session::{
    CompactBoundary, CompactMetadata, MirrorError, MirrorKey, PreservedSegment, SessionState,
    SessionStateChanged, SessionTitleChanged, SessionWritesLost, Status, StatusMessage,
    WorkerShuttingDown,
};
pub use task::{
    BackgroundTask, BackgroundTasksChanged, TaskNotification, TaskPatch, TaskProgress, TaskStarted,
    TaskStatus, TaskUpdated, TaskUsage,
};

tagged_enum! {
    /// A message of type `system`.
    pub enum SystemMessage by "subtype" {
        /// A turn begins.
        Init(Box<Init>) = "init",
        /// The engine starts or stops something slow.
        Status(Box<StatusMessage>) = "status",
        /// An API request failed and is tried again.
        ApiRetry(Box<ApiRetry>) = "api_retry",
        /// The session starts or stops working, or waits for the host.
        SessionStateChanged(Box<SessionStateChanged>) = "session_state_changed",
        /// A task starts.
        TaskStarted(Box<TaskStarted>) = "task_started",
        /// A task goes on.
        TaskProgress(Box<TaskProgress>) = "task_progress",
        /// A task changes.
        TaskUpdated(Box<TaskUpdated>) = "task_updated",
        /// A task is over.
        TaskNotification(Box<TaskNotification>) = "task_notification",
        /// All tasks in the background, replacing what was known.
        BackgroundTasksChanged(Box<BackgroundTasksChanged>) = "background_tasks_changed",
        /// Earlier messages were replaced by a summary.
        CompactBoundary(Box<CompactBoundary>) = "compact_boundary",
        /// A settings hook starts.
        HookStarted(Box<HookStarted>) = "hook_started",
        /// A settings hook wrote something.
        HookProgress(Box<HookProgress>) = "hook_progress",
        /// A settings hook is over.
        HookResponse(Box<HookResponse>) = "hook_response",
        /// A tool call was denied without asking.
        PermissionDenied(Box<PermissionDenied>) = "permission_denied",
        /// Another model takes over because of load.
        ModelFallback(Box<ModelFallback>) = "model_fallback",
        /// Another model takes over after a refusal.
        ModelRefusalFallback(Box<ModelRefusalFallback>) = "model_refusal_fallback",
        /// The model refused and no other takes over.
        ModelRefusalNoFallback(Box<ModelRefusalNoFallback>) = "model_refusal_no_fallback",
        /// An estimate of the reasoning so far.
        ThinkingTokens(Box<ThinkingTokens>) = "thinking_tokens",
        /// A text for the user.
        Informational(Box<Informational>) = "informational",
        /// A short text for the user.
        Notification(Box<Notification>) = "notification",
        /// The output of a local command.
        LocalCommandOutput(Box<LocalCommandOutput>) = "local_command_output",
        /// The slash commands changed.
        CommandsChanged(Box<CommandsChanged>) = "commands_changed",
        /// A slow control request goes on.
        ControlRequestProgress(Box<ControlRequestProgress>) = "control_request_progress",
        /// The session has a new title.
        SessionTitleChanged(Box<SessionTitleChanged>) = "session_title_changed",
        /// Parts of the transcript could not be written.
        SessionWritesLost(Box<SessionWritesLost>) = "session_writes_lost",
        /// The host's copy of the transcript could not be written.
        MirrorError(Box<MirrorError>) = "mirror_error",
        /// The process is going away.
        WorkerShuttingDown(Box<WorkerShuttingDown>) = "worker_shutting_down",
        /// The user has finished an MCP server's form.
        ElicitationComplete(Box<ElicitationComplete>) = "elicitation_complete",
        /// Files were stored.
        FilesPersisted(Box<FilesPersisted>) = "files_persisted",
        /// Memories were put into the context.
        MemoryRecall(Box<MemoryRecall>) = "memory_recall",
        /// A plugin is being installed.
        PluginInstall(Box<PluginInstall>) = "plugin_install",
    }
}

/// Runs an expression on the struct inside, whatever it is.
macro_rules! with_body {
    ($message:expr, $body:ident => $result:expr, $object:ident => $unknown:expr) => {
        match $message {
            SystemMessage::Init($body) => $result,
            SystemMessage::Status($body) => $result,
            SystemMessage::ApiRetry($body) => $result,
            SystemMessage::SessionStateChanged($body) => $result,
            SystemMessage::TaskStarted($body) => $result,
            SystemMessage::TaskProgress($body) => $result,
            SystemMessage::TaskUpdated($body) => $result,
            SystemMessage::TaskNotification($body) => $result,
            SystemMessage::BackgroundTasksChanged($body) => $result,
            SystemMessage::CompactBoundary($body) => $result,
            SystemMessage::HookStarted($body) => $result,
            SystemMessage::HookProgress($body) => $result,
            SystemMessage::HookResponse($body) => $result,
            SystemMessage::PermissionDenied($body) => $result,
            SystemMessage::ModelFallback($body) => $result,
            SystemMessage::ModelRefusalFallback($body) => $result,
            SystemMessage::ModelRefusalNoFallback($body) => $result,
            SystemMessage::ThinkingTokens($body) => $result,
            SystemMessage::Informational($body) => $result,
            SystemMessage::Notification($body) => $result,
            SystemMessage::LocalCommandOutput($body) => $result,
            SystemMessage::CommandsChanged($body) => $result,
            SystemMessage::ControlRequestProgress($body) => $result,
            SystemMessage::SessionTitleChanged($body) => $result,
            SystemMessage::SessionWritesLost($body) => $result,
            SystemMessage::MirrorError($body) => $result,
            SystemMessage::WorkerShuttingDown($body) => $result,
            SystemMessage::ElicitationComplete($body) => $result,
            SystemMessage::FilesPersisted($body) => $result,
            SystemMessage::MemoryRecall($body) => $result,
            SystemMessage::PluginInstall($body) => $result,
            SystemMessage::Unknown($object) => $unknown,
        }
    };
}

impl SystemMessage {
    /// The session it belongs to.
    pub fn session_id(&self) -> Option<&str> {
        with_body!(self,
            body => body.session_id.as_ref().map(|id| id.as_str()),
            object => object.get("session_id")?.as_str())
    }

    /// Puts the ids of the line and of its session on it.
    pub(crate) fn stamp(&mut self, session: SessionId, uuid: MessageUuid) {
        with_body!(self,
        body => {
            body.session_id = Some(session);
            body.uuid = Some(uuid);
        },
        object => {
            object.insert("session_id".to_owned(), session.into_string().into());
            object.insert("uuid".to_owned(), uuid.into_string().into());
        });
    }

    /// The id of the line.
    pub fn uuid(&self) -> Option<&str> {
        with_body!(self,
            body => body.uuid.as_ref().map(|id| id.as_str()),
            object => object.get("uuid")?.as_str())
    }
}
