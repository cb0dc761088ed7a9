//! `AskUserQuestion`: questions with answers to choose from.
//!
//! The permission question carries them to the host; the host allows the call with the answers
//! in its input. What is left to do here is to tell them to the model.

use std::collections::HashSet;
use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::tool::ASK_USER_QUESTION;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Call, Describe, Outcome, Target, TypedTool};
use crate::workbench::Workbench;

/// The tool.
#[derive(Debug, Default)]
pub(crate) struct AskUserQuestion;

/// Questions that were read, with the answers of the host once there are any.
///
/// This is also what the host gets back, so the parts stay as they were written.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    questions: Value,
    answers: Object,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Value>,
}

impl Describe for AskUserQuestion {
    fn name(&self) -> &str {
        ASK_USER_QUESTION
    }

    fn description(&self) -> String {
        "Asks the user one to four questions, each with two to four answers to choose from; the \
         user can also answer in own words. Use it when a decision is the user's to make and you \
         cannot find the answer yourself. Put the answer you recommend first and say so in its \
         label."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        let text = |what: &str| json!({"type": "string", "description": what});
        let option = json!({
            "type": "object",
            "properties": {
                "label": text("The answer, in one to five words"),
                "description": text("What choosing it means"),
                "preview": text("Something to look at while choosing, such as code")
            },
            "required": ["label", "description"],
            "additionalProperties": false
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": text("The whole question, with its question mark"),
                "header": text("A label of at most 12 characters"),
                "options": {"type": "array", "minItems": 2, "maxItems": 4, "items": option},
                "multiSelect": {"type": "boolean", "description": "Whether several answers may be chosen"}
            },
            "required": ["question", "header", "options", "multiSelect"],
            "additionalProperties": false
        });
        json!({
            "type": "object",
            "properties": {
                "questions": {"type": "array", "minItems": 1, "maxItems": 4, "items": question},
                "answers": {"type": "object", "description": "Filled in by the user"},
                "annotations": {"type": "object", "description": "Filled in by the user"},
                "metadata": {"type": "object"}
            },
            "required": ["questions"],
            "additionalProperties": false
        })
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn needs_person(&self) -> bool {
        true
    }

    fn complete(&self, mut input: Object) -> Object {
        let questions = input.get_mut("questions").and_then(Value::as_array_mut);
        questions.into_iter().flatten().for_each(complete_question);
        input
    }
}

impl TypedTool for AskUserQuestion {
    type Input = Asked;

    fn parse(&self, input: &Object) -> Result<Asked, String> {
        let list = input.get("questions").filter(|it| it.is_array());
        let list = list.ok_or("questions must be given, as a list")?;
        check_questions(list.as_array().map_or(&[], Vec::as_slice))?;
        let answers = input.get("answers").and_then(Value::as_object);
        Ok(Asked {
            questions: list.clone(),
            answers: answers.cloned().unwrap_or_default(),
            response: input.get("response").cloned(),
            annotations: input.get("annotations").cloned(),
        })
    }

    fn target(&self, _asked: &Asked, _workbench: &Workbench) -> Target {
        Target::User
    }

    fn run(&self, asked: Arc<Asked>, _call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move { answered(&asked) })
    }
}

/// Fields in the order of the schema, as hosts are used to seeing them.
fn complete_question(question: &mut Value) {
    let Some(question) = question.as_object_mut() else {
        return;
    };
    question.entry("multiSelect").or_insert(Value::Bool(false));
    let mut given = std::mem::take(question);
    for field in ["question", "header", "options", "multiSelect"] {
        if let Some(value) = given.shift_remove(field) {
            question.insert(field.to_owned(), value);
        }
    }
    question.extend(given);
}

fn check_questions(questions: &[Value]) -> Result<(), String> {
    if !(1..=4).contains(&questions.len()) {
        return Err(format!(
            "questions must have 1 to 4 entries, not {}",
            questions.len()
        ));
    }
    let mut seen = HashSet::new();
    for (at, question) in questions.iter().enumerate() {
        let text = check_question(question).map_err(|it| format!("questions[{at}]: {it}"))?;
        if !seen.insert(text) {
            return Err(format!(
                "questions[{at}]: the question was asked before: {text}"
            ));
        }
    }
    Ok(())
}

fn check_question(question: &Value) -> Result<&str, String> {
    let text = question["question"]
        .as_str()
        .filter(|text| !text.trim().is_empty());
    let text = text.ok_or("question must be a text")?;
    if !question["header"].is_string() {
        return Err("header must be a string".to_owned());
    }
    let options = question["options"].as_array();
    let options = options.ok_or("options must be a list")?;
    if !(2..=4).contains(&options.len()) {
        return Err(format!(
            "options must have 2 to 4 entries, not {}",
            options.len()
        ));
    }
    let mut seen = HashSet::new();
    for option in options {
        let label = option["label"]
            .as_str()
            .ok_or("each option needs a label")?;
        if !seen.insert(label) {
            return Err(format!("two options have the label {label}"));
        }
    }
    Ok(text)
}

fn answered(asked: &Asked) -> Outcome {
    let response = asked.response.as_ref().and_then(Value::as_str);
    let text = text(&asked.answers, response, asked.annotations.as_ref());
    Outcome::text(text, asked)
}

fn text(answers: &Object, response: Option<&str>, annotations: Option<&Value>) -> String {
    if let Some(response) = response.filter(|_| answers.is_empty()) {
        return format!("The user answered in own words: {response}");
    }
    if answers.is_empty() {
        return "The user did not answer the questions.".to_owned();
    }
    let note = |question: &str| {
        let notes = annotations?.get(question)?.get("notes")?.as_str()?;
        Some(format!(" (the user's note: {notes})"))
    };
    let answer = |(question, answer): (&String, &Value)| {
        let note = note(question).unwrap_or_default();
        format!("\"{question}\"=\"{}\"{note}", spoken(answer))
    };
    let answers: Vec<String> = answers.iter().map(answer).collect();
    format!(
        "Your questions have been answered: {}. Go on with that in mind.",
        answers.join(", ")
    )
}

/// One label, or several.
fn spoken(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(labels) => labels.iter().map(spoken).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        serde_json::from_value(value).unwrap()
    }

    fn question(text: &str, labels: &[&str]) -> Value {
        let options: Vec<_> = labels
            .iter()
            .map(|it| json!({"label": it, "description": ""}))
            .collect();
        json!({"question": text, "header": "h", "options": options, "multiSelect": false})
    }

    #[test]
    fn only_proper_questions_reach_the_user() {
        let good = question("a?", &["x", "y"]);
        for (questions, expected) in [
            (json!([good]), None),
            (json!([good, question("b?", &["x", "y", "z", "w"])]), None),
            (json!([]), Some("1 to 4")),
            (json!([good, good]), Some("asked before")),
            (json!([question("a?", &["x"])]), Some("2 to 4")),
            (json!([question("a?", &["x", "x"])]), Some("two options")),
            (json!([question(" ", &["x", "y"])]), Some("must be a text")),
            (json!(["a?"]), Some("must be a text")),
            (json!("a?"), Some("as a list")),
        ] {
            let result = AskUserQuestion.parse(&object(json!({"questions": questions})));
            match (&result, expected) {
                (Ok(_), None) => {}
                (Err(text), Some(part)) => assert!(text.contains(part), "{text}"),
                _ => panic!("{questions}: {result:?}"),
            }
        }
    }

    #[test]
    fn answers_are_told_to_the_model() {
        let questions = json!([question("Which?", &["Red", "Blue"])]);
        for (more, expected) in [
            (
                json!({"answers": {"Which?": "Blue"}}),
                "answered: \"Which?\"=\"Blue\".",
            ),
            (
                json!({"answers": {"Which?": ["Red", "Blue"]}}),
                "\"Which?\"=\"Red, Blue\"",
            ),
            (
                json!({"answers": {}}),
                "The user did not answer the questions.",
            ),
            (json!({}), "The user did not answer the questions."),
            (json!({"response": "neither"}), "own words: neither"),
            (
                json!({"answers": {"Which?": "Red"}, "annotations": {"Which?": {"notes": "dark"}}}),
                "\"Which?\"=\"Red\" (the user's note: dark)",
            ),
        ] {
            let mut input = object(more);
            input.insert("questions".into(), questions.clone());
            let outcome = answered(&AskUserQuestion.parse(&input).unwrap());
            let text = outcome.said();
            assert!(text.contains(expected), "{text}");
            assert_eq!(outcome.output.unwrap()["questions"], questions);
        }
    }
}
