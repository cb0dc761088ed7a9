//! `StructuredOutput`: the final answer as a value that fits the caller's JSON Schema.

use std::sync::Arc;

use falconer_protocol::Object;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Call, Describe, Effect, Outcome, Target, TypedTool};
use crate::workbench::Workbench;

/// Problems that are told at once; a model fixes them together.
const TOLD: usize = 10;

/// Characters for one problem. A large value in it is cut.
const TOLD_LENGTH: usize = 400;

/// The tool, for one schema.
#[derive(Debug)]
pub(crate) struct StructuredOutput {
    schema: Value,
    validator: jsonschema::Validator,
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to use the JSON schema for the output: {0}")]
pub(crate) struct BadSchema(String);

impl StructuredOutput {
    pub(crate) const NAME: &str = "StructuredOutput";

    pub(crate) fn new(schema: Value) -> Result<Self, BadSchema> {
        let validator = jsonschema::validator_for(&schema);
        let validator = validator.map_err(|error| BadSchema(error.to_string()))?;
        Ok(Self { schema, validator })
    }

    fn problems(&self, value: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(value).take(TOLD);
        errors
            .map(|error| {
                let path = error.instance_path().to_string();
                let path = if path.is_empty() { "root" } else { &path };
                let problem = error.to_string();
                let problem: String = problem.chars().take(TOLD_LENGTH).collect();
                format!("{path}: {problem}")
            })
            .collect()
    }
}

impl Describe for StructuredOutput {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn description(&self) -> String {
        "Gives the final answer in the structure that was asked for. Call it exactly once, when \
         the work is done, with the whole answer as its input; your turn ends with it."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        self.schema.clone()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn gives_final_value(&self) -> bool {
        true
    }
}

impl TypedTool for StructuredOutput {
    type Input = Value;

    /// Takes everything: a misfit is a result of the call, and counted by the loop.
    fn parse(&self, input: &Object) -> Result<Value, String> {
        Ok(Value::Object(input.clone()))
    }

    fn target(&self, _value: &Value, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn summary(&self, value: &Value) -> Option<String> {
        Some(value.get("description")?.as_str()?.to_owned())
    }

    fn run(&self, value: Arc<Value>, _call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move { self.accept(&value) })
    }
}

impl StructuredOutput {
    fn accept(&self, value: &Value) -> Outcome {
        let problems = self.problems(value);
        if !problems.is_empty() {
            let problems = problems.join("; ");
            return Outcome::error(format!("Output does not match required schema: {problems}"));
        }
        let text = "The structured output was accepted";
        let mut outcome = Outcome::text(text, text);
        outcome
            .effects
            .push(Effect::StructuredOutput(value.clone()));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> StructuredOutput {
        StructuredOutput::new(json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}}},
            "required": ["n"],
            "additionalProperties": false
        }))
        .unwrap()
    }

    #[test]
    fn a_value_that_fits_ends_the_turn() {
        let outcome = tool().accept(&json!({"n": 7}));
        assert!(!outcome.is_error);
        assert_eq!(outcome.effects, [Effect::StructuredOutput(json!({"n": 7}))]);
    }

    #[test]
    fn a_misfit_is_told_with_its_place() {
        for (value, expected) in [
            (
                json!({"n": "bad"}),
                vec!["/n: \"bad\" is not of type \"integer\""],
            ),
            (json!({}), vec!["root: \"n\" is a required property"]),
            (
                json!({"n": 1, "list": ["a", 2]}),
                vec!["/list/1: 2 is not of type \"string\""],
            ),
            (json!({"n": 1.5, "x": 1}), vec!["/n: ", "root: "]),
        ] {
            let outcome = tool().accept(&value);
            let text = outcome.said();
            assert!(outcome.is_error && outcome.effects.is_empty());
            assert!(
                text.starts_with("Output does not match required schema: "),
                "{text}"
            );
            for part in expected {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[test]
    fn a_huge_misfit_makes_a_short_text() {
        let list: Vec<_> = (0..1000)
            .map(|n| json!({"long": "x".repeat(1000), "n": n}))
            .collect();
        let outcome = tool().accept(&json!({"n": 1, "list": list}));
        assert!(outcome.said().len() < 6000);
    }

    #[test]
    fn a_bad_schema_is_refused() {
        for schema in [
            json!({"type": "nonsense"}),
            json!({"$ref": "http://127.0.0.1:1/x"}),
            json!(5),
        ] {
            assert!(StructuredOutput::new(schema.clone()).is_err(), "{schema}");
        }
    }
}
