//! `Bash`.

use serde_json::Value;

use crate::id::TaskId;
use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A command.
    pub struct BashInput {
        pub command: String,
        /// Milliseconds.
        pub timeout ? Number,
        pub description ? String,
        pub run_in_background ? bool,
        pub dangerously_disable_sandbox ? bool => "dangerouslyDisableSandbox",
    }
}

wire_struct! {
    /// What a command wrote.
    pub struct BashOutput {
        pub stdout: String,
        pub stderr: String,
        pub interrupted ? bool,
        pub is_image ? bool => "isImage",
        pub no_output_expected ? bool => "noOutputExpected",
        pub raw_output_path ? String => "rawOutputPath",
        pub background_task_id ? TaskId => "backgroundTaskId",
        pub backgrounded_by_user ? bool => "backgroundedByUser",
        pub background_cwd_hint ? String => "backgroundCwdHint",
        pub background_ends_with_final_response ? bool => "backgroundEndsWithFinalResponse",
        pub background_wakes_owner ? bool => "backgroundWakesOwner",
        pub timed_out_after_ms ? Number => "timedOutAfterMs",
        pub dangerously_disable_sandbox ? bool => "dangerouslyDisableSandbox",
        pub return_code_interpretation ? String => "returnCodeInterpretation",
        pub structured_content ? Vec<Value> => "structuredContent",
        pub persisted_output_path ? String => "persistedOutputPath",
        pub persisted_output_size ? u64 => "persistedOutputSize",
        pub stale_read_file_state_hint ? String => "staleReadFileStateHint",
        pub gh_rate_limit_hint ? String => "ghRateLimitHint",
        pub git_operation ? Value => "gitOperation",
    }
}
