//! A client of one stream that counts what is missing and what comes twice.

use std::time::Duration;

use reqwest::Response;
use tokio::sync::{oneshot, watch};

use crate::stamp;

/// An event that comes later than this is lost.
const LATE: Duration = Duration::from_secs(20);

/// What one client has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) last: u64,
    /// How far there is something to see, as the first frame of the stream said.
    pub(crate) head: Option<u64>,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// From the line of the engine to here: stored events, and pieces that are not stored.
    pub(crate) stored: Vec<Duration>,
    pub(crate) pieces: Vec<Duration>,
}

impl Seen {
    /// As if everything up to this event had been seen.
    pub(crate) fn after(last: u64) -> Self {
        Self {
            last,
            ..Self::default()
        }
    }

    /// Whether everything was seen that there was when the stream was opened.
    pub(crate) fn is_complete(&self) -> bool {
        self.head.is_some_and(|head| self.last >= head)
    }

    fn event(&mut self, id: u64, data: &str) {
        self.events += 1;
        self.lost += id.saturating_sub(self.last + 1);
        self.doubled += u64::from(id <= self.last);
        self.last = self.last.max(id);
        if data.contains(r#""type":"item.completed""#) {
            self.stored.extend(stamp::age(data));
        }
    }

    fn frame(&mut self, block: &str) {
        let field = |name: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let data = field("data").unwrap_or_default();
        match (field("event"), field("id").and_then(|id| id.parse().ok())) {
            (Some("event"), Some(id)) => self.event(id, data),
            (Some("hello"), _) => self.head = number(data, r#""head":"#),
            (Some("delta"), _) => self.pieces.extend(stamp::age(data)),
            _ => {}
        }
    }
}

/// The first number behind these words.
fn number(data: &str, words: &str) -> Option<u64> {
    let rest = data.split_once(words)?.1;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit());
    digits.into_iter().next()?.parse().ok()
}

/// A stream that is open.
pub(crate) struct Follower {
    response: Response,
    rest: Vec<u8>,
}

impl Follower {
    /// Follows after what was seen; `None` if nobody is there.
    pub(crate) async fn open(
        client: &reqwest::Client,
        url: &str,
        token: &str,
        last: u64,
    ) -> Option<Self> {
        let mut request = client.get(url).bearer_auth(token);
        if last > 0 {
            request = request.header("last-event-id", last.to_string());
        }
        let response = request.send().await.ok()?;
        response.status().is_success().then_some(Self {
            response,
            rest: Vec::new(),
        })
    }

    /// Takes what comes next; `false` if it is over.
    pub(crate) async fn take(&mut self, seen: &mut Seen) -> bool {
        let Ok(Some(chunk)) = self.response.chunk().await else {
            return false;
        };
        self.rest.extend_from_slice(&chunk);
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.rest.drain(..end + 2).collect();
            seen.frame(&String::from_utf8_lossy(&block));
        }
        true
    }

    /// Takes everything until it is told to stop.
    pub(crate) async fn until(mut self, mut seen: Seen, mut stop: watch::Receiver<bool>) -> Seen {
        loop {
            tokio::select! {
                more = self.take(&mut seen) => if !more { return seen },
                _ = stop.wait_for(|stop| *stop) => return seen,
            }
        }
    }

    /// Takes everything until it has seen so many events of all there are; what does not come in
    /// time is missing.
    pub(crate) async fn until_head(mut self, mut seen: Seen, head: oneshot::Receiver<u64>) -> Seen {
        let mut head = std::pin::pin!(head);
        let wanted = loop {
            tokio::select! {
                more = self.take(&mut seen) => if !more { return seen },
                wanted = &mut head => break wanted.unwrap_or(0),
            }
        };
        let rest = async { while seen.last < wanted && self.take(&mut seen).await {} };
        let _ = tokio::time::timeout(LATE, rest).await;
        seen
    }
}

/// Many connections, and no detour.
pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build();
    client.expect("a client")
}
