//! Prompts that wait for their turn.
//!
//! First in, first out within a priority. Plain prompts that wait together become one turn.
//! Bounded: see [`MAX_WAITING`].

use std::collections::{HashMap, VecDeque};

use falconer_protocol::MessageUuid;
use falconer_protocol::message::MessageOrigin;
use serde_json::{Value, json};

/// How many prompts may wait. More are refused, so that a host cannot fill the memory.
pub(crate) const MAX_WAITING: usize = 10_000;
/// How many uuids are remembered to tell repeated prompts.
const MAX_REMEMBERED: usize = 20_000;

/// A prompt of the host, or a note that a task has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    /// `message.content`: a text or a list of blocks.
    pub(crate) content: Value,
    pub(crate) uuid: Option<MessageUuid>,
    pub(crate) urgency: Urgency,
    pub(crate) handling: Handling,
    pub(crate) origin: Option<MessageOrigin>,
}

/// When a prompt gets its turn. The order of the variants is the order of service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// At once; the running turn is ended.
    Now,
    #[default]
    Next,
    /// After all others, and never folded into a running turn.
    Later,
}

/// What is done with a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Handling {
    /// A command if it looks like one, else a question for the model.
    #[default]
    Ask,
    /// A question for the model, even if it looks like a command.
    AskVerbatim,
    /// Kept for the conversation; the model is not asked.
    Keep,
}

/// Whether a prompt was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Queued,
    /// The one with its uuid still waits.
    Waiting,
    /// The one with its uuid had its turn, or was taken back.
    Repeated(Since),
    Full,
}

/// When a uuid was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// Since this session was taken up.
    Now,
    /// In the conversation that was taken up.
    Before,
}

/// The prompts that wait.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Prompt>,
    seen: HashMap<MessageUuid, Since>,
}

impl Prompt {
    /// A plain prompt.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            content: Value::String(text.into()),
            uuid: None,
            urgency: Urgency::Next,
            handling: Handling::Ask,
            origin: None,
        }
    }

    /// Its text, if it is one: a string, or a single text block.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.content {
            Value::String(text) => Some(text),
            Value::Array(blocks) => match blocks.as_slice() {
                [block] => block.get("text").and_then(Value::as_str),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name and arguments of a command, if it looks like one.
    pub(crate) fn command(&self) -> Option<(&str, &str)> {
        if self.handling != Handling::Ask {
            return None;
        }
        let text = self.as_text()?.trim_end().strip_prefix('/')?;
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        let fits = !name.is_empty() && name.chars().all(named);
        fits.then_some((name, arguments.trim()))
    }

    /// Whether the host says that a person sent it.
    pub(crate) fn is_marked_human(&self) -> bool {
        let origin = self.origin.as_ref();
        origin.is_some_and(|origin| origin.kind == "human")
    }

    /// Whether it may share a turn with others.
    fn is_plain(&self) -> bool {
        self.command().is_none() && self.handling != Handling::Keep && self.is_of_host()
    }

    fn may_share_with(&self, first: &Self) -> bool {
        self.is_plain() && self.urgency == first.urgency && self.origin == first.origin
    }

    /// Whether the host sent it, not the engine itself.
    pub(crate) fn is_of_host(&self) -> bool {
        self.origin.is_none() || self.is_marked_human()
    }
}

impl Queue {
    /// For a session that has had these prompts: one that comes again is dropped.
    pub(crate) fn after(prompts: impl IntoIterator<Item = MessageUuid>) -> Self {
        let prompts = prompts.into_iter().take(MAX_REMEMBERED);
        Self {
            waiting: VecDeque::new(),
            seen: prompts.map(|uuid| (uuid, Since::Before)).collect(),
        }
    }

    /// How many questions of people wait. What is only kept is none.
    pub(crate) fn waiting_people(&self) -> u64 {
        let asks = |it: &&Prompt| it.is_marked_human() && it.handling != Handling::Keep;
        self.waiting.iter().filter(asks).count() as u64
    }

    pub(crate) fn push(&mut self, prompt: Prompt) -> Admission {
        if self.waiting.len() >= MAX_WAITING {
            return Admission::Full;
        }
        if let Some(uuid) = &prompt.uuid {
            if self.seen.len() >= MAX_REMEMBERED {
                self.seen.clear();
            }
            if let Some(since) = self.seen.insert(uuid.clone(), Since::Now) {
                let waits = self.place_of(uuid).is_some();
                return if waits {
                    Admission::Waiting
                } else {
                    Admission::Repeated(since)
                };
            }
        }
        let behind = |other: &Prompt| other.urgency > prompt.urgency;
        let place = self.waiting.iter().position(behind);
        self.waiting
            .insert(place.unwrap_or(self.waiting.len()), prompt);
        Admission::Queued
    }

    /// The prompts of the next turn: the first, and those behind it that may share its turn.
    /// What a person said is not mixed with what nobody vouches for.
    pub(crate) fn take_turn(&mut self) -> Vec<Prompt> {
        let Some(first) = self.waiting.pop_front() else {
            return Vec::new();
        };
        let mut turn = vec![first];
        while turn[0].is_plain()
            && self
                .waiting
                .front()
                .is_some_and(|it| it.may_share_with(&turn[0]))
        {
            turn.extend(self.waiting.pop_front());
        }
        turn
    }

    /// The prompts that may join the running turn between two requests.
    pub(crate) fn take_foldable(&mut self) -> Vec<Prompt> {
        let mut folded = Vec::new();
        while self
            .waiting
            .front()
            .is_some_and(|it| it.is_plain() && it.urgency == Urgency::Next)
        {
            folded.extend(self.waiting.pop_front());
        }
        folded
    }

    /// Takes a prompt back, for good: under this uuid it is not taken again.
    pub(crate) fn cancel(&mut self, uuid: &MessageUuid) -> Option<Prompt> {
        let place = self.place_of(uuid)?;
        self.waiting.remove(place)
    }

    fn place_of(&self, uuid: &MessageUuid) -> Option<usize> {
        let matching = |it: &Prompt| it.uuid.as_ref() == Some(uuid);
        self.waiting.iter().position(matching)
    }

    /// Takes back everything the host sent.
    pub(crate) fn cancel_all(&mut self) -> Vec<MessageUuid> {
        let (ours, theirs): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|it| !it.is_of_host());
        self.waiting = ours;
        theirs.into_iter().filter_map(|it| it.uuid).collect()
    }

    pub(crate) fn uuids(&self) -> Vec<MessageUuid> {
        self.waiting
            .iter()
            .filter_map(|it| it.uuid.clone())
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a prompt waits that ends the running turn.
    pub(crate) fn is_urgent(&self) -> bool {
        let first = self.waiting.front();
        first.is_some_and(|it| it.urgency == Urgency::Now)
    }
}

/// The content of several prompts as one.
pub(crate) fn merge(prompts: &[Prompt]) -> Value {
    if let [only] = prompts {
        return only.content.clone();
    }
    let texts: Option<Vec<&str>> = prompts.iter().map(|it| it.content.as_str()).collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n")),
        None => Value::Array(prompts.iter().fold(Vec::new(), append)),
    }
}

/// Adds the blocks of a prompt, on a line of their own.
fn append(mut all: Vec<Value>, prompt: &Prompt) -> Vec<Value> {
    if let Some(Value::String(text)) = all.last_mut().and_then(|it| it.get_mut("text")) {
        text.push('\n');
    }
    all.extend(blocks(prompt));
    all
}

fn blocks(prompt: &Prompt) -> Vec<Value> {
    match &prompt.content {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        other => vec![json!({"type": "text", "text": other.to_string()})],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str, urgency: Urgency) -> Prompt {
        Prompt {
            uuid: Some(MessageUuid::from(text)),
            urgency,
            ..Prompt::text(text)
        }
    }

    fn texts(prompts: &[Prompt]) -> Vec<&str> {
        prompts.iter().filter_map(Prompt::as_text).collect()
    }

    #[test]
    fn prompts_that_wait_together_become_one_turn() {
        let mut queue = Queue::default();
        queue.push(prompt("a", Urgency::Next));
        assert_eq!(texts(&queue.take_turn()), ["a"]);
        for text in ["b", "c", "/clear", "d"] {
            queue.push(prompt(text, Urgency::Next));
        }
        let turn = queue.take_turn();
        assert_eq!(merge(&turn), json!("b\nc"));
        assert_eq!(texts(&queue.take_turn()), ["/clear"]);
        assert_eq!(texts(&queue.take_turn()), ["d"]);
        assert!(queue.take_turn().is_empty());
    }

    #[test]
    fn priorities_are_served_in_their_order() {
        let mut queue = Queue::default();
        queue.push(prompt("later", Urgency::Later));
        queue.push(prompt("next", Urgency::Next));
        queue.push(prompt("now", Urgency::Now));
        assert!(queue.is_urgent());
        let turns: Vec<_> = std::iter::from_fn(|| {
            let turn = queue.take_turn();
            (!turn.is_empty()).then(|| texts(&turn).join(","))
        })
        .collect();
        assert_eq!(turns, ["now", "next", "later"]);
    }

    #[test]
    fn only_plain_prompts_join_a_running_turn() {
        let mut queue = Queue::default();
        for (text, urgency) in [
            ("a", Urgency::Next),
            ("/model x", Urgency::Next),
            ("b", Urgency::Next),
            ("c", Urgency::Later),
        ] {
            queue.push(prompt(text, urgency));
        }
        assert_eq!(texts(&queue.take_foldable()), ["a"]);
        assert_eq!(queue.len(), 3);
    }

    #[test]
    fn a_repeated_uuid_is_never_taken_again() {
        let mut queue = Queue::after([MessageUuid::from("old")]);
        let push = |queue: &mut Queue, text| queue.push(prompt(text, Urgency::Next));
        assert_eq!(push(&mut queue, "a"), Admission::Queued);
        assert_eq!(push(&mut queue, "a"), Admission::Waiting);
        queue.take_turn();
        assert_eq!(push(&mut queue, "a"), Admission::Repeated(Since::Now));
        assert_eq!(push(&mut queue, "old"), Admission::Repeated(Since::Before));
        assert_eq!(push(&mut queue, "old"), Admission::Repeated(Since::Now));
        assert_eq!(push(&mut queue, "b"), Admission::Queued);
        assert!(queue.cancel(&MessageUuid::from("b")).is_some());
        assert!(queue.cancel(&MessageUuid::from("b")).is_none());
        assert_eq!(push(&mut queue, "b"), Admission::Repeated(Since::Now));
        assert!(queue.is_empty());
    }

    fn by_a_person(text: &str) -> Prompt {
        Prompt {
            origin: Some(MessageOrigin::human()),
            ..prompt(text, Urgency::Next)
        }
    }

    #[test]
    fn prompts_of_people_are_counted_and_keep_to_themselves() {
        let mut queue = Queue::default();
        queue.push(by_a_person("a"));
        queue.push(by_a_person("b"));
        queue.push(prompt("c", Urgency::Next));
        queue.push(by_a_person("d"));
        queue.push(Prompt {
            handling: Handling::Keep,
            ..by_a_person("kept")
        });
        let waiting = [(3, "a,b"), (1, "c"), (1, "d"), (0, "kept")];
        for (people, turn) in waiting {
            assert_eq!(queue.waiting_people(), people, "before {turn}");
            assert_eq!(texts(&queue.take_turn()).join(","), turn);
        }
    }

    #[test]
    fn prompts_of_people_are_taken_back_like_all_of_the_host() {
        let mut queue = Queue::default();
        queue.push(by_a_person("a"));
        queue.push(prompt("b", Urgency::Next));
        queue.push(Prompt {
            origin: Some(MessageOrigin {
                kind: "task-notification".to_owned(),
                ..MessageOrigin::default()
            }),
            ..prompt("c", Urgency::Next)
        });
        let taken = queue.cancel_all();
        assert_eq!(taken, ["a", "b"].map(MessageUuid::from));
        assert_eq!(queue.uuids(), [MessageUuid::from("c")]);
    }

    #[test]
    fn a_full_queue_refuses() {
        let mut queue = Queue::default();
        for _ in 0..MAX_WAITING {
            assert_eq!(queue.push(Prompt::text("x")), Admission::Queued);
        }
        assert_eq!(queue.push(Prompt::text("x")), Admission::Full);
    }

    #[test]
    fn commands_are_told_from_text() {
        let table = [
            ("/context", Some(("context", ""))),
            ("/model  opus ", Some(("model", "opus"))),
            ("/a/path", None),
            ("say /context", None),
            ("/", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(Prompt::text(text).command(), expected, "{text}");
        }
        let verbatim = Prompt {
            handling: Handling::AskVerbatim,
            ..Prompt::text("/clear")
        };
        assert_eq!(verbatim.command(), None);
    }

    #[test]
    fn mixed_contents_merge_into_blocks() {
        let image = Prompt {
            content: json!([{"type": "image"}]),
            ..Prompt::text("")
        };
        let merged = merge(&[Prompt::text("see"), image, Prompt::text("and say")]);
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(
            merged,
            json!([text("see\n"), {"type": "image"}, text("and say")])
        );
    }
}
