//! Following sessions: nothing is lost, nothing comes twice, whatever happens to the connection.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::place::{LIMIT, Place, Running, problem};
use crate::sse::Stream;

/// A client that only knows what the stream told it.
#[derive(Default)]
struct Reader {
    log: Vec<String>,
    last: u64,
}

impl Reader {
    /// Reads `frames` frames and hangs up. Says whether the run is over.
    async fn visit(&mut self, server: &Running, session: &str, frames: usize) -> bool {
        let after = (self.last > 0).then_some(self.last);
        let mut stream = Stream::open(server, &format!("{session}/stream"), after).await;
        let hello = stream.next().await.unwrap();
        assert_eq!(hello.event, "hello");
        let hello = hello.json();
        let expected = if self.last == 0 { "fresh" } else { "resumed" };
        assert_eq!(hello["resume"], expected, "{hello}");
        assert_eq!(hello["after"], self.last);
        for _ in 0..frames {
            let Some(frame) = stream.next().await else {
                return false;
            };
            if frame.event == "event" {
                assert_eq!(frame.id, Some(self.last + 1), "no gap, nothing twice");
                self.last += 1;
                let event = frame.json();
                assert_eq!(event["seq"], self.last);
                self.log.push(frame.data);
                if event["type"] == "turn.completed" {
                    return true;
                }
            } else {
                assert_eq!(frame.id, None, "only events have a number");
            }
        }
        false
    }
}

/// A small generator of our own: the same numbers in every run.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_reconnect_a_thousand_times_see_the_stored_log() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "say much").await;
    // The first one keeps the agent busy; the others follow.
    let readers = (0..5u64).map(|number| {
        let (server, session) = (&server, &session);
        async move {
            let mut reader = Reader::default();
            let mut state = 0x9e37_79b9_7f4a_7c15 ^ (number + 1);
            let mut turns = 0;
            for _ in 0..200 {
                let frames = usize::try_from(random(&mut state) % 6).unwrap() + 1;
                let visit = reader.visit(server, session, frames);
                // Hanging up in the middle of waiting is one of the ways.
                let patience = Duration::from_millis(100 + random(&mut state) % 200);
                let is_over = tokio::time::timeout(patience, visit).await.unwrap_or(false);
                if is_over && number == 0 {
                    turns += 1;
                    server.send(session, "say much").await;
                }
            }
            (reader, turns)
        }
    });
    let readers = futures_util::future::join_all(readers).await;
    let turns = readers[0].1;
    assert!(turns > 3, "something was going on: {turns} turns");
    // The last turn may be told in a visit that was not there for it.
    server
        .until(|| async {
            let path = format!("{session}/messages");
            let messages = server.get(&path).await;
            let messages = messages["messages"].as_array().unwrap().clone();
            messages
                .iter()
                .all(|message| message["state"] == "done")
                .then_some(())
        })
        .await;
    server.state(&session, "ready").await;
    let stored = server.log(&session).await;
    for (mut reader, _) in readers {
        while reader.log.len() < stored.len() {
            reader.visit(&server, &session, 50).await;
        }
        assert_eq!(reader.log, stored, "byte for byte");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_hangs_up_on_everything_stops_nothing() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    // The client hangs up on the request that sends the message, before the answer.
    let id = uuid::Uuid::new_v4().to_string();
    let message = json!({"client_msg_id": id, "text": "write one"});
    let path = format!("{session}/messages");
    let first = server.ask(Method::POST, &path).json(&message);
    let _ = first.timeout(Duration::from_millis(1)).send().await;
    // It comes back and says the same; the message is there once.
    let again = server.post(&path, message.clone()).await;
    let third = server.post(&path, message).await;
    assert_eq!(third["duplicate"], true);
    assert_eq!(third["message"]["id"], again["message"]["id"]);
    let request = server.request(&session).await;
    // No request stays open longer than this, and the turn waits for a person all the while.
    let mut reader = Reader::default();
    for _ in 0..20 {
        let cut = Duration::from_millis(30);
        let _ = tokio::time::timeout(cut, reader.visit(&server, &session, 1000)).await;
    }
    let allow = json!({"type": "allow"});
    let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
    let body = json!({"digest": request["digest"], "verdict": allow});
    let cut = server
        .ask(Method::POST, &path)
        .json(&body)
        .timeout(Duration::from_millis(1));
    let was_cut = cut.send().await;
    if was_cut.is_err() {
        // Whether it arrived or not, saying it again is safe.
        let again = server.answer(&request, allow).await;
        assert!([200, 409].contains(&again.status().as_u16()));
    }
    server.turns(&session, 1).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("one\n"));
    let messages = server.get(&format!("{session}/messages")).await;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    let stored = server.log(&session).await;
    while reader.log.len() < stored.len() {
        reader.visit(&server, &session, 1000).await;
    }
    assert_eq!(reader.log, stored);
    server.stop().await;
}

#[tokio::test]
async fn the_first_frame_says_everything_that_is_open() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "write one").await;
    let request = server.request(&session).await;
    let queued = server.send(&session, "write two").await;
    let path = format!("{session}/stream");
    let mut stream = Stream::open(&server, &path, None).await;
    let hello = stream.next().await.unwrap().json();
    assert_eq!(hello["resume"], "fresh");
    assert_eq!(hello["pending"][0]["id"], request["id"]);
    assert_eq!(hello["pending"][0]["digest"], request["digest"]);
    assert_eq!(hello["queue"][0]["id"], queued["message"]["id"]);
    assert_eq!(hello["session"]["state"], "waiting");
    let head = hello["head"].as_u64().unwrap();
    assert!(head > 0);
    // Numbers this server never gave: everything from the beginning.
    let mut stream = Stream::open(&server, &path, Some(head + 1000)).await;
    let hello = stream.next().await.unwrap().json();
    assert_eq!(
        (&hello["resume"], &hello["after"]),
        (&json!("gap"), &json!(0))
    );
    assert_eq!(stream.find("event").await.id, Some(1));
    // By query, for those who cannot set a header.
    let mut stream = Stream::open(&server, &format!("{path}?after={}", head - 1), None).await;
    assert_eq!(stream.next().await.unwrap().json()["resume"], "resumed");
    assert_eq!(stream.find("event").await.id, Some(head));
    let bad = server
        .ask(Method::GET, &path)
        .header("last-event-id", "x")
        .send()
        .await
        .unwrap();
    problem(bad, 422, "invalid_value").await;
    let none = server
        .ask(Method::GET, "/v1/sessions/none/stream")
        .send()
        .await
        .unwrap();
    problem(none, 404, "not_found").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_are_streamed_in_pieces_that_make_the_whole() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    let mut stream = Stream::open(&server, &format!("{session}/stream"), None).await;
    server.send(&session, "say much").await;
    let mut pieces = String::new();
    let mut item = Value::Null;
    let whole = loop {
        let frame = stream.next().await.unwrap();
        let data = match frame.event.as_str() {
            "event" | "delta" => frame.json(),
            _ => continue,
        };
        match data["type"].as_str().unwrap() {
            "item.delta" => {
                assert_eq!(frame.event, "delta");
                let count = u64::try_from(pieces.chars().count()).unwrap();
                assert_eq!(data["data"]["offset"], count, "no piece is missing here");
                item = data["data"]["id"].clone();
                pieces.push_str(data["data"]["text"].as_str().unwrap());
            }
            "item.completed" if data["data"]["content"]["type"] == "message" => {
                assert_eq!(data["data"]["id"], item);
                break data["data"]["content"]["text"].as_str().unwrap().to_owned();
            }
            _ => {}
        }
    };
    assert_eq!(pieces, whole);
    let log = server.log(&session).await;
    assert!(
        log.iter().all(|line| !line.contains("item.delta")),
        "pieces are not stored"
    );
    server.stop().await;
}

/// What a stream that is opened now says of the text under way: the pieces, and the whole.
async fn told(server: &Running, session: &str, after: Option<u64>) -> (String, Option<String>) {
    let mut stream = Stream::open(server, &format!("{session}/stream"), after).await;
    let mut pieces = String::new();
    loop {
        let frame = stream.next().await.unwrap();
        let data = match frame.event.as_str() {
            "event" | "delta" => frame.json(),
            _ => continue,
        };
        match data["type"].as_str().unwrap() {
            "item.delta" => {
                let count = u64::try_from(pieces.chars().count()).unwrap();
                assert_eq!(
                    data["data"]["offset"], count,
                    "nothing is lost or told twice"
                );
                pieces.push_str(data["data"]["text"].as_str().unwrap());
            }
            "item.completed" if data["data"]["content"]["type"] == "message" => {
                let whole = data["data"]["content"]["text"].as_str().unwrap();
                return (pieces, Some(whole.to_owned()));
            }
            "turn.completed" => return (pieces, None),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_in_the_middle_of_a_text_gets_all_of_it_once() {
    let place = Place::new();
    let server = Arc::new(place.serve().await);
    let session = server.session().await;
    let mut first = Stream::open(&server, &format!("{session}/stream"), None).await;
    server.send(&session, "say it slowly").await;
    let mut readers = tokio::task::JoinSet::new();
    let mut last = None;
    loop {
        let frame = first.next().await.unwrap();
        last = frame.id.or(last);
        if frame.event == "delta" && readers.len() < 20 {
            let (server, session) = (Arc::clone(&server), session.clone());
            // From the beginning of the log, and from where a client may have been.
            let after = last.filter(|_| readers.len() % 2 == 0);
            readers.spawn(async move { told(&server, &session, after).await });
        }
        if frame.event == "event" && frame.json()["type"] == "turn.completed" {
            break;
        }
    }
    assert!(
        readers.len() > 5,
        "they came in the middle: {}",
        readers.len()
    );
    let mut in_pieces = 0;
    while let Some(read) = readers.join_next().await {
        let (pieces, whole) = read.unwrap();
        // Who came last may have found the whole text in the log already.
        if !pieces.is_empty() {
            assert_eq!(Some(pieces), whole);
            in_pieces += 1;
        }
    }
    assert!(in_pieces > 5);
    Arc::into_inner(server).unwrap().stop().await;
}

#[tokio::test]
async fn a_stream_tells_that_it_is_alive_and_what_became_of_the_session() {
    let place = Place::new();
    let server = place
        .serve_with(|config| config.caps.ping = Duration::from_millis(100))
        .await;
    let session = server.session().await;
    let mut stream = Stream::open(&server, &format!("{session}/stream"), None).await;
    let ping = stream.find("ping").await;
    assert!(ping.json()["time"].is_string());
    server.patch(&session, json!({"title": "a name"})).await;
    assert_eq!(stream.find("session").await.json()["title"], "a name");
    let deleted = server.ask(Method::DELETE, &session).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    stream.find("gone").await;
    assert_eq!(stream.next().await, None, "nothing comes after the end");
    server.stop().await;
}

#[tokio::test]
async fn one_stream_tells_of_all_sessions_and_requests() {
    let place = Place::new();
    let server = place.serve().await;
    let old = server.session().await;
    let mut stream = Stream::open(&server, "/v1/stream", None).await;
    let hello = stream.find("hello").await.json();
    assert_eq!(hello["sessions"][0]["url"], old);
    assert_eq!(hello["requests"], json!([]));
    let session = server.session().await;
    loop {
        let told = stream.find("session").await.json();
        if told["url"] == session {
            break;
        }
    }
    server.send(&session, "write one").await;
    let told = stream.find("request").await.json();
    let request = server.request(&session).await;
    assert_eq!(
        (&told["id"], &told["state"]),
        (&request["id"], &json!("pending"))
    );
    server
        .answer(&request, json!({"type": "deny", "message": "no"}))
        .await;
    let told = stream.find("request").await.json();
    assert_eq!(told["id"], request["id"]);
    assert_eq!(told["decision"]["by"], "anna");
    server.ask(Method::DELETE, &session).send().await.unwrap();
    assert_eq!(
        stream.find("gone").await.json()["id"],
        session.rsplit('/').next().unwrap()
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_is_cut_and_finds_everything_when_it_comes_back() {
    let place = Place::new();
    let server = place
        .serve_with(|config| {
            config.caps.write_time = Duration::from_millis(300);
            config.caps.ping = Duration::from_millis(50);
        })
        .await;
    let session = server.session().await;
    // Enough that it does not fit into the buffers of the system.
    for round in 0..3 {
        let text = format!("{round}{}", "x".repeat(1_500_000));
        server.send(&session, &text).await;
    }
    server.turns(&session, 3).await;
    let stored = server.log(&session).await;
    let mut slow = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let request = format!(
        "GET {session}/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    slow.write_all(request.as_bytes()).await.unwrap();
    // Another stream is told that time passes; each time we look.
    let mut beats = Stream::open(&server, "/v1/stream", None).await;
    let is_cut = tokio::time::timeout(LIMIT, async {
        loop {
            beats.find("ping").await;
            let metrics = server.ask(Method::GET, "/metrics").send().await.unwrap();
            let metrics = metrics.text().await.unwrap();
            let value = |name: &str| {
                let mut lines = metrics.lines();
                let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                value.unwrap().parse::<u64>().unwrap()
            };
            if value("falconer_stream_events_total") > 0 && value("falconer_streams") == 1 {
                return;
            }
        }
    });
    is_cut.await.expect("the server gives it up");
    drop(slow);
    let mut reader = Reader::default();
    while reader.log.len() < stored.len() {
        reader.visit(&server, &session, 1000).await;
    }
    assert_eq!(reader.log, stored);
    server.stop().await;
}
