//! The steps of one answer, in order. A text that is sent in pieces is cut while it is sent, so
//! that an answer needs the memory of its text and not that of all its events.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::step::Step;

/// The steps that are left of an answer; yields the next one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steps(VecDeque<Planned>);

#[derive(Debug, Clone, PartialEq)]
enum Planned {
    Step(Step),
    Pieces(Pieces),
}

/// A text of which each piece is an event, with a pause before each but the very first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pieces {
    /// The position of the block the text belongs to.
    pub(super) index: usize,
    /// The type of the deltas, and their key for the text.
    pub(super) kind: &'static str,
    pub(super) key: &'static str,
    pub(super) text: String,
    /// Characters of a piece; `None` for all at once.
    pub(super) chars: Option<usize>,
    pub(super) pause: Option<Duration>,
    /// `true` if the next step is the pause.
    pub(super) pauses: bool,
    /// Number of bytes that were sent.
    pub(super) sent: usize,
}

impl Steps {
    pub(super) fn push(&mut self, step: Step) {
        self.0.push_back(Planned::Step(step));
    }

    pub(super) fn push_pieces(&mut self, pieces: Pieces) {
        self.0.push_back(Planned::Pieces(pieces));
    }

    /// Puts the step back that was taken last.
    pub fn put_back(&mut self, step: Step) {
        self.0.push_front(Planned::Step(step));
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        match self.0.pop_front()? {
            Planned::Step(step) => Some(step),
            Planned::Pieces(mut pieces) => {
                let step = pieces.step();
                if pieces.has_more() {
                    self.0.push_front(Planned::Pieces(pieces));
                }
                Some(step)
            }
        }
    }
}

impl Extend<Step> for Steps {
    fn extend<T: IntoIterator<Item = Step>>(&mut self, steps: T) {
        self.0.extend(steps.into_iter().map(Planned::Step));
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<T: IntoIterator<Item = Step>>(steps: T) -> Self {
        Self(steps.into_iter().map(Planned::Step).collect())
    }
}

impl Pieces {
    /// An empty text is one empty piece, so it is only asked after a step.
    fn has_more(&self) -> bool {
        self.sent < self.text.len() || !self.pauses
    }

    fn step(&mut self) -> Step {
        if let (true, Some(pause)) = (self.pauses, self.pause) {
            self.pauses = false;
            return Step::Wait(pause);
        }
        let rest = &self.text[self.sent..];
        let chars = self.chars.filter(|chars| *chars > 0);
        let end = chars.and_then(|chars| rest.char_indices().nth(chars));
        let piece = &rest[..end.map_or(rest.len(), |(end, _)| end)];
        let delta = json!({"type": self.kind, self.key: piece});
        self.sent += piece.len();
        self.pauses = true;
        Step::Event(json!({"type": "content_block_delta", "index": self.index, "delta": delta}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, chars: Option<usize>, pause: Option<Duration>) -> Vec<Step> {
        let mut steps = Steps::default();
        steps.push_pieces(Pieces {
            index: 1,
            kind: "text_delta",
            key: "text",
            text: text.to_owned(),
            chars,
            pause,
            pauses: false,
            sent: 0,
        });
        steps.push(Step::Cut);
        let mut steps: Vec<Step> = steps.collect();
        assert_eq!(steps.pop(), Some(Step::Cut));
        steps
    }

    fn texts(steps: &[Step]) -> Vec<&str> {
        let texts = steps.iter().filter_map(|step| match step {
            Step::Event(event) => event["delta"]["text"].as_str(),
            _ => Some("wait"),
        });
        texts.collect()
    }

    #[test]
    fn a_text_is_cut_between_characters_and_nothing_is_lost() {
        let table: [(&str, Option<usize>, &[&str]); 6] = [
            ("äöüß€", Some(2), &["äö", "üß", "€"]),
            ("abcd", Some(2), &["ab", "cd"]),
            ("abc", None, &["abc"]),
            ("abc", Some(0), &["abc"]),
            ("", Some(3), &[""]),
            ("", None, &[""]),
        ];
        for (text, chars, expected) in table {
            assert_eq!(texts(&pieces(text, chars, None)), expected, "{text:?}");
        }
    }

    #[test]
    fn pauses_are_between_the_pieces() {
        let second = Some(Duration::from_secs(1));
        let steps = pieces("abc", Some(1), second);
        assert_eq!(texts(&steps), ["a", "wait", "b", "wait", "c"]);
        assert_eq!(texts(&pieces("", Some(1), second)), [""]);
    }
}
