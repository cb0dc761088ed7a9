//! Streams as servers send them, good and bad.

use futures_util::future;

use super::*;
use crate::FailureKind;

/// What reading these chunks gives: the types of the events, then the failure, if any.
async fn outcome(chunks: &[&str]) -> (Vec<String>, Option<ApiFailure>) {
    let chunks: Vec<_> = chunks
        .iter()
        .map(|chunk| Ok(Bytes::copy_from_slice(chunk.as_bytes())))
        .collect();
    collect(Box::pin(stream::iter(chunks))).await
}

async fn collect(chunks: Chunks) -> (Vec<String>, Option<ApiFailure>) {
    let idle = Duration::from_secs(7);
    let mut events = read(chunks, Sse::new(), idle, Some("req_7".to_owned()));
    let (mut names, mut failure) = (Vec::new(), None);
    while let Some(event) = events.next().await {
        assert!(failure.is_none(), "nothing comes after a failure");
        match event {
            Ok(event) => names.push(event.event.tag().unwrap_or("?").to_owned()),
            Err(error) => failure = Some(error),
        }
    }
    assert!(events.next().await.is_none(), "the end is the end");
    (names, failure)
}

const STOP: &str = "data: {\"type\":\"message_stop\"}\n\n";

#[tokio::test]
async fn a_stream_is_its_events_and_fails_as_it_breaks() {
    use FailureKind::{Connection, Malformed, Overloaded};
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let error = "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"o\"}}\n\n";
    let table: &[(&[&str], &[&str], Option<FailureKind>)] = &[
        (&[ping, STOP], &["ping", "message_stop"], None),
        (
            &[ping, "data: [DONE]\n\n", STOP, "data: [DONE]\n\n"],
            &["ping", "message_stop"],
            None,
        ),
        (
            &["data: {\"type\":\"message_stop\"}\n"],
            &["message_stop"],
            None,
        ),
        (
            &[
                ping,
                "data: {\"type\":\"from_the_future\",\"x\":1}\n\n",
                STOP,
            ],
            &["ping", "from_the_future", "message_stop"],
            None,
        ),
        (
            &[
                "data: {\"type\":\"content_block_stop\",\"index\":\"no number\"}\n\n",
                STOP,
            ],
            &["content_block_stop", "message_stop"],
            None,
        ),
        (
            &["rubbish\n\n", ping, STOP],
            &["ping", "message_stop"],
            None,
        ),
        (&[ping], &["ping"], Some(Connection)),
        (
            &[ping, "data: {\"type\":\"mess"],
            &["ping"],
            Some(Connection),
        ),
        (&[], &[], Some(Malformed)),
        (&["<html>rubbish</html>"], &[], Some(Malformed)),
        (&[ping, error, ping], &["ping"], Some(Overloaded)),
        (
            &[ping, "data: {\"type\":\n\n", STOP],
            &["ping"],
            Some(Malformed),
        ),
        (&["data: 5\n\n", STOP], &[], Some(Malformed)),
        (&["data: null\n\n", STOP], &[], Some(Malformed)),
    ];
    for (chunks, names, kind) in table {
        let (seen, failure) = outcome(chunks).await;
        assert_eq!(seen, *names, "{chunks:?}");
        assert_eq!(
            failure.as_ref().map(|f| f.kind),
            *kind,
            "{chunks:?}: {failure:?}"
        );
        if let Some(failure) = failure {
            assert_eq!(failure.request_id.as_deref(), Some("req_7"));
        }
    }
}

#[tokio::test]
async fn data_over_several_lines_is_one_line_in_the_event() {
    let chunk =
        Bytes::from_static(b"data: {\"type\":\ndata: \"ping\", \"b\": 1,\ndata: \"a\": 1.50}\n\n");
    let chunks = Box::pin(stream::iter([Ok(chunk)]));
    let mut events = read(chunks, Sse::new(), Duration::from_secs(1), None);
    let event = events.next().await.unwrap().unwrap();
    assert_eq!(event.raw.get(), r#"{"type":"ping","b":1,"a":1.5}"#);
}

#[tokio::test]
async fn an_event_on_one_line_keeps_its_bytes() {
    let line = r#"{"type":"ping",  "n": 1.0e3, "é":"\u00e9"}"#;
    let chunk = Bytes::from(format!("data: {line}\n\n"));
    let mut events = read(
        Box::pin(stream::iter([Ok(chunk)])),
        Sse::new(),
        Duration::from_secs(1),
        None,
    );
    assert_eq!(events.next().await.unwrap().unwrap().raw.get(), line);
}

#[tokio::test(start_paused = true)]
async fn silence_ends_after_the_idle_time_and_not_before() {
    let ping = || Ok(Bytes::from_static(b"data: {\"type\":\"ping\"}\n\n"));
    // Each wait is shorter than the limit, all together are longer.
    let slow = stream::iter(0..5).then(move |_| async move {
        tokio::time::sleep(Duration::from_secs(6)).await;
        ping()
    });
    let begun = tokio::time::Instant::now();
    let (names, failure) = collect(Box::pin(slow.chain(stream::pending()))).await;
    assert_eq!(names.len(), 5);
    let failure = failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.message.contains("7 s"), "{failure}");
    assert_eq!(begun.elapsed().as_secs(), 5 * 6 + 7);
}

#[tokio::test(start_paused = true)]
async fn after_the_message_neither_silence_nor_a_reset_is_a_failure() {
    let stop = || stream::iter([Ok(Bytes::from_static(STOP.as_bytes()))]);
    let reset = stop().chain(stream::once(future::ready(Err(ApiFailure::connection(
        "reset",
    )))));
    assert_eq!(
        collect(Box::pin(reset)).await,
        (vec!["message_stop".to_owned()], None)
    );
    let begun = tokio::time::Instant::now();
    let silent = stop().chain(stream::pending());
    assert_eq!(
        collect(Box::pin(silent)).await,
        (vec!["message_stop".to_owned()], None)
    );
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "nobody waits for its end"
    );
}

#[tokio::test]
async fn an_event_without_end_is_refused() {
    let chunk = Bytes::from(vec![b'x'; 1 << 20]);
    let endless = stream::repeat_with(move || Ok(chunk.clone()));
    let (_, failure) = collect(Box::pin(endless)).await;
    assert_eq!(failure.unwrap().kind, FailureKind::Malformed);
}
