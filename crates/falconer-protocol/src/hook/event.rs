//! The points at which hooks are asked.

use crate::wire::open_enum;

open_enum! {
    /// A point at which hooks are asked.
    #[derive(PartialOrd, Ord)]
    pub enum HookEvent {
        PreToolUse = "PreToolUse",
        PostToolUse = "PostToolUse",
        PostToolUseFailure = "PostToolUseFailure",
        PostToolBatch = "PostToolBatch",
        Notification = "Notification",
        UserPromptSubmit = "UserPromptSubmit",
        UserPromptExpansion = "UserPromptExpansion",
        SessionStart = "SessionStart",
        SessionEnd = "SessionEnd",
        Stop = "Stop",
        StopFailure = "StopFailure",
        SubagentStart = "SubagentStart",
        SubagentStop = "SubagentStop",
        PreCompact = "PreCompact",
        PostCompact = "PostCompact",
        PreModelSwitch = "PreModelSwitch",
        PostModelSwitch = "PostModelSwitch",
        PermissionRequest = "PermissionRequest",
        PermissionDenied = "PermissionDenied",
        Setup = "Setup",
        TeammateIdle = "TeammateIdle",
        TaskCreated = "TaskCreated",
        TaskCompleted = "TaskCompleted",
        Elicitation = "Elicitation",
        ElicitationResult = "ElicitationResult",
        ConfigChange = "ConfigChange",
        WorktreeCreate = "WorktreeCreate",
        WorktreeRemove = "WorktreeRemove",
        InstructionsLoaded = "InstructionsLoaded",
        CwdChanged = "CwdChanged",
        FileChanged = "FileChanged",
        DirectoryAdded = "DirectoryAdded",
        MessageDisplay = "MessageDisplay",
    }
}
