//! The points at which hooks are asked.

use crate::wire::open_enum;

open_enum! {
    /// A point at which hooks are asked.
    #[derive(PartialOrd, Ord)]
    pub enum HookEvent {
        /// Before a tool runs; can deny, allow or change the call.
        PreToolUse = "PreToolUse",
        /// After a tool ran; can change its output.
        PostToolUse = "PostToolUse",
        /// After a tool failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// After all tools that one message called.
        PostToolBatch = "PostToolBatch",
        /// On a notice to the user, such as a permission request that stays open.
        Notification = "Notification",
        /// Before a prompt reaches the model; can block it. Also fires for finished background
        /// tasks.
        UserPromptSubmit = "UserPromptSubmit",
        /// Before an expanded slash command or MCP prompt reaches the model; can block it.
        UserPromptExpansion = "UserPromptExpansion",
        /// On the beginning of a session. Hooks of the host are asked only after `/clear` and
        /// compaction, not at startup.
        SessionStart = "SessionStart",
        /// On the end of a session. Hooks of the host are asked only on `/clear`, not at the end of
        /// the process.
        SessionEnd = "SessionEnd",
        /// Before the turn ends; can make the model go on.
        Stop = "Stop",
        /// After a turn that an API failure ended.
        StopFailure = "StopFailure",
        /// On the start of a sub-agent.
        SubagentStart = "SubagentStart",
        /// Before a sub-agent ends; can make it go on. Compaction causes it too, with an empty
        /// agent type.
        SubagentStop = "SubagentStop",
        /// Before earlier messages are replaced by a summary.
        PreCompact = "PreCompact",
        /// After earlier messages were replaced by a summary.
        PostCompact = "PostCompact",
        /// Before the model changes; can deny it.
        PreModelSwitch = "PreModelSwitch",
        /// After the model changed.
        PostModelSwitch = "PostModelSwitch",
        /// While the host is asked for permission; the first answer of the two wins.
        PermissionRequest = "PermissionRequest",
        /// After a tool call was denied; can let the model retry it.
        PermissionDenied = "PermissionDenied",
        /// On the setup of a project. Hooks of the host are never asked.
        Setup = "Setup",
        /// On a member of a team running out of work.
        TeammateIdle = "TeammateIdle",
        /// On a new task of a team.
        TaskCreated = "TaskCreated",
        /// On a finished task of a team.
        TaskCompleted = "TaskCompleted",
        /// Before an MCP server's form is shown; can answer it.
        Elicitation = "Elicitation",
        /// After the user answered an MCP server; can change the answer.
        ElicitationResult = "ElicitationResult",
        /// On a change of a settings file.
        ConfigChange = "ConfigChange",
        /// On the need for a worktree; the hook makes it.
        WorktreeCreate = "WorktreeCreate",
        /// On the end of a worktree; the hook removes it.
        WorktreeRemove = "WorktreeRemove",
        /// After a file of instructions was read.
        InstructionsLoaded = "InstructionsLoaded",
        /// After the working directory changed.
        CwdChanged = "CwdChanged",
        /// After a watched file changed.
        FileChanged = "FileChanged",
        /// After a working directory was added.
        DirectoryAdded = "DirectoryAdded",
        /// Before a piece of text is shown; can replace it.
        MessageDisplay = "MessageDisplay",
    }
}
