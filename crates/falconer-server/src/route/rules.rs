//! "Always" rules.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use falconer_hub::Question;
use falconer_store::{NewRule, RuleId, RulePatch, RuleQuery, RuleScope, SessionId};
use serde_json::json;

use crate::api::{ChangeRule, ExplainRule, Explanation, Rule, RuleAsked, RuleList, RuleReach};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::Json;
use crate::problem::{Code, Problem};

/// The rules, with who made them and how often they answered
#[utoipa::path(get, path = "/v1/rules", tag = "rules",
    responses((status = 200, description = "Oldest first", body = RuleList)))]
pub(crate) async fn list_rules(
    State(app): State<Arc<App>>,
) -> Result<axum::Json<RuleList>, Problem> {
    let rules = app.store.rules(RuleQuery::All).await?;
    let rules = rules.into_iter().map(Rule).collect();
    Ok(axum::Json(RuleList { rules }))
}

/// Make a rule
#[utoipa::path(post, path = "/v1/rules", tag = "rules", request_body = RuleAsked,
    responses((status = 201, description = "The rule", body = Rule)))]
pub(crate) async fn add_rule(
    State(app): State<Arc<App>>,
    principal: Principal,
    Json(asked): Json<RuleAsked>,
) -> Result<(StatusCode, axum::Json<Rule>), Problem> {
    let scope = scope(asked.scope)?;
    let new = NewRule::new(asked.text, asked.effect, scope, principal.name());
    let rule = app.hub.add_rule(new).await?;
    let detail =
        json!({"rule": rule.id, "text": rule.text, "effect": rule.effect, "scope": rule.scope});
    app.audit(&principal, "rule.add", None, detail).await;
    Ok((StatusCode::CREATED, axum::Json(Rule(rule))))
}

fn scope(reach: RuleReach) -> Result<RuleScope, Problem> {
    Ok(match reach {
        RuleReach::Session { id } => RuleScope::Session {
            id: SessionId::from(id),
        },
        RuleReach::Project { path } if FilePath::new(&path).is_absolute() => {
            RuleScope::Project { path }
        }
        RuleReach::Project { .. } => {
            let text = "a project path must be absolute";
            return Err(Problem::new(Code::InvalidValue, text));
        }
        RuleReach::User => RuleScope::User,
    })
}

/// Change a rule
#[utoipa::path(patch, path = "/v1/rules/{id}", tag = "rules",
    params(("id" = String, Path, description = "The rule")), request_body = ChangeRule,
    responses((status = 200, description = "The rule as it is now", body = Rule)))]
pub(crate) async fn change_rule(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Json(asked): Json<ChangeRule>,
) -> Result<axum::Json<Rule>, Problem> {
    let mut patch = RulePatch::default();
    patch.text = asked.text;
    patch.effect = asked.effect;
    patch.scope = asked.scope.map(scope).transpose()?;
    let rule = app.hub.change_rule(&RuleId::from(id), patch).await?;
    let detail =
        json!({"rule": rule.id, "text": rule.text, "effect": rule.effect, "scope": rule.scope});
    app.audit(&principal, "rule.change", None, detail).await;
    Ok(axum::Json(Rule(rule)))
}

/// Remove a rule; from now on it answers nothing
#[utoipa::path(delete, path = "/v1/rules/{id}", tag = "rules",
    params(("id" = String, Path, description = "The rule")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn remove_rule(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = RuleId::from(id);
    app.store.remove_rule(&id).await?;
    app.audit(&principal, "rule.remove", None, json!({"rule": id}))
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// What the rules say about a call, why, and what a new rule would have allowed
#[utoipa::path(post, path = "/v1/rules/explain", tag = "rules", request_body = ExplainRule,
    responses((status = 200, description = "What would happen", body = Explanation)))]
pub(crate) async fn explain_rule(
    State(app): State<Arc<App>>,
    Json(asked): Json<ExplainRule>,
) -> Result<axum::Json<Explanation>, Problem> {
    let mut question = Question::new(asked.tool, asked.input);
    question.cwd = asked.cwd.map(Into::into);
    question.session = asked.session.map(SessionId::from);
    question.rule = asked.rule;
    let mut explained = app.hub.explain(&question).await?;
    if !stays_inside(&app, &question).await? {
        // They differ for files and directories: nobody learns what exists elsewhere.
        explained.suggestions.clear();
    }
    Ok(axum::Json(explained.into()))
}

/// Fields of tool inputs that name files.
const PATH_FIELDS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// Whether all files that a question names are below the roots.
async fn stays_inside(app: &App, question: &Question) -> Result<bool, Problem> {
    let cwd = match (&question.cwd, &question.session) {
        (Some(cwd), _) => cwd.clone(),
        (None, Some(id)) => app.store.session(id).await?.cwd.into(),
        (None, None) => "/".into(),
    };
    let named = PATH_FIELDS
        .iter()
        .filter_map(|name| question.input.get(name)?.as_str());
    Ok(named
        .map(|path| cwd.join(path))
        .all(|path| app.roots.hold(&path)))
}
