//! Questions with options, and forms of MCP servers: one line for each field.

use std::collections::BTreeMap;
use std::io::{self, Write};

use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use super::Taken;
use crate::render::{Screen, Sheet, visible_line};

/// Fields to fill in, and what was filled in so far.
#[derive(Debug)]
pub(super) struct Form {
    /// What is said beside the fields: a message, who asks, an address to visit.
    about: Vec<(&'static str, String)>,
    fields: Vec<Field>,
    filled: Vec<Filled>,
}

#[derive(Debug)]
struct Field {
    /// What the answer is called: the question, or the name of a property.
    name: String,
    text: String,
    options: Vec<(String, String)>,
    several: bool,
    kind: ValueKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Text,
    Number,
    Boolean,
}

/// The answers to one field.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    name: String,
    answers: Vec<String>,
    kind: ValueKind,
}

impl Form {
    /// `AskUserQuestion`.
    pub(super) fn choices(form: &Value) -> Self {
        let questions = form["questions"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let fields = questions.map(|question| {
            let options = question["options"].as_array().into_iter().flatten();
            let options =
                options.map(|option| (text(&option["label"]), text(&option["description"])));
            Field {
                name: text(&question["question"]),
                text: text(&question["question"]),
                options: options.collect(),
                several: question["multiSelect"].as_bool().unwrap_or(false),
                kind: ValueKind::Text,
            }
        });
        Self {
            about: Vec::new(),
            fields: fields.collect(),
            filled: Vec::new(),
        }
    }

    /// A form of an MCP server: a message, and a schema of plain properties.
    pub(super) fn elicitation(form: &Value) -> Self {
        let schema = match &form["requested_schema"] {
            Value::Null => &form["requestedSchema"],
            schema => schema,
        };
        let properties = schema["properties"].as_object();
        let fields = properties.into_iter().flatten().map(|(name, property)| {
            let title = property["title"]
                .as_str()
                .or(property["description"].as_str());
            let options = property["enum"].as_array().into_iter().flatten();
            let options = options.filter_map(Value::as_str);
            Field {
                name: name.clone(),
                text: match title {
                    Some(title) => format!("{title} ({name})"),
                    None => name.clone(),
                },
                options: options
                    .map(|option| (option.to_owned(), String::new()))
                    .collect(),
                several: false,
                kind: match property["type"].as_str() {
                    Some("number" | "integer") => ValueKind::Number,
                    Some("boolean") => ValueKind::Boolean,
                    _ => ValueKind::Text,
                },
            }
        });
        let about = [
            (
                "asked by",
                &["mcp_server_name", "serverName", "server_name"][..],
            ),
            ("message", &["message"]),
            ("address to visit", &["url"]),
        ];
        let about = about.into_iter().filter_map(|(label, names)| {
            let text = names.iter().find_map(|name| form[*name].as_str())?;
            Some((label, text.to_owned()))
        });
        Self {
            about: about.collect(),
            fields: fields.collect(),
            filled: Vec::new(),
        }
    }

    /// What is said beside the fields.
    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        for (label, text) in &self.about {
            sheet = sheet.note(label).text(text);
        }
        sheet
    }

    /// Forgets what was filled in.
    pub(super) fn restart(&mut self) {
        self.filled.clear();
    }

    /// Shows the field that is next.
    pub(super) fn field<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let Some(field) = self.fields.get(self.filled.len()) else {
            return Ok(());
        };
        screen.line(format!("  {} {}", "?".yellow(), visible_line(&field.text)))?;
        for (index, (label, text)) in field.options.iter().enumerate() {
            let (label, text) = (visible_line(label), visible_line(text));
            screen.line(format!("    {} {label}  {}", index + 1, text.dimmed()))?;
        }
        Ok(())
    }

    /// Says what the next field takes.
    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let Some(field) = self.fields.get(self.filled.len()) else {
            return screen.prompt("    press Enter to send it: ");
        };
        let how = match (field.options.is_empty(), field.several, field.kind) {
            (_, _, ValueKind::Boolean) => "yes or no",
            (_, _, ValueKind::Number) => "a number",
            (true, _, _) => "your answer",
            (false, true, _) => "numbers (1,2) or your own words",
            (false, false, _) => "number or your own words",
        };
        screen.prompt(format!("    {how}: "))
    }

    pub(super) fn take(&mut self, line: &str) -> Taken<Vec<Filled>> {
        let line = line.trim();
        if let Some(field) = self.fields.get(self.filled.len()) {
            match field.read(line) {
                Some(filled) => self.filled.push(filled),
                None => return Taken::Unclear,
            }
        }
        match self.filled.len() < self.fields.len() {
            true => Taken::More,
            false => Taken::Verdict(std::mem::take(&mut self.filled)),
        }
    }

    /// What somebody chooses who says yes to everything.
    pub(super) fn first_of_each(&self) -> Vec<Filled> {
        let first = |field: &Field| Filled {
            name: field.name.clone(),
            answers: field
                .options
                .first()
                .map(|(label, _)| label.clone())
                .into_iter()
                .collect(),
            kind: field.kind,
        };
        self.fields.iter().map(first).collect()
    }

    pub(super) fn verdict_of_choices(filled: Vec<Filled>) -> Verdict {
        let answers = filled
            .into_iter()
            .map(|filled| (filled.name, filled.answers));
        Verdict::Choices(answers.collect::<BTreeMap<_, _>>())
    }

    pub(super) fn verdict_of_form(filled: Vec<Filled>) -> Verdict {
        let field = |filled: Filled| {
            let text = filled.answers.join(", ");
            let value = match filled.kind {
                ValueKind::Text => Value::String(text),
                ValueKind::Boolean => Value::Bool(text == "true"),
                ValueKind::Number => serde_json::from_str(&text).unwrap_or(Value::Null),
            };
            (filled.name, value)
        };
        Verdict::Form(filled.into_iter().map(field).collect::<Map<_, _>>())
    }
}

impl Field {
    /// Labels by their numbers, or the words as they are; `None` if that is no answer.
    fn read(&self, line: &str) -> Option<Filled> {
        let line = match self.kind {
            ValueKind::Text => line,
            ValueKind::Number => Some(line).filter(|line| line.parse::<f64>().is_ok())?,
            ValueKind::Boolean => match line.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => "true",
                "n" | "no" | "false" => "false",
                _ => return None,
            },
        };
        if line.is_empty() {
            return None;
        }
        let parts: Vec<&str> = match self.several {
            true => line.split(',').map(str::trim).collect(),
            false => vec![line],
        };
        let label = |part: &&str| {
            let number: usize = part.parse().ok()?;
            Some(self.options.get(number.checked_sub(1)?)?.0.clone())
        };
        let labels: Option<Vec<String>> = parts.iter().map(label).collect();
        Some(Filled {
            name: self.name.clone(),
            answers: labels.unwrap_or_else(|| vec![line.to_owned()]),
            kind: self.kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(form: &mut Form, lines: &[&str]) -> Vec<Filled> {
        for line in lines {
            if let Taken::Verdict(filled) = form.take(line) {
                return filled;
            }
        }
        panic!("not filled in");
    }

    #[test]
    fn numbers_choose_labels_and_words_stay_words() {
        let form = json!({"questions": [
            {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]},
            {"question": "What else?", "multiSelect": true,
             "options": [{"label": "a"}, {"label": "b"}, {"label": "c"}]},
        ]});
        let table: [(&[&str], _, _); 3] = [
            (&["2", "1,3"], vec!["blue"], vec!["a", "c"]),
            (&["green", "1, x"], vec!["green"], vec!["1, x"]),
            (&["", "9", "0"], vec!["9"], vec!["0"]),
        ];
        for (lines, first, second) in table {
            let verdict = Form::verdict_of_choices(filled(&mut Form::choices(&form), lines));
            let own = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
            let expected = [
                ("Which?".to_owned(), own(first)),
                ("What else?".to_owned(), own(second)),
            ];
            assert_eq!(verdict, Verdict::Choices(expected.into()), "{lines:?}");
        }
    }

    #[test]
    fn fields_of_a_form_have_their_kinds() {
        let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string"}, "age": {"type": "integer"}, "ok": {"type": "boolean"}}}});
        let filled = filled(
            &mut Form::elicitation(&form),
            &["Ada", "old", "36", "maybe", "y"],
        );
        let expected = json!({"name": "Ada", "age": 36, "ok": true});
        let Value::Object(expected) = expected else {
            unreachable!()
        };
        assert_eq!(Form::verdict_of_form(filled), Verdict::Form(expected));
    }
}
