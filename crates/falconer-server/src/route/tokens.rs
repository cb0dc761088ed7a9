//! Tokens and the audit log.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use falconer_store::{AuditId, NewToken, TokenHash, TokenId};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::api::{AuditLog, MadeToken, TokenAsked, TokenList};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::auth::secret::Secret;
use crate::input::{Asked, Json};
use crate::problem::{Code, Problem};

/// The tokens, without their secrets
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens",
    responses((status = 200, description = "Oldest first", body = TokenList)))]
pub(crate) async fn list_tokens(
    State(app): State<Arc<App>>,
) -> Result<axum::Json<TokenList>, Problem> {
    let tokens = app.store.tokens().await?;
    Ok(axum::Json(TokenList { tokens }))
}

/// Make a token; its secret is shown this once
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = TokenAsked,
    responses((status = 201, description = "The token", body = MadeToken)))]
pub(crate) async fn make_token(
    State(app): State<Arc<App>>,
    principal: Principal,
    Json(asked): Json<TokenAsked>,
) -> Result<(StatusCode, axum::Json<MadeToken>), Problem> {
    if asked.name.trim().is_empty() || asked.name.len() > 100 || asked.scopes.is_empty() {
        let text = "a token has a name of 1 to 100 characters and at least one scope";
        return Err(Problem::new(Code::InvalidValue, text));
    }
    principal.need_all(&asked.scopes)?;
    let failed = |error| Problem::internal("make a token", error);
    let secret = Secret::token().map_err(failed)?;
    app.hub.redactor().learn([secret.reveal()]);
    let hash = TokenHash::from(secret.hash().as_str());
    let new = NewToken::new(asked.name.trim(), hash, asked.scopes);
    let token = app.store.add_token(new).await?;
    let detail = json!({"token": token.id, "name": token.name, "scopes": token.scopes});
    app.audit(&principal, "token.make", None, detail).await;
    let secret = secret.reveal().to_owned();
    Ok((StatusCode::CREATED, axum::Json(MadeToken { token, secret })))
}

/// Revoke a token; what is open with it ends
#[utoipa::path(delete, path = "/v1/tokens/{id}", tag = "tokens",
    params(("id" = String, Path, description = "The token")),
    responses((status = 204, description = "It is of no use any more")))]
pub(crate) async fn revoke_token(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = TokenId::from(id);
    app.store.revoke_token(&id).await?;
    app.revoked.send_modify(|count| *count += 1);
    app.audit(&principal, "token.revoke", None, json!({"token": id}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// Which records.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadAudit {
    /// Those with a higher number.
    #[param(format = "uint64")]
    after: Option<u64>,
    /// How many at most.
    limit: Option<usize>,
}

/// Who did what
#[utoipa::path(get, path = "/v1/audit", tag = "tokens", params(ReadAudit),
    responses((status = 200, description = "Oldest first", body = AuditLog)))]
pub(crate) async fn read_audit(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ReadAudit>,
) -> Result<axum::Json<AuditLog>, Problem> {
    let limit = asked
        .limit
        .unwrap_or(100)
        .clamp(1, falconer_store::MAX_PAGE);
    let page = app
        .store
        .audit_log(AuditId(asked.after.unwrap_or(0)), limit)
        .await?;
    Ok(axum::Json(AuditLog {
        records: page.records,
        more: page.more,
    }))
}
