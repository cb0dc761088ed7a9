//! Text from models and tools, made safe for a terminal.

use std::collections::HashSet;
use std::io::IsTerminal;

use unicode_width::UnicodeWidthChar;

/// Marks that a letter has in the scripts that have most of them.
const MOST_MARKS: usize = 3;

/// Prose without control characters: a model or a file must not move the cursor, change the
/// title of the window, or type for the user.
pub(crate) fn clean(text: &str) -> String {
    let is_kept = |character: &char| match character {
        '\n' | '\t' => true,
        // Joiners make emoji and words of many scripts; marks belong to the letter before them.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => true,
        ' ' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => true,
        other => !is_unseen(*other),
    };
    text.chars().filter(is_kept).collect()
}

/// Prose for stdout: cleaned on a terminal, as it is in a pipe or a file.
pub(crate) fn for_stdout(text: String) -> String {
    if std::io::stdout().is_terminal() {
        clean(&text)
    } else {
        text
    }
}

/// Text that somebody is to approve, with everything in sight: what a terminal would not show,
/// would obey, or would show like something else, is replaced by its name.
pub(crate) fn visible(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible_part).collect();
    lines.join("\n")
}

/// One line, blanks at its end included.
fn visible_part(line: &str) -> String {
    let ended = line.trim_end_matches(' ');
    let mut shown = String::with_capacity(line.len());
    // Marks over a letter; so many of them cover their neighbours.
    let mut marks = 0;
    let mixed = lookalikes(ended);
    for (at, character) in ended.char_indices() {
        marks = match character.width() {
            Some(0) => marks + 1,
            _ => 0,
        };
        let is_alone = marks > 0 && at == 0;
        match character {
            '\t' => shown.push_str(TAB),
            '→' if ended[at..].starts_with(TAB) => shown.push_str(&name(character)),
            other if is_unseen(other) || is_ours(other) || is_alone || marks > MOST_MARKS => {
                shown.push_str(&name(other));
            }
            other if mixed.contains(&at) => shown.push_str(&name(other)),
            other => shown.push(other),
        }
    }
    match line.len() - ended.len() {
        0 => {}
        1 => shown.push_str("⟨SP⟩"),
        blanks => shown.push_str(&format!("⟨SP×{blanks}⟩")),
    }
    shown
}

/// How a tab is shown.
const TAB: &str = "→   ";

/// What we write ourselves around a name.
fn is_ours(character: char) -> bool {
    matches!(character, '⟨' | '⟩')
}

/// Where letters stand that pass for Latin ones, in words that have Latin ones.
fn lookalikes(line: &str) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut word = Vec::new();
    let mut has_latin = false;
    for (at, character) in line.char_indices().chain([(line.len(), ' ')]) {
        if character.is_alphanumeric() {
            has_latin |= character.is_ascii_alphabetic();
            if passes_for_latin(character) {
                word.push(at);
            }
            continue;
        }
        if has_latin {
            found.extend(word.iter().copied());
        }
        word.clear();
        has_latin = false;
    }
    found
}

/// Letters of scripts that share shapes with the Latin one.
fn passes_for_latin(character: char) -> bool {
    matches!(character,
        '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}'
        | '\u{1f00}'..='\u{1fff}' | '\u{2100}'..='\u{218f}' | '\u{2c80}'..='\u{2cff}'
        | '\u{2de0}'..='\u{2dff}' | '\u{a4d0}'..='\u{a4ff}' | '\u{a640}'..='\u{a69f}'
        | '\u{ab30}'..='\u{abbf}' | '\u{ff00}'..='\u{ff5e}' | '\u{10280}'..='\u{1031f}'
        | '\u{10400}'..='\u{1044f}' | '\u{118a0}'..='\u{118ff}' | '\u{1d400}'..='\u{1d7ff}')
}

/// The same on one line: ends of lines are named, too.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "⟨LF⟩")
}

fn name(character: char) -> String {
    match character {
        '\0' => "⟨NUL⟩".to_owned(),
        '\u{7}' => "⟨BEL⟩".to_owned(),
        '\u{8}' => "⟨BS⟩".to_owned(),
        '\r' => "⟨CR⟩".to_owned(),
        '\u{1b}' => "⟨ESC⟩".to_owned(),
        '\u{7f}' => "⟨DEL⟩".to_owned(),
        other => format!("⟨U+{:04X}⟩", u32::from(other)),
    }
}

/// Control characters, marks that hide or turn text, and blanks that are not the space.
fn is_unseen(character: char) -> bool {
    match character {
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{feff}' => true,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{2800}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        // Format marks of rare scripts, a note without a head, a place for an object.
        '\u{13430}'..='\u{1345f}' | '\u{1d159}' | '\u{fffc}' => true,
        // Letters of a font's own: nobody knows what they look like.
        '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'.. => true,
        ' ' => false,
        other => other.is_control() || other.is_whitespace(),
    }
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
        let hostile = "a\x1b[2Jb\x07\r\u{9b}31m\u{202e}c\n\td\u{7f}\u{200b}\u{e0041}";
        assert_eq!(clean(hostile), "a[2Jb31mc\n\td");
        assert_eq!(clean("👩\u{200d}💻\u{a0}x"), "👩\u{200d}💻\u{a0}x");
    }

    #[test]
    fn what_is_approved_has_nothing_hidden_in_it() {
        let table = [
            ("a\x1b[2J\x07", "a⟨ESC⟩[2J⟨BEL⟩"),
            ("a\rb\u{9b}c", "a⟨CR⟩b⟨U+009B⟩c"),
            ("x\u{202e}y\u{2066}z", "x⟨U+202E⟩y⟨U+2066⟩z"),
            ("r\u{200b}m\u{feff}\u{ad}", "r⟨U+200B⟩m⟨U+FEFF⟩⟨U+00AD⟩"),
            ("a\u{a0}b\u{3000}c\u{2800}", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2800⟩"),
            ("\u{e0041}\u{3164}", "⟨U+E0041⟩⟨U+3164⟩"),
            ("a\n\tb c", "a\n→   b c"),
            ("größe 日本", "größe 日本"),
            ("a  \nb \n   \nc", "a⟨SP×2⟩\nb⟨SP⟩\n⟨SP×3⟩\nc"),
            ("⟨SP⟩→   →x", "⟨U+27E8⟩SP⟨U+27E9⟩⟨U+2192⟩   →x"),
            ("p\u{430}ypal.com привет", "p⟨U+0430⟩ypal.com привет"),
            ("日本語text \u{ff41}b", "日本語text ⟨U+FF41⟩b"),
            ("\u{338}a \u{e0b0}", "⟨U+0338⟩a ⟨U+E0B0⟩"),
            (
                "a\u{301}\u{302}\u{303}\u{304}",
                "a\u{301}\u{302}\u{303}⟨U+0304⟩",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_line("a\nb"), "a⟨LF⟩b");
    }

    #[test]
    fn a_first_line_is_short_and_says_something() {
        assert_eq!(first_line("\n  \n one \n two"), "one");
        assert_eq!(first_line(""), "");
        assert_eq!(first_line(&"€".repeat(161)).chars().count(), 161);
        assert_eq!(first_line(&"€".repeat(160)).chars().count(), 160);
    }
}
