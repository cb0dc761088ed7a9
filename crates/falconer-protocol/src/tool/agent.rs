//! `Agent`: a sub-agent.

use crate::content::ContentBlock;
use crate::id::{AgentId, TaskId};
use crate::number::Number;
use crate::permission::PermissionMode;
use crate::usage::Usage;
use crate::wire::{Object, open_enum, wire_struct};

wire_struct! {
    /// The task of a sub-agent.
    pub struct AgentInput {
        /// Three to five words for people.
        pub description: String,
        /// Task; the sub-agent sees nothing else of the conversation.
        pub prompt: String,
        /// Definition to use; absent for the general one.
        pub subagent_type ? String,
        /// Alias such as `sonnet`; counts before the definition's model.
        pub model ? String,
        /// Level such as `high`; absent for the definition's.
        pub effort ? String,
        /// `false` to wait for the report; absent, the CLI does not wait.
        pub run_in_background ? bool,
        /// Name under which other agents can send it messages.
        pub name ? String,
        /// Ignored by the CLI.
        pub team_name ? String,
        /// Ignored by the CLI: a sub-agent has its caller's mode or its definition's.
        pub mode ? PermissionMode,
        /// `worktree` for a git worktree of its own, `remote` for another machine.
        pub isolation ? String,
    }
}

wire_struct! {
    /// The report of a sub-agent, or a reference to a running one.
    pub struct AgentOutput {
        /// Tells which of the other fields are set.
        pub status: AgentStatus,
        /// Id of the sub-agent, equal to the `task_id` of its task.
        pub agent_id ? AgentId => "agentId",
        /// Definition that was used.
        pub agent_type ? String => "agentType",
        /// Task on the other machine, with [`AgentStatus::RemoteLaunched`].
        pub task_id ? TaskId => "taskId",
        /// Description that the call carried; only for a sub-agent still running.
        pub description ? String,
        /// Prompt that the call carried.
        pub prompt ? String,
        /// Report; with [`AgentStatus::Completed`].
        pub content ? Vec<ContentBlock>,
        /// Model id it ran on.
        pub resolved_model ? String => "resolvedModel",
        /// All models it ran on, in order; more than one after a fallback.
        pub models_used ? Vec<String> => "modelsUsed",
        /// Number of its tool calls.
        pub total_tool_use_count ? u64 => "totalToolUseCount",
        /// Milliseconds it ran.
        pub total_duration_ms ? Number => "totalDurationMs",
        /// Tokens, input and output together.
        pub total_tokens ? u64 => "totalTokens",
        /// Tokens as the API counts them.
        pub usage ? Usage,
        /// Names of the tools it called.
        pub tools_used ? Vec<String> => "toolsUsed",
        /// Counts by kind of tool, and lines added and removed.
        pub tool_stats ? Object => "toolStats",
        /// `true` if the call does not wait for it.
        pub is_async ? bool => "isAsync",
        /// File to which its output goes while it runs.
        pub output_file ? String => "outputFile",
        /// `true` if the caller has a tool to read that file with.
        pub can_read_output_file ? bool => "canReadOutputFile",
        /// Address of the session on the other machine.
        pub session_url ? String => "sessionUrl",
        /// Worktree it worked in; absent without isolation.
        pub worktree_path ? String => "worktreePath",
        /// Branch of that worktree.
        pub worktree_branch ? String => "worktreeBranch",
    }
}

open_enum! {
    /// The state of a sub-agent when its call returns.
    pub enum AgentStatus {
        /// Done; the report is in the output.
        Completed = "completed",
        /// Running in the background.
        AsyncLaunched = "async_launched",
        /// Running on another machine.
        RemoteLaunched = "remote_launched",
    }
}
