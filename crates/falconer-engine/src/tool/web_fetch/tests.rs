//! Against a server on this machine, with the guard lifted; and without that, to see it hold.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Path as UrlPath;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tool::testing::run;

struct Site {
    address: SocketAddr,
    hits: Arc<AtomicUsize>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Site {
    async fn open() -> Self {
        let hits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&hits);
        let page = move || async move {
            counter.fetch_add(1, Ordering::SeqCst);
            (
                [(header::CONTENT_TYPE, "text/html")],
                "<h1>Hello</h1><p>world</p>",
            )
        };
        let app = Router::new()
            .route("/page", get(page))
            .route("/plain/{size}", get(plain))
            .route("/endless", get(endless))
            .route("/silent", get(std::future::pending::<Response>))
            .route(
                "/binary",
                get(|| async { ([(header::CONTENT_TYPE, "image/png")], "x") }),
            )
            .route("/hop/{left}", get(hop))
            .route(
                "/away",
                get(|| async { redirect("http://other.example/x") }),
            )
            .route("/file", get(|| async { redirect("file:///etc/passwd") }))
            .route("/nowhere", get(|| async { StatusCode::FOUND }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            address,
            hits,
            server,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn plain(UrlPath(size): UrlPath<usize>) -> String {
    "ä".repeat(size)
}

async fn endless() -> impl IntoResponse {
    let chunk = || Ok::<_, std::io::Error>(vec![b'x'; 64 << 10]);
    let body = Body::from_stream(futures_util::stream::repeat_with(chunk));
    ([(header::CONTENT_TYPE, "text/plain")], body)
}

async fn hop(UrlPath(left): UrlPath<usize>) -> Response {
    match left.checked_sub(1) {
        Some(left) => redirect(&format!("/hop/{left}")),
        None => "arrived".into_response(),
    }
}

fn redirect(to: &str) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, to.to_owned())]).into_response()
}

fn tool() -> WebFetch {
    let limits = FetchLimits {
        body: 1 << 20,
        time: Duration::from_secs(20),
        redirects: 5,
    };
    WebFetch::new(Reach::Anywhere, limits)
}

fn call() -> Call {
    Call {
        id: "toolu_1".into(),
        prompt: "p".into(),
        workbench: Arc::new(Workbench::for_tests(Path::new("/"))),
        cancelled: CancellationToken::new(),
        bounds: crate::tool::Bounds::default(),
    }
}

async fn fetch(tool: &WebFetch, url: &str) -> (bool, String) {
    let outcome = run(tool, json!({"url": url, "prompt": "what?"}), call()).await;
    (outcome.is_error, outcome.said().to_owned())
}

#[tokio::test]
async fn a_page_is_read_by_the_model_and_remembered() {
    let site = Site::open().await;
    let tool = tool();
    for _ in 0..2 {
        let input = json!({"url": site.url("/page"), "prompt": "what?"});
        let outcome = run(&tool, input, call()).await;
        let text = outcome.said();
        assert!(
            text.contains("# Hello\n\nworld") && text.contains("what?"),
            "{text}"
        );
        let output = outcome.output.unwrap();
        assert_eq!(
            (&output["code"], &output["bytes"]),
            (&json!(200), &json!(26))
        );
        assert_eq!(output["url"], site.url("/page"));
    }
    assert_eq!(site.hits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn failures_are_told() {
    let site = Site::open().await;
    for (path, expected) in [
        ("/missing", "answered with status 404"),
        ("/binary", "is image/png, which cannot be read"),
        ("/nowhere", "redirects too often, or to nowhere"),
        ("/hop/9", "redirects too often"),
        ("/file", "only http and https"),
    ] {
        let (is_error, text) = fetch(&tool(), &site.url(path)).await;
        assert!(is_error && text.contains(expected), "{path}: {text}");
    }
    let gone = format!("http://{}/", site.address);
    drop(site);
    let (is_error, text) = fetch(&tool(), &gone).await;
    assert!(is_error, "{text}");
}

#[tokio::test]
async fn redirects_are_followed_on_the_same_host_only() {
    let site = Site::open().await;
    let (is_error, text) = fetch(&tool(), &site.url("/hop/4")).await;
    assert!(!is_error && text.contains("arrived"), "{text}");
    let (is_error, text) = fetch(&tool(), &site.url("/away")).await;
    assert!(
        !is_error && text.contains("Redirect URL: http://other.example/x"),
        "{text}"
    );
    assert!(!text.contains("model saw"), "{text}");
}

#[tokio::test]
async fn a_huge_body_is_cut() {
    let site = Site::open().await;
    let tool = tool();
    let input = json!({"url": site.url("/endless"), "prompt": "?", "offset": 1_000_000});
    let outcome = run(&tool, input, call()).await;
    assert_eq!(outcome.output.as_ref().unwrap()["bytes"], 1 << 20);
    let text = outcome.said();
    assert!(
        text.ends_with("the rest is missing]"),
        "{}",
        &text[text.len() - 200..]
    );
}

#[tokio::test]
async fn a_long_page_is_read_in_parts() {
    let site = Site::open().await;
    let tool = tool();
    let ask = |offset: usize| {
        let url = site.url("/plain/150000");
        run(
            &tool,
            json!({"url": url, "prompt": "?", "offset": offset}),
            call(),
        )
    };
    let counted = |outcome: Outcome| {
        let text = outcome.said().to_owned();
        (text.matches('ä').count(), text.contains("offset 100000"))
    };
    assert_eq!(counted(ask(0).await), (100_000, true));
    assert_eq!(counted(ask(100_000).await), (50_000, false));
    assert_eq!(counted(ask(999_999_999).await), (0, false));
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let site = Site::open().await;
    let limits = FetchLimits {
        time: Duration::from_millis(200),
        ..FetchLimits::default()
    };
    let tool = WebFetch::new(Reach::Anywhere, limits);
    let (is_error, text) = fetch(&tool, &site.url("/silent")).await;
    assert!(
        is_error && text.contains("did not answer completely"),
        "{text}"
    );
}

#[tokio::test]
async fn a_fetch_can_be_stopped() {
    let site = Site::open().await;
    let call = call();
    call.cancelled.cancel();
    let input = json!({"url": site.url("/silent"), "prompt": "?"});
    assert!(run(&tool(), input, call).await.is_error);
}

#[tokio::test]
async fn private_addresses_are_refused_by_default() {
    let site = Site::open().await;
    let tool = WebFetch::default();
    for host in [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
        "10.0.0.1",
        "169.254.169.254",
    ] {
        let url = format!("http://{host}:{}/page", site.address.port());
        let (is_error, text) = fetch(&tool, &url).await;
        assert!(
            is_error && text.contains("not on the public Internet"),
            "{text}"
        );
    }
    let localhost = json!({"url": "http://localhost/", "prompt": "?"});
    assert!(tool.parse(localhost.as_object().unwrap()).is_err());
    assert_eq!(site.hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_leads_home_is_refused() {
    // The hosts file resolves this without a network.
    let fetcher = Fetcher {
        reach: Reach::Public,
        limits: &FetchLimits::default(),
        proxy: None,
    };
    let url = Url::parse("https://localhost:1/").unwrap();
    let error = fetcher.fetch(url.clone()).await.unwrap_err().to_string();
    assert!(error.contains("not on the public Internet"), "{error}");
    // A proxy does not lift the guard.
    let proxy = Some("http://127.0.0.1:1".to_owned());
    let error = Fetcher { proxy, ..fetcher }
        .fetch(url)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("not on the public Internet"), "{error}");
}
