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
    /// Everything else the request says.
    rest: Map<String, Value>,
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
    /// Everything else the request says about it.
    rest: Map<String, Value>,
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
        let mut rest = object(form);
        let fields = array(&mut rest, "questions")
            .iter()
            .map(Field::question)
            .collect();
        Self {
            about: Vec::new(),
            fields,
            rest,
            filled: Vec::new(),
        }
    }

    /// A form of an MCP server: a message, and a schema of plain properties.
    pub(super) fn elicitation(form: &Value) -> Self {
        let mut rest = object(form);
        let mut about = Vec::new();
        let labels = [
            (
                "asked by",
                &["mcp_server_name", "serverName", "server_name"][..],
            ),
            ("message", &["message"]),
            ("address to visit", &["url"]),
        ];
        for (label, names) in labels {
            about.extend(
                names
                    .iter()
                    .filter_map(|name| Some((label, text(&mut rest, name)?))),
            );
        }
        let mut fields = Vec::new();
        for name in ["requested_schema", "requestedSchema"] {
            if let Some(Value::Object(schema)) = rest.get_mut(name)
                && let Some(Value::Object(properties)) = schema.remove("properties")
            {
                fields.extend(properties.into_iter().map(Field::property));
            }
        }
        Self {
            about,
            fields,
            rest,
            filled: Vec::new(),
        }
    }

    /// Everything that is asked.
    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        for (label, text) in &self.about {
            sheet = sheet.note(label).text(text);
        }
        for field in &self.fields {
            sheet = field.on(sheet);
        }
        with(sheet, &self.rest)
    }

    /// Whether more than one thing is asked.
    pub(super) fn has_several(&self) -> bool {
        self.fields.len() > 1
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
            let text = "do you agree? [y]es, [n]o (reason): ";
            return screen.prompt(format!("  {} {text}", "?".yellow().bold()));
        };
        let how = match (field.options.is_empty(), field.several, field.kind) {
            (_, _, ValueKind::Boolean) => "yes or no",
            (_, _, ValueKind::Number) => "a number",
            (true, _, _) => "your answer",
            (false, true, _) => "numbers (1,2) or your own words",
            (false, false, _) => "number or your own words",
        };
        screen.prompt(format!("    {how}, or /no to decline: "))
    }

    pub(super) fn take(&mut self, line: &str, verdict: fn(Vec<Filled>) -> Verdict) -> Taken {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_word = |words: &[&str]| words.contains(&word.to_ascii_lowercase().as_str());
        let Some(field) = self.fields.get(self.filled.len()) else {
            return match rest.trim() {
                _ if is_word(&["n", "no", "/n", "/no", "/deny"]) => declined(rest),
                "" if is_word(&["y", "yes"]) => Taken::Verdict(verdict(Vec::new())),
                _ => Taken::Unclear,
            };
        };
        if is_word(&["/n", "/no", "/deny"]) {
            return declined(rest);
        }
        match field.read(line) {
            Some(filled) => self.filled.push(filled),
            None => return Taken::Unclear,
        }
        if self.filled.len() < self.fields.len() {
            Taken::More
        } else {
            Taken::Verdict(verdict(std::mem::take(&mut self.filled)))
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
    fn question(question: &Value) -> Self {
        let mut rest = object(question);
        let name = text(&mut rest, "question").unwrap_or_default();
        let header = text(&mut rest, "header").filter(|header| !header.is_empty());
        let mut options = Vec::new();
        let mut odd = Vec::new();
        for option in array(&mut rest, "options") {
            let mut fields = object(&option);
            let label = text(&mut fields, "label").unwrap_or_default();
            let about = text(&mut fields, "description").unwrap_or_default();
            options.push((label, about));
            odd.extend((!fields.is_empty()).then_some(Value::Object(fields)));
        }
        if !odd.is_empty() {
            rest.insert("options".to_owned(), odd.into());
        }
        let several = match rest.get("multiSelect") {
            Some(Value::Bool(several)) => *several,
            _ => false,
        };
        rest.retain(|name, value| name != "multiSelect" || !value.is_boolean());
        Self {
            text: match header {
                Some(header) => format!("[{header}] {name}"),
                None => name.clone(),
            },
            name,
            options,
            several,
            kind: ValueKind::Text,
            rest,
        }
    }

    fn property((name, property): (String, Value)) -> Self {
        let mut rest = object(&property);
        let title = text(&mut rest, "title").or_else(|| text(&mut rest, "description"));
        let options = array(&mut rest, "enum");
        Self {
            text: match title {
                Some(title) => format!("{title} ({name})"),
                None => name.clone(),
            },
            name,
            options: options
                .iter()
                .filter_map(Value::as_str)
                .map(|option| (option.to_owned(), String::new()))
                .collect(),
            several: false,
            kind: match text(&mut rest, "type").as_deref() {
                Some("number" | "integer") => ValueKind::Number,
                Some("boolean") => ValueKind::Boolean,
                _ => ValueKind::Text,
            },
            rest,
        }
    }

    /// The field on a sheet, with all its options.
    fn on(&self, sheet: Sheet) -> Sheet {
        let mut sheet = sheet
            .note(if self.several {
                "asked (choose any number)"
            } else {
                "asked"
            })
            .text(&self.text);
        for (index, (label, about)) in self.options.iter().enumerate() {
            let about = if about.is_empty() {
                String::new()
            } else {
                format!("  {about}")
            };
            sheet = sheet.line(&format!("  {} {label}{about}", index + 1));
        }
        with(sheet, &self.rest)
    }

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
        let parts: Vec<&str> = if self.several {
            line.split(',').map(str::trim).collect()
        } else {
            vec![line]
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

fn declined(reason: &str) -> Taken {
    let declined = "the user declined to answer";
    Taken::Verdict(Verdict::Deny(match reason.trim() {
        "" => declined.to_owned(),
        reason => format!("{declined}: {reason}"),
    }))
}

fn with(sheet: Sheet, rest: &Map<String, Value>) -> Sheet {
    if rest.is_empty() {
        sheet
    } else {
        sheet.note("with").json(&Value::Object(rest.clone()))
    }
}

/// The fields of an object; anything else is one without a name.
fn object(value: &Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([(String::new(), other.clone())]),
    }
}

/// Takes a list out of it; anything else stays.
fn array(fields: &mut Map<String, Value>, name: &str) -> Vec<Value> {
    match fields.get(name) {
        Some(Value::Array(values)) => {
            let values = values.clone();
            fields.shift_remove(name);
            values
        }
        _ => Vec::new(),
    }
}

/// Takes a text out of it; anything else stays.
fn text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?.to_owned();
    fields.shift_remove(name);
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(form: &mut Form, verdict: fn(Vec<Filled>) -> Verdict, lines: &[&str]) -> Verdict {
        for line in lines {
            if let Taken::Verdict(filled) = form.take(line, verdict) {
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
            let verdict = filled(&mut Form::choices(&form), Form::verdict_of_choices, lines);
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
            Form::verdict_of_form,
            &["Ada", "old", "36", "maybe", "y"],
        );
        let expected = json!({"name": "Ada", "age": 36, "ok": true});
        let Value::Object(expected) = expected else {
            unreachable!()
        };
        assert_eq!(filled, Verdict::Form(expected));
    }

    #[test]
    fn a_form_without_fields_takes_a_yes_and_a_no_and_nothing_else() {
        let form =
            json!({"message": "Sign in", "url": "https://x.invalid/\u{200b}", "mode": "url"});
        let said = |line: &str| match Form::elicitation(&form).take(line, Form::verdict_of_form) {
            Taken::Verdict(verdict) => Some(verdict),
            _ => None,
        };
        assert_eq!(said("y"), Some(Verdict::Form(Map::new())));
        for line in ["n", "no never", "/no"] {
            assert!(matches!(said(line), Some(Verdict::Deny(_))), "{line}");
        }
        for line in ["", "nope", "yes but", "hm"] {
            assert_eq!(said(line), None, "{line}");
        }
    }

    #[test]
    fn every_form_can_be_declined() {
        let form = json!({"questions": [{"question": "Which?", "options": []}]});
        let taken = Form::choices(&form).take("/no ask Ada", Form::verdict_of_choices);
        let declined = "the user declined to answer: ask Ada".to_owned();
        assert!(matches!(taken, Taken::Verdict(Verdict::Deny(reason)) if reason == declined));
    }

    #[test]
    fn everything_a_form_says_is_on_its_sheet() {
        let rows = |form: Form| {
            let rows = form.sheet().rows(80);
            anstream::adapter::strip_str(&rows.join("\n")).to_string()
        };
        let choices = json!({"extra": 1, "questions": [{"question": "Which?", "header": "Colour",
            "multiSelect": true, "options": [{"label": "red\n  2 blue", "description": "warm"},
            {"label": "green", "preview": "x"}]}]});
        let shown = rows(Form::choices(&choices));
        for part in [
            "│ [Colour] Which?",
            "│   1 red⟨LF⟩  2 blue  warm",
            "│   2 green",
            "\"preview\": \"x\"",
            "\"extra\": 1",
        ] {
            assert!(shown.contains(part), "{part} not in {shown}");
        }
        let form = json!({"message": "Who?", "mode": "form", "requestedSchema": {
            "required": ["name"], "properties": {"name": {"type": "string", "title": "Name",
            "description": "in full", "default": "root", "enum": ["root", "me"]}}}});
        let shown = rows(Form::elicitation(&form));
        for part in [
            "│ Who?",
            "│ Name (name)",
            "│   1 root",
            "\"description\": \"in full\"",
            "\"default\": \"root\"",
            "\"required\"",
            "\"mode\": \"form\"",
        ] {
            assert!(shown.contains(part), "{part} not in {shown}");
        }
    }
}
