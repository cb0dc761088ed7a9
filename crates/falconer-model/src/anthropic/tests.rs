//! The client against the scripted server over real HTTP.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use falconer_secret::Environment;
use falconer_testkit::ApiServer;
use falconer_testkit::scenario::{
    Reply, Scenario, StreamFault, garbage, hang, reset, status, text, thinking,
};
use serde_json::json;

use super::*;
use crate::assemble::Assembler;
use crate::{ProviderSettings, connect};

type Variables<'a> = &'a [(&'a str, &'a str)];

fn provider(url: &str, variables: Variables<'_>) -> Arc<dyn Provider> {
    with_settings(url, variables, &ProviderSettings::default())
}

fn with_settings(
    url: &str,
    variables: Variables<'_>,
    settings: &ProviderSettings,
) -> Arc<dyn Provider> {
    let base = [("ANTHROPIC_BASE_URL", url)];
    let variables = base.iter().chain(variables);
    let variables = variables.map(|(n, v)| ((*n).into(), (*v).into()));
    connect(&Environment::new(variables), settings).unwrap()
}

const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-geheim");

fn request() -> ApiRequest {
    ApiRequest {
        body: json!({"model": "m", "stream": true, "max_tokens": 9,
            "context_management": {"edits": []},
            "messages": [{"role": "user", "content": "go"}]})
        .into(),
        betas: vec!["one".to_owned(), "two".to_owned()],
    }
}

/// The blocks of an answer, and why it broke, if it did.
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
    assert!(assembler.is_complete());
    (blocks, None)
}

#[tokio::test]
async fn an_answer_arrives_whole_however_it_is_cut() {
    for chunk in [1, 7, 10_000] {
        let reply = thinking("hm")
            .text("grüße 漢字")
            .tool_use("T", json!({"a": [1]}));
        let scenario = Scenario::new().turn(
            reply
                .chunk_bytes(chunk)
                .header("anthropic-ratelimit-x", "4"),
        );
        let server = ApiServer::start(scenario).unwrap();
        let provider = provider(&server.url(), &[KEY]);
        let streaming = provider.stream(request()).await.unwrap();
        assert_eq!(streaming.request_id.as_deref(), Some("req_scripted"));
        assert_eq!(
            streaming.headers,
            [("anthropic-ratelimit-x".to_owned(), "4".to_owned())]
        );
        let mut assembler = Assembler::new();
        let events = streaming
            .events
            .map(|event| assembler.push(&event.unwrap()).unwrap());
        let blocks: Vec<Value> = events
            .filter_map(|b| async { b.map(|b| b.block) })
            .collect()
            .await;
        assert_eq!(blocks[1], json!({"type": "text", "text": "grüße 漢字"}));
        assert_eq!(blocks[2]["input"], json!({"a": [1]}));
    }
}

#[tokio::test]
async fn headers_say_who_we_are_and_what_we_speak() {
    let token = ("ANTHROPIC_AUTH_TOKEN", "tok");
    let custom = (
        "ANTHROPIC_CUSTOM_HEADERS",
        "X-Extra: a: b\nUser-Agent: mine",
    );
    let table: &[(Variables<'_>, Option<&str>, Option<&str>)] = &[
        (&[KEY], Some("sk-geheim"), None),
        (&[token], None, Some("Bearer tok")),
        (&[KEY, token, custom], Some("sk-geheim"), Some("Bearer tok")),
    ];
    for (variables, key, bearer) in table {
        let server = ApiServer::start(Scenario::new().turn(text("hi"))).unwrap();
        assert_eq!(hear(&*provider(&server.url(), variables)).await.1, None);
        let sent = &server.requests()[0];
        assert_eq!(
            (sent.path.as_str(), sent.query.as_deref()),
            ("/v1/messages", Some("beta=true"))
        );
        assert_eq!(sent.header("x-api-key"), *key);
        assert_eq!(sent.header("authorization"), *bearer);
        assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(sent.header("anthropic-beta"), Some("one,two"));
        assert_eq!(sent.header("content-type"), Some("application/json"));
        let is_custom = variables.contains(&custom);
        assert_eq!(sent.header("x-extra"), is_custom.then_some("a: b"));
        let agent = sent.header("user-agent").unwrap();
        assert!(if is_custom {
            agent == "mine"
        } else {
            agent.starts_with("falconer/")
        });
        assert_eq!(sent.body, request().body.to_value().unwrap());
    }
}

#[tokio::test]
async fn a_compatible_server_gets_only_what_it_understands() {
    let server = ApiServer::start(Scenario::new().turn(text("hi"))).unwrap();
    let kind = ("FALCONER_ENDPOINT_CAPABILITIES", "compatible");
    // A path in the base URL stays.
    let provider = provider(&format!("{}/", server.url()), &[KEY, kind]);
    assert_eq!(hear(&*provider).await.1, None);
    let sent = &server.requests()[0];
    assert_eq!(
        (sent.query.as_deref(), sent.header("anthropic-beta")),
        (None, None)
    );
    assert_eq!(sent.body.get("context_management"), None);
    let failure = provider.count_tokens(json!({}).into()).await.unwrap_err();
    assert!(failure.message.contains("does not count"), "{failure}");
}

#[tokio::test]
async fn every_fault_of_a_server_has_its_kind() {
    use FailureKind::*;
    let stall = StreamFault::Stall { after: 3 };
    let noise = StreamFault::Garbage {
        after: 3,
        text: "data: {broken\n\n".into(),
    };
    let limits = [
        KEY,
        ("API_TIMEOUT_MS", "400"),
        ("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "400"),
    ];
    let patient = [KEY];
    let table: Vec<(Reply, FailureKind, Variables<'_>)> = vec![
        (status(400).into(), InvalidRequest, &patient),
        (status(401).into(), Authentication, &patient),
        (status(402).into(), Billing, &patient),
        (status(403).into(), Authentication, &patient),
        (
            status(404).message("model: m").into(),
            ModelNotFound,
            &patient,
        ),
        (status(413).into(), PromptTooLong, &patient),
        (status(429).retry_after(3).into(), RateLimited, &patient),
        (status(500).into(), Server, &patient),
        (status(529).into(), Overloaded, &patient),
        (reset(), Connection, &patient),
        (garbage("<html>"), Malformed, &patient),
        (text("a").cut_after(4).into(), Connection, &patient),
        (
            text("a").error_after(4, status(529)).into(),
            Overloaded,
            &patient,
        ),
        (text("a").fault(noise).into(), Malformed, &patient),
        (hang(), Timeout, &limits),
        (text("a").fault(stall).into(), Timeout, &limits),
    ];
    for (reply, kind, variables) in table {
        let server = ApiServer::start(Scenario::new().turn(reply.clone())).unwrap();
        let (_, failure) = hear(&*provider(&server.url(), variables)).await;
        let failure = failure.unwrap();
        assert_eq!(failure.kind, kind, "{reply:?}: {failure:?}");
        assert!(!format!("{failure} {failure:?}").contains("geheim"));
        let waits = (kind == RateLimited).then(|| Duration::from_secs(3));
        assert_eq!(failure.retry_after, waits, "{reply:?}");
        assert_eq!(server.requests().len(), 1, "no retries of its own");
    }
}

#[tokio::test]
async fn a_slow_drip_is_not_a_stall() {
    let reply = text("drop by drop")
        .delta_chars(2)
        .delta_delay(Duration::from_millis(30));
    let server = ApiServer::start(Scenario::new().turn(reply)).unwrap();
    // All together take longer than each may, on any machine that keeps a pause below two seconds.
    let limits = [KEY, ("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "2000")];
    let (blocks, failure) = hear(&*provider(&server.url(), &limits)).await;
    assert_eq!((blocks.len(), failure), (1, None));
}

#[tokio::test]
async fn whole_messages_and_counts_are_had_too() {
    let scenario = Scenario::new()
        .turn(text("whole").error_after(4, status(529)))
        .counting_tokens(7);
    let server = ApiServer::start(scenario).unwrap();
    let provider = provider(&server.url(), &[KEY]);
    assert!(hear(&*provider).await.1.is_some());
    let message = provider.whole(request()).await.unwrap();
    assert_eq!(message["content"][0]["text"], "whole");
    assert_eq!(provider.count_tokens(request().body).await, Ok(7));
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|r| (r.method.clone(), r.path.clone()))
        .collect();
    let expected = [
        ("POST", "/v1/messages"),
        ("POST", "/v1/messages"),
        ("POST", "/v1/messages/count_tokens"),
    ];
    assert_eq!(sent, expected.map(|(m, p)| (m.to_owned(), p.to_owned())));
    assert_eq!(server.requests()[1].body.get("stream"), None);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_named() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for host in [free.to_string(), "host.invalid".to_owned()] {
        let url = format!("http://user:geheim@{host}");
        let (_, failure) = hear(&*provider(&url, &[KEY])).await;
        let failure = failure.unwrap();
        assert_eq!(failure.kind, FailureKind::Connection, "{failure}");
        assert!(failure.message.contains(&host), "{failure}");
        assert!(!failure.message.contains("geheim"), "{failure}");
    }
}

#[tokio::test]
async fn a_missing_key_fails_at_once_and_says_what_to_do() {
    let provider = provider("http://127.0.0.1:1", &[]);
    let (_, failure) = hear(&*provider).await;
    let failure = failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Authentication);
    assert!(failure.message.contains("ANTHROPIC_API_KEY"), "{failure}");
}

#[tokio::test]
async fn a_refused_key_of_the_helper_is_asked_for_again_once() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ProviderSettings {
        api_key_helper: Some("echo x >> runs; echo key-$(($(wc -l < runs)))".to_owned()),
        cwd: folder.path().to_owned(),
        ..ProviderSettings::default()
    };
    let path = std::env::var("PATH").unwrap();
    let scenario = Scenario::new()
        .turn(text("a"))
        .turn(status(401))
        .turn(text("b"))
        .turn(status(401))
        .turn(status(401));
    let server = ApiServer::start(scenario).unwrap();
    let provider = with_settings(&server.url(), &[("PATH", &path)], &settings);
    assert_eq!(hear(&*provider).await.1, None);
    assert_eq!(hear(&*provider).await.1, None);
    let failure = hear(&*provider).await.1.unwrap();
    assert_eq!(failure.kind, FailureKind::Authentication);
    let keys: Vec<_> = server
        .requests()
        .iter()
        .map(|r| r.header("x-api-key").unwrap().to_owned())
        .collect();
    assert_eq!(keys, ["key-1", "key-1", "key-2", "key-2", "key-3"]);
    assert_eq!(
        server.requests()[4].header("authorization"),
        Some("Bearer key-3")
    );
}

/// Answers one request of whoever connects, and gives what was asked.
fn answer_once(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let head = read_head(&mut connection);
        connection.write_all(answer.as_bytes()).unwrap();
        head
    });
    (url, thread)
}

fn read_head(connection: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

#[tokio::test]
async fn a_proxy_is_used_unless_the_host_is_excepted() {
    let (proxy, asked) = answer_once("HTTP/1.1 418 Teapot\r\ncontent-length: 2\r\n\r\nno");
    let with_password = proxy.replace("http://", "http://user:geheim@");
    let through = [KEY, ("HTTP_PROXY", with_password.as_str())];
    let failure = hear(&*provider("http://api.invalid/base", &through))
        .await
        .1
        .unwrap();
    assert_eq!(failure.status, Some(418), "{failure}");
    let head = asked.join().unwrap();
    assert!(
        head.starts_with("POST http://api.invalid/base/v1/messages?beta=true "),
        "{head}"
    );
    assert!(
        head.to_ascii_lowercase()
            .contains("proxy-authorization: basic"),
        "{head}"
    );

    let server = ApiServer::start(Scenario::new().turn(text("direct"))).unwrap();
    let around = [
        KEY,
        ("HTTP_PROXY", "http://127.0.0.1:1"),
        ("NO_PROXY", "example.org, 127.0.0.1"),
    ];
    assert_eq!(hear(&*provider(&server.url(), &around)).await.1, None);
    let nowhere = [KEY, ("HTTP_PROXY", "http://u:geheim@127.0.0.1:1")];
    let failure = hear(&*provider(&server.url(), &nowhere)).await.1.unwrap();
    assert_eq!(failure.kind, FailureKind::Connection);
    assert!(!failure.message.contains("geheim"), "{failure}");
}

#[tokio::test]
async fn a_secure_host_is_reached_through_a_tunnel() {
    let (proxy, asked) = answer_once("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n");
    let through = [KEY, ("HTTPS_PROXY", proxy.as_str())];
    let failure = hear(&*provider("https://api.invalid", &through))
        .await
        .1
        .unwrap();
    assert_eq!(failure.kind, FailureKind::Connection, "{failure}");
    assert!(
        asked
            .join()
            .unwrap()
            .starts_with("CONNECT api.invalid:443 ")
    );
}

#[tokio::test]
async fn answers_that_are_not_the_protocol_are_said_to_be() {
    let table = [
        (
            "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.invalid/\r\ncontent-length: 0\r\n\r\n",
            "redirect",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\n<p/>",
            "text/html",
        ),
    ];
    for (answer, said) in table {
        let (url, asked) = answer_once(answer);
        let failure = hear(&*provider(&url, &[KEY])).await.1.unwrap();
        assert_eq!(failure.kind, FailureKind::Malformed, "{failure:?}");
        assert!(failure.message.contains(said), "{failure}");
        asked.join().unwrap();
    }
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    let server = ApiServer::start(Scenario::new().turn(text("a").hold("gate").text("b"))).unwrap();
    let provider = provider(&server.url(), &[KEY]);
    let mut streaming = provider.stream(request()).await.unwrap();
    streaming.events.next().await.unwrap().unwrap();
    drop(streaming);
    // The next request gets an answer of its own: the old connection is not waited for.
    let failure = hear(&*provider).await.1.unwrap();
    assert!(failure.message.contains("no rule"), "{failure}");
}

#[tokio::test]
async fn a_real_run_is_recorded_and_played_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("run.json");
    let server = ApiServer::start(Scenario::new().turn(text("recorded"))).unwrap();
    let path = path.to_str().unwrap();
    let recording = provider(&server.url(), &[KEY, ("FALCONER_RECORD_SCENARIO", path)]);
    let first = hear(&*recording).await;
    drop(server);
    let played = provider("http://127.0.0.1:1", &[("FALCONER_SCENARIO", path)]);
    assert_eq!(hear(&*played).await, first);
    assert_eq!(first.0[0]["text"], "recorded");
    assert!(!std::fs::read_to_string(path).unwrap().contains("geheim"));
}
