//! `Agent`: a sub-agent.

use crate::content::ContentBlock;
use crate::id::{AgentId, TaskId};
use crate::number::Number;
use crate::permission::PermissionMode;
use crate::usage::Usage;
use crate::wire::{Object, open_enum, wire_struct};

wire_struct! {
    /// What a sub-agent is to do.
    pub struct AgentInput {
        pub description: String,
        pub prompt: String,
        pub subagent_type ? String,
        pub model ? String,
        pub effort ? String,
        /// Left out, the CLI does not wait for it.
        pub run_in_background ? bool,
        pub name ? String,
        pub team_name ? String,
        pub mode ? PermissionMode,
        pub isolation ? String,
    }
}

wire_struct! {
    /// What a sub-agent did, or where it runs.
    pub struct AgentOutput {
        pub status: AgentStatus,
        pub agent_id ? AgentId => "agentId",
        pub agent_type ? String => "agentType",
        pub task_id ? TaskId => "taskId",
        pub description ? String,
        pub prompt ? String,
        pub content ? Vec<ContentBlock>,
        pub resolved_model ? String => "resolvedModel",
        pub models_used ? Vec<String> => "modelsUsed",
        pub total_tool_use_count ? u64 => "totalToolUseCount",
        pub total_duration_ms ? Number => "totalDurationMs",
        pub total_tokens ? u64 => "totalTokens",
        pub usage ? Usage,
        pub tools_used ? Vec<String> => "toolsUsed",
        pub tool_stats ? Object => "toolStats",
        pub is_async ? bool => "isAsync",
        pub output_file ? String => "outputFile",
        pub can_read_output_file ? bool => "canReadOutputFile",
        pub session_url ? String => "sessionUrl",
        pub worktree_path ? String => "worktreePath",
        pub worktree_branch ? String => "worktreeBranch",
    }
}

open_enum! {
    /// Whether a sub-agent is done.
    pub enum AgentStatus {
        Completed = "completed",
        AsyncLaunched = "async_launched",
        RemoteLaunched = "remote_launched",
    }
}
