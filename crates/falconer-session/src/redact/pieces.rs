//! Texts that come in pieces: a secret may be spread over several of them.
//!
//! What may be the beginning of a secret is held back until more of the text shows that it is
//! none, or the text is complete.

use std::collections::HashMap;

use falconer_event::ItemId;
use falconer_secret::{REDACTED, Redactor};

/// The most of an item that is held back, in bytes. When it would be more the rest of the item
/// is not shown piece by piece; the complete item has it, without its secrets.
const HELD: usize = 8 << 10;

/// The texts that are being streamed, by item.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    open: HashMap<ItemId, Open>,
}

#[derive(Debug, Default)]
struct Open {
    held: String,
    /// How many characters were let through.
    streamed: u64,
    /// Too much looked like one secret; nobody can tell any more where it ends.
    is_silent: bool,
}

/// A piece that may be shown, and how many characters were shown before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) text: String,
}

impl Pieces {
    /// Adds to a text; what may be shown of it comes back.
    pub(crate) fn push(&mut self, redactor: &Redactor, id: &ItemId, text: &str) -> Option<Piece> {
        if !self.open.contains_key(id) {
            self.open.insert(id.clone(), Open::default());
        }
        let open = self.open.get_mut(id).filter(|open| !open.is_silent)?;
        open.held.push_str(text);
        let rest = open.held.split_off(redactor.safe_length(&open.held));
        let shown = std::mem::replace(&mut open.held, rest);
        let mut shown = redactor.text(&shown).unwrap_or(shown);
        if open.held.len() > HELD {
            open.held = String::new();
            open.is_silent = true;
            shown.push_str(REDACTED);
        }
        open.show(shown)
    }

    /// The text is complete; what was held back comes out.
    pub(crate) fn end(&mut self, redactor: &Redactor, id: &ItemId) -> Option<Piece> {
        let mut open = self.open.remove(id)?;
        let held = std::mem::take(&mut open.held);
        let shown = redactor.text(&held).unwrap_or(held);
        open.show(shown)
    }
}

impl Open {
    fn show(&mut self, text: String) -> Option<Piece> {
        if text.is_empty() {
            return None;
        }
        let offset = self.streamed;
        self.streamed += text.chars().count() as u64;
        Some(Piece { offset, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Streams a text in pieces of these lengths; what comes out, put together.
    fn streamed(redactor: &Redactor, text: &str, lengths: &[usize]) -> String {
        let mut pieces = Pieces::default();
        let id = ItemId::from("m.0");
        let letters: Vec<char> = text.chars().collect();
        let (mut out, mut at, mut turn) = (String::new(), 0, 0);
        let show = |piece: Option<Piece>, out: &mut String| {
            if let Some(piece) = piece {
                assert_eq!(piece.offset, out.chars().count() as u64);
                out.push_str(&piece.text);
            }
        };
        while at < letters.len() {
            let end = (at + lengths[turn % lengths.len()].max(1)).min(letters.len());
            let piece: String = letters[at..end].iter().collect();
            show(pieces.push(redactor, &id, &piece), &mut out);
            (at, turn) = (end, turn + 1);
        }
        show(pieces.end(redactor, &id), &mut out);
        assert!(pieces.open.is_empty());
        out
    }

    #[test]
    fn a_secret_in_pieces_is_taken_out() {
        let redactor = Redactor::new(["hunter2-hunter2", "zürich/42"]);
        let cases = [
            (
                "the key is hunter2-hunter2, yes",
                "the key is [redacted], yes",
            ),
            ("hunter2-hunter2", "[redacted]"),
            ("hunter2-hunte", "hunter2-hunte"),
            ("at zürich/42 now", "at [redacted] now"),
            (
                "export K=sk-ant-api03-abcdefghijkl\nnext",
                "export K=[redacted]\nnext",
            ),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
                "a [redacted] b",
            ),
            ("nothing here at all", "nothing here at all"),
        ];
        for (text, expected) in cases {
            for length in [1, 2, 3, 7, 100] {
                assert_eq!(
                    streamed(&redactor, text, &[length]),
                    expected,
                    "by {length}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_secret_is_not_held_back() {
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let mut pieces = Pieces::default();
        let id = ItemId::from("m.0");
        let shown = pieces
            .push(&redactor, &id, "a long ordinary text, ")
            .unwrap();
        assert_eq!(
            (shown.offset, shown.text.as_str()),
            (0, "a long ordinary text, ")
        );
        assert_eq!(pieces.push(&redactor, &id, "hunter2"), None);
        let shown = pieces.push(&redactor, &id, " and so on.").unwrap();
        assert_eq!(
            (shown.offset, shown.text.as_str()),
            (22, "hunter2 and so on.")
        );
    }

    #[test]
    fn what_is_held_back_is_bounded() {
        let redactor = Redactor::default();
        let mut pieces = Pieces::default();
        let id = ItemId::from("m.0");
        let key = "-----BEGIN PRIVATE KEY-----\n";
        assert_eq!(pieces.push(&redactor, &id, key), None);
        let mut shown = String::new();
        for _ in 0..HELD / 1000 + 2 {
            let piece = pieces.push(&redactor, &id, &"A1b2".repeat(250));
            shown.extend(piece.map(|piece| piece.text));
        }
        assert_eq!(shown, REDACTED);
        assert!(pieces.open[&id].held.is_empty());
        assert_eq!(pieces.end(&redactor, &id), None);
    }

    proptest! {
        #[test]
        fn no_division_of_a_text_shows_a_secret(
            secret in "[a-c\\-ü]{6,12}",
            before in "[a-c\\-ü ]{0,20}",
            after in "[a-c\\-ü ]{0,20}",
            lengths in prop::collection::vec(1usize..6, 1..6),
        ) {
            let redactor = Redactor::new([&secret]);
            let out = streamed(&redactor, &format!("{before}{secret}{after}"), &lengths);
            prop_assert!(!out.contains(&secret), "{secret} in {out}");
        }
    }
}
