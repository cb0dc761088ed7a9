//! Inputs of tools: one list of fields gives the JSON Schema and reads an input into a type.
//!
//! Models sometimes write `"3"` for `3` and `"true"` for `true`; both are read.

use falconer_protocol::Object;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// One field of an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    /// What the model is told of it.
    pub(crate) about: &'static str,
}

/// Whether a field may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text,
    Flag,
    /// A whole number, not below zero.
    Count,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of objects with these fields.
    List(&'static [Field]),
}

/// The JSON Schema of an object with these fields and no others.
pub(crate) fn schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), field.schema()))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.need == Need::Required)
        .map(|field| field.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Reads an input into a type with these fields. The text of a failure names every field that is
/// wrong, one in a line.
pub(crate) fn read<T: DeserializeOwned>(fields: &[Field], input: &Object) -> Result<T, String> {
    let mut issues = Vec::new();
    let input = understood(fields, input, "", &mut issues);
    if !issues.is_empty() {
        return Err(issues.join("\n"));
    }
    serde_json::from_value(Value::Object(input)).map_err(|error| error.to_string())
}

/// Returns the fields as the schema has them, without those that are null.
fn understood(fields: &[Field], input: &Object, within: &str, issues: &mut Vec<String>) -> Object {
    for name in input.keys() {
        if !fields.iter().any(|field| field.name == name) {
            issues.push(format!("The parameter `{within}{name}` is not known"));
        }
    }
    let mut read = Object::new();
    for field in fields {
        match (input.get(field.name), field.need) {
            (None, Need::Required) => {
                issues.push(format!(
                    "The required parameter `{within}{}` is missing",
                    field.name
                ));
            }
            (None | Some(Value::Null), Need::Optional) => {}
            (Some(value), _) => {
                if let Some(value) = field.understand(value, within, issues) {
                    read.insert(field.name.to_owned(), value);
                }
            }
        }
    }
    read
}

impl Field {
    const fn new(name: &'static str, kind: Kind, need: Need, about: &'static str) -> Self {
        Self {
            name,
            kind,
            need,
            about,
        }
    }

    pub(crate) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(name, kind, Need::Required, about)
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self::new(name, kind, Need::Optional, about)
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Count => json!({ "type": "integer", "minimum": 0 }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::List(fields) => json!({ "type": "array", "items": schema(fields) }),
        };
        schema["description"] = json!(self.about);
        schema
    }

    /// Reads a value, tolerantly; `None` if it is not what the field holds.
    fn understand(&self, value: &Value, within: &str, issues: &mut Vec<String>) -> Option<Value> {
        let (read, expected) = match self.kind {
            Kind::Text => (text(value), "a string".to_owned()),
            Kind::Flag => (flag(value).map(Value::Bool), "true or false".to_owned()),
            Kind::Count => (
                count(value).map(Value::from),
                "a whole number that is not negative".to_owned(),
            ),
            Kind::Choice(words) => (
                text(value).filter(|it| words.iter().any(|word| it == word)),
                format!("one of {}", words.join(", ")),
            ),
            Kind::List(fields) => return self.understand_list(fields, value, within, issues),
        };
        if read.is_none() {
            issues.push(wrong(within, self.name, &expected, value));
        }
        read
    }

    fn understand_list(
        &self,
        fields: &[Field],
        value: &Value,
        within: &str,
        issues: &mut Vec<String>,
    ) -> Option<Value> {
        let name = self.name;
        let Some(items) = value.as_array() else {
            issues.push(wrong(within, name, "a list", value));
            return None;
        };
        let mut read = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match item.as_object() {
                Some(item) => {
                    let within = format!("{within}{name}[{at}].");
                    read.push(Value::Object(understood(fields, item, &within, issues)));
                }
                None => issues.push(wrong(within, &format!("{name}[{at}]"), "an object", item)),
            }
        }
        Some(Value::Array(read))
    }
}

fn wrong(within: &str, name: &str, expected: &str, value: &Value) -> String {
    let given = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("The parameter `{within}{name}` must be {expected}, but {given} was given")
}

fn text(value: &Value) -> Option<Value> {
    value.is_string().then(|| value.clone())
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(word) if word == "true" => Some(true),
        Value::String(word) if word == "false" => Some(false),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Models also write `3.0`.
fn whole(number: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let fits = number.fract() == 0.0 && (0.0..EXACT).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number in the range of exact ones"
    )]
    fits.then_some(number as u64)
}
