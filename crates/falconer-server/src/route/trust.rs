//! Trust in what a project brings along: shown to everybody who reads, given by who may approve.

use std::sync::Arc;

use axum::extract::State;
use falconer_hub::{Error, LaunchError, TrustVerdict};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::api::{DecideTrust, TrustReport};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::{Asked, Json};
use crate::problem::{Code, Problem};

/// Which project.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowTrust {
    /// The directory of the project, below the roots.
    cwd: String,
}

/// What a project wants beyond narrowing, and whether it is trusted
#[utoipa::path(get, path = "/v1/trust", tag = "rules", params(ShowTrust),
    responses((status = 200, description = "Everything that needs trust, in full", body = TrustReport)))]
pub(crate) async fn show_trust(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ShowTrust>,
) -> Result<axum::Json<TrustReport>, Problem> {
    let (hub, roots) = (app.hub.clone(), app.roots.clone());
    let look = move || {
        let directory = roots.directory(&asked.cwd)?;
        hub.inspect_project(&directory).map_err(Problem::from)
    };
    let looked = tokio::task::spawn_blocking(look).await;
    let looked = looked.map_err(|error| Problem::internal("look at a project", error))??;
    Ok(axum::Json(TrustReport(looked)))
}

/// Trust the content of a project that was shown, or take the trust back
#[utoipa::path(post, path = "/v1/trust", tag = "rules", request_body = DecideTrust,
    responses((status = 200, description = "The project as it is now; counts for the next run", body = TrustReport)))]
pub(crate) async fn decide_trust(
    State(app): State<Arc<App>>,
    principal: Principal,
    Json(asked): Json<DecideTrust>,
) -> Result<axum::Json<TrustReport>, Problem> {
    let (hub, roots) = (app.hub.clone(), app.roots.clone());
    let (digest, verdict) = (asked.digest.clone(), asked.verdict);
    let decide = move || {
        let directory = roots.directory(&asked.cwd)?;
        let decided = hub.trust_project(&directory, &asked.digest, asked.verdict);
        decided.map_err(|error| match error {
            Error::Launch(refused) if refused.code == LaunchError::CHANGED => {
                Problem::new(Code::Changed, refused.text).hint(refused.hint)
            }
            Error::Launch(refused) if refused.code == LaunchError::NO_TRUST => {
                Problem::new(Code::NotFound, refused.text).hint(refused.hint)
            }
            other => other.into(),
        })
    };
    let decided = tokio::task::spawn_blocking(decide).await;
    let decided = decided.map_err(|error| Problem::internal("trust a project", error))??;
    let action = match verdict {
        TrustVerdict::Grant => "trust.grant",
        _ => "trust.revoke",
    };
    let detail = json!({"project": decided.project, "digest": digest});
    app.audit(&principal, action, None, detail).await;
    Ok(axum::Json(TrustReport(decided)))
}
