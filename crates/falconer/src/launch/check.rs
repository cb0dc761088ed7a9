//! Contradictions in the options, found before anything starts.

mod auth;
mod names;
mod values;

use std::ffi::OsString;

use falconer_protocol::permission::PermissionMode;

use crate::options::{
    Bypass, LaunchOptions, ModeChoice, PermissionPrompts, SandboxFallback, Thinking,
};

use super::environment::environment;
use super::{HostFeatures, LaunchWarning, OptionProblem, Surroundings};

/// Everything wrong with the options, apart from the arguments made of them.
pub(super) fn problems(
    options: &LaunchOptions,
    host: &HostFeatures,
    surroundings: &Surroundings,
) -> Vec<OptionProblem> {
    let mut problems = Vec::new();
    parameters(options, &mut problems);
    session(options, host, &mut problems);
    permissions(options, host, surroundings, &mut problems);
    sandbox(options, &mut problems);
    values::check(options, &mut problems);
    names::check(options, host, &mut problems);
    auth::check(options, surroundings, &mut problems);
    problems
}

/// Finds arguments that cannot be passed to a process.
pub(super) fn argument_problems(args: &[OsString]) -> Vec<OptionProblem> {
    args.iter().flat_map(values::argument).collect()
}

fn parameters(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    let refused = &options.refused;
    let mut report = |names: &[String], problem: fn(Vec<String>) -> OptionProblem| {
        if !names.is_empty() {
            problems.push(problem(names.to_vec()));
        }
    };
    report(&refused.names, |names| OptionProblem::RefusedParameters {
        names,
    });
    report(&refused.unknown, |names| OptionProblem::UnknownParameters {
        names,
    });
    report(&refused.invalid, |names| {
        OptionProblem::MistypedParameters { names }
    });
}

fn session(options: &LaunchOptions, host: &HostFeatures, problems: &mut Vec<OptionProblem>) {
    let session = &options.session;
    let start = &session.start;
    let goes_on = start.continue_latest || start.resume.is_some();
    let mut exclusive = |condition: bool, first, second, advice| {
        if condition {
            problems.push(OptionProblem::Exclusive {
                first,
                second,
                advice,
            });
        }
    };
    exclusive(
        start.continue_latest && start.resume.is_some(),
        "continue_latest",
        "resume",
        "keep the one that names the session meant",
    );
    exclusive(
        session.id.is_some() && goes_on && !start.fork,
        "session_id",
        "resuming or continuing",
        "add `fork_session` to go on under a new id, or remove `session_id`",
    );
    exclusive(
        host.mirrors_session && session.unsaved,
        "a session store",
        "without_persistence",
        "a store needs the transcript; remove one",
    );
    exclusive(
        host.mirrors_session && session.checkpoint_files,
        "a session store",
        "checkpoint_files",
        "checkpoints are not mirrored; remove one",
    );
    let mut needs = |condition: bool, option, needs| {
        if condition {
            problems.push(OptionProblem::Needs { option, needs });
        }
    };
    needs(
        start.resume_at.is_some() && start.resume.is_none(),
        "resume_at",
        "resume",
    );
    let drops_turn = start.resume_drops_turn.is_some();
    needs(
        drops_turn && start.resume_at.is_none(),
        "resume_drops_turn",
        "resume_at",
    );
    needs(
        start.fork && !goes_on,
        "fork_session",
        "resume or continue_latest",
    );
}

fn permissions(
    options: &LaunchOptions,
    host: &HostFeatures,
    surroundings: &Surroundings,
    problems: &mut Vec<OptionProblem>,
) {
    let permissions = &options.permissions;
    if permissions.prompt_tool.is_some() && host.prompts_permissions {
        problems.push(OptionProblem::Exclusive {
            first: "permission_prompt_tool",
            second: "a permission handler",
            advice: "only one can answer; remove the other",
        });
    }
    let bypass_mode = is_bypass(options);
    if bypass_mode && permissions.bypass == Bypass::Forbidden {
        problems.push(OptionProblem::BypassNotConfirmed);
    }
    let wants_bypass = bypass_mode || permissions.bypass == Bypass::Accepted;
    if wants_bypass && surroundings.uid == Some(0) && !claims_sandbox(options, surroundings) {
        problems.push(OptionProblem::BypassAsRoot);
    }
}

fn is_bypass(options: &LaunchOptions) -> bool {
    options.permissions.mode == ModeChoice::Mode(PermissionMode::BypassPermissions)
}

/// Returns `true` if the engine will be told that it runs in a sandbox.
fn claims_sandbox(options: &LaunchOptions, surroundings: &Surroundings) -> bool {
    let planned = environment(options, &surroundings.env);
    let mut variables = planned.variables.iter();
    variables.any(|(name, value)| name == "IS_SANDBOX" && value == "1")
}

fn sandbox(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    let settings = &options.settings;
    let Some(sandbox) = &settings.sandbox else {
        return;
    };
    let tolerant = sandbox.enabled == Some(true) && sandbox.fail_if_unavailable == Some(false);
    if tolerant && settings.sandbox_fallback == SandboxFallback::Refuse {
        problems.push(OptionProblem::FallbackNotConfirmed);
    }
}

/// Finds options that work, but not as one may expect.
pub(super) fn warnings(options: &LaunchOptions, host: &HostFeatures) -> Vec<LaunchWarning> {
    let mut warnings = Vec::new();
    if host.prompts_permissions {
        let shadowed = shadowed_calls(options).into_iter();
        warnings.extend(shadowed.map(|what| LaunchWarning::HandlerShadowed { what }));
    }
    let settings = &options.settings;
    let enabled = settings
        .sandbox
        .as_ref()
        .and_then(|sandbox| sandbox.enabled);
    if enabled == Some(true) && settings.sandbox_fallback == SandboxFallback::RunUnsandboxed {
        warnings.push(LaunchWarning::UnsandboxedFallback);
    }
    warnings
}

/// Calls that are decided before the permission handler is asked.
fn shadowed_calls(options: &LaunchOptions) -> Vec<String> {
    let permissions = &options.permissions;
    let mut shadowed = Vec::new();
    if is_bypass(options) {
        shadowed.push("any tool, because the mode is bypassPermissions".to_owned());
    }
    if permissions.prompts == Some(PermissionPrompts::None) {
        shadowed.push("any tool, because permission_prompts is none".to_owned());
    }
    let whole = options
        .tools
        .allowed
        .iter()
        .filter(|rule| is_whole_tool(rule));
    shadowed.extend(whole.map(|rule| format!("{rule}, because it is in allow_tools")));
    shadowed
}

/// Returns `true` if a rule allows every call of a tool.
fn is_whole_tool(rule: &str) -> bool {
    match rule.split_once('(') {
        None => true,
        Some((_, content)) => matches!(content.trim_end_matches(')').trim(), "" | "*"),
    }
}

/// Returns `true` if thoughts could be shown at all.
fn thinks(options: &LaunchOptions) -> bool {
    !matches!(
        options.model.thinking,
        Some(Thinking::Disabled | Thinking::Budget(0))
    )
}

#[cfg(test)]
mod tests;
