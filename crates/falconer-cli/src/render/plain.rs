//! Text from models and tools, made safe for a terminal.

/// Without control characters: a model or a file must not move the cursor, change the title of
/// the window, or type for the user.
pub(crate) fn clean(text: &str) -> String {
    let visible = |character: &char| match character {
        '\n' | '\t' => true,
        // Marks that turn the direction of text can make it read differently than it runs.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    };
    text.chars().filter(visible).collect()
}

/// The first line that says something, shortened.
pub(crate) fn first_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_cannot_reach_the_terminal() {
        let hostile = "a\x1b[2Jb\x07\r\u{9b}31m\u{202e}c\n\td\u{7f}";
        assert_eq!(clean(hostile), "a[2Jb31mc\n\td");
    }

    #[test]
    fn a_first_line_is_short_and_says_something() {
        assert_eq!(first_line("\n  \n one \n two"), "one");
        assert_eq!(first_line(""), "");
        assert_eq!(first_line(&"€".repeat(161)).chars().count(), 161);
        assert_eq!(first_line(&"€".repeat(160)).chars().count(), 160);
    }
}
