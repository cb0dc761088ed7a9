//! Whether a tool may run: by the policy, and by whether a limit was reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use falconer_event::QuestionKind;
use falconer_rule::{Call as RuleCall, protected_by};
use serde_json::Value;

use crate::answer::Verdict;
use crate::engine::{Ask, Call, Checked};
use crate::pending::Edit;
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
}

/// Where the shell of the engine was before each call, as it said.
#[derive(Debug, Default)]
struct Directories {
    latest: Option<PathBuf>,
    by_call: BTreeMap<String, PathBuf>,
}

/// A question with what is known before anybody is asked.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Where the call would start.
    pub(super) cwd: Option<PathBuf>,
    /// The policy's answer, if it has one.
    pub(super) verdict: Option<Verdict>,
}

impl Gate {
    pub(super) fn new(spec: &SessionSpec) -> Self {
        Self {
            policy: spec.policy.clone(),
            restrictions: spec.restrictions.clone(),
            ..Self::default()
        }
    }

    /// Closes it; the first reason stays.
    pub(super) fn close(&self, reason: String) {
        let _ = self.closed.set(reason);
    }

    /// Why it is closed, if it is.
    pub(super) fn closed(&self) -> Option<String> {
        self.closed.get().cloned()
    }

    /// Judges a call before it runs, also one the engine would allow by itself.
    pub(super) async fn check(self: &Arc<Self>, call: &Call) -> Checked {
        if let Some(directory) = &call.cwd {
            self.remember(call.id.clone(), directory);
        }
        if let Some(reason) = self.closed() {
            return Checked::Deny(reason);
        }
        let explained = self.explained(&call.tool, &call.input, call.cwd.clone());
        match explained.await {
            Ok(explained) => match explained.as_ref().and_then(check) {
                Some(checked) => checked,
                None => self.restricted(call).await,
            },
            Err(reason) => Checked::Deny(reason),
        }
    }

    /// Asks rules that may have changed since the start.
    async fn restricted(&self, call: &Call) -> Checked {
        let Some(restrictions) = &self.restrictions else {
            return Checked::Pass;
        };
        let cwd = call.cwd.as_deref();
        match restrictions.asks(&call.tool, &call.input, cwd).await {
            Ok(None) => Checked::Pass,
            Ok(Some(reason)) => Checked::Ask(reason),
            Err(reason) => Checked::Deny(reason),
        }
    }

    /// Judges a question by the policy, in the directory in which the call would start.
    pub(super) async fn judge(self: &Arc<Self>, ask: &Ask) -> Judged {
        let cwd = self.directory_of(ask.call.as_deref());
        if ask.kind == Some(QuestionKind::Elicitation) {
            return Judged {
                cwd: None,
                verdict: None,
            };
        }
        let may_allow = !ask.needs_person && ask.kind.is_none();
        let explained = self.explained(&ask.tool, &ask.input, cwd.clone());
        let verdict = match explained.await {
            Ok(explained) => explained.and_then(|explained| match explained.effect? {
                Effect::Deny => Some(Verdict::Deny(format!("policy: {}", explained.reason))),
                Effect::Allow if may_allow => Some(Verdict::Allow),
                Effect::Allow | Effect::Ask => None,
            }),
            Err(reason) => Some(Verdict::Deny(reason)),
        };
        Judged { cwd, verdict }
    }

    /// Asks the policy about a call. Without a policy there is nothing to wait for.
    async fn explained(
        self: &Arc<Self>,
        tool: &str,
        input: &Value,
        cwd: Option<PathBuf>,
    ) -> Result<Option<Explanation>, String> {
        if self.policy.is_none() {
            return Ok(None);
        }
        let (tool, input) = (tool.to_owned(), input.clone());
        self.off_the_workers(move |gate| gate.explain(&tool, &input, cwd.as_deref()))
            .await
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
            let asked = protected_by(&RuleCall::new(&edit.tool, &edit.asked, cwd));
            match protected_by(&RuleCall::new(&edit.tool, &edit.input, cwd)) {
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

/// The policy's word on a call before it runs. Allowing is left to the question, where it goes on
/// record: a check that allows would also overrule what the engine itself wants to have asked.
fn check(explained: &Explanation) -> Option<Checked> {
    let reason = || format!("policy: {}", explained.reason);
    match explained.effect? {
        Effect::Deny => Some(Checked::Deny(reason())),
        Effect::Ask => Some(Checked::Ask(reason())),
        Effect::Allow => None,
    }
}
