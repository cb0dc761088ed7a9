//! What one client has seen of a session, only by its stream.

use serde_json::Value;

use crate::apart::{PATIENCE, Reach};
use crate::soak::chance::Chance;
use crate::sse::Frame;

/// What one client has seen.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) log: Vec<String>,
    last: u64,
}

impl View {
    /// Takes a frame; the event in it, if there is one.
    pub(crate) fn take(&mut self, told: Frame) -> Option<Value> {
        match told.event.as_str() {
            "event" => {
                assert_eq!(told.id, Some(self.last + 1), "no gap, nothing twice");
                self.last += 1;
                let event: Value = serde_json::from_str(&told.data).unwrap();
                assert_eq!(event["seq"], self.last);
                self.log.push(told.data);
                Some(event)
            }
            "hello" => {
                let hello: Value = serde_json::from_str(&told.data).unwrap();
                let expected = if self.last == 0 { "fresh" } else { "resumed" };
                assert_eq!(hello["resume"], expected, "{hello}");
                assert_eq!(hello["after"], self.last);
                None
            }
            _ => {
                assert_eq!(told.id, None, "only events have a number");
                None
            }
        }
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Follows for a while, and hangs up.
    pub(crate) async fn visit(&mut self, reach: &Reach, session: &str, chance: &mut Chance) {
        let frames = 1 + chance.below(60);
        let following = async {
            let path = format!("{session}/stream");
            let Some(mut wire) = reach.follow(&path, self.last).await else {
                return;
            };
            for _ in 0..frames {
                match wire.next().await {
                    Some(told) => drop(self.take(told)),
                    None => return,
                }
            }
        };
        // Hanging up in the middle of waiting is one of the ways.
        let _ = tokio::time::timeout(chance.time(20, 500), following).await;
    }

    /// Follows until this event.
    pub(crate) async fn catch_up(&mut self, reach: &Reach, session: &str, head: u64) {
        let path = format!("{session}/stream");
        let following = async {
            while self.last < head {
                let Some(mut wire) = reach.follow(&path, self.last).await else {
                    continue;
                };
                while self.last < head
                    && let Some(told) = wire.next().await
                {
                    self.take(told);
                }
            }
        };
        let caught_up = tokio::time::timeout(PATIENCE, following).await;
        caught_up.expect("the stream tells everything that is stored");
    }
}
