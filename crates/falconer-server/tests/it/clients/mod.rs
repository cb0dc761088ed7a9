//! Clients in other languages, written out of the OpenAPI description: what is the same for all.

pub(crate) mod python;
pub(crate) mod typescript;

use serde_json::Value;

/// One operation of the description, as a client calls it.
pub(crate) struct Operation {
    /// Its name, as `list_sessions`.
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) places: Vec<String>,
    /// The parameters of the query, with their schemas.
    pub(crate) query: Vec<(String, Value)>,
    pub(crate) body: Body,
    pub(crate) reads: Reads,
}

/// What is sent.
pub(crate) enum Body {
    Nothing,
    /// JSON of this schema.
    Json(Value),
    /// Bytes with a name.
    File,
}

/// What comes back.
pub(crate) enum Reads {
    Nothing,
    /// JSON of this schema.
    Json(Value),
    Text,
    Bytes,
}

/// The operations of a description. Streams and sockets are no calls.
pub(crate) fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            let answer = &described["responses"];
            let is_stream = answer["200"]["content"]["text/event-stream"].is_object();
            let is_socket = answer["101"].is_object();
            if !is_stream && !is_socket {
                operations.push(Operation::of(path, method, described));
            }
        }
    }
    operations
}

impl Operation {
    fn of(path: &str, method: &str, described: &Value) -> Self {
        let parameters = described["parameters"].as_array();
        let parameters = parameters.cloned().unwrap_or_default();
        let of = |place: &str| -> Vec<(String, Value)> {
            let found = parameters.iter().filter(|found| found["in"] == place);
            let named = |found: &Value| {
                let name = found["name"].as_str().unwrap().to_owned();
                (name, found["schema"].clone())
            };
            found.map(named).collect()
        };
        let content = &described["requestBody"]["content"];
        let json = &content["application/json"]["schema"];
        let is_file = content["application/octet-stream"].is_object();
        Self {
            name: described["operationId"].as_str().unwrap().to_owned(),
            about: described["summary"].as_str().unwrap().to_owned(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            places: of("path").into_iter().map(|(name, _)| name).collect(),
            query: of("query"),
            body: match (json.is_object(), is_file) {
                (true, _) => Body::Json(json.clone()),
                (false, true) => Body::File,
                (false, false) => Body::Nothing,
            },
            reads: Reads::of(&described["responses"]),
        }
    }
}

impl Reads {
    fn of(answers: &Value) -> Self {
        let mut answers = answers.as_object().unwrap().iter();
        let good = answers.find(|(status, _)| status.starts_with('2'));
        let content = good.and_then(|(_, good)| good["content"].as_object());
        let Some(content) = content else {
            return Self::Nothing;
        };
        match content.get("application/json") {
            Some(json) => Self::Json(json["schema"].clone()),
            None if content.contains_key("application/octet-stream") => Self::Bytes,
            None => Self::Text,
        }
    }

    /// The word the clients use for it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Json(_) => "json",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }
}

/// The schema behind a reference, or the schema itself.
pub(crate) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => &document["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    }
}
