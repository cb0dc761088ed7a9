//! What a request would do, laid out for a terminal. Nothing of it is left out.
//!
//! Text of others is always behind a bar, so that it cannot pass for a line of ours.

use owo_colors::OwoColorize;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthChar;

use super::plain::{visible, visible_line};

/// Columns that hold no text: the bar and the sign of a change.
const MARGIN: usize = 6;

/// The narrowest column of text.
const NARROWEST: usize = 10;

/// Everything a request says, in the order in which it is shown.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    /// A line of ours, with words of others made visible in it.
    Note(String),
    /// A line of others.
    Text(Sign, String),
}

/// What a change does with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Same,
    Old,
    New,
}

impl Sheet {
    /// Adds the whole input of a tool: commands, changes and addresses as such, the rest as JSON.
    pub(crate) fn call(mut self, tool: &str, input: &Value) -> Self {
        let Value::Object(fields) = input else {
            return self.json(input);
        };
        let before = self.parts.len();
        let mut rest = fields.clone();
        match tool {
            "Bash" if is_text(&rest, "command") => {
                self = self.text(&taken(&mut rest, "command"));
            }
            "WebFetch" if is_text(&rest, "url") => self = self.text(&taken(&mut rest, "url")),
            "Edit" | "Write" | "NotebookEdit" => self = self.change(&mut rest),
            _ => {}
        }
        match (rest.is_empty(), self.parts.len() == before) {
            (true, false) => self,
            (false, false) => self.note("with").json(&Value::Object(rest)),
            (_, true) => self.json(&Value::Object(rest)),
        }
    }

    /// Adds a line of ours.
    pub(crate) fn note(mut self, text: &str) -> Self {
        self.parts.push(Part::Note(visible_line(text)));
        self
    }

    /// Adds text of others, line by line.
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.add(Sign::None, &lines(text));
        self
    }

    /// Adds text of others that is one line, whatever is in it.
    pub(crate) fn line(mut self, text: &str) -> Self {
        self.parts.push(Part::Text(Sign::None, visible_line(text)));
        self
    }

    /// Adds a value as JSON.
    pub(crate) fn json(self, value: &Value) -> Self {
        // Writing into memory does not fail for a value; were it to, the short form has it all.
        let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        self.text(&text)
    }

    fn change(mut self, rest: &mut Map<String, Value>) -> Self {
        for name in ["file_path", "notebook_path"] {
            if is_text(rest, name) {
                self = self.text(&taken(rest, name));
            }
        }
        if !["old_string", "new_string", "content", "new_source"]
            .iter()
            .any(|name| is_text(rest, name))
        {
            return self;
        }
        let old = if is_text(rest, "old_string") {
            taken(rest, "old_string")
        } else {
            String::new()
        };
        let names = ["new_string", "content", "new_source"];
        let new = names.into_iter().find(|name| is_text(rest, name));
        let new = new.map(|name| taken(rest, name)).unwrap_or_default();
        self.replacement(&old, &new);
        self
    }

    /// Old lines, then new ones; lines that both begin or end with are shown once.
    fn replacement(&mut self, old: &str, new: &str) {
        // Lines are compared as they are: some that differ look the same.
        let (before, after) = (changed_lines(old), changed_lines(new));
        let same = before.iter().zip(&after).take_while(|(a, b)| a == b);
        let head = same.count();
        let tails = before[head..].iter().rev().zip(after[head..].iter().rev());
        let tail = tails.take_while(|(a, b)| a == b).count();
        self.add(Sign::Same, &before[..head]);
        self.add(Sign::Old, &before[head..before.len() - tail]);
        self.add(Sign::New, &after[head..after.len() - tail]);
        self.add(Sign::Same, &before[before.len() - tail..]);
        if !old.is_empty() && old.ends_with('\n') != new.ends_with('\n') {
            let how = if new.ends_with('\n') {
                "with a line break"
            } else {
                "without a line break"
            };
            self.parts
                .push(Part::Note(format!("the new text ends {how}")));
        }
    }

    fn add(&mut self, sign: Sign, lines: &[&str]) {
        let parts = lines.iter().map(|line| Part::Text(sign, visible(line)));
        self.parts.extend(parts);
    }

    /// The lines of a window of this width.
    pub(crate) fn rows(&self, columns: usize) -> Vec<String> {
        let width = columns.saturating_sub(MARGIN).max(NARROWEST);
        let mut rows = Vec::new();
        for part in &self.parts {
            match part {
                Part::Note(text) => {
                    let pieces = wrapped(text, width);
                    rows.extend(pieces.iter().map(|piece| format!("  {}", piece.dimmed())));
                }
                Part::Text(sign, text) => rows.extend(behind_bar(*sign, text, width)),
            }
        }
        rows
    }

    /// Everything that has to be on the screen, one line each.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Note(_) => None,
            Part::Text(_, text) => Some(text.clone()),
        });
        texts.collect()
    }
}

/// A line that goes on in the next row has another bar there.
fn behind_bar(sign: Sign, text: &str, width: usize) -> Vec<String> {
    let pieces = wrapped(text, width);
    let row = |(index, piece): (usize, &String)| {
        let bar = match index {
            0 => "│",
            _ => "┊",
        };
        let piece = match sign {
            Sign::None => piece.clone(),
            Sign::Same => format!("  {piece}"),
            Sign::Old => format!("- {piece}").red().to_string(),
            Sign::New => format!("+ {piece}").green().to_string(),
        };
        format!("  {} {piece}", bar.dimmed())
    };
    pieces.iter().enumerate().map(row).collect()
}

/// Pieces of a line that fit; there is always one.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for character in line.chars() {
        let wide = character.width().unwrap_or(1);
        if used + wide > width {
            pieces.push(String::new());
            used = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
        used += wide;
    }
    pieces
}

/// The lines of a text. A text without any has one that is empty.
fn lines(text: &str) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').collect()
}

/// The same for one side of a change, where no text has no lines.
fn changed_lines(text: &str) -> Vec<&str> {
    if text.is_empty() {
        Vec::new()
    } else {
        lines(text)
    }
}

fn is_text(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).is_some_and(Value::is_string)
}

fn taken(fields: &mut Map<String, Value>, name: &str) -> String {
    match fields.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(tool: &str, input: &Value, columns: usize) -> Vec<String> {
        let rows = Sheet::default().call(tool, input).rows(columns);
        let rows = rows.iter();
        rows.map(|row| anstream::adapter::strip_str(row).to_string())
            .collect()
    }

    #[test]
    fn each_tool_shows_its_whole_input() {
        let table = [
            (
                "Bash",
                json!({"command": "npm run build\n$(echo touch) x", "timeout": 5}),
                vec![
                    "  │ npm run build",
                    "  │ $(echo touch) x",
                    "  with",
                    "  │ {",
                    "  │   \"timeout\": 5",
                    "  │ }",
                ],
            ),
            (
                "Edit",
                json!({"file_path": "/a", "old_string": "1\n2\n3", "new_string": "1\nx\ny\n3"}),
                vec![
                    "  │ /a",
                    "  │   1",
                    "  │ - 2",
                    "  │ + x",
                    "  │ + y",
                    "  │   3",
                ],
            ),
            (
                "Edit",
                json!({"file_path": "/a", "old_string": "1", "new_string": "1\n"}),
                vec!["  │ /a", "  │   1", "  the new text ends with a line break"],
            ),
            (
                "Edit",
                json!({"file_path": "/a", "old_string": "⟨U+200B⟩\n→   x", "new_string": "\u{200b}\n\tx "}),
                vec![
                    "  │ /a",
                    "  │ - ⟨U+27E8⟩U+200B⟨U+27E9⟩",
                    "  │ - ⟨U+2192⟩   x",
                    "  │ + ⟨U+200B⟩",
                    "  │ + →   x⟨SP⟩",
                ],
            ),
            (
                "Write",
                json!({"file_path": "/a", "content": "one\n\ntwo\n"}),
                vec!["  │ /a", "  │ + one", "  │ + ", "  │ + two"],
            ),
            (
                "WebFetch",
                json!({"url": "https://x.invalid/\u{202e}"}),
                vec!["  │ https://x.invalid/⟨U+202E⟩"],
            ),
            (
                "mcp__a__b",
                json!({"x": [1]}),
                vec!["  │ {", "  │   \"x\": [", "  │     1", "  │   ]", "  │ }"],
            ),
            (
                "Bash",
                json!({"command": 7}),
                vec!["  │ {", "  │   \"command\": 7", "  │ }"],
            ),
            ("Bash", json!("text"), vec!["  │ \"text\""]),
        ];
        for (tool, input, expected) in table {
            assert_eq!(plain(tool, &input, 80), expected, "{tool} {input}");
        }
    }

    #[test]
    fn padding_moves_nothing_out_of_sight() {
        let command = format!("ls{}; rm -rf /", " ".repeat(300));
        let rows = plain("Bash", &json!({"command": command}), 80);
        assert!(rows.iter().all(|row| row.chars().count() <= 80), "{rows:?}");
        assert!(
            rows.last().is_some_and(|row| row.contains("; rm -rf /")),
            "{rows:?}"
        );
        assert!(rows[1].starts_with("  ┊ "), "{rows:?}");
    }

    #[test]
    fn wide_letters_count_twice() {
        let rows = plain("Bash", &json!({"command": "日".repeat(40)}), 46);
        assert_eq!(rows.len(), 2, "{rows:?}");
    }
}
