//! Rules that do not do what their writer wants.

use crate::rule::Rule;

/// Returns why a rule guards or allows nothing: it is broken, names an unknown tool, or has
/// letters that no command has.
pub fn flaw(text: &str) -> Option<String> {
    if let Some(letter) = text.chars().find(|letter| is_deceptive(*letter)) {
        let number = u32::from(letter);
        return Some(format!(
            "the rule `{}` has the letter U+{number:04X}, which cannot be seen or looks like another",
            text.escape_debug()
        ));
    }
    match Rule::parse(text) {
        Err(error) => Some(error.to_string()),
        Ok(rule) => rule.check_tool(&[]).err().map(|error| error.to_string()),
    }
}

/// Letters without a width, those that turn the line around, and wide forms of plain letters.
fn is_deceptive(letter: char) -> bool {
    let is_control = letter.is_control() && !matches!(letter, '\n' | '\t');
    is_control
        || matches!(
            letter,
            '\u{ad}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{ff01}'..='\u{ff5e}'
        )
}

#[cfg(test)]
mod tests {
    use super::flaw;

    #[test]
    fn rules_that_guard_nothing_are_found() {
        let table = [
            ("Bash(rm *)", None),
            ("Bash", None),
            ("Task", None),
            ("mcp__github", None),
            ("mcp__anything__at_all", None),
            ("Bahs(rm *)", Some("Bash")),
            ("bash(x)", Some("`Bash(x)`")),
            ("Bash(", Some("`Bash")),
            ("Raed(.env)", Some("Read")),
            ("WebFecth", Some("WebFetch")),
            ("Frobnicate", Some("unknown tool")),
            ("", Some("names no tool")),
            ("Bash(r\u{200b}m:*)", Some("U+200B")),
            ("Bash(\u{ff52}m:*)", Some("U+FF52")),
            ("Read(\u{202e}vne.)", Some("U+202E")),
            ("Bash(touch \u{e4}\u{6f22})", None),
        ];
        for (rule, expected) in table {
            let found = flaw(rule);
            let fits = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(fits, "{rule}: {found:?}");
        }
    }
}
