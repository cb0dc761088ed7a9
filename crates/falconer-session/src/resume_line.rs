//! The line that tells a person how to go on with a session, and finding it again in a text.

/// The line for a session: the real command, in backticks.
pub fn resume_line(session: &str) -> String {
    format!("`claude --resume {session}`")
}

/// The session a text names, by `claude --resume ID` or `claude -r ID`; the last one wins.
///
/// The backticks may be missing; `--resume=ID` counts as well.
pub fn find_session(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = None;
    for (index, word) in words.iter().enumerate() {
        if bare(word) != "claude" {
            continue;
        }
        let next = words.get(index + 1).copied().unwrap_or_default();
        let named = match next {
            "--resume" | "-r" => words.get(index + 2).copied(),
            _ => next.strip_prefix("--resume="),
        };
        found = named.map(bare).filter(|id| is_id(id)).or(found);
    }
    found
}

/// Whether a text says nothing but how to go on: then the prompt is "continue".
pub fn is_only_resume_line(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    match words.as_slice() {
        ["claude", "--resume" | "-r", id] => is_id(id),
        ["claude", joined] => joined.strip_prefix("--resume=").is_some_and(is_id),
        _ => false,
    }
}

/// Shortens a text to so many characters and keeps its last resume line whole, at the end.
///
/// The line is kept even if it alone is longer than the limit: a person without it is lost.
pub fn truncate_keeping_resume_line(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let Some(session) = find_session(text) else {
        return shortened(text, longest);
    };
    let line = resume_line(session);
    let room = longest.saturating_sub(line.chars().count() + 1);
    let head = shortened(text, room);
    // What is left of the text may hold the line already; it must not come twice.
    match (head.is_empty(), find_session(&head) == Some(session)) {
        (true, _) => line,
        (false, true) => head,
        (false, false) => format!("{head}\n{line}"),
    }
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let Some(room) = longest.checked_sub(1) else {
        return String::new();
    };
    let mut head: String = text.chars().take(room).collect();
    // Half a resume line would name a session that does not exist.
    if let Some(start) = head.rfind("claude ")
        && find_session(&head[start..]) != find_session(&text[start..])
    {
        head.truncate(start);
        while head.ends_with('`') {
            head.pop();
        }
    }
    head.push('…');
    head
}

fn bare(word: &str) -> &str {
    word.trim_matches(|edge| matches!(edge, '`' | '\'' | '"' | ',' | ';' | '(' | ')' | '.'))
}

/// Ids are opaque; what looks like another flag, or has no end, is none.
fn is_id(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('-') && !id.contains(['`', '…']) && id.len() <= 256
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_spellings_are_found_and_the_last_one_wins() {
        let table = [
            ("`claude --resume abc`", Some("abc")),
            ("claude --resume abc", Some("abc")),
            ("`claude -r abc`", Some("abc")),
            ("claude --resume=abc", Some("abc")),
            ("go on with `claude --resume abc`.", Some("abc")),
            ("`claude --resume a`\n`claude -r b`", Some("b")),
            ("`claude -r b` and `claude --resume a`", Some("a")),
            ("`claude --resume a` claude --resume", Some("a")),
            ("`claude --resume a` claude -r --fork", Some("a")),
            ("claude --continue", None),
            ("notclaude --resume x", None),
            ("--resume x", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(find_session(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_only_the_line_is_told_apart() {
        for text in ["`claude --resume a`", " claude -r a\n", "claude --resume=a"] {
            assert!(is_only_resume_line(text), "{text}");
        }
        for text in ["claude --resume", "please `claude --resume a`", "a", ""] {
            assert!(!is_only_resume_line(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_formatted_is_read_back(id in "[A-Za-z0-9_][A-Za-z0-9_-]{0,63}") {
            let line = resume_line(&id);
            prop_assert_eq!(find_session(&line), Some(id.as_str()));
        }

        #[test]
        fn the_line_survives_every_truncation(
            before in "[a-zü \n]{0,80}",
            after in "[a-zü \n]{0,80}",
            id in "[A-Za-z0-9][A-Za-z0-9-]{0,40}",
            longest in 0usize..200,
        ) {
            let text = format!("{before} {} {after}", resume_line(&id));
            let short = truncate_keeping_resume_line(&text, longest);
            prop_assert_eq!(find_session(&short), Some(id.as_str()));
            let floor = resume_line(&id).chars().count();
            prop_assert!(short.chars().count() <= longest.max(floor), "{}", short);
        }

        #[test]
        fn nothing_panics(text in ".{0,200}", longest in 0usize..100) {
            let _ = find_session(&text);
            let _ = truncate_keeping_resume_line(&text, longest);
        }
    }
}
