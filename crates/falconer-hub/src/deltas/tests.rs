//! Listeners that come at any time, slow ones among them.

use std::sync::Arc;

use falconer_event::{Draft, Sequence, Source};

use super::*;

struct Teller {
    listeners: Arc<Listeners>,
    session: SessionId,
    sequence: Sequence,
}

impl Teller {
    fn new() -> Self {
        Self {
            listeners: Arc::default(),
            session: "s".into(),
            sequence: Sequence::after("s", 7),
        }
    }

    fn tell(&mut self, item: &str, offset: u64, text: &str) {
        let body = Body::ItemDelta {
            id: item.into(),
            offset,
            text: text.to_owned(),
        };
        let draft = Draft::new(Source::Agent, body);
        let event = self.sequence.stamp(&"run".into(), "now", draft);
        self.listeners.tell(&self.session, &event);
    }

    fn listen(&self) -> Deltas {
        Listeners::listen(&self.listeners, &self.session)
    }
}

/// What a reader has of each text when it takes nothing twice; it must never miss a beginning.
#[derive(Default)]
struct Reader {
    texts: HashMap<String, String>,
}

impl Reader {
    fn take(&mut self, delta: Delta) {
        let text = self.texts.entry(delta.item.to_string()).or_default();
        let has = text.chars().count() as u64;
        assert!(delta.offset <= has, "pieces are missing before {delta:?}");
        if let Some(rest) = delta.after(has) {
            let event: Event = serde_json::from_str(&rest.json).unwrap();
            if let Body::ItemDelta {
                offset, text: more, ..
            } = event.body
            {
                assert_eq!((offset, has), (rest.offset, rest.offset));
                text.push_str(&more);
            }
        }
    }
}

#[tokio::test]
async fn whoever_comes_in_the_middle_gets_the_text_so_far() {
    let mut teller = Teller::new();
    teller.tell("a", 0, "Hä");
    teller.tell("a", 2, "llo");
    let mut deltas = teller.listen();
    teller.tell("a", 5, "!");
    let first = deltas.next().await.unwrap();
    assert_eq!((first.offset, first.length), (0, 5));
    assert!(first.json.contains(r#""text":"Hällo""#), "{}", first.json);
    let second = deltas.next().await.unwrap();
    assert_eq!((second.offset, second.length), (5, 1));
    teller.listeners.completed(&teller.session, &["a".into()]);
    teller.tell("b", 0, "x");
    assert_eq!(teller.listen().next().await.unwrap().item.as_str(), "b");
}

#[tokio::test]
async fn a_text_that_is_too_long_is_not_remembered() {
    let mut teller = Teller::new();
    teller.tell("long", 0, &"x".repeat(MOST_REMEMBERED));
    teller.tell("long", MOST_REMEMBERED as u64, "y");
    teller.tell("long", MOST_REMEMBERED as u64 + 1, "z");
    teller.tell("short", 0, "short");
    let first = teller.listen().next().await.unwrap();
    assert_eq!(first.item.as_str(), "short");
    let sessions = teller.listeners.sessions();
    assert_eq!(sessions[&teller.session].bytes, "short".len());
}

#[tokio::test]
async fn a_session_nobody_listens_to_is_forgotten_after_its_run() {
    let mut teller = Teller::new();
    teller.tell("a", 0, "x");
    let deltas = teller.listen();
    teller.listeners.over(&teller.session);
    assert!(
        teller.listeners.sessions()[&teller.session]
            .texts
            .is_empty()
    );
    drop(deltas);
    teller.listeners.over(&teller.session);
    assert!(teller.listeners.sessions().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn listeners_that_come_at_any_time_lose_nothing_and_get_nothing_twice() {
    const PIECES: u64 = 20_000;
    let mut teller = Teller::new();
    let (listeners, session) = (teller.listeners.clone(), teller.session.clone());
    let telling = tokio::task::spawn_blocking(move || {
        let mut ends = [0; 3];
        for number in 0..PIECES {
            let which = (number % 3) as usize;
            let piece = format!("{number}·");
            teller.tell(&which.to_string(), ends[which], &piece);
            ends[which] += piece.chars().count() as u64;
        }
        ends
    });
    let mut reading = tokio::task::JoinSet::new();
    for patience in 0..40_u32 {
        let (listeners, session) = (listeners.clone(), session.clone());
        reading.spawn(async move {
            for _ in 0..patience * 20 {
                tokio::task::yield_now().await;
            }
            let mut deltas = Listeners::listen(&listeners, &session);
            let mut reader = Reader::default();
            let last = |item: u64| format!("·{}·", PIECES - 1 - (PIECES - 1 - item) % 3);
            let is_done = |reader: &Reader| {
                (0..3).all(|item| {
                    let text = reader.texts.get(&item.to_string());
                    text.is_some_and(|text| text.ends_with(&last(item)))
                })
            };
            while !is_done(&reader) {
                let delta = tokio::time::timeout(std::time::Duration::from_secs(60), deltas.next());
                reader.take(delta.await.expect("a piece is lost").unwrap());
            }
            reader.texts
        });
    }
    let ends = telling.await.unwrap();
    while let Some(read) = reading.join_next().await {
        for (item, text) in read.unwrap() {
            let which: usize = item.parse().unwrap();
            assert_eq!(text.chars().count() as u64, ends[which]);
        }
    }
}
