//! A server of ours, spoken to over HTTP: requests, answers, the stream of a session.

mod answer;
mod sse;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use futures_util::StreamExt;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::approve::escaped;
use crate::config::{self, Config};
use crate::exit::{Exit, Fault};
use crate::ids;
use crate::places;
use crate::render::clean;
use crate::run::start;

pub(crate) use answer::{open_of, verdict_json};
pub(crate) use sse::{Frame, Frames};

/// Where the server listens unless it is told otherwise.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:4780";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Flags that name a server.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// Server URL
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Server token; prefer FALCONER_TOKEN or the file in server.token_file
    #[arg(
        long,
        value_name = "TOKEN",
        env = "FALCONER_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
}

/// A server and the right to use it.
pub(crate) struct Remote {
    http: Client,
    url: String,
    token: SecretString,
}

impl Remote {
    pub(crate) fn connect(server: &Server) -> Result<Self, Fault> {
        let config = config::load(&start::directory(None)?, None)?.config;
        let configured = server.server.clone().or_else(|| config.server.url.clone());
        let url = configured.unwrap_or_else(|| DEFAULT_URL.to_owned());
        let token = match &server.token {
            Some(token) => token.clone(),
            None => read_token(&config)?,
        };
        // Whoever has installed one already has the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .build();
        let http = http.map_err(|error| {
            Fault::setup(
                format!("failed to set up HTTP: {error}"),
                "check the proxy variables",
            )
        })?;
        Ok(Self {
            http,
            url: url.trim_end_matches('/').to_owned(),
            token: token.trim().to_owned().into(),
        })
    }

    /// The address it was reached at.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, Fault> {
        self.json(self.request(Method::GET, path).timeout(PATIENCE))
            .await
    }

    /// A session by its id, by that of its conversation, or by the beginning of either.
    pub(crate) async fn session(&self, beginning: &str) -> Result<Value, Fault> {
        let exact = self
            .get(&format!("/v1/sessions/{}", escaped(beginning)))
            .await;
        let missing = match exact {
            Err(fault) if fault.exit == Exit::Session => fault,
            other => return other,
        };
        let mut meant = self.sessions().await?;
        meant.retain(|session| is_meant(session, beginning));
        one_of(meant, beginning).unwrap_or(Err(missing))
    }

    /// All sessions, those in the archive too, the one that changed last first.
    async fn sessions(&self) -> Result<Vec<Value>, Fault> {
        const ALL: &str = "/v1/sessions?archived=any&limit=1000";
        let mut all = Vec::new();
        let mut path = ALL.to_owned();
        loop {
            let page = self.get(&path).await?;
            all.extend(page["sessions"].as_array().cloned().unwrap_or_default());
            let Some(next) = page["next"].as_str() else {
                return Ok(all);
            };
            path = format!("{ALL}&cursor={}", escaped(next));
        }
    }

    /// The sessions that have a process.
    pub(crate) async fn live_sessions(&self) -> Result<Vec<Value>, Fault> {
        let mut live = self.sessions().await?;
        live.retain(|session| {
            let state = session["state"].as_str();
            matches!(state, Some("running" | "ready" | "waiting"))
        });
        Ok(live)
    }

    /// A request that is open, by its id or the beginning of it.
    pub(crate) async fn asked(&self, beginning: &str) -> Result<Value, Fault> {
        let exact = self
            .get(&format!("/v1/requests/{}", escaped(beginning)))
            .await;
        let missing = match exact {
            Err(fault) if fault.exit == Exit::Session => fault,
            other => return other,
        };
        let waiting = self.get("/v1/requests?state=pending").await?;
        let mut meant = waiting["requests"].as_array().cloned().unwrap_or_default();
        meant.retain(|request| is_meant(request, beginning));
        one_of(meant, beginning).unwrap_or(Err(missing))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.json(
            self.request(Method::POST, path)
                .timeout(PATIENCE)
                .json(body),
        )
        .await
    }

    /// The events of a session from a number on, as they come.
    pub(crate) async fn stream(&self, session: &str, after: u64) -> Result<Frames, Fault> {
        let path = format!("/v1/sessions/{session}/stream?after={after}");
        let request = self
            .request(Method::GET, &path)
            .header("accept", "text/event-stream");
        let response = self.checked(request).await?;
        Ok(Frames::of(response.bytes_stream().boxed()))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        request.bearer_auth(self.token.expose_secret())
    }

    async fn json(&self, request: RequestBuilder) -> Result<Value, Fault> {
        let response = self.checked(request).await?;
        let text = response
            .text()
            .await
            .map_err(|error| self.unreachable(&error))?;
        if text.is_empty() {
            Ok(json!({}))
        } else {
            serde_json::from_str(&text).map_err(|_| {
                let text = format!("{} returned something other than JSON", self.url);
                Fault::setup(text, "check that this is the address of a falconer server")
            })
        }
    }

    async fn checked(&self, request: RequestBuilder) -> Result<Response, Fault> {
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(refused(status, &response.text().await.unwrap_or_default())),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Fault {
        let why = match (error.is_timeout(), error.is_connect()) {
            (true, _) => "timed out",
            (_, true) => "connection refused",
            _ => "connection lost",
        };
        Fault::setup(
            format!("failed to reach the server at {}: {why}", self.url),
            "start it with `falconer serve`, or name it with `--server URL` or `falconer config \
             set server.url URL`",
        )
    }
}

/// Whether an id, or the beginning of one, means this.
pub(crate) fn is_meant(thing: &Value, beginning: &str) -> bool {
    let begins = |name: &str| {
        let id = thing[name].as_str();
        id.is_some_and(|id| id.starts_with(beginning))
    };
    !beginning.is_empty() && (begins("id") || begins("native_session"))
}

/// The only one that is meant; `None` if none is.
fn one_of(mut meant: Vec<Value>, beginning: &str) -> Option<Result<Value, Fault>> {
    let is_called = |thing: &Value| thing["native_session"] == beginning;
    if let Some(exact) = meant.iter().position(is_called) {
        return Some(Ok(meant.swap_remove(exact)));
    }
    match meant.len() {
        0 => None,
        1 => meant.pop().map(Ok),
        _ => {
            let ids = meant.iter().filter_map(|thing| thing["id"].as_str());
            Some(Err(ids::ambiguous(beginning, &ids.collect::<Vec<_>>())))
        }
    }
}

/// The configured file, else the one in which a server on this machine keeps its token.
fn read_token(config: &Config) -> Result<String, Fault> {
    let hint = "set FALCONER_TOKEN, or `falconer config set server.token_file FILE`; `falconer \
                serve` says where it keeps a token";
    let file = match &config.server.token_file {
        Some(file) => PathBuf::from(file),
        None => places::state_directory()?.join("token"),
    };
    std::fs::read_to_string(&file).map_err(|error| {
        let text = format!(
            "failed to read the server token in {}: {error}",
            file.display()
        );
        Fault::setup(text, hint)
    })
}

const FASTER_HINT: &str = "your answer had no effect; `falconer approve` shows what is still open";

/// Somebody else has answered: who, and what.
fn faster(request: &Value, by: &str) -> String {
    let verdict = request["decision"]["verdict"]["type"].as_str();
    let verdict = verdict.unwrap_or("something").replace('_', " ");
    let id = request["id"].as_str().unwrap_or_default();
    format!(
        "{} answered request {} before, with `{}`",
        clean(by),
        clean(id),
        clean(&verdict)
    )
}

/// A problem as the server tells it, or as the status does.
fn refused(status: StatusCode, body: &str) -> Fault {
    let problem: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |name: &str| problem[name].as_str().filter(|text| !text.is_empty());
    let said = text("detail")
        .or(text("title"))
        .unwrap_or("no reason given");
    let exit = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Exit::Setup,
        StatusCode::NOT_FOUND | StatusCode::CONFLICT | StatusCode::GONE => Exit::Session,
        status if status.is_client_error() => Exit::Usage,
        _ => Exit::Service,
    };
    if let Some(by) = problem["request"]["decision"]["by"].as_str() {
        return Fault::new(exit, faster(&problem["request"], by), FASTER_HINT);
    }
    let hint = match (text("hint"), status) {
        // What the server says about this is for programs that speak HTTP themselves.
        (_, StatusCode::UNAUTHORIZED) => "set FALCONER_TOKEN to a token for this server",
        (_, StatusCode::FORBIDDEN) => "use a token with the required scope",
        (Some(hint), _) => hint,
        (None, _) => "`falconer approve` and `falconer attach --help` show what can be done",
    };
    Fault::new(exit, format!("the server refused: {said} ({status})"), hint)
}
