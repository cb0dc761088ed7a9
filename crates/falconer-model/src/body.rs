//! The body of a request: an object whose fields are JSON text already.
//!
//! A conversation writes each of its messages once. A request shares these texts, changes a field
//! here and there, and is copied into one buffer when it is sent.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Value, json};

/// JSON text that is written once and shared: a clone copies no text.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Bytes);

/// The size only: the text is what people said.
impl std::fmt::Debug for JsonText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JsonText({} bytes)", self.0.len())
    }
}

impl JsonText {
    /// Writes a value.
    pub fn of(value: impl Into<Value>) -> Self {
        Self::written(value.into().to_string())
    }

    /// Takes text that is valid JSON. Nothing checks it before the endpoint reads it.
    pub fn written(text: impl Into<Bytes>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads the text.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.0)
    }

    fn contains(&self, needle: &[u8]) -> bool {
        memchr::memmem::find(&self.0, needle).is_some()
    }

    /// Changes the value, which costs reading and writing it.
    fn edit(&mut self, change: &mut impl FnMut(&mut Value)) -> serde_json::Result<()> {
        let mut value = self.to_value()?;
        change(&mut value);
        *self = Self::of(value);
        Ok(())
    }
}

/// The body of a request to the Messages API, its fields in order.
#[derive(Debug, Clone, Default)]
pub struct RequestBody {
    fields: Vec<(Cow<'static, str>, Field)>,
}

#[derive(Debug, Clone)]
enum Field {
    One(JsonText),
    /// An array, item by item.
    List(Vec<JsonText>),
}

impl RequestBody {
    /// Makes the body of a question that has no conversation.
    pub fn question(model: &str, max_tokens: u64, question: &str) -> Self {
        let mut body = Self::default();
        body.set("model", JsonText::of(model));
        body.set("max_tokens", JsonText::of(max_tokens));
        let message = JsonText::of(json!({"role": "user", "content": question}));
        body.set_list("messages", vec![message]);
        body
    }

    /// Sets a field, in its old place if it has one.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, text: JsonText) {
        self.put(name.into(), Field::One(text));
    }

    /// Sets a field to an array of these items.
    pub fn set_list(&mut self, name: impl Into<Cow<'static, str>>, items: Vec<JsonText>) {
        self.put(name.into(), Field::List(items));
    }

    fn put(&mut self, name: Cow<'static, str>, field: Field) {
        match self.find_mut(&name) {
            Some(found) => *found = field,
            None => self.fields.push((name, field)),
        }
    }

    fn find_mut(&mut self, name: &str) -> Option<&mut Field> {
        let mut fields = self.fields.iter_mut();
        fields.find(|(it, _)| it == name).map(|(_, field)| field)
    }

    /// Removes a field; the others keep their order.
    pub fn remove(&mut self, name: &str) {
        self.fields.retain(|(it, _)| it != name);
    }

    /// Returns a field that is a string.
    pub fn string(&self, name: &str) -> Option<String> {
        let (_, field) = self.fields.iter().find(|(it, _)| it == name)?;
        match field {
            Field::One(text) => serde_json::from_slice(text.as_bytes()).ok(),
            Field::List(_) => None,
        }
    }

    /// Changes the value of a field, or each item of a list, if its text contains `needle`.
    pub(crate) fn edit(
        &mut self,
        name: &str,
        needle: &str,
        mut change: impl FnMut(&mut Value),
    ) -> serde_json::Result<()> {
        let texts: &mut [JsonText] = match self.find_mut(name) {
            Some(Field::One(text)) => std::slice::from_mut(text),
            Some(Field::List(items)) => items,
            None => return Ok(()),
        };
        let mut found = texts.iter_mut().filter(|it| it.contains(needle.as_bytes()));
        found.try_for_each(|text| text.edit(&mut change))
    }

    /// Writes the whole body into one buffer.
    pub fn to_bytes(&self) -> Bytes {
        let size: usize = self
            .fields
            .iter()
            .map(|(name, it)| name.len() + it.size())
            .sum();
        let mut out = Vec::with_capacity(size + 4 * self.fields.len() + 2);
        out.push(b'{');
        for (at, (name, field)) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_name(&mut out, name);
            field.write(&mut out);
        }
        out.push(b'}');
        out.into()
    }

    /// Reads the whole body, for who looks into it.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.to_bytes())
    }
}

/// Takes the fields of an object; anything else has none.
impl From<Value> for RequestBody {
    fn from(value: Value) -> Self {
        let Value::Object(fields) = value else {
            return Self::default();
        };
        let field = |value| match value {
            Value::Array(items) => Field::List(items.into_iter().map(JsonText::of).collect()),
            other => Field::One(JsonText::of(other)),
        };
        let fields = fields.into_iter();
        let fields = fields.map(|(name, value)| (name.into(), field(value)));
        Self {
            fields: fields.collect(),
        }
    }
}

impl Field {
    /// How many bytes it takes, with brackets and commas.
    fn size(&self) -> usize {
        match self {
            Self::One(text) => text.0.len(),
            Self::List(items) => items.iter().map(|it| it.0.len() + 1).sum::<usize>() + 2,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let items = match self {
            Self::One(text) => return out.extend_from_slice(&text.0),
            Self::List(items) => items,
        };
        out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&item.0);
        }
        out.push(b']');
    }
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(Value::from(name).to_string().as_bytes());
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_written_as_the_value_it_came_from() {
        let value = json!({
            "z": 1, "model": "m\n\"", "messages": [{"b": 1, "a": [1.5, null]}, "text", []],
            "empty": [], "a\"b": {"c": true},
        });
        let body = RequestBody::from(value.clone());
        let text = body.to_bytes();
        assert_eq!(text, value.to_string());
        assert_eq!(text.len(), body.to_bytes().len());
        assert_eq!(body.string("model").as_deref(), Some("m\n\""));
        assert_eq!(body.to_value().unwrap(), value);
    }

    #[test]
    fn fields_keep_their_places() {
        let mut body = RequestBody::from(json!({"a": 1, "b": 2, "c": 3}));
        body.set("b", JsonText::of(true));
        body.remove("a");
        body.set("d", JsonText::of("x"));
        assert_eq!(body.to_bytes(), r#"{"b":true,"c":3,"d":"x"}"#);
    }

    #[test]
    fn only_what_contains_the_needle_is_written_anew() {
        let mut body = RequestBody::from(json!({"list": [{"x": 1}, {"y": 1}]}));
        let Some(Field::List(before)) = body.clone().find_mut("list").cloned() else {
            panic!("a list");
        };
        let change = |value: &mut Value| *value = Value::Null;
        body.edit("list", "\"y\"", change).unwrap();
        assert_eq!(body.to_bytes(), r#"{"list":[{"x":1},null]}"#);
        let Some(Field::List(after)) = body.find_mut("list") else {
            panic!("a list");
        };
        assert_eq!(after[0].as_bytes().as_ptr(), before[0].as_bytes().as_ptr());
    }
}
