//! Whether a tool may run: by the policy, and by whether a limit was reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use falconer::protocol::control::CanUseTool;
use falconer::protocol::hook::{HookInput, HookOutput, HookPermissionDecision, PreToolUseOutput};
use falconer::protocol::permission::DecisionReasonType;
use falconer_rule::{Call, protected_by};
use serde_json::Value;

use crate::answer::Verdict;
use crate::pending::{Edit, is_question};
use crate::policy::{Effect, Explanation, Policy, Restrictions};
use crate::spec::SessionSpec;

/// Calls whose directory is remembered; those before them are answered by now.
const MOST_CALLS: usize = 256;

/// Open until a limit is reached; then closed for good.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: OnceLock<String>,
    policy: Option<Arc<Policy>>,
    restrictions: Option<Arc<dyn Restrictions>>,
    directories: Mutex<Directories>,
    /// The policy for the directory in which the engine was at first.
    placed: OnceLock<Policy>,
    is_metered: bool,
}

/// Where the shell of the engine was before each call, as it said.
#[derive(Debug, Default)]
struct Directories {
    latest: Option<PathBuf>,
    by_call: BTreeMap<String, PathBuf>,
}

/// A request of the engine with what is known before anybody is asked.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Where the call would start.
    pub(crate) cwd: Option<PathBuf>,
    /// No rule may allow it.
    pub(crate) needs_person: bool,
    /// What the policy answers, if it does.
    pub(crate) verdict: Option<Verdict>,
}

impl Gate {
    pub(super) fn new(spec: &SessionSpec) -> Self {
        Self {
            policy: spec.policy.clone(),
            restrictions: spec.restrictions.clone(),
            is_metered: spec.limits.meter_use(),
            ..Self::default()
        }
    }

    /// Whether what the agent says may close it.
    pub(super) fn is_metered(&self) -> bool {
        self.is_metered
    }

    /// Closes it; the first reason stays.
    pub(super) fn close(&self, reason: String) {
        let _ = self.closed.set(reason);
    }

    /// Why it is closed, if it is.
    pub(super) fn closed(&self) -> Option<String> {
        self.closed.get().cloned()
    }

    /// Before every tool, also those the engine would allow by itself.
    pub(super) async fn before_tool(self: &Arc<Self>, input: HookInput) -> HookOutput {
        let directory = input.cwd().map(PathBuf::from);
        let HookInput::PreToolUse(call) = input else {
            return HookOutput::default();
        };
        if let Some(directory) = &directory {
            let id = call.tool_use_id.as_ref().map(|id| id.as_str().to_owned());
            self.remember(id, directory);
        }
        if let Some(reason) = self.closed() {
            return denied(reason);
        }
        let (name, value, here) = (
            call.tool_name.clone(),
            call.tool_input.clone(),
            directory.clone(),
        );
        let explained =
            self.off_the_workers(move |gate| gate.explain(&name, &value, here.as_deref()));
        match explained.await {
            Ok(explained) => match explained.as_ref().and_then(decision) {
                Some((decision, reason)) => decided(decision, reason),
                None => {
                    self.restricted(&call.tool_name, &call.tool_input, directory.as_deref())
                        .await
                }
            },
            Err(reason) => denied(reason),
        }
    }

    /// Asks rules that may have changed since the start.
    async fn restricted(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> HookOutput {
        let Some(restrictions) = &self.restrictions else {
            return HookOutput::default();
        };
        match restrictions.asks(tool, input, cwd).await {
            Ok(None) => HookOutput::default(),
            Ok(Some(reason)) => decided(HookPermissionDecision::Ask, reason),
            Err(reason) => denied(reason),
        }
    }

    /// What the policy says about a request, in the directory in which the call would start.
    pub(super) async fn judge(self: &Arc<Self>, ask: &CanUseTool) -> Judged {
        let id = ask.tool_use_id.as_ref().map(|id| id.as_str().to_owned());
        let cwd = self.directory_of(id.as_deref());
        let needs_person = needs_person(ask);
        let (tool, input, here) = (ask.tool_name.clone(), ask.input.clone(), cwd.clone());
        let may_allow = !needs_person && !is_question(&tool);
        let explained =
            self.off_the_workers(move |gate| gate.explain(&tool, &input, here.as_deref()));
        let verdict = match explained.await {
            Ok(explained) => explained.and_then(|explained| match explained.effect? {
                Effect::Deny => Some(Verdict::Deny(format!("policy: {}", explained.reason))),
                Effect::Allow if may_allow => Some(Verdict::Allow),
                Effect::Allow | Effect::Ask => None,
            }),
            Err(reason) => Some(Verdict::Deny(reason)),
        };
        Judged {
            cwd,
            needs_person,
            verdict,
        }
    }

    /// Returns an error if an answer would do what the policy denies, or change a protected
    /// place that was not asked about.
    pub(super) async fn check_edit(self: &Arc<Self>, edit: Edit) -> Result<(), String> {
        let checked = self.off_the_workers(move |gate| {
            let cwd = edit.cwd.as_deref();
            let explained = gate.explain(&edit.tool, &edit.input, cwd);
            if let Some(explained) = explained
                && explained.effect == Some(Effect::Deny)
            {
                return Err(format!("policy: {}", explained.reason));
            }
            let cwd = cwd.unwrap_or_else(|| Path::new("/"));
            let asked = protected_by(&Call::new(&edit.tool, &edit.asked, cwd));
            match protected_by(&Call::new(&edit.tool, &edit.input, cwd)) {
                Some(path) if asked.as_ref() != Some(&path) => Err(format!(
                    "`{}` is protected and was not asked about",
                    path.display()
                )),
                _ => Ok(()),
            }
        });
        checked.await.and_then(|checked| checked)
    }

    /// What the policy says about a call.
    fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Option<Explanation> {
        let policy = self.policy.as_ref()?;
        Some(match cwd {
            Some(directory) => self
                .placed
                .get_or_init(|| policy.for_session_in(directory))
                .explain_in(tool, input, directory),
            None => policy.explain(tool, input),
        })
    }

    /// Long commands and large directories must not hold up other sessions.
    async fn off_the_workers<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, String> {
        let gate = Arc::clone(self);
        let working = tokio::task::spawn_blocking(move || work(&gate));
        working
            .await
            .map_err(|error| format!("the policy could not be asked: {error}"))
    }

    fn remember(&self, call: Option<String>, directory: &Path) {
        let mut known = self.known();
        known.latest = Some(directory.to_owned());
        if let Some(call) = call {
            known.by_call.insert(call, directory.to_owned());
        }
        if known.by_call.len() > MOST_CALLS {
            known.by_call.pop_first();
        }
    }

    fn directory_of(&self, call: Option<&str>) -> Option<PathBuf> {
        let known = self.known();
        let of_call = call.and_then(|call| known.by_call.get(call));
        of_call.or(known.latest.as_ref()).cloned()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Directories> {
        self.directories
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether no rule may allow a call: a check, a hook, a mode or a rule wants a person asked. A
/// reason that is not known is one of these.
fn needs_person(ask: &CanUseTool) -> bool {
    let by_default = matches!(
        ask.decision_reason_type,
        None | Some(
            DecisionReasonType::Unclassified
                | DecisionReasonType::SubcommandResults
                | DecisionReasonType::WorkingDir
                | DecisionReasonType::AsyncAgent
        )
    );
    let is_marked = ask.suppress_always_allow_rule == Some(true)
        || ask.requires_user_interaction == Some(true)
        || ask.matched_ask_rule.is_some();
    !by_default || is_marked
}

/// The tool does not run, for this reason.
pub(super) fn denied(reason: String) -> HookOutput {
    decided(HookPermissionDecision::Deny, reason)
}

fn decided(decision: HookPermissionDecision, reason: String) -> HookOutput {
    HookOutput::specific(PreToolUseOutput {
        permission_decision: Some(decision),
        permission_decision_reason: Some(reason),
        ..PreToolUseOutput::default()
    })
}

/// Allowing is left to the permission request, where it goes on record: a hook that allows would
/// also overrule what the engine itself wants to have asked.
fn decision(explained: &Explanation) -> Option<(HookPermissionDecision, String)> {
    let decision = match explained.effect? {
        Effect::Deny => HookPermissionDecision::Deny,
        Effect::Ask => HookPermissionDecision::Ask,
        Effect::Allow => return None,
    };
    Some((decision, format!("policy: {}", explained.reason)))
}
