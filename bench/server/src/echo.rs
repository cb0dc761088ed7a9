//! The floor: axum and nothing else. What is posted is sent to whoever follows.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use futures::{Stream, StreamExt as _, stream};
use tokio::sync::broadcast;

use crate::role::{READY, end_with_parent};
use crate::stamp;

type Channels = Arc<Mutex<HashMap<usize, broadcast::Sender<String>>>>;

pub(crate) fn run() {
    end_with_parent();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let routes = Router::new()
            .route("/{number}/stream", get(follow))
            .route("/{number}/messages", post(say))
            .with_state(Channels::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("an address");
        let address = listener.local_addr().expect("an address");
        println!("{READY}http://{address} none");
        axum::serve(listener, routes).await.expect("it serves");
    });
}

fn channel(channels: &Channels, number: usize) -> broadcast::Sender<String> {
    let mut channels = channels.lock().expect("no panic");
    let channel = channels.entry(number);
    channel
        .or_insert_with(|| broadcast::Sender::new(64))
        .clone()
}

async fn follow(
    State(channels): State<Channels>,
    Path(number): Path<usize>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let heard = channel(&channels, number).subscribe();
    let hello = stream::once(async { Ok(Event::default().event("hello").data("{}")) });
    let said = stream::unfold((heard, 0u64), |(mut heard, last)| async move {
        let data = heard.recv().await.ok()?;
        let event = Event::default().event("event").id((last + 1).to_string());
        Some((Ok(event.data(data)), (heard, last + 1)))
    });
    Sse::new(hello.chain(said))
}

async fn say(State(channels): State<Channels>, Path(number): Path<usize>) -> StatusCode {
    let words = format!(
        r#"{{"type":"item.completed","source":"agent","data":{{"text":"{} {}"}}}}"#,
        stamp::BLANK,
        "lorem ipsum ".repeat(20)
    );
    let filled = stamp::fill(words.as_bytes()).unwrap_or_default();
    let words = String::from_utf8(filled).expect("it was text");
    let _ = channel(&channels, number).send(words);
    StatusCode::ACCEPTED
}
