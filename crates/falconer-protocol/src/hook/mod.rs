//! Hooks: what the engine asks the host at fixed points, and the answers.

mod event;
mod input;
mod matcher;
mod output;
mod shortcuts;
mod specific;

pub use event::HookEvent;
pub use input::{
    BackgroundTaskSummary, ConfigChangeInput, CwdChangedInput, DirectoryAddedInput, Effort,
    ElicitationInput, ElicitationResultInput, FileChangedInput, HookInput, InstructionsLoadedInput,
    MessageDisplayInput, NotificationInput, PermissionDeniedInput, PermissionRequestInput,
    PostCompactInput, PostModelSwitchInput, PostToolBatchInput, PostToolUseFailureInput,
    PostToolUseInput, PreCompactInput, PreModelSwitchInput, PreToolUseInput, SessionCronSummary,
    SessionEndInput, SessionStartInput, SetupInput, StopFailureInput, StopInput,
    SubagentStartInput, SubagentStopInput, TaskCompletedInput, TaskCreatedInput, TeammateIdleInput,
    ToolBatchCall, UserPromptExpansionInput, UserPromptSubmitInput, WorktreeCreateInput,
    WorktreeRemoveInput,
};
pub use matcher::{HookMatcher, OnFailure};
pub use output::{BlockDecision, HookOutput};
pub use specific::{
    CwdChangedOutput, ElicitationOutput, ElicitationResultOutput, FileChangedOutput,
    HookPermissionDecision, HookSpecificOutput, MessageDisplayOutput, NotificationOutput,
    PermissionDeniedOutput, PermissionRequestOutput, PostModelSwitchOutput, PostToolBatchOutput,
    PostToolUseFailureOutput, PostToolUseOutput, PreModelSwitchOutput, PreToolUseOutput,
    SessionStartOutput, SetupOutput, StopOutput, SubagentStartOutput, SubagentStopOutput,
    UserPromptExpansionOutput, UserPromptSubmitOutput, WorktreeCreateOutput,
};
