//! What the API does to a turn, and the class it gets.

use falconer::protocol::message::AssistantError;
use falconer::protocol::system::SystemMessage;
use falconer::{Error, Failure, FailureClass, Message, Options};
use falconer_testkit::scenario::{ApiError, Reply, Scenario, any, model, reset, status, text};

use super::Stage;
use super::evidence::system_messages;

/// Does not try again.
fn once(options: Options) -> Options {
    options.env("CLAUDE_CODE_MAX_RETRIES", "0")
}

/// The failure of a run in which the API always answers this.
async fn failure_of(reply: impl Into<Reply>) -> Failure {
    let stage = Stage::new(Scenario::new().on(any()).always().reply(reply));
    let outcome = stage.try_run("go", once(stage.options())).await;
    let Err(Error::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(!failure.message.is_empty() && !failure.advice().is_empty());
    assert_eq!(failure.is_retryable(), failure.class.is_retryable());
    failure
}

/// The API error leads to this class.
async fn check(error: ApiError, class: FailureClass, retryable: bool) {
    let status = error.status;
    let failure = failure_of(error).await;
    assert_eq!(failure.class, class, "{failure}");
    assert_eq!(failure.is_retryable(), retryable);
    assert_eq!(failure.status, Some(status), "{failure}");
}

#[tokio::test]
async fn errors_of_the_server_are_tried_again_and_shown() {
    let scenario = Scenario::new()
        .on(any())
        .times(2)
        .reply(status(500))
        .turn(text("at last"));
    let stage = Stage::new(scenario);
    let messages = stage.all_messages("go", stage.options()).await;
    let retries: Vec<_> = system_messages(&messages)
        .filter_map(|line| match line {
            SystemMessage::ApiRetry(retry) => Some((retry.attempt, retry.error_status)),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [(1, Some(500)), (2, Some(500))]);
    let last = messages.iter().rev().find_map(|message| match message {
        Message::Result(result) => Some(result.text()),
        _ => None,
    });
    assert_eq!(last.as_deref(), Some("at last"));
}

#[tokio::test]
async fn a_wrong_key_is_an_authentication_failure() {
    let error = status(401).message("invalid x-api-key");
    check(error, FailureClass::Authentication, false).await;
}

#[tokio::test]
async fn a_wrong_key_is_tried_again_but_seen_at_the_first_attempt() {
    let stage = Stage::new(Scenario::new().on(any()).always().reply(status(401)));
    let options = stage.options().env("CLAUDE_CODE_MAX_RETRIES", "1");
    let mut run = falconer::query("go", options).await.unwrap();
    let mut seen = Vec::new();
    while let Some(Ok(message)) = run.next().await {
        if let Message::System(SystemMessage::ApiRetry(retry)) = message {
            seen.push((retry.attempt, retry.error_status, retry.error));
        }
    }
    assert_eq!(
        seen,
        [(1, Some(401), Some(AssistantError::AuthenticationFailed))]
    );
}

#[tokio::test]
async fn a_connection_that_breaks_is_tried_again() {
    let scenario = Scenario::new()
        .turn(reset())
        .turn(text("lost words").cut_after(4))
        .turn(text("found words"));
    let stage = Stage::new(scenario);
    let messages = stage.all_messages("go", stage.options()).await;
    let retries: Vec<_> = system_messages(&messages)
        .filter_map(|line| match line {
            SystemMessage::ApiRetry(retry) => Some(retry.error_status),
            _ => None,
        })
        .collect();
    assert_eq!(
        retries,
        [None, None],
        "without an answer there is no status"
    );
    let found = |m: &Message| matches!(m, Message::Result(r) if r.text() == "found words");
    assert!(messages.iter().any(found));
}

#[tokio::test]
async fn a_key_without_the_right_is_an_authentication_failure() {
    check(status(403), FailureClass::Authentication, false).await;
}

#[tokio::test]
async fn no_key_at_all_is_an_authentication_failure() {
    let stage = Stage::new(Scenario::new());
    let options = stage.options().env_remove("ANTHROPIC_API_KEY");
    let outcome = stage.try_run("go", options).await;
    let Err(Error::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(failure.class, FailureClass::Authentication, "{failure}");
    assert!(failure.advice().contains("ANTHROPIC_API_KEY"));
}

#[tokio::test]
async fn too_many_requests_are_a_rate_limit() {
    check(status(429), FailureClass::RateLimit, true).await;
}

#[tokio::test]
async fn an_overloaded_service_without_fallback_is_overloaded() {
    check(status(529), FailureClass::Overloaded, true).await;
}

#[tokio::test]
async fn an_overloaded_model_is_replaced_by_its_fallback() {
    let scenario = Scenario::new()
        .on(model("claude-haiku-4-5"))
        .reply(text("the fallback speaks"))
        .on(any())
        .always()
        .reply(status(529));
    let stage = Stage::new(scenario);
    let options = stage.options().fallback_model("claude-haiku-4-5");
    let messages = stage.all_messages("go", options).await;
    let fallback = system_messages(&messages).find_map(|line| match line {
        SystemMessage::ModelFallback(line) => Some(line.fallback_model.clone()),
        _ => None,
    });
    assert_eq!(fallback.as_deref(), Some("claude-haiku-4-5"));
    let said = messages.iter().any(|message| match message {
        Message::Result(result) => result.is_success() && result.text() == "the fallback speaks",
        _ => false,
    });
    assert!(said);
}

#[tokio::test]
async fn a_failing_server_is_a_server_failure() {
    check(status(500), FailureClass::Server, true).await;
}

#[tokio::test]
async fn a_refused_connection_is_a_server_failure() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nowhere = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let stage = Stage::new(Scenario::new());
    let options = once(stage.options()).env("ANTHROPIC_BASE_URL", nowhere);
    let outcome = stage.try_run("go", options).await;
    let Err(Error::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(failure.class, FailureClass::Server, "{failure}");
    assert!(failure.is_retryable() && !failure.advice().is_empty());
    assert_eq!(failure.status, None);
}

#[tokio::test]
async fn a_refusal_of_the_model_is_a_refusal() {
    let failure = failure_of(text("I cannot").stop_reason("refusal")).await;
    assert_eq!(failure.class, FailureClass::Refusal, "{failure}");
    assert!(!failure.is_retryable());
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_named_so() {
    let error = status(400).message("prompt is too long: 300000 tokens > 200000 maximum");
    let failure = failure_of(error).await;
    assert_eq!(failure.class, FailureClass::PromptTooLong, "{failure}");
    assert!(failure.advice().contains("/compact"));
}

#[tokio::test]
async fn a_request_that_is_too_large_is_a_prompt_too_long() {
    let failure = failure_of(status(413)).await;
    assert_eq!(failure.class, FailureClass::PromptTooLong, "{failure}");
}

#[tokio::test]
async fn an_unknown_model_is_named_so() {
    check(
        status(404).message("model: claude-none"),
        FailureClass::ModelNotFound,
        false,
    )
    .await;
}

#[tokio::test]
async fn a_used_up_balance_is_a_billing_failure() {
    let words = "Your credit balance is too low to access the Anthropic API.";
    check(status(400).message(words), FailureClass::Billing, false).await;
}

#[tokio::test]
async fn another_bad_request_is_an_invalid_request_with_the_words_of_the_api() {
    let failure = failure_of(status(400).message("messages.0: wrong shape")).await;
    assert_eq!(failure.class, FailureClass::InvalidRequest, "{failure}");
    assert!(failure.message.contains("wrong shape"), "{failure}");
}

#[tokio::test]
async fn an_answer_that_never_fits_the_output_limit_is_named_so() {
    let failure = failure_of(text("on and on").stop_reason("max_tokens")).await;
    assert_eq!(failure.class, FailureClass::OutputLimit, "{failure}");
    assert!(!failure.is_retryable());
}
