//! From a syntax tree to simple commands.
//!
//! Every node is visited, so that no command can hide in a place nobody thought of; a kind of
//! node that is not listed here makes the whole command opaque.

use tree_sitter::Node;

use super::heredoc::{is_clear, looks_dynamic};
use super::kind::{self, Kind, Lines};
use super::strict::is_reserved;
use super::variable::is_name;
use super::word::Word;
use super::{Assignment, Direction, Part, Redirect, Unparsable};

/// Deeper nesting is not followed.
const MAX_DEPTH: usize = 100;

pub(super) fn parts(source: &str, root: Node<'_>) -> Result<Vec<Part>, Unparsable> {
    let mut walk = Walk {
        source,
        parts: Vec::new(),
    };
    walk.visit(root, 0)?;
    Ok(walk.parts)
}

struct Walk<'s> {
    source: &'s str,
    parts: Vec<Part>,
}

impl Walk<'_> {
    fn visit(&mut self, node: Node<'_>, depth: usize) -> Result<(), Unparsable> {
        if depth > MAX_DEPTH || node.is_error() || node.is_missing() {
            return Err(Unparsable::Syntax);
        }
        let (kind, lines) = kind::of(node);
        self.check_line(node, lines)?;
        match kind {
            Kind::Compound if self.text(node).starts_with("((") => {
                self.hide("arithmetic with variables");
            }
            Kind::Frame | Kind::Compound => self.check_gaps(node)?,
            Kind::For => {
                self.check_gaps(node)?;
                self.loop_variable(node);
            }
            Kind::Command => self.command(node),
            Kind::Assignment => self.bare_assignment(node),
            Kind::Declaration => self.declaration(node),
            Kind::Test => self.test(node),
            Kind::FileRedirect => self.redirect(node),
            Kind::HereDocument if is_clear(node, self.source) => self.late_words(node, "argument"),
            Kind::HereDocument => return Err(Unparsable::Syntax),
            Kind::Substitution => self.check_substitution(node)?,
            Kind::Expansion if !is_plain_expansion(node) => {
                self.hide("an expansion with an operator");
            }
            Kind::Arithmetic if has_names(node) => self.hide("arithmetic with variables"),
            Kind::CountingFor => self.hide("arithmetic with variables"),
            Kind::Comment => self.check_comment(node)?,
            Kind::Plain => self.check_plain(node)?,
            // The grammar takes what looks like a pattern for one token, whatever it holds.
            Kind::Pattern => self.check_pattern(node)?,
            Kind::Variable => self.check_variable(node)?,
            Kind::String => self.check_whole(node)?,
            Kind::Expansion | Kind::Arithmetic | Kind::Transparent => {}
            Kind::Other if !node.is_named() => {}
            Kind::Other => return Err(Unparsable::Syntax),
        }
        self.visit_children(node, depth)
    }

    fn visit_children(&mut self, node: Node<'_>, depth: usize) -> Result<(), Unparsable> {
        if node.child_count() == 0 {
            return Ok(());
        }
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .try_for_each(|child| self.visit(child, depth + 1))
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.source[node.byte_range()]
    }

    fn hide(&mut self, reason: &'static str) {
        self.parts.push(Part::opaque(reason));
    }

    fn command(&mut self, node: Node<'_>) {
        let mut part = Part::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => part.assignments.push(self.assignment(child)),
                // Visited on their own.
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                "subshell" => part.opaque = Some("a subshell where an argument should be"),
                _ => part.words.push(Word::read(child, self.source)),
            }
        }
        match part.words.first() {
            None => {}
            Some(name) if name.literal.as_deref().is_none_or(str::is_empty) => {
                part.opaque = Some("the program to run is only known when it runs");
            }
            Some(name) if is_reserved(name.unquoted()) => {
                part.opaque = Some("a word of the shell language where a program should be");
            }
            Some(_) => {}
        }
        self.parts.push(part);
    }

    fn assignment(&self, node: Node<'_>) -> Assignment {
        let name = node.child_by_field_name("name");
        Assignment {
            name: name.map_or_else(String::new, |name| self.text(name).to_owned()),
            text: self.text(node).to_owned(),
        }
    }

    /// A variable set for the rest of the command.
    fn bare_assignment(&mut self, node: Node<'_>) {
        // In front of a program it is part of that command, and in a declaration of that one.
        let parent = node.parent().map(|parent| parent.kind());
        if matches!(
            parent,
            Some("command" | "variable_assignments" | "declaration_command")
        ) || node.kind() == "variable_assignments" && node.named_child_count() == 0
        {
            return;
        }
        let mut cursor = node.walk();
        let assignments = if node.kind() == "variable_assignments" {
            node.named_children(&mut cursor)
                .map(|child| self.assignment(child))
                .collect()
        } else {
            vec![self.assignment(node)]
        };
        self.parts.push(Part {
            assignments,
            ..Part::default()
        });
    }

    fn declaration(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let words = node
            .children(&mut cursor)
            .map(|child| Word {
                literal: (!child.is_named()).then(|| self.text(child).to_owned()),
                text: self.text(child).to_owned(),
                ..Word::default()
            })
            .collect();
        self.parts.push(Part {
            words,
            ..Part::default()
        });
    }

    /// `[ … ]` is a program with words; `[[ … ]]` may compute, which may run what is in a variable.
    fn test(&mut self, node: Node<'_>) {
        let text = self.text(node);
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"[]_./ =!-".contains(&byte));
        if !is_plain || text.starts_with("[[") || !text.starts_with("[ ") {
            self.hide("a test that computes or has patterns");
            return;
        }
        let words = text.split(' ').filter(|word| !word.is_empty());
        let part = Part {
            words: words.map(Word::plain).collect(),
            ..Part::default()
        };
        self.parts.push(part);
    }

    fn loop_variable(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("variable") else {
            return;
        };
        let name = self.text(name);
        // Names of variables that change what programs do are in capitals.
        let is_harmless =
            name.bytes().all(|byte| !byte.is_ascii_uppercase()) && !name.contains("proxy");
        if !is_harmless || self.text(node).starts_with("select") {
            self.hide("a loop over a variable that programs may look at");
        }
    }

    /// A part of its own, whatever it belongs to: the shell opens the file itself.
    fn redirect(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let operator = node
            .children(&mut cursor)
            .find(|child| !child.is_named())
            .map_or("", |child| child.kind());
        let direction = match operator {
            "<" | "<&" | "<&-" => Direction::Read,
            _ => Direction::Write,
        };
        let file = node.child_by_field_name("destination");
        let file = file.map(|file| Word::read(file, self.source));
        self.late_words(node, "destination");
        if let Some(file) = file.filter(|file| !is_descriptor(operator, file)) {
            self.parts.push(Part {
                redirects: vec![Redirect { direction, file }],
                ..Part::default()
            });
        }
    }

    /// Words that follow a redirection are arguments of the command, whatever the grammar says.
    fn late_words(&mut self, node: Node<'_>, field: &'static str) {
        let mut cursor = node.walk();
        let words = node.children_by_field_name(field, &mut cursor);
        let skipped = usize::from(field == "destination");
        let words: Vec<Word> = words
            .skip(skipped)
            .map(|word| Word::read(word, self.source))
            .collect();
        if words.is_empty() {
            return;
        }
        let command = self.parts.iter_mut().rev();
        let command = command.into_iter().find(|part| part.redirects.is_empty());
        match command {
            Some(part) => part.words.extend(words),
            None => self.hide("a word after a redirection"),
        }
    }

    fn check_substitution(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let text = self.text(node);
        // Inside backquotes a backslash means something else to the shell than to the parser.
        let is_clear = !text.starts_with('`') || !text.contains('\\');
        is_clear.then_some(()).ok_or(Unparsable::Syntax)
    }

    /// A comment must be one for the shell, too.
    fn check_comment(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let before = &self.source.as_bytes()[..node.start_byte()];
        let starts_word = match before {
            [] => true,
            [.., b'\\', b' ' | b'\t' | b'\n'] => false,
            [.., last] => b" \t\n;&|()".contains(last),
        };
        let is_clear = starts_word && !self.text(node).contains('\n');
        is_clear.then_some(()).ok_or(Unparsable::Syntax)
    }

    /// Text that the parser took for plain must not run anything.
    fn check_plain(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let text = self.text(node);
        let is_clear = if text.contains('\\') {
            let text = text.replace("\\\\", "").replace("\\$", "");
            !looks_dynamic(&text.replace("\\`", ""))
        } else {
            !looks_dynamic(text)
        };
        is_clear.then_some(()).ok_or(Unparsable::Syntax)
    }

    fn check_pattern(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let is_clear = self
            .text(node)
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.*?/-".contains(&byte));
        is_clear.then_some(()).ok_or(Unparsable::Syntax)
    }

    /// The grammar reads `$ $` as one variable.
    fn check_variable(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let name = self.text(node).trim_start_matches('$');
        let has_space = self.text(node).contains([' ', '\t', '\n', '\\']);
        let is_clear = !has_space && (name.len() <= 1 || is_name(name));
        is_clear.then_some(()).ok_or(Unparsable::Syntax)
    }

    /// Nothing that expands may be left out between the pieces of a string.
    fn check_whole(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            let gap = self.source.get(end..child.start_byte());
            if gap.is_some_and(|gap| gap.contains(['$', '`'])) {
                return Err(Unparsable::Syntax);
            }
            end = end.max(child.end_byte());
        }
        Ok(())
    }

    /// The shell ends a command at the end of its line; the parser sometimes reads on.
    fn check_line(&self, node: Node<'_>, lines: Lines) -> Result<(), Unparsable> {
        let is_one_line = match lines {
            Lines::Any => return Ok(()),
            Lines::One => true,
            Lines::OneAsLeaf => node.is_named() && node.child_count() == 0,
        };
        if !is_one_line || !self.text(node).contains('\n') {
            return Ok(());
        }
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            if child.start_byte() > end && ends_line(&self.source[end..child.start_byte()]) {
                return Err(Unparsable::Syntax);
            }
            end = end.max(child.end_byte());
            // What follows belongs to the lines below the command.
            if child.kind() == "heredoc_start" {
                return Ok(());
            }
        }
        let rest = &self.source[end..node.end_byte().max(end)];
        if ends_line(rest) {
            return Err(Unparsable::Syntax);
        }
        Ok(())
    }

    /// Between the children of a node there must be nothing but space.
    fn check_gaps(&self, node: Node<'_>) -> Result<(), Unparsable> {
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            if child.start_byte() > end && !is_space(&self.source[end..child.start_byte()]) {
                return Err(Unparsable::Syntax);
            }
            end = end.max(child.end_byte());
        }
        if end < node.end_byte() && !is_space(&self.source[end..node.end_byte()]) {
            return Err(Unparsable::Syntax);
        }
        Ok(())
    }
}

/// Whether a line ends in a text, other than after a backslash.
fn ends_line(text: &str) -> bool {
    text.contains('\n') && text.replace("\\\n", "").contains('\n')
}

fn is_space(gap: &str) -> bool {
    let is_blank = |text: &str| text.trim_matches([' ', '\t', '\n']).is_empty();
    is_blank(gap) || is_blank(&gap.replace("\\\n", ""))
}

/// `2>&1` and the like open no file.
fn is_descriptor(operator: &str, file: &Word) -> bool {
    let text = file.unquoted();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(operator, ">&" | "<&") && (is_number || text == "-")
        || matches!(operator, ">&-" | "<&-")
}

fn is_plain_expansion(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let mut children = node.children(&mut cursor);
    children.all(|child| {
        matches!(
            child.kind(),
            "${" | "}" | "variable_name" | "special_variable_name"
        )
    }) && node.named_child_count() == 1
}

fn has_names(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| {
        child.is_named()
            && child.kind() != "number"
            && (child.child_count() == 0 || has_names(child))
    })
}
