//! Commands as the grammar can read them.
//!
//! The scanner of the grammar is C and looks up characters in tables made for bytes; one that is
//! wider makes it read outside of them. To the shell such a character is a letter of a word, so
//! letters stand for it, as many as it has bytes: what is found has the same place in both.

use std::borrow::Cow;

use tree_sitter::Tree;

/// The last character the tables have.
const LAST: char = '\u{ff}';

/// The command with letters for characters the grammar cannot read.
pub(super) fn stand_in(command: &str) -> Cow<'_, str> {
    if command.chars().all(|letter| letter <= LAST) {
        return Cow::Borrowed(command);
    }
    let mut narrow = String::with_capacity(command.len());
    for letter in command.chars() {
        if letter <= LAST {
            narrow.push(letter);
        } else {
            narrow.extend(std::iter::repeat_n('x', letter.len_utf8()));
        }
    }
    Cow::Owned(narrow)
}

/// Whether something was found that begins or ends inside a character of the command.
pub(super) fn cuts_a_character(command: &str, tree: &Tree) -> bool {
    if command.is_ascii() {
        return false;
    }
    let mut cursor = tree.walk();
    loop {
        let found = cursor.node().byte_range();
        if !command.is_char_boundary(found.start) || !command.is_char_boundary(found.end) {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    #[test]
    fn what_is_wide_keeps_its_place() {
        assert_eq!(stand_in("echo ü"), "echo ü");
        assert_eq!(stand_in("echo 漢 && ls"), "echo xxx && ls");
        let found = parts("echo '漢字' 😀 && rm -rf ~/日本").unwrap();
        let names: Vec<_> = found.iter().map(|part| part.name().unwrap()).collect();
        assert_eq!(names, ["echo", "rm"]);
        assert!(format!("{found:?}").contains("漢字"), "{found:?}");
    }
}
