//! A small HTTP client that shows the bytes as they arrive.

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response with its body put together.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the body came to its proper end.
    pub(crate) complete: bool,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }

    /// The events of a stream: name and data.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let blocks = self.body.split("\n\n").filter(|block| !block.is_empty());
        let event = |block: &str| {
            let (name, data) = block.split_once('\n').expect("two lines");
            let name = name.strip_prefix("event: ").expect("event first");
            let data = data.strip_prefix("data: ").expect("data second");
            (name.to_owned(), serde_json::from_str(data).expect("JSON"))
        };
        blocks.map(event).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.events().into_iter().map(|(name, _)| name).collect()
    }
}

pub(crate) async fn post(address: SocketAddr, path: &str, body: &Value) -> io::Result<Response> {
    request(address, "POST", path, &body.to_string()).await
}

pub(crate) async fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<Response> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-api-key: sk-secret\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes).await {
        Ok(_) => {}
        Err(error) if bytes.is_empty() => return Err(error),
        Err(_) => {}
    }
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> io::Result<Response> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, rest) = text
        .split_once("\r\n\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
    let chunked = head.contains("transfer-encoding: chunked");
    let (body, complete) = if chunked {
        dechunk(rest.as_bytes())
    } else {
        (rest.to_owned(), true)
    };
    Ok(Response {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        head: head.to_owned(),
        body,
        complete,
    })
}

fn dechunk(mut rest: &[u8]) -> (String, bool) {
    let mut body = Vec::new();
    let mut complete = false;
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("hexadecimal");
        rest = &rest[end + 2..];
        if size == 0 {
            complete = true;
            break;
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
    (String::from_utf8(body).expect("UTF-8"), complete)
}
