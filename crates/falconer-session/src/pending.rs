//! What the agent has asked and nobody has answered yet.
//!
//! Each request is answered exactly once: taking it out of the table is what makes an answer
//! count, and only the session's task can do that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use falconer::protocol::control::{CanUseTool, Elicitation};
use falconer::protocol::permission::{PermissionDestination, PermissionUpdate, SetMode};
use falconer::protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use falconer::{Decision, ElicitationAnswer};
use falconer_event::{
    Body, PermissionRequested, PermissionResolved, QuestionKind, QuestionRequested,
    QuestionResolved, Resolution, Shown,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Verdict};
use crate::digest;
use crate::error::AnswerError;
use crate::session::Judged;

/// What the engine wants to know.
#[derive(Debug)]
pub(crate) enum Ask {
    Tool(Box<CanUseTool>, oneshot::Sender<Decision>),
    Form(Box<Elicitation>, oneshot::Sender<ElicitationAnswer>),
}

/// What the engine asks, on its way to the session.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Somebody has to decide.
    Request {
        ask: Ask,
        judged: Judged,
        withdrawn: CancellationToken,
    },
    /// A tool is about to run; answered once all that was said before has been read.
    Call(oneshot::Sender<()>),
    /// Something went wrong that people have to know: a word a program can match, and a text.
    Warning(&'static str, String),
}

/// The requests that are open.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    open: BTreeMap<String, Open>,
    /// Requests that ended without an answer: the engine must not take one for a denial.
    unanswered: Vec<Ask>,
    made: u64,
}

#[derive(Debug)]
struct Open {
    kind: Option<QuestionKind>,
    digest: String,
    ask: Ask,
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
    /// No rule may allow it.
    pub(crate) needs_person: bool,
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
    pub(crate) fn enter(&mut self, run: &str, ask: Ask, around: Around<'_>) -> Entered {
        self.made += 1;
        let id = format!("{run}.{}", self.made);
        let (kind, digest, body) = describe(&id, &ask, &around);
        let settled = CancellationToken::new();
        let open = Open {
            kind,
            digest: digest.clone(),
            ask,
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
        let Ask::Tool(ask, _) = &open.ask else {
            return None;
        };
        Some(Edit {
            tool: ask.tool_name.clone(),
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
        if !fits(open, &answer.verdict) {
            return Err(AnswerError::WrongKind(answer.id));
        }
        if answer.shown == Some(Shown::Part) && !answer.verdict.is_denial() {
            return Err(AnswerError::NotShown(answer.id));
        }
        if matches!(answer.verdict, Verdict::ApprovePlan(_)) && !shows_plan(&open.ask) {
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
            self.unanswered.push(open.ask);
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
        match open.ask {
            // Who asked may be gone; then there is nobody to tell.
            Ask::Tool(_, reply) => drop(reply.send(Decision::deny(reason))),
            Ask::Form(_, reply) => drop(reply.send(ElicitationAnswer::Cancel)),
        }
        Some(body)
    }
}

fn describe(id: &str, ask: &Ask, around: &Around<'_>) -> (Option<QuestionKind>, String, Body) {
    match ask {
        Ask::Tool(ask, _) => match question_kind(&ask.tool_name) {
            Some(kind) => {
                let digest = digest::of(&ask.tool_name, &ask.input);
                let mut asked = QuestionRequested::new(id, kind, ask.input.clone(), &*digest);
                asked.tool_use_id = ask.tool_use_id.as_ref().map(|id| id.as_str().to_owned());
                asked.expires_at = around.expires_at();
                (Some(kind), digest, Body::QuestionRequested(Box::new(asked)))
            }
            None => {
                let asked = permission(id, ask, around);
                let digest = asked.digest.clone();
                (None, digest, Body::PermissionRequested(Box::new(asked)))
            }
        },
        Ask::Form(ask, _) => {
            let form = serde_json::to_value(ask).unwrap_or_default();
            let digest = digest::of("elicitation", &form);
            let kind = QuestionKind::Elicitation;
            let mut asked = QuestionRequested::new(id, kind, form, &*digest);
            asked.expires_at = around.expires_at();
            (Some(kind), digest, Body::QuestionRequested(Box::new(asked)))
        }
    }
}

fn permission(id: &str, ask: &CanUseTool, around: &Around<'_>) -> PermissionRequested {
    let mut asked = PermissionRequested::new(id, &*ask.tool_name, ask.input.clone(), "");
    asked.tool_use_id = ask
        .tool_use_id
        .as_ref()
        .map(|id| id.as_str().to_owned())
        .unwrap_or_default();
    asked.reason.clone_from(&ask.decision_reason);
    asked.agent = ask.agent_id.as_ref().map(|id| id.as_str().to_owned());
    asked.title.clone_from(&ask.title);
    asked.description.clone_from(&ask.description);
    asked.blocked_path.clone_from(&ask.blocked_path);
    asked.cwd = around.cwd.map(str::to_owned);
    asked.needs_person = around.needs_person;
    asked.expires_at = around.expires_at();
    let suggestions = ask.permission_suggestions.iter().flatten();
    asked.suggestions = suggestions
        .filter_map(|rule| serde_json::to_value(rule).ok())
        .collect();
    asked.digest = digest::of_permission(&asked);
    asked
}

/// Questions and plans come as tools.
fn question_kind(tool: &str) -> Option<QuestionKind> {
    match tool {
        ASK_USER_QUESTION => Some(QuestionKind::Choice),
        EXIT_PLAN_MODE => Some(QuestionKind::Plan),
        _ => None,
    }
}

/// Whether a tool is a question to the user.
pub(crate) fn is_question(tool: &str) -> bool {
    question_kind(tool).is_some()
}

fn fits(open: &Open, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Deny(_) => true,
        Verdict::DenyAndStop(_) => matches!(open.ask, Ask::Tool(..)),
        Verdict::Allow | Verdict::AllowEdited(_) => open.kind.is_none(),
        Verdict::AllowAlways(number) => {
            open.kind.is_none() && suggestion(&open.ask, *number).is_some()
        }
        Verdict::Choices(_) => open.kind == Some(QuestionKind::Choice),
        Verdict::ApprovePlan(_) => open.kind == Some(QuestionKind::Plan),
        Verdict::Form(_) => open.kind == Some(QuestionKind::Elicitation),
    }
}

/// Whether the plan is part of what was shown.
fn shows_plan(ask: &Ask) -> bool {
    let plan = match ask {
        Ask::Tool(ask, _) => ask.input.get("plan").and_then(Value::as_str),
        Ask::Form(..) => None,
    };
    plan.is_some_and(|plan| !plan.trim().is_empty())
}

fn suggestion(ask: &Ask, number: usize) -> Option<PermissionUpdate> {
    match ask {
        Ask::Tool(ask, _) => ask.permission_suggestions.as_ref()?.get(number).cloned(),
        Ask::Form(..) => None,
    }
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
    let heard = match open.ask {
        Ask::Tool(ask, reply) => reply.send(decision(&ask, verdict)).is_ok(),
        Ask::Form(_, reply) => reply.send(form(verdict)).is_ok(),
    };
    match heard {
        true => Ok(body),
        false => Err(id),
    }
}

/// What was chosen, for the record.
fn note(body: &mut Body, open: &Open, verdict: &Verdict) {
    match (body, verdict) {
        (Body::PermissionResolved(resolved), Verdict::AllowEdited(input)) => {
            resolved.edited = Some(input.clone());
        }
        (Body::PermissionResolved(resolved), Verdict::AllowAlways(number)) => {
            let rule = suggestion(&open.ask, *number);
            resolved.rule = rule.and_then(|rule| serde_json::to_value(rule).ok());
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

fn decision(ask: &CanUseTool, verdict: Verdict) -> Decision {
    match verdict {
        Verdict::Allow | Verdict::ApprovePlan(None) => Decision::allow(),
        Verdict::AllowEdited(input) => Decision::allow_with_input(input),
        Verdict::AllowAlways(number) => {
            let rule = ask
                .permission_suggestions
                .as_ref()
                .and_then(|all| all.get(number));
            rule.map_or_else(Decision::allow, |rule| Decision::allow_always(rule.clone()))
        }
        Verdict::ApprovePlan(Some(mode)) => {
            Decision::allow_always(PermissionUpdate::SetMode(SetMode {
                mode,
                destination: PermissionDestination::Session,
                ..SetMode::default()
            }))
        }
        Verdict::Choices(choices) => {
            let joined: BTreeMap<_, _> = choices
                .into_iter()
                .map(|(question, chosen)| (question, chosen.join(", ")))
                .collect();
            let mut input = ask.input.clone();
            match input.as_object_mut() {
                Some(fields) => drop(fields.insert("answers".to_owned(), json!(joined))),
                None => return Decision::deny("the question could not be read"),
            }
            Decision::allow_with_input(input)
        }
        Verdict::Deny(reason) => Decision::deny(reason),
        Verdict::DenyAndStop(reason) => Decision::deny_and_stop(reason),
        // Not let in by `fits`; on the safe side all the same.
        Verdict::Form(_) => Decision::deny("a form is no answer to a tool call"),
    }
}

fn form(verdict: Verdict) -> ElicitationAnswer {
    match verdict {
        Verdict::Form(fields) => ElicitationAnswer::Accept(fields),
        _ => ElicitationAnswer::Decline,
    }
}

fn resolved(open: &Open, id: &str, how: Resolution, by: &str, message: Option<&str>) -> Body {
    let message = message.map(str::to_owned);
    match open.kind {
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
