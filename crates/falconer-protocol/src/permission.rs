//! Who may do what: modes, rules, questions' answers.

use serde_json::Value;

use crate::id::ToolUseId;
use crate::wire::{open_enum, tagged_enum, wire_struct};

open_enum! {
    /// What happens to a tool call that no rule decides.
    pub enum PermissionMode {
        Default = "default",
        AcceptEdits = "acceptEdits",
        BypassPermissions = "bypassPermissions",
        Plan = "plan",
        DontAsk = "dontAsk",
        Auto = "auto",
    }
}

open_enum! {
    /// What a rule says about a matching call.
    pub enum PermissionBehavior {
        Ask = "ask",
        Allow = "allow",
        Deny = "deny",
    }
}

open_enum! {
    /// Where a change of permissions is kept.
    pub enum PermissionDestination {
        Session = "session",
        UserSettings = "userSettings",
        ProjectSettings = "projectSettings",
        LocalSettings = "localSettings",
        CliArg = "cliArg",
    }
}

wire_struct! {
    /// A tool, or a part of what it can do.
    pub struct PermissionRule {
        pub tool_name: String => "toolName",
        pub rule_content ? String => "ruleContent",
    }
}

tagged_enum! {
    /// A change of permissions.
    pub enum PermissionUpdate by "type" {
        /// Adds rules.
        AddRules(AddRules) = "addRules",
        /// Replaces the rules of that behaviour.
        ReplaceRules(ReplaceRules) = "replaceRules",
        /// Removes rules.
        RemoveRules(RemoveRules) = "removeRules",
        /// Changes the mode.
        SetMode(SetMode) = "setMode",
        /// Adds directories to work in.
        AddDirectories(AddDirectories) = "addDirectories",
        /// Removes directories to work in.
        RemoveDirectories(RemoveDirectories) = "removeDirectories",
    }
}

macro_rules! rule_updates {
    ($($(#[$meta:meta])* $name:ident = $tag:literal;)+) => {$(
        wire_struct! {
            $(#[$meta])*
            pub struct $name ["type" = $tag] {
                pub rules: Vec<PermissionRule>,
                pub behavior: PermissionBehavior,
                pub destination: PermissionDestination,
            }
        }
    )+};
}

rule_updates! {
    /// Adds rules.
    AddRules = "addRules";
    /// Replaces the rules of that behaviour.
    ReplaceRules = "replaceRules";
    /// Removes rules.
    RemoveRules = "removeRules";
}

wire_struct! {
    /// Changes the mode.
    pub struct SetMode ["type" = "setMode"] {
        pub mode: PermissionMode,
        pub destination: PermissionDestination,
    }
}

wire_struct! {
    /// Adds directories to work in.
    pub struct AddDirectories ["type" = "addDirectories"] {
        pub directories: Vec<String>,
        pub destination: PermissionDestination,
    }
}

wire_struct! {
    /// Removes directories to work in.
    pub struct RemoveDirectories ["type" = "removeDirectories"] {
        pub directories: Vec<String>,
        pub destination: PermissionDestination,
    }
}

tagged_enum! {
    /// The answer to the question whether a tool may be used.
    pub enum PermissionResult by "behavior" {
        /// It may.
        Allow(Allow) = "allow",
        /// It may not.
        Deny(Deny) = "deny",
    }
}

impl PermissionResult {
    /// It may, as asked.
    pub fn allow() -> Self {
        Self::Allow(Allow::default())
    }

    /// It may, with this input instead.
    pub fn allow_with(updated_input: Value) -> Self {
        Self::Allow(Allow {
            updated_input: Some(updated_input),
            ..Allow::default()
        })
    }

    /// It may not; the model reads `message`.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny::new(message))
    }
}

wire_struct! {
    /// The tool may be used.
    pub struct Allow ["behavior" = "allow"] {
        /// Replaces the whole input.
        pub updated_input ? Value => "updatedInput",
        /// Applied at once. The suggestions of the question fit here; choose, do not echo all.
        pub updated_permissions ? Vec<PermissionUpdate> => "updatedPermissions",
        pub tool_use_id ? ToolUseId => "toolUseID",
        pub decision_classification ? DecisionClassification => "decisionClassification",
    }
}

wire_struct! {
    /// The tool may not be used.
    pub struct Deny ["behavior" = "deny"] {
        /// What the model reads.
        pub message: String,
        /// Ends the turn; the message is then lost.
        pub interrupt ? bool,
        pub tool_use_id ? ToolUseId => "toolUseID",
        pub decision_classification ? DecisionClassification => "decisionClassification",
    }
}

impl Deny {
    /// A denial whose `message` the model reads.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }
}

open_enum! {
    /// How lasting a decision is.
    pub enum DecisionClassification {
        UserTemporary = "user_temporary",
        UserPermanent = "user_permanent",
        UserReject = "user_reject",
    }
}

open_enum! {
    /// Why the question came up.
    pub enum DecisionReasonType {
        /// None of the others; the wire says so.
        Unclassified = "other",
        Rule = "rule",
        Mode = "mode",
        SubcommandResults = "subcommandResults",
        PermissionPromptTool = "permissionPromptTool",
        Hook = "hook",
        AsyncAgent = "asyncAgent",
        SandboxOverride = "sandboxOverride",
        WorkingDir = "workingDir",
        SafetyCheck = "safetyCheck",
        Classifier = "classifier",
    }
}
