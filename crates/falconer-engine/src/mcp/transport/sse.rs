//! Remote servers of the first generation: an event stream to us, requests beside it.

use falconer_protocol::mcp::McpSseConfig;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, HeaderMap};
use reqwest::{Client, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::LONGEST_MESSAGE;

/// Why there is no connection, or none any more.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum SseError {
    #[error("{0} is not a URL")]
    Url(String),
    #[error("the server wants a login")]
    Unauthorized,
    #[error("the server answered with status {0}")]
    Status(StatusCode),
    #[error("the server did not say where to send messages")]
    NoEndpoint,
    #[error("the server wants messages sent to another host")]
    ForeignEndpoint,
    #[error("cannot reach the server: {0}")]
    Http(reqwest::Error),
}

impl From<reqwest::Error> for SseError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

/// The connection to one server.
pub(in crate::mcp) struct SseTransport {
    client: Client,
    headers: HeaderMap,
    endpoint: Url,
    events: Events,
}

impl SseTransport {
    /// Opens the stream and waits for the address that messages go to.
    pub(in crate::mcp) async fn open(
        client: Client,
        config: &McpSseConfig,
        headers: HeaderMap,
    ) -> Result<Self, SseError> {
        let url = Url::parse(&config.url).map_err(|_| SseError::Url(config.url.clone()))?;
        let request = client.get(url.clone()).headers(headers.clone());
        let response = request.header(ACCEPT, "text/event-stream").send().await?;
        check(response.status())?;
        let mut events = Events {
            bytes: response.bytes_stream().boxed(),
            buffer: Vec::new(),
            searched: 0,
        };
        let endpoint = loop {
            let event = events.next().await.ok_or(SseError::NoEndpoint)?;
            if event.name == "endpoint" {
                break url
                    .join(event.data.trim())
                    .map_err(|_| SseError::NoEndpoint)?;
            }
        };
        // The headers may be secrets of this server and nobody else's.
        if endpoint.origin() != url.origin() {
            return Err(SseError::ForeignEndpoint);
        }
        Ok(Self {
            client,
            headers,
            endpoint,
            events,
        })
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SseError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone());
        let request = request.headers(self.headers.clone()).json(&item);
        async move { check(request.send().await?.status()) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.next().await?;
            match serde_json::from_str(&event.data) {
                Ok(message) => return Some(message),
                Err(error) => tracing::debug!(%error, "ignored an event that is no message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events.bytes = futures_util::stream::empty().boxed();
        Ok(())
    }
}

fn check(status: StatusCode) -> Result<(), SseError> {
    match status {
        StatusCode::UNAUTHORIZED => Err(SseError::Unauthorized),
        status if status.is_success() => Ok(()),
        status => Err(SseError::Status(status)),
    }
}

/// One event of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Event {
    name: String,
    data: String,
}

/// Cuts a stream into events. Safe to cancel: what was read stays in the buffer.
struct Events {
    bytes: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    buffer: Vec<u8>,
    /// So much of the buffer has no end of an event in it.
    searched: usize,
}

impl Events {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = end_of_event(&self.buffer, self.searched) {
                let block: Vec<u8> = self.buffer.drain(..end).collect();
                self.searched = 0;
                match read_event(&String::from_utf8_lossy(&block)) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            self.searched = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > LONGEST_MESSAGE {
                tracing::warn!("an event is longer than {LONGEST_MESSAGE} bytes");
                return None;
            }
            let chunk = self.bytes.next().await?.ok()?;
            self.buffer.extend_from_slice(&chunk);
        }
    }
}

/// Where the empty line after an event ends.
fn end_of_event(buffer: &[u8], from: usize) -> Option<usize> {
    let rest = &buffer[from..];
    let at = |pattern: &[u8]| {
        let found = memchr::memmem::find(rest, pattern);
        found.map(|at| from + at + pattern.len())
    };
    [at(b"\n\n"), at(b"\r\n\r\n"), at(b"\r\r")]
        .into_iter()
        .flatten()
        .min()
}

fn read_event(block: &str) -> Option<Event> {
    let mut name = "message".to_owned();
    let mut data: Option<String> = None;
    for line in block.split(['\n', '\r']).filter(|line| !line.is_empty()) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut data) {
            ("event", _) => name = value.to_owned(),
            ("data", Some(data)) => *data = format!("{data}\n{value}"),
            ("data", data @ None) => *data = Some(value.to_owned()),
            _ => {}
        }
    }
    data.map(|data| Event { name, data })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::{Event, Events};

    #[tokio::test]
    async fn events_are_the_same_however_they_are_cut() {
        let text =
            ": hi\n\nevent: endpoint\r\ndata: /m\r\n\r\ndata: a\ndata: b\n\nid: 1\n\ndata:c\n\n";
        let event = |name: &str, data: &str| Event {
            name: name.to_owned(),
            data: data.to_owned(),
        };
        let expected = [
            event("endpoint", "/m"),
            event("message", "a\nb"),
            event("message", "c"),
        ];
        for size in 1..text.len() {
            let chunks: Vec<_> = text.as_bytes().chunks(size).collect();
            let chunks: Vec<_> = chunks
                .into_iter()
                .map(|it| Ok(it.to_vec().into()))
                .collect();
            let mut events = Events {
                bytes: futures_util::stream::iter(chunks).boxed(),
                buffer: Vec::new(),
                searched: 0,
            };
            let mut seen = Vec::new();
            while let Some(event) = events.next().await {
                seen.push(event);
            }
            assert_eq!(seen, expected, "in chunks of {size}");
        }
    }
}
