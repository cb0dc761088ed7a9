//! `AskUserQuestion` and `ExitPlanMode`: the tools that wait for a person.

use std::collections::BTreeMap;

use crate::number::Number;
use crate::wire::{Object, wire_struct};

wire_struct! {
    /// Questions to the user.
    ///
    /// To answer, allow the call with this as the new input and `answers` filled in.
    pub struct AskUserQuestionInput {
        pub questions: Vec<Question>,
        /// Text of the question to label of the answer.
        pub answers ? BTreeMap<String, String>,
        pub annotations ? Object,
        pub metadata ? Object,
    }
}

wire_struct! {
    /// A question with answers to choose from.
    pub struct Question {
        pub question: String,
        pub header ? String,
        pub options * Vec<QuestionOption>,
        pub multi_select * bool => "multiSelect",
    }
}

wire_struct! {
    /// An answer to choose.
    pub struct QuestionOption {
        pub label: String,
        pub description ? String,
        pub preview ? String,
    }
}

wire_struct! {
    /// What the user answered.
    pub struct AskUserQuestionOutput {
        pub questions * Vec<Question>,
        pub answers * BTreeMap<String, String>,
        pub response ? String,
        pub annotations ? Object,
        pub afk_timeout_ms ? Number => "afkTimeoutMs",
    }
}

wire_struct! {
    /// The plan is ready.
    pub struct ExitPlanModeInput {
        /// The plan; stripped from the permission question, so look at the tool call.
        pub plan ? String,
        pub allowed_prompts ? Vec<AllowedPrompt> => "allowedPrompts",
    }
}

wire_struct! {
    /// What the plan wants to be allowed.
    pub struct AllowedPrompt {
        pub tool: String,
        pub prompt: String,
    }
}

wire_struct! {
    /// What became of the plan.
    pub struct ExitPlanModeOutput {
        pub plan ? String,
        pub is_agent ? bool => "isAgent",
        pub file_path ? String => "filePath",
        pub has_task_tool ? bool => "hasTaskTool",
        pub plan_was_edited ? bool => "planWasEdited",
        pub awaiting_leader_approval ? bool => "awaitingLeaderApproval",
        pub request_id ? String => "requestId",
    }
}
