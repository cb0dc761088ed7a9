//! What a tool takes: one list of fields gives the JSON Schema and the check of an input.
//!
//! Models sometimes write `"3"` for `3` and `"true"` for `true`; both are read.

use falconer_protocol::Object;
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

/// Checks an input; the text names every field that is wrong, one in a line.
pub(crate) fn check(fields: &[Field], input: &Object) -> Result<(), String> {
    let issues = issues(fields, input, "");
    if issues.is_empty() {
        Ok(())
    } else {
        Err(issues.join("\n"))
    }
}

fn issues(fields: &[Field], input: &Object, within: &str) -> Vec<String> {
    let mut issues = Vec::new();
    for name in input.keys() {
        if !fields.iter().any(|field| field.name == name) {
            issues.push(format!("The parameter `{within}{name}` is not known"));
        }
    }
    for field in fields {
        match (input.get(field.name), field.need) {
            (None, Need::Required) => {
                issues.push(format!(
                    "The required parameter `{within}{}` is missing",
                    field.name
                ));
            }
            (None | Some(Value::Null), Need::Optional) => {}
            (Some(value), _) => field.judge(value, within, &mut issues),
        }
    }
    issues
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

    fn judge(&self, value: &Value, within: &str, issues: &mut Vec<String>) {
        let name = self.name;
        let expected = match self.kind {
            Kind::Text if value.is_string() => return,
            Kind::Text => "a string".to_owned(),
            Kind::Flag if flag(value).is_some() => return,
            Kind::Flag => "true or false".to_owned(),
            Kind::Count if count(value).is_some() => return,
            Kind::Count => "a whole number that is not negative".to_owned(),
            Kind::Choice(words) if value.as_str().is_some_and(|it| words.contains(&it)) => return,
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::List(fields) => {
                let Some(items) = value.as_array() else {
                    issues.push(wrong(within, name, "a list", value));
                    return;
                };
                for (at, item) in items.iter().enumerate() {
                    match item.as_object() {
                        Some(item) => {
                            issues.extend(self::issues(
                                fields,
                                item,
                                &format!("{within}{name}[{at}]."),
                            ));
                        }
                        None => {
                            issues.push(wrong(within, &format!("{name}[{at}]"), "an object", item));
                        }
                    }
                }
                return;
            }
        };
        issues.push(wrong(within, name, &expected, value));
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

/// The text of a field; an empty text when it is not there.
pub(crate) fn text<'a>(input: &'a Object, name: &str) -> &'a str {
    optional_text(input, name).unwrap_or_default()
}

pub(crate) fn optional_text<'a>(input: &'a Object, name: &str) -> Option<&'a str> {
    input.get(name)?.as_str()
}

pub(crate) fn optional_count(input: &Object, name: &str) -> Option<u64> {
    count(input.get(name)?)
}

pub(crate) fn optional_flag(input: &Object, name: &str) -> Option<bool> {
    flag(input.get(name)?)
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
