//! One word of a command: what is written, and what the shell will make of it if that is fixed.

use tree_sitter::Node;

/// A word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// As written.
    pub text: String,
    /// What the program will get, if that can be told before running.
    pub literal: Option<String>,
    /// It names files by a pattern; the pattern without quotes.
    pub glob: Option<String>,
    /// It is in double quotes, so it stays one word.
    pub quoted: bool,
    /// It holds variables such as `$HOME`, whose value may be shown.
    pub shows_variables: bool,
}

impl Word {
    /// A word without anything special in it.
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            literal: Some(text.to_owned()),
            ..Self::default()
        }
    }

    /// What the program gets if that is known, else what is written.
    pub fn unquoted(&self) -> &str {
        self.literal.as_deref().unwrap_or(&self.text)
    }

    /// Reads a word off the syntax tree.
    pub(super) fn read(node: Node<'_>, source: &str) -> Self {
        let text = source[node.byte_range()].to_owned();
        let mut reading = Reading::default();
        reading.take(node, source);
        let unquoted_tilde = text.starts_with('~') && !(text == "~" || text.starts_with("~/"));
        let braces = reading.braces && (text.contains(',') || text.contains(".."));
        let known = !reading.dynamic && !unquoted_tilde && !braces;
        Self {
            quoted: node.kind() == "string",
            shows_variables: false,
            literal: (known && !reading.glob).then(|| reading.value.clone()),
            glob: (known && reading.glob).then_some(reading.value),
            text,
        }
    }
}

#[derive(Debug, Default)]
struct Reading {
    value: String,
    dynamic: bool,
    glob: bool,
    braces: bool,
}

impl Reading {
    fn take(&mut self, node: Node<'_>, source: &str) {
        let text = &source[node.byte_range()];
        match node.kind() {
            "command_name" | "concatenation" => self.take_children(node, source),
            "word" | "number" | "variable_name" => {
                if node.named_child_count() > 0 {
                    self.dynamic = true;
                } else {
                    self.take_bare(text);
                }
            }
            "raw_string" => self.value.push_str(text.trim_matches('\'')),
            "string" => self.take_string(node, source),
            _ => self.dynamic = true,
        }
    }

    fn take_children(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            // Space inside a word can only be a line that goes on below.
            if child.start_byte() != end {
                self.dynamic = true;
            }
            end = child.end_byte();
            if child.is_named() {
                self.take(child, source);
            } else {
                self.take_bare(&source[child.byte_range()]);
            }
        }
    }

    fn take_bare(&mut self, text: &str) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some('\n') | None => self.dynamic = true,
                    Some(escaped) => self.value.push(escaped),
                },
                '*' | '?' | '[' => {
                    self.glob = true;
                    self.value.push(character);
                }
                '{' => {
                    self.braces = true;
                    self.value.push(character);
                }
                '$' | '`' => self.dynamic = true,
                _ => self.value.push(character),
            }
        }
    }

    fn take_string(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        if node
            .named_children(&mut cursor)
            .any(|child| child.kind() != "string_content")
        {
            self.dynamic = true;
            return;
        }
        let text = &source[node.byte_range()];
        let inner = text
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let Some(inner) = inner else {
            self.dynamic = true;
            return;
        };
        let mut characters = inner.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.peek() {
                    Some('"' | '\\' | '$' | '`') => self.value.extend(characters.next()),
                    Some('\n') => {
                        characters.next();
                    }
                    _ => self.value.push('\\'),
                },
                '$' | '`' => self.dynamic = true,
                _ => self.value.push(character),
            }
        }
    }
}
