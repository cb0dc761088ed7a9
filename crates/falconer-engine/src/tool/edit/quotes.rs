//! Typographic quotes: models write straight ones where a file has curly ones.

/// The straight form of a quote, and every other letter as it is.
fn straight(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        other => other,
    }
}

/// How the file writes `wanted`, if it differs from it in its quotes only.
pub(super) fn as_in_file(file: &str, wanted: &str) -> Option<String> {
    let letters: Vec<(usize, char)> = file.char_indices().collect();
    let plain: String = letters
        .iter()
        .map(|(_, letter)| straight(*letter))
        .collect();
    let wanted: String = wanted.chars().map(straight).collect();
    let at = plain.find(&wanted)?;
    let first = plain[..at].chars().count();
    let count = wanted.chars().count();
    let start = letters.get(first)?.0;
    let end = letters.get(first + count).map_or(file.len(), |(at, _)| *at);
    Some(file[start..end].to_owned())
}

/// The new text with the kind of quotes that the old one has in the file.
pub(super) fn in_the_style_of(old: &str, new: &str) -> String {
    let curly_double = old.contains(['\u{201c}', '\u{201d}']);
    let curly_single = old.contains(['\u{2018}', '\u{2019}']);
    let mut before = None;
    new.chars()
        .map(|letter| {
            let opens = before.is_none_or(|it: char| it.is_whitespace() || "([{-–—".contains(it));
            before = Some(letter);
            match letter {
                '"' if curly_double && opens => '\u{201c}',
                '"' if curly_double => '\u{201d}',
                '\'' if curly_single && opens => '\u{2018}',
                '\'' if curly_single => '\u{2019}',
                other => other,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curly_quotes_are_found_and_kept() {
        let found = as_in_file("é “q” it’s", "\"q\" it's").unwrap();
        assert_eq!(found, "“q” it’s");
        assert_eq!(in_the_style_of(&found, "\"r\" isn't"), "“r” isn’t");
        assert_eq!(as_in_file("plain", "\"q\""), None);
        assert_eq!(in_the_style_of("\"a\"", "\"b\""), "\"b\"");
    }
}
