//! Asks the model until it answers: retries, other models, the answer in one piece.

use std::time::{Duration, Instant};

use falconer_model::{ApiFailure, Attempt, FailureKind, RetryDecision, RetryPolicy};
use falconer_protocol::system::ApiRetry;

use super::Turn;
use super::listen::{self, Heard, Listened};
use super::tools::Tools;
use crate::frame::system;
use crate::session::ledger::Tokens;

/// After so many refusals for overload in a row another model is asked.
const OVERLOADS: u32 = 3;

/// What came of asking.
pub(crate) enum Asked {
    Answered(Heard),
    Failed(ApiFailure),
    /// The turn was interrupted; everything about it has been said.
    Interrupted(Heard),
}

/// How the answer is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Streamed,
    /// In one piece: the last stream broke in the middle.
    Whole,
}

/// What has gone wrong so far.
struct Troubles {
    policy: RetryPolicy,
    attempt: Attempt,
    overloads: u32,
    manner: Manner,
}

/// What to do after a failure.
enum Way {
    Again,
    GiveUp(ApiFailure),
    Interrupted,
}

/// Sends the conversation and gets an answer, however often it takes.
pub(crate) async fn ask(turn: &mut Turn, tools: &mut Tools) -> Asked {
    if turn.core.options.output.partial {
        let frame = system::requesting(&turn.prompts);
        turn.core.speaker.say(frame).await;
    }
    let mut troubles = Troubles {
        policy: RetryPolicy::from_environment(&turn.core.workbench.shop.environment),
        attempt: Attempt::first(),
        overloads: 0,
        manner: Manner::Streamed,
    };
    loop {
        let begun = Instant::now();
        let listened = once(turn, tools, troubles.manner).await;
        turn.core.ledger().book_time(begun.elapsed());
        let way = match listened {
            Listened::Answered(heard) => return Asked::Answered(heard),
            Listened::Interrupted(heard) => return Asked::Interrupted(heard),
            // Calls of the broken answer already run: it is taken for what it is.
            Listened::Failed { heard, .. } if heard.calls_tools() => {
                return Asked::Answered(heard);
            }
            Listened::Failed {
                failure,
                heard,
                midstream,
            } => {
                if midstream {
                    turn.tally.broke_off(&Tokens::read(&heard.usage()));
                }
                let lines = heard.blocks.into_iter().filter_map(|it| it.line);
                turn.superseded.extend(lines);
                troubles.consider(turn, failure, midstream).await
            }
        };
        match way {
            Way::Again => {}
            Way::GiveUp(failure) => return Asked::Failed(failure),
            Way::Interrupted => {
                listen::cut_before_begin(turn).await;
                return Asked::Interrupted(Heard::default());
            }
        }
    }
}

async fn once(turn: &mut Turn, tools: &mut Tools, manner: Manner) -> Listened {
    let request = turn.request();
    tracing::debug!(model = %turn.core.model(), "asking the model");
    match manner {
        Manner::Streamed => listen::listen(turn, tools, request).await,
        Manner::Whole => {
            let provider = std::sync::Arc::clone(&turn.core.provider);
            let interrupt = turn.interrupt.clone();
            let whole = tokio::select! {
                biased;
                () = interrupt.token().cancelled() => None,
                whole = provider.whole(request) => Some(whole),
            };
            match whole {
                None => listen::cut_before_begin(turn).await,
                Some(Ok(message)) => {
                    Listened::Answered(listen::show_whole(turn, tools, message).await)
                }
                Some(Err(failure)) => Listened::Failed {
                    failure,
                    heard: Heard::default(),
                    midstream: false,
                },
            }
        }
    }
}

impl Troubles {
    async fn consider(&mut self, turn: &mut Turn, failure: ApiFailure, midstream: bool) -> Way {
        tracing::debug!(kind = ?failure.kind, midstream, "the model gave no answer");
        let broken = matches!(
            failure.kind,
            FailureKind::Connection | FailureKind::Timeout | FailureKind::Malformed
        );
        if midstream && !broken && self.manner == Manner::Streamed {
            self.manner = Manner::Whole;
            return Way::Again;
        }
        // Some gateways know the path for answers in one piece only.
        if failure.kind == FailureKind::ModelNotFound && self.manner == Manner::Streamed {
            self.manner = Manner::Whole;
            return Way::Again;
        }
        if self.falls_back(&failure) && turn.fall_back(trigger(&failure)).await {
            self.attempt = Attempt::first();
            self.overloads = 0;
            self.manner = Manner::Streamed;
            return Way::Again;
        }
        self.attempt = self.attempt.failed(&failure);
        match self
            .policy
            .decide(&failure, self.attempt, falconer_model::jitter())
        {
            RetryDecision::GiveUp => Way::GiveUp(failure),
            RetryDecision::Retry { delay } => self.wait(turn, &failure, delay).await,
        }
    }

    /// Whether it is time for another model.
    fn falls_back(&mut self, failure: &ApiFailure) -> bool {
        match failure.kind {
            FailureKind::Overloaded => {
                self.overloads += 1;
                self.overloads >= OVERLOADS
            }
            FailureKind::ModelNotFound => true,
            _ => {
                self.overloads = 0;
                false
            }
        }
    }

    async fn wait(&self, turn: &Turn, failure: &ApiFailure, delay: Duration) -> Way {
        let frame = ApiRetry {
            attempt: self.attempt.number().into(),
            max_retries: self.policy.max_retries.into(),
            retry_delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX).into(),
            error_status: failure.status.map(u64::from),
            error: Some(super::failure::retry_class(failure)),
            ..ApiRetry::default()
        };
        turn.core
            .speaker
            .say(frame.with_empty("error_status"))
            .await;
        tokio::select! {
            biased;
            () = turn.interrupt.token().cancelled() => Way::Interrupted,
            () = tokio::time::sleep(delay) => Way::Again,
        }
    }
}

fn trigger(failure: &ApiFailure) -> &'static str {
    match failure.kind {
        FailureKind::ModelNotFound => "model_not_found",
        _ => "overloaded",
    }
}
