//! The command that goes on with a session, pasted into a prompt.

/// A prompt that names the session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumeLine {
    /// The session: its id, or the beginning of it.
    pub session: String,
    /// The prompt without the command; empty if there is nothing else.
    pub rest: String,
}

impl ResumeLine {
    /// Finds the command in a prompt: `falconer chat --resume ID`, `falconer run -r ID` or
    /// `claude --resume ID`, with or without backticks.
    ///
    /// It has to stand on a line of its own (the last such line counts, and all of them are taken
    /// out), or at the very beginning of the prompt. A command in the middle of a sentence is
    /// something that is talked about.
    pub fn find(prompt: &str) -> Option<Self> {
        let of_line = |line: &str| match command(line) {
            Some((session, "")) => Some(session.to_owned()),
            _ => None,
        };
        if let Some(session) = prompt.lines().rev().find_map(of_line) {
            let rest: Vec<&str> = prompt
                .lines()
                .filter(|line| of_line(line).is_none())
                .collect();
            let rest = rest.join("\n").trim().to_owned();
            return Some(Self { session, rest });
        }
        let (session, rest) = command(prompt)?;
        Some(Self {
            session: session.to_owned(),
            rest: rest.to_owned(),
        })
    }
}

/// The session that a command at the beginning of a text names, and what follows it.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    // As the last line of a run says it.
    let text = text.strip_prefix("continue with ").unwrap_or(text);
    let text = text.trim_start_matches("$ ");
    let (quoted, text) = match text.strip_prefix('`') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (program, text) = word(text);
    let text = match program {
        "claude" => text,
        "falconer" => match word(text) {
            ("chat" | "run", text) => text,
            _ => return None,
        },
        _ => return None,
    };
    let (flag, text) = word(text);
    let (id, rest) = match flag.strip_prefix("--resume=") {
        Some(id) => (id, text),
        None if matches!(flag, "--resume" | "-r") => word(text),
        None => return None,
    };
    let id = if quoted { id.strip_suffix('`')? } else { id };
    is_id(id).then_some((id, rest))
}

/// The first word of a text, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

/// Ids of engines and of the store; what looks like another flag is none.
fn is_id(id: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !id.starts_with('-') && (4..=256).contains(&id.len()) && id.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_command_is_found_where_it_stands_alone_or_first() {
        let found = |session: &str, rest: &str| {
            Some(ResumeLine {
                session: session.to_owned(),
                rest: rest.to_owned(),
            })
        };
        let table = [
            ("`falconer chat --resume 8b2d2b30`", found("8b2d2b30", "")),
            ("falconer run -r abcd", found("abcd", "")),
            ("`claude --resume abcd`", found("abcd", "")),
            ("claude -r abcd", found("abcd", "")),
            ("$ claude --resume=abcd", found("abcd", "")),
            (
                "continue with `falconer chat --resume 8b2d2b30`\n\nnow the docs",
                found("8b2d2b30", "now the docs"),
            ),
            ("do more\n  `claude -r abcd`\n", found("abcd", "do more")),
            ("`claude -r one1`\nx\n`claude -r two2`", found("two2", "x")),
            (
                "falconer chat -r abcd and now the docs",
                found("abcd", "and now the docs"),
            ),
            ("`falconer chat -r abcd` go\non", found("abcd", "go\non")),
            ("why does `claude --resume abcd` fail?", None),
            ("`claude --resume abcd", None),
            ("claude --resume", None),
            ("claude -r --fork", None),
            ("claude --resume $(id)", None),
            ("falconer sessions show abcd", None),
            ("notclaude --resume abcd", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(ResumeLine::find(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_line_of_its_own_is_found_in_any_text(
            before in "[a-zü \n]{0,80}",
            after in "[a-zü \n]{0,80}",
            id in "[A-Za-z0-9][A-Za-z0-9-]{3,40}",
        ) {
            let text = format!("{before}\n`falconer chat --resume {id}`\n{after}");
            let found = ResumeLine::find(&text).unwrap();
            prop_assert_eq!(found.session, id);
            prop_assert!(!found.rest.contains('`'));
        }

        #[test]
        fn nothing_panics(text in ".{0,200}") {
            let _ = ResumeLine::find(&text);
        }
    }
}
