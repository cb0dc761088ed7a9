//! Permissions: modes, rules, updates and answers to permission requests.

use serde_json::Value;

use crate::id::ToolUseId;
use crate::wire::{open_enum, tagged_enum, wire_struct};

open_enum! {
    /// The fate of a tool call that no rule decides.
    pub enum PermissionMode {
        /// Ask, except for reads inside the working directories and commands that only read.
        Default = "default",
        /// Allow file edits inside the working directories too.
        AcceptEdits = "acceptEdits",
        /// Allow everything; deny rules and hooks still apply.
        BypassPermissions = "bypassPermissions",
        /// Allow reads only, until the user approves a plan.
        Plan = "plan",
        /// Deny instead of asking.
        DontAsk = "dontAsk",
        /// Let a classifier decide in place of the user.
        Auto = "auto",
    }
}

open_enum! {
    /// The effect of a rule on a matching call.
    pub enum PermissionBehavior {
        /// Ask the host.
        Ask = "ask",
        /// Run without asking.
        Allow = "allow",
        /// Do not run; wins over the other two.
        Deny = "deny",
    }
}

open_enum! {
    /// The place where a change of permissions is kept.
    pub enum PermissionDestination {
        /// In memory, until the session ends.
        Session = "session",
        /// In the user's settings file.
        UserSettings = "userSettings",
        /// In the project's `.claude/settings.json`, which is usually checked in.
        ProjectSettings = "projectSettings",
        /// In the project's `.claude/settings.local.json`.
        LocalSettings = "localSettings",
        /// Among the rules given on the command line, in memory.
        CliArg = "cliArg",
    }
}

wire_struct! {
    /// A tool, or a part of what it can do.
    pub struct PermissionRule {
        /// Tool that the rule is about.
        pub tool_name: String => "toolName",
        /// Part in parentheses, such as `git:*` in `Bash(git:*)`; absent for the whole tool.
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
                /// Rules to add, to put in place of others, or to remove.
                pub rules: Vec<PermissionRule>,
                /// Effect of these rules.
                pub behavior: PermissionBehavior,
                /// Place to change; the session takes the rules at once in any case.
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
        /// New mode.
        pub mode: PermissionMode,
        /// Place to change; a settings file gets it as its default mode.
        pub destination: PermissionDestination,
    }
}

wire_struct! {
    /// Adds directories to work in.
    pub struct AddDirectories ["type" = "addDirectories"] {
        /// Absolute paths.
        pub directories: Vec<String>,
        /// Place to change; the session takes the directories at once in any case.
        pub destination: PermissionDestination,
    }
}

wire_struct! {
    /// Removes directories to work in.
    pub struct RemoveDirectories ["type" = "removeDirectories"] {
        /// Paths as they were added.
        pub directories: Vec<String>,
        /// Place to change; the session loses the directories at once in any case.
        pub destination: PermissionDestination,
    }
}

tagged_enum! {
    /// The answer to a permission request.
    pub enum PermissionResult by "behavior" {
        /// The tool may run.
        Allow(Allow) = "allow",
        /// The tool may not run.
        Deny(Deny) = "deny",
    }
}

impl PermissionResult {
    /// Allows the call as it is.
    pub fn allow() -> Self {
        Self::Allow(Allow::default())
    }

    /// Allows the call with `updated_input` instead of its arguments.
    pub fn allow_with(updated_input: Value) -> Self {
        Self::Allow(Allow {
            updated_input: Some(updated_input),
            ..Allow::default()
        })
    }

    /// Denies the call; the model reads `message`.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny::new(message))
    }
}

wire_struct! {
    /// Allows the tool to run.
    pub struct Allow ["behavior" = "allow"] {
        /// Replaces the whole input.
        pub updated_input ? Value => "updatedInput",
        /// Applied at once. The suggestions of the question fit here; choose, do not echo all.
        pub updated_permissions ? Vec<PermissionUpdate> => "updatedPermissions",
        /// Call that is allowed; optional, as the envelope already names the request.
        pub tool_use_id ? ToolUseId => "toolUseID",
        /// Kind of answer, for the engine's statistics.
        pub decision_classification ? DecisionClassification => "decisionClassification",
    }
}

wire_struct! {
    /// Forbids the tool to run.
    pub struct Deny ["behavior" = "deny"] {
        /// Text that the model reads as the result.
        pub message: String,
        /// `true` to end the turn; the message is then lost.
        pub interrupt ? bool,
        /// Call that is denied; optional, as the envelope already names the request.
        pub tool_use_id ? ToolUseId => "toolUseID",
        /// Kind of answer, for the engine's statistics.
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
    /// The kind of answer a person gave.
    pub enum DecisionClassification {
        /// Allowed this once.
        UserTemporary = "user_temporary",
        /// Allowed for good.
        UserPermanent = "user_permanent",
        /// Denied.
        UserReject = "user_reject",
    }
}

open_enum! {
    /// The kind of reason for asking.
    pub enum DecisionReasonType {
        /// None of the others.
        Unclassified = "other",
        /// A rule says `ask`.
        Rule = "rule",
        /// The permission mode does not allow it, such as a write in plan mode.
        Mode = "mode",
        /// Some part of a composed shell command needs permission.
        SubcommandResults = "subcommandResults",
        /// An MCP tool answers permission requests.
        PermissionPromptTool = "permissionPromptTool",
        /// A hook answered `ask`.
        Hook = "hook",
        /// A background sub-agent asks, with nobody there to answer.
        AsyncAgent = "asyncAgent",
        /// A command wants to run outside the sandbox.
        SandboxOverride = "sandboxOverride",
        /// A path is outside the working directories.
        WorkingDir = "workingDir",
        /// A protected path or a dangerous command.
        SafetyCheck = "safetyCheck",
        /// The classifier of auto mode did not approve.
        Classifier = "classifier",
    }
}
