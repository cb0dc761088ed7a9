//! One question, one run.

use falconer::{Error, Failure, FailureClass, Message, MessageKind, query, query_as};
use falconer_native::Scenario;
use falconer_scenario::{last_user_contains, status, text, tool_result_contains, tool_use};
use serde_json::json;

use crate::workplace::Workplace;

#[tokio::test]
async fn a_question_is_answered_and_has_a_price() {
    let place = Workplace::new();
    let options = place.options(Scenario::new().turn(text("four")));
    let outcome = query("2 + 2?", options)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.text(), "four");
    assert_eq!(outcome.results.len(), 1);
    assert!(outcome.cost_usd() > 0.0);
}

#[tokio::test]
async fn answers_stream_in_pieces_that_make_the_whole() {
    let place = Workplace::new();
    let scenario = Scenario::new().turn(text("one two three").delta_chars(4));
    let options = place.options(scenario).include_partial_messages();
    let mut run = query("count", options).await.unwrap();
    let mut streamed = String::new();
    let mut whole = String::new();
    while let Some(message) = run.next().await {
        match message.unwrap() {
            Message::StreamEvent(event) => streamed += event.text_delta().unwrap_or_default(),
            Message::Assistant(message) => whole += &message.text(),
            _ => {}
        }
    }
    assert_eq!(streamed, "one two three");
    assert_eq!(whole, streamed);
}

#[tokio::test]
async fn tools_run_in_the_working_directory() {
    let place = Workplace::new();
    let notes = place.write("notes.txt", "the secret is 42\n");
    let scenario = Scenario::new()
        .on(last_user_contains("secret"))
        .reply(tool_use("Read", json!({ "file_path": notes })))
        .on(tool_result_contains("42"))
        .reply(tool_use(
            "Bash",
            json!({ "command": "pwd; cat notes.txt | wc -l" }),
        ))
        .on(tool_result_contains(place.work().to_str().unwrap()))
        .reply(text("42"));
    let options = place.options(scenario).allow_tools(["Bash"]);
    let mut run = query("what is the secret?", options).await.unwrap();
    let mut kinds = Vec::new();
    while let Some(message) = run.next_raw().await {
        kinds.push(message.unwrap().kind());
    }
    use MessageKind::{Assistant, Result, User};
    kinds.retain(|kind| matches!(kind, Assistant | Result | User));
    assert_eq!(kinds, [Assistant, User, Assistant, User, Assistant, Result]);
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[tokio::test]
async fn an_answer_can_have_a_type() {
    let place = Workplace::new();
    let scenario = Scenario::new()
        .turn(tool_use("StructuredOutput", json!({ "sum": "four" })))
        .turn(tool_use("StructuredOutput", json!({ "sum": 4 })));
    let sum = query_as::<Sum>("2 + 2?", place.options(scenario))
        .await
        .unwrap();
    assert_eq!(sum.value, Sum { sum: 4 });
}

#[tokio::test]
async fn a_refused_key_is_a_failure_at_once() {
    let place = Workplace::new();
    let scenario = Scenario::new().turn(status(401));
    let error = query("hi", place.options(scenario))
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap_err();
    let Error::Failed(Failure { class, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(class, FailureClass::Authentication);
}

#[tokio::test]
async fn without_a_key_a_run_says_so() {
    let place = Workplace::new();
    let options = place.options_of(falconer_native::NativeEngine::new());
    let error = query("hi", options)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap_err();
    let Error::Failed(failure) = error else {
        panic!("{error}");
    };
    assert_eq!(failure.class, FailureClass::Authentication, "{failure:?}");
}
