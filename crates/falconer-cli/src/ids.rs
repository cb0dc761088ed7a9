//! Ids as people read and type them.

use crate::exit::Fault;
use crate::render::clean;

/// An id is never shown shorter.
const SHORTEST: usize = 8;
/// So many ids are named when it is not clear which one is meant.
const MOST_NAMED: usize = 5;

/// Each id as short as it can be told from the others. Ids made at the same time begin alike.
pub(crate) fn shortened<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    let shorten = |id: &&'a str| {
        let others = ids.iter().filter(|other| *other != id);
        let alike = others.map(|other| common(id, other)).max().unwrap_or(0);
        beginning(id, SHORTEST.max(alike + 1))
    };
    ids.iter().map(shorten).collect()
}

/// How many characters two ids have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}

fn beginning(id: &str, characters: usize) -> &str {
    let end = id.char_indices().nth(characters);
    // An id ends with a character that means something.
    end.map_or(id, |(end, _)| id[..end].trim_end_matches(['-', '.']))
}

/// The fault of who gave too little of an id.
pub(crate) fn ambiguous(given: &str, ids: &[&str]) -> Fault {
    let mut named: Vec<String> = shortened(ids).into_iter().map(clean).collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    let mut text = format!("`{}` is ambiguous: {}", clean(given), named.join(" or "));
    if more > 0 {
        text += &format!(", or {more} more");
    }
    Fault::usage(text, "give more characters of the id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_can_be_told_apart() {
        let check = |ids: &[&str], expect: &[&str]| assert_eq!(shortened(ids), expect);
        check(&[], &[]);
        check(&["4f2a8c1e-aaaa"], &["4f2a8c1e"]);
        check(
            &["4f2a8c1e-aaaa", "99999999-aaaa"],
            &["4f2a8c1e", "99999999"],
        );
        check(
            &["01a1ee76-f1a1-71", "01a1ee76-f2b2-72"],
            &["01a1ee76-f1", "01a1ee76-f2"],
        );
        // As far as eight characters go, and where the next one is none of the id's own.
        check(&["abcdefgh-1", "abcdefgx-1"], &["abcdefgh", "abcdefgx"]);
        check(&["short", "shorter"], &["short", "shorter"]);
        check(&["ééééééééé1", "ééééééééé2"], &["ééééééééé1", "ééééééééé2"]);
    }

    #[test]
    fn few_ids_are_named_and_no_escape_sequence_is() {
        let ids: Vec<String> = (0..9).map(|n| format!("{n}0000000-x")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let text = ambiguous("\u{1b}[31m", &ids).text;
        assert!(text.ends_with("or 40000000, or 4 more"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
