//! Answers that fit a schema.

use falconer::{Error, FailureClass, Structured, query_as};
use falconer_testkit::scenario::{MessageReply, Scenario, any, text, tool_use};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Stage;
use crate::scripted::LIMIT;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct City {
    name: String,
    inhabitants: u64,
}

fn output(value: Value) -> MessageReply {
    tool_use("StructuredOutput", value)
}

async fn ask<T>(stage: &Stage) -> Result<Structured<T>, Error>
where
    T: for<'de> Deserialize<'de> + JsonSchema,
{
    let run = query_as::<T>("go", stage.options());
    tokio::time::timeout(LIMIT * 3, run)
        .await
        .expect("the run hangs")
}

#[tokio::test]
async fn a_fitting_answer_arrives_in_its_type() {
    let stage =
        Stage::new(Scenario::new().turn(output(json!({ "name": "Bonn", "inhabitants": 330_000 }))));
    let answer = ask::<City>(&stage).await.unwrap();
    assert_eq!(
        answer.value,
        City {
            name: "Bonn".to_owned(),
            inhabitants: 330_000
        }
    );
    assert_eq!(answer.outcome.results.len(), 1);
    assert_eq!(stage.server.messages().len(), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_sent_back_until_one_does() {
    let scenario = Scenario::new()
        .turn(output(json!({ "name": "Bonn", "inhabitants": "many" })))
        .turn(output(json!({ "name": "Bonn", "inhabitants": 1 })));
    let stage = Stage::new(scenario);
    let answer = ask::<City>(&stage).await.unwrap();
    assert_eq!(answer.value.inhabitants, 1);
    let sent_back = stage.result_in(2);
    assert!(
        sent_back.is_error && sent_back.text.contains("inhabitants"),
        "{sent_back:?}"
    );
}

#[tokio::test]
async fn a_model_that_never_gives_structured_output_is_an_error_of_its_own() {
    let stage = Stage::new(
        Scenario::new()
            .on(any())
            .always()
            .reply(text("Bonn, I think")),
    );
    let error = ask::<City>(&stage).await.unwrap_err();
    assert!(
        matches!(error, Error::NoStructuredOutput { mismatch: None }),
        "{error:?}"
    );
}

#[tokio::test]
async fn answers_that_never_fit_fail_the_run() {
    let bad = output(json!({ "name": 1 }));
    let stage = Stage::new(Scenario::new().on(any()).always().reply(bad));
    let error = ask::<City>(&stage).await.unwrap_err();
    let Error::Failed(failure) = error else {
        panic!("{error:?}")
    };
    assert_eq!(failure.class, FailureClass::StructuredOutput);
}

/// Everything a schema of ours may hold: references, enums, maps, options, long texts.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
struct Report {
    /// What it is about.
    title: String,
    verdict: Verdict,
    findings: Vec<Finding>,
    score: Option<f32>,
    note: Option<String>,
    counts: std::collections::BTreeMap<String, u32>,
    pair: (u8, i64),
    mixed: (bool, String),
    #[serde(flatten)]
    city: City,
    anything: Value,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Good,
    NotGood,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Finding {
    place: Place,
    text: String,
    /// Findings may hold findings.
    #[serde(default)]
    parts: Vec<Finding>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Place {
    Line { file: String, line: u32 },
    Nowhere,
}

#[tokio::test]
async fn nested_types_enums_options_and_long_texts_fit_through() {
    let long = "ü".repeat(300);
    let value = json!({
        "title": long,
        "verdict": "not_good",
        "findings": [{
            "place": { "kind": "line", "file": "a.rs", "line": 3 },
            "text": "here",
            "parts": [{ "place": { "kind": "nowhere" }, "text": "there", "parts": [] }],
        }],
        "score": null,
        "counts": { "warnings": 2 },
        "pair": [255, -1],
        "mixed": [true, "yes"],
        "name": "Bonn",
        "inhabitants": 1,
        "anything": { "x": [1] },
    });
    let stage = Stage::new(Scenario::new().turn(output(value.clone())));
    let answer = ask::<Report>(&stage).await.unwrap();
    assert_eq!(answer.value, Report::deserialize(&value).unwrap());
    assert_eq!(answer.value.title, long);
    assert_eq!(answer.value.note, None);
    assert_eq!(stage.server.messages().len(), 1, "the first answer fits");
}

#[tokio::test]
async fn an_answer_need_not_be_an_object() {
    let list = Stage::new(Scenario::new().turn(output(json!({ "value": ["a", "b"] }))));
    assert_eq!(ask::<Vec<String>>(&list).await.unwrap().value, ["a", "b"]);
    let choice = Stage::new(Scenario::new().turn(output(json!({ "value": "good" }))));
    assert_eq!(ask::<Verdict>(&choice).await.unwrap().value, Verdict::Good);
    let tagged =
        Stage::new(Scenario::new().turn(output(json!({ "value": { "kind": "nowhere" } }))));
    assert_eq!(ask::<Place>(&tagged).await.unwrap().value, Place::Nowhere);
    for stage in [list, choice, tagged] {
        let tools = stage.server.messages()[0].body["tools"].clone();
        let tool = tools
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == "StructuredOutput");
        assert_eq!(
            tool.unwrap()["input_schema"]["type"],
            "object",
            "the API takes nothing else"
        );
    }
}

#[tokio::test]
async fn an_answer_may_hold_itself() {
    let place = json!({ "kind": "nowhere" });
    let part = json!({ "place": place, "text": "inner", "parts": [] });
    let whole = json!({ "place": place, "text": "outer", "parts": [part] });
    let stage = Stage::new(Scenario::new().turn(output(whole)));
    assert_eq!(
        ask::<Finding>(&stage).await.unwrap().value.parts[0].text,
        "inner"
    );
}

#[tokio::test]
async fn a_tuple_in_the_wrong_order_is_found_when_the_answer_is_read() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Pair {
        #[expect(dead_code, reason = "never read")]
        pair: (bool, String),
    }
    let stage = Stage::new(Scenario::new().turn(output(json!({ "pair": ["yes", true] }))));
    let error = ask::<Pair>(&stage).await.unwrap_err();
    assert!(
        matches!(error, Error::NoStructuredOutput { mismatch: Some(_) }),
        "{error:?}"
    );
}
