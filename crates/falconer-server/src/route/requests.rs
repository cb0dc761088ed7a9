//! Permissions and questions, and answering them.

use std::sync::Arc;

use axum::extract::{Path, State};
use falconer_hub::Answerer;
use falconer_store::{Decided, RequestId, RequestQuery, RequestState, SessionId};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::api::{AnswerRequest, Answered, Request, RequestList};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::{Asked, Json};
use crate::problem::{Code, Problem};

/// Which requests.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRequests {
    /// States, separated by commas, or `all`; `pending` if nothing is said.
    state: Option<String>,
    /// Of this session.
    session: Option<String>,
}

/// What agents wait for, in all sessions
#[utoipa::path(get, path = "/v1/requests", tag = "requests", params(ListRequests),
    responses((status = 200, description = "Oldest first", body = RequestList)))]
pub(crate) async fn list_requests(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ListRequests>,
) -> Result<axum::Json<RequestList>, Problem> {
    let mut query = match asked.state.as_deref() {
        None | Some("") => RequestQuery::pending(),
        Some("all") => RequestQuery::default(),
        Some(words) => {
            let states = words.split(',').map(str::parse::<RequestState>);
            let states: Vec<_> = states
                .collect::<Result<_, String>>()
                .map_err(|text| Problem::new(Code::InvalidValue, text))?;
            RequestQuery::default().states(states)
        }
    };
    if let Some(session) = asked.session.filter(|session| !session.is_empty()) {
        let session = SessionId::from(session);
        app.store.session(&session).await?;
        query = query.session(session);
    }
    let requests = app.store.requests(query).await?;
    let requests = requests.into_iter().map(Request).collect();
    Ok(axum::Json(RequestList { requests }))
}

/// One request
#[utoipa::path(get, path = "/v1/requests/{id}", tag = "requests",
    params(("id" = String, Path, description = "The request")),
    responses((status = 200, description = "The request", body = Request)))]
pub(crate) async fn get_request(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<axum::Json<Request>, Problem> {
    let request = app.store.request(&RequestId::from(id)).await?;
    Ok(axum::Json(Request(request)))
}

/// Answer exactly what was shown; the first answer counts
#[utoipa::path(post, path = "/v1/requests/{id}/answer", tag = "requests",
    params(("id" = String, Path, description = "The request")), request_body = AnswerRequest,
    responses((status = 200, description = "This answer counts", body = Answered),
        (status = 409, description = "Somebody was faster, or something else was shown", body = crate::api::Problem, content_type = "application/problem+json"),
        (status = 410, description = "Nobody waits for it any more", body = crate::api::Problem, content_type = "application/problem+json")))]
pub(crate) async fn answer_request(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Json(asked): Json<AnswerRequest>,
) -> Result<axum::Json<Answered>, Problem> {
    let answered = answer(&app, &principal, RequestId::from(id), asked).await?;
    Ok(axum::Json(answered))
}

/// Answers a request, to its end: whoever hangs up does not leave an answer halfway.
pub(crate) async fn answer(
    app: &App,
    principal: &Principal,
    id: RequestId,
    asked: AnswerRequest,
) -> Result<Answered, Problem> {
    let (hub, by) = (app.hub.clone(), principal.name().to_owned());
    let request = id.clone();
    let work = async move {
        let by = Answerer::new(&by, asked.shown);
        hub.answer(&request, &asked.digest, asked.verdict, by).await
    };
    match app.finish(work).await?? {
        Decided::Won(request) => {
            // The hub wrote down what was shown and decided; this says with which token.
            let shown = request
                .decision
                .as_ref()
                .and_then(|decision| decision.shown);
            let detail = json!({"request": request.id, "digest": request.digest, "shown": shown});
            app.audit(principal, "request.answer", Some(&request.session), detail)
                .await;
            let request = Request(request);
            Ok(Answered { request })
        }
        Decided::Lost(request) => {
            let by = request
                .decision
                .as_ref()
                .map_or("somebody", |decision| &decision.by);
            let text = format!("request {id} was already answered by {by}");
            Err(Problem::new(Code::AlreadyAnswered, text).about(Request(request)))
        }
        Decided::Changed(request) => {
            let text = format!("the digest does not match request {id}");
            Err(Problem::new(Code::Changed, text).about(Request(request)))
        }
        Decided::Gone(request) => {
            let text = format!("request {id} is {}", request.state);
            Err(Problem::new(Code::Expired, text).about(Request(request)))
        }
        Decided::NotFound => Err(Problem::not_found("request", id)),
        _ => Err(Problem::internal("answer a request", "an unknown outcome")),
    }
}
