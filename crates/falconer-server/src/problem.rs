//! Every error a client can see: its status, its code, its words. Nothing else answers with one.
//!
//! The form is RFC 9457 (`application/problem+json`), with a `code` for programs and a `hint` for
//! people.

mod translate;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::Request;

/// What a program can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The body is not the JSON this route takes.
    InvalidJson,
    /// A parameter, header or field has a value that cannot be.
    InvalidValue,
    /// There is no credential, or it is not known here.
    Unauthenticated,
    /// The credential does not carry the scope.
    MissingScope,
    /// A page of another origin asked.
    OriginNotAllowed,
    /// The path is not below a configured root.
    OutsideRoots,
    /// The server was not started with bypass mode, or runs as root.
    BypassNotAllowed,
    /// There is no such thing.
    NotFound,
    /// The path exists, the method does not.
    MethodNotAllowed,
    /// The request took too long to arrive.
    Timeout,
    /// The id is used for something else.
    Conflict,
    /// Somebody answered before; `request` says who and what.
    AlreadyAnswered,
    /// What is asked now is not what was shown.
    Changed,
    /// The request is no longer open.
    Expired,
    /// The session is in a state in which this cannot be done.
    WrongState,
    /// Another process holds the session.
    SessionHeld,
    /// The body is larger than this route takes.
    TooLarge,
    /// The content type is not the one this route takes.
    UnsupportedMediaType,
    /// The name in the `Host` header is not one of this server.
    HostNotAllowed,
    /// Too many wrong credentials from this address.
    TooManyAttempts,
    /// As many streams are open as the server allows.
    TooManyStreams,
    /// The engine or the machine cannot keep a session apart as asked.
    IsolationNotAvailable,
    /// The engine could not be started or did not answer.
    EngineFailed,
    /// The server cannot do this at the moment.
    Unavailable,
    /// A fault of the server.
    Internal,
}

impl Code {
    fn about(self) -> (u16, &'static str, Option<&'static str>) {
        match self {
            Self::InvalidJson => (
                400,
                "invalid request body",
                Some("see the schema of this route in /openapi.json"),
            ),
            Self::InvalidValue => (
                422,
                "invalid value",
                Some("see the schema of this route in /openapi.json"),
            ),
            Self::Unauthenticated => (
                401,
                "authentication required",
                Some("send `Authorization: Bearer flc_...`, or open the link the server printed"),
            ),
            Self::MissingScope => (
                403,
                "insufficient scope",
                Some("use a token with this scope; an admin can create one at /v1/tokens"),
            ),
            Self::OriginNotAllowed => (
                403,
                "requests from this origin are not allowed",
                Some("use the page this server serves, or a program with a bearer token"),
            ),
            Self::OutsideRoots => (
                403,
                "the path is not below a configured root",
                Some("GET /v1/me lists the roots; start the server with another `--root`"),
            ),
            Self::BypassNotAllowed => (
                403,
                "bypass mode is disabled on this server",
                Some("start the server with `--allow-bypass`, not as root"),
            ),
            Self::NotFound => (404, "not found", None),
            Self::MethodNotAllowed => (405, "method not allowed", None),
            Self::Timeout => (408, "the request took too long to arrive", None),
            Self::Conflict => (
                409,
                "the id is already used for other content",
                Some("use a new id for new content"),
            ),
            Self::AlreadyAnswered => (
                409,
                "already answered",
                Some("see `request.decision` for who answered what"),
            ),
            Self::Changed => (
                409,
                "the request has changed since it was shown",
                Some("read the request again and answer with its digest"),
            ),
            Self::Expired => (410, "the request is no longer open", None),
            Self::WrongState => (409, "the session's state does not allow this", None),
            Self::SessionHeld => (
                409,
                "another process holds the session",
                Some("use the process that runs it, or wait for it to exit"),
            ),
            Self::TooLarge => (413, "the body is too large", None),
            Self::UnsupportedMediaType => (
                415,
                "unsupported content type",
                Some("send `Content-Type: application/json`"),
            ),
            Self::HostNotAllowed => (
                421,
                "the Host header does not name this server",
                Some("use the address the server printed, or start it with `--host-name`"),
            ),
            Self::TooManyAttempts => (
                429,
                "too many failed sign-ins",
                Some("retry after the time in Retry-After"),
            ),
            Self::TooManyStreams => (
                503,
                "too many open streams",
                Some("close one, or retry later"),
            ),
            Self::IsolationNotAvailable => (
                422,
                "this isolation is not available on this server",
                Some(
                    "choose another `engine` or `isolation`; `falconer doctor` checks the machine",
                ),
            ),
            Self::EngineFailed => (502, "the engine failed", None),
            Self::Unavailable => (503, "temporarily unavailable", None),
            Self::Internal => (500, "internal server error", Some("see the server's log")),
        }
    }

    /// As it is written in the body.
    pub(crate) fn as_str(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// An error as it is sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Problem {
    /// A name for this kind of problem, as a URI.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What was tried on what.
    pub detail: String,
    /// The kind for programs.
    pub code: Code,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// With `already_answered` and `expired`: the request as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<Request>>,
    /// With `session_held`: the process that runs the session, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Box<Holder>>,
    /// Seconds to wait, with `too_many_attempts`.
    #[serde(skip)]
    pub(crate) retry_after: Option<u32>,
}

/// A process that runs sessions of the same store.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Holder {
    /// What people call such a process, such as `falconer serve`.
    pub program: String,
    /// Where it is reached, if it is a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of its machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The number of the process on that machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
}

impl From<falconer_store::Node> for Holder {
    fn from(node: falconer_store::Node) -> Self {
        Self {
            program: node.program,
            url: node.url,
            machine: node.machine,
            process: node.process.map(|process| process.pid),
        }
    }
}

impl Problem {
    /// A problem of this kind.
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        let (status, title, hint) = code.about();
        Self {
            kind: format!("urn:falconer:problem:{}", code.as_str()),
            title,
            status,
            detail: detail.into(),
            code,
            hint: hint.map(str::to_owned),
            request: None,
            holder: None,
            retry_after: None,
        }
    }

    /// There is no such thing of this kind.
    pub(crate) fn not_found(what: &str, id: impl std::fmt::Display) -> Self {
        Self::new(Code::NotFound, format!("there is no {what} `{id}`"))
    }

    /// A fault of ours: told in the log, not to the client.
    pub(crate) fn internal(tried: &str, error: impl std::fmt::Display) -> Self {
        tracing::error!(%error, "{tried}");
        Self::new(Code::Internal, format!("failed to {tried}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn about(mut self, request: Request) -> Self {
        self.request = Some(Box::new(request));
        self
    }

    pub(crate) fn held_by(mut self, node: falconer_store::Node) -> Self {
        self.hint = Some(match &node.url {
            Some(url) => format!("nothing was changed; ask the server at {url}"),
            None => "nothing was changed; use the process that runs it, or end that one".to_owned(),
        });
        self.holder = Some(Box::new(node.into()));
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(u32::try_from(seconds).unwrap_or(u32::MAX));
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
