//! Questions the model asks the user, and plans it wants approved.
//!
//! Both arrive as permission requests of special tools; here they have types of their own.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use falconer_protocol::control::CanUseTool;
use falconer_protocol::permission::{
    PermissionDestination, PermissionMode, PermissionUpdate, SetMode,
};
use falconer_protocol::tool::{AskUserQuestionInput, Question};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::permission::Decision;
use crate::position::Position;

/// One to four questions for the user.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct QuestionRequest {
    /// The questions, each with its options.
    pub questions: Vec<Question>,
    /// The request as the engine sent it.
    pub ask: CanUseTool,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

impl QuestionRequest {
    /// Reads the questions; `None` if they cannot be read, so that they are treated as an
    /// ordinary permission request.
    pub(crate) fn read(
        ask: &CanUseTool,
        withdrawn: &CancellationToken,
        position: Position,
    ) -> Option<Self> {
        let input: AskUserQuestionInput = falconer_protocol::from_value(ask.input.clone()).ok()?;
        let questions = input.questions;
        Some(Self {
            questions,
            ask: ask.clone(),
            withdrawn: withdrawn.clone(),
            position,
        })
    }
}

/// The user's answer to a [`QuestionRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Answers {
    /// Each question's text with the chosen labels or the user's own words.
    Given(BTreeMap<String, Vec<String>>),
    /// No answer; the model reads why.
    Declined(String),
}

impl Answers {
    /// No answers yet; add them with [`Answers::answer`].
    pub fn new() -> Self {
        Self::Given(BTreeMap::new())
    }

    /// Answers one question with an option's label or free text. A question that allows
    /// several choices is answered several times.
    pub fn answer(mut self, question: impl Into<String>, choice: impl Into<String>) -> Self {
        if let Self::Given(answers) = &mut self {
            answers
                .entry(question.into())
                .or_default()
                .push(choice.into());
        }
        self
    }

    /// Does not answer.
    pub fn decline(reason: impl Into<String>) -> Self {
        Self::Declined(reason.into())
    }

    pub(crate) fn into_decision(self, input: &Value) -> Decision {
        match self {
            Self::Given(answers) => {
                let joined: BTreeMap<_, _> = answers
                    .into_iter()
                    .map(|(question, choices)| (question, choices.join(", ")))
                    .collect();
                let mut input = input.clone();
                input["answers"] = json!(joined);
                Decision::allow_with_input(input)
            }
            Self::Declined(reason) => Decision::deny(reason),
        }
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self::new()
    }
}

/// A plan that waits for approval.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlanRequest {
    /// The plan's text, if the model gave it with the call. Some engines keep it in a file
    /// only.
    pub plan: Option<String>,
    /// The request as the engine sent it.
    pub ask: CanUseTool,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

/// The user's word on a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum PlanDecision {
    /// Go ahead, asking as before.
    Approve,
    /// Go ahead in another permission mode, such as accepting edits.
    ApproveIn(PermissionMode),
    /// Keep planning; the model reads the comment.
    KeepPlanning(String),
}

impl PlanDecision {
    pub(crate) fn into_decision(self) -> Decision {
        match self {
            Self::Approve => Decision::allow(),
            Self::ApproveIn(mode) => Decision::allow_always(PermissionUpdate::SetMode(SetMode {
                mode,
                destination: PermissionDestination::Session,
                ..SetMode::default()
            })),
            Self::KeepPlanning(comment) => Decision::deny(comment),
        }
    }
}

/// Answers questions. Any `async` closure from [`QuestionRequest`] to [`Answers`] is one.
pub trait QuestionHandler: Send + Sync + 'static {
    /// Answers the questions of one request.
    fn answer(self: Arc<Self>, request: QuestionRequest) -> BoxFuture<'static, Answers>;
}

impl<F, Fut> QuestionHandler for F
where
    F: Fn(QuestionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answers> + Send + 'static,
{
    fn answer(self: Arc<Self>, request: QuestionRequest) -> BoxFuture<'static, Answers> {
        Box::pin(async move { self(request).await })
    }
}

/// Approves plans. Any `async` closure from [`PlanRequest`] to [`PlanDecision`] is one.
pub trait PlanHandler: Send + Sync + 'static {
    /// Decides about one plan.
    fn review(self: Arc<Self>, request: PlanRequest) -> BoxFuture<'static, PlanDecision>;
}

impl<F, Fut> PlanHandler for F
where
    F: Fn(PlanRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = PlanDecision> + Send + 'static,
{
    fn review(self: Arc<Self>, request: PlanRequest) -> BoxFuture<'static, PlanDecision> {
        Box::pin(async move { self(request).await })
    }
}
