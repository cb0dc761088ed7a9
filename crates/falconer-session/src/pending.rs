//! What the agent has asked and nobody has answered yet.
//!
//! Each request is answered exactly once: taking it out of the table is what makes an answer
//! count, and only the session's task can do that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use falconer_event::{
    Body, PermissionRequested, PermissionResolved, QuestionKind, QuestionRequested,
    QuestionResolved, Resolution, Shown,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Verdict};
use crate::digest;
use crate::engine::{Ask, Question, Reply};
use crate::error::AnswerError;

/// The requests that are open.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    open: BTreeMap<String, Open>,
    /// Requests that ended without an answer: the engine must not take one for a denial.
    unanswered: Vec<Question>,
    made: u64,
}

#[derive(Debug)]
struct Open {
    digest: String,
    question: Question,
    /// `None` is never.
    expires: Option<Instant>,
    /// Cancelled when the request is settled; ends the watch for its withdrawal.
    settled: CancellationToken,
    /// Where the call would start.
    cwd: Option<PathBuf>,
}

/// Input that an answer puts in the place of what was asked about.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) tool: String,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) asked: Value,
    pub(crate) input: Value,
}

/// What is known of a request beside itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    /// How long it may stay open.
    pub(crate) within: Duration,
    /// Where the call would start.
    pub(crate) cwd: Option<&'a str>,
    /// What time it is, in RFC 3339.
    pub(crate) now: &'a str,
}

impl Around<'_> {
    /// When the request is denied, if ever.
    fn expires_at(&self) -> Option<String> {
        let now: jiff::Timestamp = self.now.parse().ok()?;
        let within = jiff::SignedDuration::try_from(self.within).ok()?;
        Some(format!("{:.3}", now.checked_add(within).ok()?))
    }
}

/// A request that was entered.
pub(crate) struct Entered {
    pub(crate) id: String,
    pub(crate) digest: String,
    pub(crate) body: Body,
    /// Ends when the request is settled.
    pub(crate) settled: CancellationToken,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Enters a request; the body is to be announced. A time that no clock can show is never.
    pub(crate) fn enter(&mut self, run: &str, question: Question, around: Around<'_>) -> Entered {
        self.made += 1;
        let id = format!("{run}.{}", self.made);
        let (digest, body) = describe(&id, &question.ask, &around);
        let settled = CancellationToken::new();
        let open = Open {
            digest: digest.clone(),
            question,
            expires: Instant::now().checked_add(around.within),
            settled: settled.clone(),
            cwd: around.cwd.map(PathBuf::from),
        };
        self.open.insert(id.clone(), open);
        Entered {
            id,
            digest,
            body,
            settled,
        }
    }

    /// The input that an answer would have run instead, if it is about an open permission.
    pub(crate) fn edit(&self, answer: &Answer) -> Option<Edit> {
        let Verdict::AllowEdited(input) = &answer.verdict else {
            return None;
        };
        let open = self.open.get(&answer.id)?;
        let ask = &open.question.ask;
        if ask.kind == Some(QuestionKind::Elicitation) {
            return None;
        }
        Some(Edit {
            tool: ask.tool.clone(),
            cwd: open.cwd.clone(),
            asked: ask.input.clone(),
            input: input.clone(),
        })
    }

    /// Answers a request, if it is open, about this input, and of this kind.
    pub(crate) fn answer(&mut self, answer: Answer) -> Result<Body, AnswerError> {
        let Some(open) = self.open.get(&answer.id) else {
            return Err(AnswerError::NotOpen(answer.id));
        };
        if open.digest != answer.digest {
            return Err(AnswerError::Changed(answer.id));
        }
        let ask = &open.question.ask;
        if !fits(ask, &answer.verdict) {
            return Err(AnswerError::WrongKind(answer.id));
        }
        if answer.shown == Some(Shown::Part) && !answer.verdict.is_denial() {
            return Err(AnswerError::NotShown(answer.id));
        }
        if matches!(answer.verdict, Verdict::ApprovePlan(_)) && !shows_plan(ask) {
            return Err(AnswerError::NoPlan(answer.id));
        }
        match self.open.remove(&answer.id) {
            Some(open) => settle(open, answer).map_err(AnswerError::NotOpen),
            None => Err(AnswerError::NotOpen(answer.id)),
        }
    }

    /// The engine no longer wants to know.
    pub(crate) fn withdraw(&mut self, id: &str) -> Option<Body> {
        let open = self.open.remove(id)?;
        open.settled.cancel();
        Some(resolved(&open, id, Resolution::Withdrawn, "engine", None))
    }

    /// Denies what was not answered in time.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Body> {
        let is_late = |open: &Open| open.expires.is_some_and(|expires| expires <= now);
        let late = self.open.iter().filter(|(_, open)| is_late(open));
        let late: Vec<String> = late.map(|(id, _)| id.clone()).collect();
        let reason = "nobody answered in time, so this was denied";
        late.iter()
            .filter_map(|id| self.deny(id, Resolution::Expired, "timeout", reason))
            .collect()
    }

    /// Denies everything.
    pub(crate) fn deny_all(&mut self, by: &str, reason: &str) -> Vec<Body> {
        let all: Vec<String> = self.open.keys().cloned().collect();
        all.iter()
            .filter_map(|id| self.deny(id, Resolution::Denied, by, reason))
            .collect()
    }

    /// Ends everything without a word to the engine, which would tell the model of a denial.
    pub(crate) fn leave_all(&mut self, by: &str, reason: &str) -> Vec<Body> {
        let mut bodies = Vec::new();
        for (id, open) in std::mem::take(&mut self.open) {
            open.settled.cancel();
            bodies.push(resolved(&open, &id, Resolution::Expired, by, Some(reason)));
            self.unanswered.push(open.question);
        }
        bodies
    }

    /// When the next request is denied for being late.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.expires).min()
    }

    fn deny(&mut self, id: &str, how: Resolution, by: &str, reason: &str) -> Option<Body> {
        let open = self.open.remove(id)?;
        open.settled.cancel();
        let body = resolved(&open, id, how, by, Some(reason));
        // An engine that no longer waits needs no answer.
        open.question.answer(Reply::Undecided(reason.to_owned()));
        Some(body)
    }
}

fn describe(id: &str, ask: &Ask, around: &Around<'_>) -> (String, Body) {
    let Some(kind) = ask.kind else {
        let asked = permission(id, ask, around);
        let digest = asked.digest.clone();
        return (digest, Body::PermissionRequested(Box::new(asked)));
    };
    let digest = digest::of(&ask.tool, &ask.input);
    let mut asked = QuestionRequested::new(id, kind, ask.input.clone(), &*digest);
    asked.tool_use_id.clone_from(&ask.call);
    asked.expires_at = around.expires_at();
    (digest, Body::QuestionRequested(Box::new(asked)))
}

fn permission(id: &str, ask: &Ask, around: &Around<'_>) -> PermissionRequested {
    let mut asked = PermissionRequested::new(id, &*ask.tool, ask.input.clone(), "");
    asked.tool_use_id = ask.call.clone().unwrap_or_default();
    asked.reason.clone_from(&ask.reason);
    asked.agent.clone_from(&ask.agent);
    asked.title.clone_from(&ask.title);
    asked.description.clone_from(&ask.description);
    asked.blocked_path.clone_from(&ask.blocked_path);
    asked.cwd = around.cwd.map(str::to_owned);
    asked.needs_person = ask.needs_person;
    asked.expires_at = around.expires_at();
    asked.suggestions.clone_from(&ask.suggestions);
    asked.digest = digest::of_permission(&asked);
    asked
}

fn fits(ask: &Ask, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Deny(_) => true,
        Verdict::DenyAndStop(_) => ask.kind != Some(QuestionKind::Elicitation),
        Verdict::Allow | Verdict::AllowEdited(_) => ask.kind.is_none(),
        Verdict::AllowAlways(number) => {
            ask.kind.is_none() && ask.suggestions.get(*number).is_some()
        }
        Verdict::Choices(_) => ask.kind == Some(QuestionKind::Choice),
        Verdict::ApprovePlan(_) => ask.kind == Some(QuestionKind::Plan),
        Verdict::Form(_) => ask.kind == Some(QuestionKind::Elicitation),
    }
}

/// Returns `true` if the plan is part of what was shown.
fn shows_plan(ask: &Ask) -> bool {
    let plan = ask.input.get("plan").and_then(Value::as_str);
    plan.is_some_and(|plan| !plan.trim().is_empty())
}

/// Tells the engine. An error if it no longer listens: then the answer did not count.
fn settle(open: Open, answer: Answer) -> Result<Body, String> {
    open.settled.cancel();
    let Answer {
        id,
        by,
        verdict,
        rule,
        shown,
        ..
    } = answer;
    let (resolution, message) = match &verdict {
        Verdict::Deny(reason) | Verdict::DenyAndStop(reason) => {
            (Resolution::Denied, Some(reason.as_str()))
        }
        _ => (Resolution::Allowed, None),
    };
    let mut body = resolved(&open, &id, resolution, &by, message);
    note(&mut body, &open, &verdict);
    match &mut body {
        Body::PermissionResolved(resolved) => {
            resolved.rule = rule.or_else(|| resolved.rule.take());
            resolved.shown = shown;
        }
        Body::QuestionResolved(resolved) => resolved.shown = shown,
        _ => {}
    }
    if open.question.answer(Reply::Decided(verdict)) {
        Ok(body)
    } else {
        Err(id)
    }
}

/// What was chosen, for the record.
fn note(body: &mut Body, open: &Open, verdict: &Verdict) {
    match (body, verdict) {
        (Body::PermissionResolved(resolved), Verdict::AllowEdited(input)) => {
            resolved.edited = Some(input.clone());
        }
        (Body::PermissionResolved(resolved), Verdict::AllowAlways(number)) => {
            resolved.rule = open.question.ask.suggestions.get(*number).cloned();
        }
        (Body::QuestionResolved(resolved), Verdict::Choices(choices)) => {
            resolved.answers = Some(json!(choices));
        }
        (Body::QuestionResolved(resolved), Verdict::Form(fields)) => {
            resolved.answers = Some(Value::Object(fields.clone()));
        }
        (Body::QuestionResolved(resolved), Verdict::ApprovePlan(Some(mode))) => {
            resolved.answers = Some(json!({"mode": mode.as_str()}));
        }
        _ => {}
    }
}

fn resolved(open: &Open, id: &str, how: Resolution, by: &str, message: Option<&str>) -> Body {
    let message = message.map(str::to_owned);
    match open.question.ask.kind {
        None => {
            let mut resolved = PermissionResolved::new(id, how, by);
            resolved.message = message;
            Body::PermissionResolved(Box::new(resolved))
        }
        Some(_) => {
            let mut resolved = QuestionResolved::new(id, how, by);
            resolved.message = message;
            Body::QuestionResolved(Box::new(resolved))
        }
    }
}
