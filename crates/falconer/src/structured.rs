//! Answers in the caller's own type.

use falconer_protocol::message::ResultMessage;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, ReplaceUnevaluatedProperties};
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::Error;
use crate::options::Options;
use crate::prompt::Prompt;
use crate::query::{Outcome, query};

/// A structured answer and the run it came from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// The answer.
    pub value: T,
    /// The results of the run: cost, usage, session.
    pub outcome: Outcome,
}

/// Asks for an answer of type `T`.
///
/// The schema comes from the type, which may be anything: a struct, an enum, a list. The
/// engine makes the model try again until the answer fits; if several turns gave one, the
/// last that fits counts.
///
/// ```no_run
/// # async fn example() -> Result<(), falconer::Error> {
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Capital { city: String, inhabitants: u64 }
///
/// let options = falconer::Options::new();
/// let answer = falconer::query_as::<Capital>("The capital of France?", options).await?;
/// println!("{} has {} inhabitants", answer.value.city, answer.value.inhabitants);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::NoStructuredOutput`] when the run succeeds without an answer that fits, and
/// everything [`query`] fails with.
pub async fn query_as<T>(
    prompt: impl Into<Prompt>,
    options: Options,
) -> Result<Structured<T>, Error>
where
    T: DeserializeOwned + JsonSchema,
{
    let form = Form::of::<T>();
    let run = query(prompt, options.output_schema(form.schema::<T>())).await?;
    let outcome = run.outcome().await?;
    let value = form.last_valid(&outcome.results)?;
    Ok(Structured { value, outcome })
}

/// The form in which an answer travels. The model gives it as the input of a tool, and that is
/// always an object.
enum Form {
    Plain,
    Wrapped,
}

/// An answer that is no object, wrapped into one.
#[derive(Deserialize, JsonSchema)]
struct Answer<T> {
    value: T,
}

impl Form {
    fn of<T: JsonSchema>() -> Self {
        if schema_of::<T>()["type"] == "object" {
            Self::Plain
        } else {
            Self::Wrapped
        }
    }

    fn schema<T: JsonSchema>(&self) -> Value {
        match self {
            Self::Plain => schema_of::<T>(),
            Self::Wrapped => schema_of::<Answer<T>>(),
        }
    }

    fn last_valid<T: DeserializeOwned>(&self, results: &[ResultMessage]) -> Result<T, Error> {
        match self {
            Self::Plain => last_valid(results),
            Self::Wrapped => last_valid(results).map(|answer: Answer<T>| answer.value),
        }
    }
}

/// The JSON Schema that describes `T` to the model.
///
/// It holds only what both the engine (draft 7, strict) and the API (draft 2020-12) accept;
/// for [`Options::output_schema`] the type must also be a struct or a map, because an answer
/// is always an object there.
/// A tuple becomes an array of so many elements, each of any of its types; their order is
/// checked when the answer is read.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // The engine knows one dialect and refuses a schema that names another.
        settings.meta_schema = None;
        settings
            .transforms
            .push(Box::<ReplaceUnevaluatedProperties>::default());
        settings
            .transforms
            .push(Box::new(RecursiveTransform(loosen_tuple)));
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Draft 7 and draft 2020-12 have no common words for the elements of a tuple.
fn loosen_tuple(schema: &mut Schema) {
    let Some(Value::Array(elements)) = schema.remove("prefixItems") else {
        return;
    };
    let mut kinds: Vec<Value> = Vec::new();
    for element in elements {
        if !kinds.contains(&element) {
            kinds.push(element);
        }
    }
    let items = match kinds.len() {
        1 => kinds.remove(0),
        _ => json!({ "anyOf": kinds }),
    };
    schema.insert("items".to_owned(), items);
}

fn last_valid<T: DeserializeOwned>(results: &[ResultMessage]) -> Result<T, Error> {
    let mut mismatch = None;
    for output in results
        .iter()
        .rev()
        .filter_map(|result| result.structured_output.as_ref())
    {
        match T::deserialize(output) {
            Ok(value) => return Ok(value),
            Err(error) => mismatch = mismatch.or(Some(error)),
        }
    }
    Err(Error::NoStructuredOutput { mismatch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_hold_no_words_of_a_single_dialect() {
        #[derive(JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only its schema counts")]
        struct Everything {
            same: (u8, u8),
            mixed: Vec<(bool, String)>,
            #[serde(flatten)]
            inner: Inner,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema counts")]
        struct Inner {
            name: String,
        }
        let schema = schema_of::<Everything>();
        let text = schema.to_string();
        for word in ["$schema", "prefixItems", "unevaluatedProperties"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        let same = json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 });
        assert_eq!(schema["properties"]["same"]["items"], same);
        assert_eq!(schema["properties"]["same"]["maxItems"], 2);
        let mixed = json!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }] });
        assert_eq!(schema["properties"]["mixed"]["items"]["items"], mixed);
        assert_eq!(schema["additionalProperties"], false);
    }
}
