//! A relay between the official CLI and the model, that writes down what the model answers.
//!
//! It listens on the loopback only and passes requests on as they are, credentials included: it
//! keeps none and adds none.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Response, StatusCode, header};
use falconer_engine::{ModelTape, Overheard};
use futures_util::StreamExt;
use reqwest::Client;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::exit::Fault;
use crate::here;

/// The largest request that is passed on: what the API takes at most, and some.
const LARGEST: usize = 64 << 20;

/// Providers whose requests are signed for their host and cannot be passed on.
const SIGNED: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Where the CLI would send its requests.
pub(super) fn upstream() -> Result<String, Fault> {
    let value = |name: &str| here::environment().value(name);
    let variable = |name: &str| value(name).map(|value| value.to_string_lossy().into_owned());
    if let Some(name) = SIGNED.into_iter().find(|name| variable(name).is_some()) {
        return Err(Fault::usage(
            format!("cannot record the model's answers while {name} is set"),
            "add `--engine native`, or omit `--model-to`",
        ));
    }
    let named = variable("ANTHROPIC_BASE_URL");
    Ok(named.unwrap_or_else(|| "https://api.anthropic.com".to_owned()))
}

/// A relay that runs.
pub(super) struct Relay {
    url: String,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

struct Shared {
    http: Client,
    upstream: String,
    tape: ModelTape,
}

impl Relay {
    pub(super) async fn start(upstream: String, tape: &Path) -> Result<Self, Fault> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format!("failed to start a relay to the model: {error}");
            Fault::setup(text, "omit `--model-to`, or check the proxy variables")
        };
        // Whoever has installed one already has the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().build().map_err(|error| failed(&error))?;
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let shared = Arc::new(Shared {
            http,
            upstream: upstream.trim_end_matches('/').to_owned(),
            tape: ModelTape::new(tape, here::redactor().clone()),
        });
        let routes = Router::new().fallback(pass_on).with_state(shared);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(listener, routes).with_graceful_shutdown(async move {
            // Dropped or told, it is over.
            let _ = stopped.await;
        });
        Ok(Self {
            url: format!("http://{address}"),
            stop,
            task: tokio::spawn(serving.into_future()),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Ends it. The CLI is gone: what is still open will not be read.
    pub(super) async fn end(self) {
        let _ = self.stop.send(());
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn pass_on(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    match exchange(&shared, request).await {
        Ok(response) => response,
        Err(problem) => {
            let mut response = Response::new(Body::from(problem));
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        }
    }
}

async fn exchange(shared: &Shared, request: Request) -> Result<Response<Body>, String> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, LARGEST).await;
    let body = body.map_err(|error| format!("failed to read the request: {error}"))?;
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let overheard = match head.uri.path() {
        "/v1/messages" => shared.tape.asked(&body),
        _ => None,
    };
    let url = format!("{}{path}", shared.upstream);
    let sent = shared.http.request(head.method, url);
    let mut headers = without_hops(&head.headers, &[header::HOST, header::CONTENT_LENGTH]);
    // What is packed cannot be overheard.
    headers.insert(
        header::ACCEPT_ENCODING,
        header::HeaderValue::from_static("identity"),
    );
    let answer = sent.headers(headers).body(body).send().await;
    let answer = answer.map_err(|error| format!("failed to reach the model: {error}"))?;
    respond(answer, overheard).await
}

async fn respond(
    answer: reqwest::Response,
    overheard: Option<Overheard>,
) -> Result<Response<Body>, String> {
    let status = answer.status();
    let headers = without_hops(answer.headers(), &[header::CONTENT_LENGTH]);
    let body = match overheard {
        Some(overheard) if !status.is_success() => {
            let bytes = answer.bytes().await.map_err(|error| error.to_string())?;
            overheard.refused(status.as_u16(), &bytes);
            Body::from(bytes)
        }
        overheard => Body::from_stream(listening(answer, overheard)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// The bytes of an answer as they come, each heard before it is passed on.
fn listening(
    answer: reqwest::Response,
    overheard: Option<Overheard>,
) -> impl futures_util::Stream<Item = reqwest::Result<Bytes>> {
    let state = (answer.bytes_stream(), overheard);
    futures_util::stream::unfold(state, |(mut bytes, mut overheard)| async move {
        let next = bytes.next().await;
        match (&next, &mut overheard) {
            (Some(Ok(bytes)), Some(overheard)) => overheard.bytes(bytes.clone()),
            (None, _) => {
                if let Some(overheard) = overheard.take() {
                    overheard.end();
                }
            }
            _ => {}
        }
        Some((next?, (bytes, overheard)))
    })
}

/// Headers but for those that are about one connection only.
fn without_hops(headers: &HeaderMap, more: &[HeaderName]) -> HeaderMap {
    let hops = [
        header::CONNECTION,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::TE,
    ];
    let mut kept = headers.clone();
    for name in hops.iter().chain(more) {
        kept.remove(name);
    }
    kept
}
