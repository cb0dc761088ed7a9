//! A server that answers with bytes of the test's choosing, however wrong.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What happens after the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Close,
    /// Nothing more comes, and the connection stays.
    Stall,
}

/// Answers every request with the same bytes.
pub(super) struct Server {
    pub(super) url: String,
    asked: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn new(answer: impl Into<Vec<u8>>, then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (counted, ended) = (Arc::clone(&asked), Arc::clone(&over));
        let answer = answer.into();
        let listening = std::thread::spawn(move || {
            // Connections that stall are kept until the end.
            let mut kept = Vec::new();
            for connection in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(mut connection) = connection else {
                    continue;
                };
                if read_request(&mut connection).is_some() {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let _ = connection.write_all(&answer);
                    let _ = connection.flush();
                }
                if then == Then::Stall {
                    kept.push(connection);
                }
            }
        });
        Self {
            url: format!("http://{address}"),
            asked,
            over,
            listening: Some(listening),
        }
    }

    /// An answer of events with these lines as the body.
    pub(super) fn events(body: &str, then: Then) -> Self {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self::new(format!("{head}{body}"), then)
    }

    pub(super) fn status(status: u16, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        Self::new(format!("{head}{body}"), Then::Close)
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // One more connection wakes the thread.
        let address = self.url.trim_start_matches("http://");
        drop(TcpStream::connect(address));
        if let Some(listening) = self.listening.take() {
            listening.join().unwrap();
        }
    }
}

/// Reads a request to the end of its body.
fn read_request(connection: &mut TcpStream) -> Option<()> {
    let limit = Some(Duration::from_secs(20));
    connection.set_read_timeout(limit).unwrap();
    let mut request = Vec::new();
    let mut piece = [0; 65536];
    loop {
        let count = connection
            .read(&mut piece)
            .ok()
            .filter(|count| *count > 0)?;
        request.extend_from_slice(&piece[..count]);
        let head = request.windows(4).position(|it| it == b"\r\n\r\n");
        let Some(head) = head else { continue };
        let text = String::from_utf8_lossy(&request[..head]).to_lowercase();
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(0, |it| it.trim().parse().unwrap());
        if request.len() >= head + 4 + length {
            return Some(());
        }
    }
}
