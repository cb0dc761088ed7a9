//! `Bash`.

use serde_json::Value;

use crate::id::TaskId;
use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A command.
    pub struct BashInput {
        /// Command line for the shell.
        pub command: String,
        /// Limit in milliseconds, at most 600,000 in the foreground.
        pub timeout ? Number,
        /// Description by the model, for people.
        pub description ? String,
        /// `true` to return at once with a background task.
        pub run_in_background ? bool,
        /// `true` to run outside the sandbox; always asked about.
        pub dangerously_disable_sandbox ? bool => "dangerouslyDisableSandbox",
    }
}

wire_struct! {
    /// The output of a command.
    pub struct BashOutput {
        /// Standard output and standard error, in the order written; cut if too long.
        pub stdout: String,
        /// Notes of the engine, such as sandbox violations; not the command's standard error.
        pub stderr: String,
        /// `true` if an interrupt or the time limit ended the command.
        pub interrupted ? bool,
        /// `true` if `stdout` is a picture as a `data:` address.
        pub is_image ? bool => "isImage",
        /// `true` if success is silent for this command.
        pub no_output_expected ? bool => "noOutputExpected",
        /// File with the unprocessed output of an MCP tool.
        pub raw_output_path ? String => "rawOutputPath",
        /// Task that runs the command in the background.
        pub background_task_id ? TaskId => "backgroundTaskId",
        /// `true` if the user moved the command to the background.
        pub backgrounded_by_user ? bool => "backgroundedByUser",
        /// Note for the model: a `cd` in a background command has no effect.
        pub background_cwd_hint ? String => "backgroundCwdHint",
        /// `true` if the command is ended with its caller's last answer.
        pub background_ends_with_final_response ? bool => "backgroundEndsWithFinalResponse",
        /// `true` if its end wakes the sub-agent that owns it.
        pub background_wakes_owner ? bool => "backgroundWakesOwner",
        /// Limit in milliseconds after which the command was moved to the background.
        pub timed_out_after_ms ? Number => "timedOutAfterMs",
        /// `true` if the command ran outside the sandbox on request.
        pub dangerously_disable_sandbox ? bool => "dangerouslyDisableSandbox",
        /// Meaning of an exit code that is no failure, such as `No matches`.
        pub return_code_interpretation ? String => "returnCodeInterpretation",
        /// Blocks for the model in place of the text.
        pub structured_content ? Vec<Value> => "structuredContent",
        /// File with the whole output, if it was too long.
        pub persisted_output_path ? String => "persistedOutputPath",
        /// Size of the whole output in bytes.
        pub persisted_output_size ? u64 => "persistedOutputSize",
        /// Note for the model: files it has read changed during the command.
        pub stale_read_file_state_hint ? String => "staleReadFileStateHint",
        /// Note for the model: GitHub's rate limit was reached.
        pub gh_rate_limit_hint ? String => "ghRateLimitHint",
        /// Commit, push, merge or pull request that the command made.
        pub git_operation ? Value => "gitOperation",
    }
}
