//! Modes and rules.

use falconer_protocol::Message;
use falconer_protocol::control::{
    ListPermissionRulesResponse, PermissionRuleEntry, PermissionRulesState, RuleDescription,
    SetPermissionModeResponse, WorkspaceDirectory,
};
use falconer_protocol::permission::PermissionMode;
use serde_json::Value;

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::permission::{Effect, ModeRefused, RuleSource, WrittenRule};
use crate::session::core::Core;

/// Changes the mode.
pub(super) fn set_mode(core: &Core, body: &Value) -> Outcome {
    let mode = match text(body, "mode") {
        Ok("manual") => PermissionMode::Default,
        Ok(mode) => PermissionMode::from(mode),
        Err(_) => return Reply::coded("invalid_mode", "mode is missing or not a text").into(),
    };
    match core.switch_mode(mode.clone()) {
        Ok(told) => {
            let reply = Reply::success(&SetPermissionModeResponse {
                mode: Some(mode),
                ..SetPermissionModeResponse::default()
            });
            Outcome::Then(reply, told.into_iter().map(Message::from).collect())
        }
        Err(ModeRefused::BypassLocked) => Reply::coded(
            "bypass_not_launched",
            "Cannot set permission mode to bypassPermissions because the session was not launched \
             with --dangerously-skip-permissions",
        )
        .into(),
        Err(error @ ModeRefused::Unknown(_)) => {
            Reply::coded("invalid_mode", error.to_string()).into()
        }
    }
}

/// The rules in force.
pub(super) fn list(core: &Core) -> Reply {
    let permissions = core.permissions();
    let mut rules: Vec<&WrittenRule> = permissions.written().collect();
    rules.sort_by_key(|rule| (listed_behavior(rule.behavior), listed_source(rule.source).0));
    // The first is where the session works, which is told beside.
    let directories = permissions.dirs().into_iter().skip(1);
    let directories = directories.map(|path| WorkspaceDirectory {
        path: path.display().to_string(),
        ..WorkspaceDirectory::default()
    });
    let problems = permissions.problems().iter();
    let problems: Vec<Value> = problems.map(|it| Value::from(it.as_str())).collect();
    let state = PermissionRulesState {
        rules: rules.into_iter().map(listed).collect(),
        workspace_directories: directories.collect(),
        original_cwd: Some(core.workbench.original_cwd.display().to_string()),
        managed_only: Some(false),
        errors: (!problems.is_empty()).then_some(problems),
        ..PermissionRulesState::default()
    };
    Reply::success(&ListPermissionRulesResponse {
        state: state.with_empty("rules").with_empty("workspaceDirectories"),
        ..ListPermissionRulesResponse::default()
    })
}

/// What allows comes first.
fn listed_behavior(behavior: Effect) -> u8 {
    match behavior {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny => 2,
    }
}

/// The place of a source in the list, its name, and where its rules can be changed.
fn listed_source(source: RuleSource) -> (u8, &'static str, &'static str) {
    match source {
        RuleSource::User => (0, "userSettings", "persistent"),
        RuleSource::Project => (1, "projectSettings", "persistent"),
        RuleSource::Local => (2, "localSettings", "persistent"),
        RuleSource::Flag => (3, "flagSettings", "readonly"),
        RuleSource::Managed => (4, "policySettings", "readonly"),
        RuleSource::CliArg => (5, "cliArg", "session"),
        RuleSource::Session => (6, "session", "session"),
    }
}

fn listed(rule: &WrittenRule) -> PermissionRuleEntry {
    let (_, source, editability) = listed_source(rule.source);
    PermissionRuleEntry {
        behavior: rule.behavior.key().into(),
        source: source.to_owned(),
        rule: rule.text.clone(),
        editability: Some(editability.to_owned()),
        description: described(&rule.text),
        ..PermissionRuleEntry::default()
    }
}

/// A rule in words, where that is simple.
fn described(rule: &str) -> Option<RuleDescription> {
    let words = |prefix: &str, emphasis: &str| RuleDescription {
        prefix: prefix.to_owned(),
        emphasis: emphasis.to_owned(),
        ..RuleDescription::default()
    };
    match rule.split_once('(') {
        None => Some(words("Every use of ", rule)),
        Some(("Bash", rest)) => {
            let content = rest.strip_suffix(')')?;
            let start = content.strip_suffix(" *").or(content.strip_suffix(":*"));
            Some(match start {
                Some(start) => words("Commands that begin with ", start),
                None => words("The command ", content),
            })
        }
        Some(_) => None,
    }
}
