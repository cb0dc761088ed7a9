//! Coming in and going out.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use falconer_hub::Bypass;
use falconer_store::{NewToken, Timestamp, TokenHash};
use serde_json::json;

use crate::api::{Code as LoginCode, CodeAsked, Login, Me};
use crate::app::App;
use crate::auth::attempts::Standing;
use crate::auth::codes::Grant;
use crate::auth::cookie;
use crate::auth::gate::{From, too_many};
use crate::auth::principal::{Carrier, Principal};
use crate::auth::secret::Secret;
use crate::input::Json;
use crate::problem::{Code, Problem};

/// Trade a one-time code for the page's cookie
#[utoipa::path(post, path = "/v1/login", tag = "account", request_body = Login,
    responses((status = 204, description = "The cookie is set")))]
pub(crate) async fn login(
    State(app): State<Arc<App>>,
    From(peer): From,
    Json(asked): Json<Login>,
) -> Result<Response, Problem> {
    let now = Instant::now();
    if let Standing::Blocked(seconds) = app.attempts.standing(peer, now) {
        return Err(too_many(seconds));
    }
    let code = Secret::parse(&asked.code);
    let Some(grant) = code.and_then(|code| app.codes.take(&code, now)) else {
        let mut problem = app.refuse(peer);
        if problem.code == Code::Unauthenticated {
            problem.detail = "the code is unknown, used or expired".to_owned();
            problem.hint = Some("request a new link from the server".to_owned());
        }
        return Err(problem);
    };
    let failed = |error| Problem::internal("make a token", error);
    let token = Secret::token().map_err(failed)?;
    let hash = TokenHash::from(token.hash().as_str());
    let record = app
        .store
        .add_token(NewToken::new(grant.name, hash, grant.scopes))
        .await?;
    let principal = Principal {
        token: record,
        by: Carrier::Cookie,
    };
    app.audit(&principal, "login", None, json!({"peer": peer.to_string()}))
        .await;
    let cookie = cookie::set(&token, app.config.caps.login_life, app.transport());
    let cookie = cookie.ok_or_else(|| Problem::internal("write the cookie", "bad value"))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Forget the cookie; its token is of no use any more
#[utoipa::path(post, path = "/v1/logout", tag = "account",
    responses((status = 204, description = "The cookie is gone")))]
pub(crate) async fn logout(
    State(app): State<Arc<App>>,
    principal: Principal,
) -> Result<Response, Problem> {
    // A program keeps its token until an admin revokes it.
    if principal.by == Carrier::Cookie {
        app.store.revoke_token(&principal.token.id).await?;
        app.revoked.send_modify(|count| *count += 1);
        app.audit(&principal, "logout", None, json!({})).await;
    }
    let cookie = cookie::clear(app.transport());
    let cookie = cookie.ok_or_else(|| Problem::internal("write the cookie", "bad value"))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Who you are here, and what you may do
#[utoipa::path(get, path = "/v1/me", tag = "account",
    responses((status = 200, description = "You", body = Me)))]
pub(crate) async fn me(State(app): State<Arc<App>>, principal: Principal) -> axum::Json<Me> {
    let roots = app.roots.paths().iter();
    axum::Json(Me {
        name: principal.name().to_owned(),
        scopes: principal.token.scopes.clone(),
        bypass_allowed: app.config.bypass == Bypass::Accepted,
        roots: roots.map(|root| root.display().to_string()).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Make a link with which another browser comes in, once
#[utoipa::path(post, path = "/v1/codes", tag = "account", request_body = CodeAsked,
    responses((status = 201, description = "The link", body = LoginCode)))]
pub(crate) async fn make_code(
    State(app): State<Arc<App>>,
    principal: Principal,
    Json(asked): Json<CodeAsked>,
) -> Result<(StatusCode, axum::Json<LoginCode>), Problem> {
    let scopes = asked
        .scopes
        .unwrap_or_else(|| principal.token.scopes.clone());
    principal.need_all(&scopes)?;
    let name = asked.name.unwrap_or_else(|| "browser".to_owned());
    let detail = json!({"name": name, "scopes": scopes});
    let code = app.codes.make(Grant { name, scopes }, Instant::now());
    let code = code.map_err(|error| Problem::internal("make a code", error))?;
    app.audit(&principal, "code.make", None, detail).await;
    let code = LoginCode {
        path: format!("/#code={}", code.reveal()),
        expires_at: Timestamp::now().plus(app.codes.life()),
    };
    Ok((StatusCode::CREATED, axum::Json(code)))
}
