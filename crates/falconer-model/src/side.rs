//! A small model for quick questions, on top of any provider.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::retry::{Attempt, RetryDecision, RetryPolicy, jitter};
use crate::{ApiFailure, ApiRequest, Provider, RequestBody, SideModel};

/// How long an answer may be, in tokens.
const MAX_TOKENS: u64 = 4096;

/// Nobody waits ten retries for a side question.
const RETRIES: u32 = 2;

/// How many answers' usage is kept for whoever asks.
const KEPT: usize = 256;

/// A model beside the conversation.
#[derive(Debug)]
pub struct QuickModel {
    provider: Arc<dyn Provider>,
    model: String,
    spent: Mutex<Vec<Value>>,
}

impl QuickModel {
    pub fn new(provider: Arc<dyn Provider>, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            spent: Mutex::new(Vec::new()),
        }
    }

    async fn answer(&self, prompt: String) -> Result<String, ApiFailure> {
        let request = ApiRequest {
            body: RequestBody::question(&self.model, MAX_TOKENS, &prompt),
            betas: Vec::new(),
        };
        let message = self.ask_until_answered(request).await?;
        self.note(&message);
        let blocks = message["content"].as_array().into_iter().flatten();
        let texts = blocks.filter_map(|block| block["text"].as_str());
        Ok(texts.collect())
    }

    async fn ask_until_answered(&self, request: ApiRequest) -> Result<Value, ApiFailure> {
        let policy = RetryPolicy {
            max_retries: RETRIES,
            ..RetryPolicy::default()
        };
        let mut attempt = Attempt::first();
        loop {
            let failure = match self.provider.whole(request.clone()).await {
                Ok(message) => return Ok(message),
                Err(failure) => failure,
            };
            attempt = attempt.failed(&failure);
            match policy.decide(&failure, attempt, jitter()) {
                RetryDecision::Retry { delay } => tokio::time::sleep(delay).await,
                RetryDecision::GiveUp => return Err(failure),
            }
        }
    }

    fn note(&self, message: &Value) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.len() < KEPT {
            spent.push(message["usage"].clone());
        }
    }
}

impl SideModel for QuickModel {
    fn ask(&self, prompt: String) -> BoxFuture<'_, Result<String, ApiFailure>> {
        Box::pin(self.answer(prompt))
    }

    fn take_spent(&self) -> (&str, Vec<Value>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.model, std::mem::take(&mut spent))
    }
}

#[cfg(test)]
mod tests {
    use falconer_scenario::{Scenario, last_user_contains, model, status, text};

    use super::*;
    use crate::FailureKind;
    use crate::scripted::Scripted;

    #[tokio::test(start_paused = true)]
    async fn it_asks_answers_and_tries_again() {
        let scenario = Scenario::new()
            .turn(status(529))
            .on(model("small").and(last_user_contains("sum up")))
            .reply(text("short").text(" words"))
            .turn(status(401));
        let scripted = Arc::new(Scripted::new(scenario));
        let quick = QuickModel::new(scripted, "small");
        assert_eq!(
            quick.ask("sum up this".to_owned()).await.unwrap(),
            "short words"
        );
        let (name, spent) = quick.take_spent();
        assert_eq!((name, spent.len()), ("small", 1));
        assert!(quick.take_spent().1.is_empty());
        let failure = quick.ask("more".to_owned()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Authentication);
    }
}
