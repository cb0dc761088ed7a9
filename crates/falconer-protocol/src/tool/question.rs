//! `AskUserQuestion` and `ExitPlanMode`: the tools that wait for a person.

use std::collections::BTreeMap;

use crate::number::Number;
use crate::wire::{Object, wire_struct};

/// The tool by which the model asks the user questions.
pub const ASK_USER_QUESTION: &str = "AskUserQuestion";

/// The tool by which the model asks the user to approve a plan.
pub const EXIT_PLAN_MODE: &str = "ExitPlanMode";

wire_struct! {
    /// Questions to the user.
    ///
    /// To answer, allow the call with this as the new input and `answers` filled in.
    pub struct AskUserQuestionInput {
        /// One to four questions.
        pub questions: Vec<Question>,
        /// Labels of the answers, by the text of the question; for several, separated by commas.
        /// Set by the host.
        pub answers ? BTreeMap<String, String>,
        /// Notes of the user, by the text of the question. Set by the host.
        pub annotations ? Object,
        /// Data of the model's for statistics.
        pub metadata ? Object,
    }
}

wire_struct! {
    /// A question with answers to choose from.
    pub struct Question {
        /// Full text; key of the answers.
        pub question: String,
        /// Label of at most 12 characters.
        pub header ? String,
        /// Answers to choose from; the user may also write another.
        pub options * Vec<QuestionOption>,
        /// `true` if several answers may be chosen.
        pub multi_select * bool => "multiSelect",
    }
}

wire_struct! {
    /// An answer to choose.
    pub struct QuestionOption {
        /// Answer to show and to return.
        pub label: String,
        /// Explanation of the answer.
        pub description ? String,
        /// Text to show beside the answer, such as code.
        pub preview ? String,
    }
}

wire_struct! {
    /// The user's answers.
    pub struct AskUserQuestionOutput {
        /// Questions as they were asked.
        pub questions * Vec<Question>,
        /// Labels of the answers, by the text of the question.
        pub answers * BTreeMap<String, String>,
        /// Text that the user wrote instead of choosing.
        pub response ? String,
        /// Notes of the user, by the text of the question.
        pub annotations ? Object,
        /// Milliseconds after which the questions were closed without an answer.
        pub afk_timeout_ms ? Number => "afkTimeoutMs",
    }
}

wire_struct! {
    /// The plan is ready.
    pub struct ExitPlanModeInput {
        /// Plan as Markdown. Stripped from the permission request: look at the tool call.
        pub plan ? String,
        /// Permissions that the plan needs; no longer used by the CLI.
        pub allowed_prompts ? Vec<AllowedPrompt> => "allowedPrompts",
    }
}

wire_struct! {
    /// A permission that the plan needs.
    pub struct AllowedPrompt {
        /// Tool to allow; always `Bash`.
        pub tool: String,
        /// Action in words, such as `run tests`.
        pub prompt: String,
    }
}

wire_struct! {
    /// The fate of the plan.
    pub struct ExitPlanModeOutput {
        /// Plan that the user saw; `null` if there is none.
        pub plan ? String,
        /// `true` if a sub-agent made the plan.
        pub is_agent ? bool => "isAgent",
        /// File with the plan.
        pub file_path ? String => "filePath",
        /// `true` if the model can call sub-agents.
        pub has_task_tool ? bool => "hasTaskTool",
        /// `true` if the user changed the plan; the model then reads it again.
        pub plan_was_edited ? bool => "planWasEdited",
        /// `true` if the leader of a team has to approve it.
        pub awaiting_leader_approval ? bool => "awaitingLeaderApproval",
        /// Id of that approval.
        pub request_id ? String => "requestId",
    }
}
