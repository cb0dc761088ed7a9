//! The keys there are, taken from the schema: their kinds, their defaults, their names.

use std::sync::OnceLock;

use serde_json::Value;

use super::schema::json_schema;

/// One thing that can be configured.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// `run.model`.
    pub(crate) path: String,
    pub(crate) about: String,
    pub(crate) kind: Kind,
    pub(crate) default: Option<Value>,
}

/// What a value has to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Text,
    Boolean,
    Integer,
    Number,
    List,
    OneOf(Vec<String>),
}

impl Kind {
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Integer => "whole number".to_owned(),
            Self::Number => "number".to_owned(),
            Self::List => "list of texts".to_owned(),
            Self::OneOf(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                words.join(", ")
            }
        }
    }

    /// A value as it is typed on a command line or in a variable.
    pub(crate) fn read(&self, text: &str) -> Result<toml::Value, String> {
        let wrong = || format!("`{text}` is not a {}", self.in_words());
        match self {
            Self::Text => Ok(toml::Value::String(text.to_owned())),
            Self::Boolean => text.parse().map(toml::Value::Boolean).map_err(|_| wrong()),
            Self::Integer => match text.parse::<i64>() {
                Ok(number) if number >= 0 => Ok(toml::Value::Integer(number)),
                _ => Err(wrong()),
            },
            Self::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => Ok(toml::Value::Float(number)),
                _ => Err(wrong()),
            },
            Self::List => Ok(toml::Value::Array(list(text))),
            Self::OneOf(words) => {
                if words.iter().any(|word| word == text) {
                    Ok(toml::Value::String(text.to_owned()))
                } else {
                    let nearest = nearest(text, words.iter().map(String::as_str));
                    let words = self.in_words();
                    Err(format!(
                        "`{text}` is not one of {words}; did you mean `{nearest}`?"
                    ))
                }
            }
        }
    }
}

/// A list in TOML, or words with commas between them. A rule may hold commas in parentheses.
fn list(text: &str) -> Vec<toml::Value> {
    if let Ok(table) = format!("list = {text}").parse::<toml::Table>()
        && let Some(toml::Value::Array(list)) = table.get("list")
    {
        return list.clone();
    }
    let mut depth = 0_i32;
    let parts = text.split(|character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| toml::Value::String(part.to_owned()))
        .collect()
}

impl Key {
    /// The variable that overrides it.
    pub(crate) fn variable(&self) -> String {
        format!("FALCONER_{}", self.path.replace('.', "__").to_uppercase())
    }
}

/// All keys, in the order of the schema.
pub(crate) fn keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let mut keys = Vec::new();
        collect("", &json_schema(), &mut keys);
        keys
    })
}

/// The key with this name, or the nearest name there is.
pub(crate) fn find(path: &str) -> Result<&'static Key, String> {
    let found = keys().iter().find(|key| key.path == path);
    found.ok_or_else(|| nearest(path, keys().iter().map(|key| key.path.as_str())).to_owned())
}

fn collect(prefix: &str, schema: &Value, keys: &mut Vec<Key>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties {
        let path = match prefix {
            "" => name.clone(),
            prefix => format!("{prefix}.{name}"),
        };
        if property["properties"].is_object() {
            collect(&path, property, keys);
            continue;
        }
        let about = property["description"].as_str().unwrap_or_default();
        keys.push(Key {
            path,
            about: about.replace('\n', " "),
            kind: kind(property),
            default: property
                .get("default")
                .filter(|value| !value.is_null())
                .cloned(),
        });
    }
}

fn kind(property: &Value) -> Kind {
    let word = match &property["type"] {
        Value::String(word) => word.as_str(),
        Value::Array(words) => words.first().and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    };
    if let Some(words) = property["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return Kind::OneOf(words.map(str::to_owned).collect());
    }
    match word {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "array" => Kind::List,
        _ => Kind::Text,
    }
}

/// The nearest of these words, by letters changed, added or taken out.
pub(crate) fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> &'a str {
    let words: Vec<&str> = words.collect();
    falconer_rule::nearest(word, &words).unwrap_or_default()
}
