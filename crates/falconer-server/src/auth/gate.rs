//! The gate: looks at the credential of every request and at what its route needs.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use falconer_store::{Timestamp, TokenHash};

use crate::app::App;
use crate::auth::access::{Access, access};
use crate::auth::attempts::Standing;
use crate::auth::cookie;
use crate::auth::principal::{Carrier, Principal};
use crate::auth::secret::Secret;
use crate::config::Proxy;
use crate::listen::accept::Peer;
use crate::problem::{Code, Problem};

/// Lets a request through to its route, or not.
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(path) = request.extensions().get::<MatchedPath>() else {
        return next.run(request).await;
    };
    let Some(access) = access(request.method().as_str(), path.as_str()) else {
        let text = format!("{} does not support {}", path.as_str(), request.method());
        return Problem::new(Code::MethodNotAllowed, text).into_response();
    };
    if access == Access::Public {
        return next.run(request).await;
    }
    let peer = peer(&app, request.headers(), request.extensions().get::<Peer>());
    let principal = match app.identify(request.headers(), peer).await {
        Ok(principal) => principal,
        Err(problem) => return problem.into_response(),
    };
    if let Access::With(scope) = access
        && let Err(problem) = principal.need(scope)
    {
        return problem.into_response();
    }
    request.extensions_mut().insert(principal);
    next.run(request).await
}

/// Where a request comes from, as far as that can be known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct From(pub(crate) IpAddr);

impl FromRequestParts<Arc<App>> for From {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let connected = parts.extensions.get::<Peer>();
        Ok(Self(peer(app, &parts.headers, connected)))
    }
}

fn peer(app: &App, headers: &HeaderMap, connected: Option<&Peer>) -> IpAddr {
    let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let connected = connected.map_or(unknown, |peer| peer.address());
    if app.config.proxy == Proxy::None {
        return connected;
    }
    // The last one was added by the proxy; the others by anybody.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    forwarded
        .and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok())
        .unwrap_or(connected)
}

impl App {
    /// Whose credential this is.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
        peer: IpAddr,
    ) -> Result<Principal, Problem> {
        let (secret, by) = match headers.get(header::AUTHORIZATION) {
            Some(value) => (bearer(value.as_bytes()), Carrier::Header),
            None if headers.contains_key(header::COOKIE) => {
                (cookie::read(headers), Carrier::Cookie)
            }
            None => {
                let text = "the request carries no credential";
                return Err(Problem::new(Code::Unauthenticated, text));
            }
        };
        let Some(secret) = secret else {
            return Err(self.refuse(peer));
        };
        let hash = TokenHash::from(secret.hash().as_str());
        match self.lookup(&hash, by).await? {
            Some(principal) => Ok(principal),
            None => Err(self.refuse(peer)),
        }
    }

    /// Whether a credential that was good is so still.
    pub(crate) async fn still_good(&self, principal: &Principal) -> bool {
        let found = self.lookup(principal.hash(), principal.by).await;
        found.is_ok_and(|found| found.is_some())
    }

    async fn lookup(&self, hash: &TokenHash, by: Carrier) -> Result<Option<Principal>, Problem> {
        let found = self.store.token(hash).await;
        let found = found.map_err(|error| Problem::internal("look up a token", error))?;
        let Some(token) = found.filter(|token| token.revoked_at.is_none()) else {
            return Ok(None);
        };
        // The index of the store compared already; its time tells nothing but hashes. This one
        // tells nothing at all.
        if !bool::from(subtle::ConstantTimeEq::ct_eq(
            token.hash.as_str().as_bytes(),
            hash.as_str().as_bytes(),
        )) {
            return Ok(None);
        }
        let oldest = Timestamp::now().minus(self.config.caps.login_life);
        if by == Carrier::Cookie && token.created_at < oldest {
            return Ok(None);
        }
        if let Err(error) = self.store.touch_token(&token.id).await {
            tracing::warn!(%error, "failed to note the use of a token");
        }
        Ok(Some(Principal { token, by }))
    }

    /// Counts a wrong credential and says so.
    pub(crate) fn refuse(&self, peer: IpAddr) -> Problem {
        self.metrics.refused();
        match self.attempts.failed(peer, Instant::now()) {
            Standing::Fine => {
                let text = "unknown or revoked credential";
                Problem::new(Code::Unauthenticated, text)
            }
            Standing::Blocked(seconds) => {
                tracing::warn!(%peer, "too many failed sign-ins");
                too_many(seconds)
            }
        }
    }
}

pub(crate) fn too_many(seconds: u64) -> Problem {
    let text = "too many failed sign-ins from this address";
    Problem::new(Code::TooManyAttempts, text).retry_after(seconds)
}

fn bearer(value: &[u8]) -> Option<Secret> {
    let text = std::str::from_utf8(value).ok()?;
    let (scheme, token) = text.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        Secret::parse(token.trim())
    } else {
        None
    }
}
