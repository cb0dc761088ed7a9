//! Bedrock against a loopback server that checks the signature and sends frames.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue as FrameValue, Message};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;
use crate::assemble::Assembler;
use crate::connect;

/// A request as the server saw it.
struct Seen {
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Answers one request with these bytes after the head, in pieces.
fn serve(head: &'static str, answer: Vec<u8>) -> (String, JoinHandle<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let seen = read_request(&mut connection);
        write!(
            connection,
            "HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        )
        .unwrap();
        for piece in answer.chunks(7) {
            connection.write_all(piece).unwrap();
        }
        seen
    });
    (url, thread)
}

fn read_request(connection: &mut impl Read) -> Seen {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> = headers
        .map(|(n, v)| (n.to_ascii_lowercase(), v.to_owned()))
        .collect();
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    connection.read_exact(&mut body).unwrap();
    Seen {
        path,
        headers,
        body,
    }
}

fn frame(headers: &[(&'static str, &'static str)], payload: &Value) -> Vec<u8> {
    let text = |value: &'static str| FrameValue::String(value.into());
    let headers = headers
        .iter()
        .map(|(name, value)| Header::new(*name, text(value)))
        .collect();
    let mut bytes = Vec::new();
    let message = Message::new_from_parts(headers, payload.to_string().into_bytes());
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

fn chunk(event: &Value) -> Vec<u8> {
    let payload = json!({"bytes": STANDARD.encode(event.to_string()), "p": "abc"});
    frame(
        &[(":message-type", "event"), (":event-type", "chunk")],
        &payload,
    )
}

fn answer() -> Vec<u8> {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "from afar"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_stop", "amazon-bedrock-invocationMetrics": {"x": 1}}),
    ];
    events.iter().flat_map(chunk).collect()
}

const KEYS: [(&str, &str); 4] = [
    ("CLAUDE_CODE_USE_BEDROCK", "1"),
    ("AWS_REGION", "eu-west-1"),
    ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
    ("AWS_SECRET_ACCESS_KEY", "geheim"),
];

fn provider(url: &str, variables: &[(&str, &str)]) -> Arc<dyn Provider> {
    let base = [("ANTHROPIC_BEDROCK_BASE_URL", url)];
    let variables = base.iter().chain(variables);
    let variables = variables.map(|(n, v)| ((*n).into(), (*v).into()));
    connect(&Environment::new(variables), &ProviderSettings::default()).unwrap()
}

fn request() -> ApiRequest {
    ApiRequest {
        body: json!({"model": "eu.anthropic.claude-x-v1:0", "stream": true, "max_tokens": 9,
            "messages": [{"role": "user", "content": "go"}]})
        .into(),
        betas: vec!["one".to_owned()],
    }
}

async fn hear(provider: &dyn Provider) -> (Vec<Value>, Option<ApiFailure>) {
    let mut streaming = match provider.stream(request()).await {
        Ok(streaming) => streaming,
        Err(failure) => return (Vec::new(), Some(failure)),
    };
    let (mut assembler, mut blocks) = (Assembler::new(), Vec::new());
    while let Some(event) = streaming.events.next().await {
        match event {
            Ok(event) => blocks.extend(assembler.push(&event).unwrap().map(|done| done.block)),
            Err(failure) => return (blocks, Some(failure)),
        }
    }
    (blocks, None)
}

#[tokio::test]
async fn a_request_is_signed_and_its_frames_are_read() {
    let (url, seen) = serve("200 OK\r\nx-amzn-requestid: amz-1", answer());
    let keys = KEYS
        .iter()
        .copied()
        .chain([("AWS_SESSION_TOKEN", "session")]);
    let (blocks, failure) = hear(&*provider(&url, &keys.collect::<Vec<_>>())).await;
    assert_eq!(failure, None);
    assert_eq!(blocks, [json!({"type": "text", "text": "from afar"})]);

    let seen = seen.join().unwrap();
    assert_eq!(
        seen.path,
        "/model/eu.anthropic.claude-x-v1%3A0/invoke-with-response-stream"
    );
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let expected = json!({"max_tokens": 9, "messages": [{"role": "user", "content": "go"}],
        "anthropic_beta": ["one"], "anthropic_version": "bedrock-2023-05-31"});
    assert_eq!(body, expected);
    check_signature(&seen, &url);
}

/// Signs what arrived again, at the time it names, and compares.
fn check_signature(seen: &Seen, url: &str) {
    let authorization = &seen.headers["authorization"];
    assert!(
        authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"),
        "{authorization}"
    );
    assert!(
        authorization.contains("/eu-west-1/bedrock/aws4_request"),
        "{authorization}"
    );
    assert_eq!(seen.headers["x-amz-security-token"], "session");
    let time = jiff::fmt::strtime::parse(
        "%Y%m%dT%H%M%SZ%z",
        format!("{}+0000", seen.headers["x-amz-date"]),
    );
    let time = SystemTime::from(time.unwrap().to_timestamp().unwrap());
    let session = Some("session".to_owned());
    let credentials = Credentials::new("AKIDEXAMPLE", "geheim", session, None, "test");
    let url: Url = format!("{url}{}", seen.path).parse().unwrap();
    let again = sign::signed(&credentials, "eu-west-1", time, &url, &seen.body).unwrap();
    assert_eq!(again["authorization"].to_str().unwrap(), authorization);
    let other = sign::signed(&credentials, "eu-west-1", time, &url, b"tampered").unwrap();
    assert_ne!(other["authorization"].to_str().unwrap(), authorization);
}

#[tokio::test]
async fn a_bearer_token_or_nothing_is_sent_instead() {
    let table = [
        (("AWS_BEARER_TOKEN_BEDROCK", "tok"), Some("Bearer tok")),
        (("CLAUDE_CODE_SKIP_BEDROCK_AUTH", "1"), None),
    ];
    for (variable, expected) in table {
        let (url, seen) = serve("200 OK", answer());
        let variables = [KEYS[0], KEYS[1], variable];
        assert_eq!(hear(&*provider(&url, &variables)).await.1, None);
        let seen = seen.join().unwrap();
        assert_eq!(
            seen.headers.get("authorization").map(String::as_str),
            expected
        );
    }
}

#[tokio::test]
async fn exceptions_and_damage_have_their_kinds() {
    use FailureKind::*;
    let exception = |name| {
        frame(
            &[(":message-type", "exception"), (":exception-type", name)],
            &json!({"message": "m"}),
        )
    };
    let mut damaged = answer();
    damaged[30] ^= 1;
    let mut cut = answer();
    cut.truncate(cut.len() - 5);
    let head = "200 OK";
    let table = [
        (head, exception("throttlingException"), RateLimited),
        (head, exception("serviceUnavailableException"), Overloaded),
        (head, exception("internalServerException"), Server),
        (head, exception("modelStreamErrorException"), Server),
        (head, exception("validationException"), InvalidRequest),
        (head, damaged, Malformed),
        (head, cut, Connection),
        (head, vec![0xff; 64], Malformed),
        (
            "403 Forbidden",
            br#"{"message": "not authorized"}"#.to_vec(),
            Authentication,
        ),
        (
            "429 Too Many",
            br#"{"message": "slow"}"#.to_vec(),
            RateLimited,
        ),
        (
            "400 Bad",
            br#"{"message": "Input is too long for requested model."}"#.to_vec(),
            PromptTooLong,
        ),
    ];
    for (head, answer, kind) in table {
        let (url, seen) = serve(head, answer);
        let failure = hear(&*provider(&url, &KEYS)).await.1.unwrap();
        assert_eq!(failure.kind, kind, "{failure:?}");
        seen.join().unwrap();
    }
}

#[tokio::test]
async fn a_whole_message_is_invoked() {
    let message = json!({"content": [{"type": "text", "text": "whole"}]});
    let (url, seen) = serve("200 OK", message.to_string().into_bytes());
    assert_eq!(provider(&url, &KEYS).whole(request()).await, Ok(message));
    assert!(seen.join().unwrap().path.ends_with("/invoke"));
}

#[test]
fn what_is_missing_is_named_and_nothing_secret_is_shown() {
    for missing in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        let variables = KEYS.iter().filter(|(name, _)| *name != missing);
        let variables = variables.map(|(n, v)| ((*n).into(), (*v).into()));
        let error = connect(&Environment::new(variables), &ProviderSettings::default());
        assert!(error.unwrap_err().to_string().contains(missing));
    }
    let shown = format!("{:?}", provider("http://x", &KEYS));
    assert!(!shown.contains("geheim"), "{shown}");
}

#[test]
fn the_signature_is_the_one_another_implementation_makes() {
    // Made with a few lines of another language from the published description of SigV4.
    let expected = "9bfb08ba287722cc7b8fb2bcb2b723a8bdb1e41b4f7fb1f232de62c91c9a9d6a";
    let session = Some("session".to_owned());
    let credentials = Credentials::new("AKIDEXAMPLE", "geheim", session, None, "test");
    let host = "https://bedrock-runtime.eu-west-1.amazonaws.com";
    let url = format!("{host}/model/eu.anthropic.claude-x-v1%3A0/invoke");
    let url = url.parse().unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_788_100);
    let body = br#"{"max_tokens":9}"#;
    let headers = sign::signed(&credentials, "eu-west-1", time, &url, body).unwrap();
    let authorization = headers["authorization"].to_str().unwrap();
    assert!(
        authorization.ends_with(&format!("Signature={expected}")),
        "{authorization}"
    );
}
