//! All routes and what every request passes on the way to them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use tower_http::compression::CompressionLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    account, attachments, events, export, messages, requests, rules, sessions, status, streams,
    surroundings, tokens, trust,
};
use crate::app::App;
use crate::auth::gate;
use crate::guard::host::HostNames;
use crate::guard::{content, headers, host, origin};
use crate::page;
use crate::problem::{Code, Problem};

/// The routes of the API and their description. A route cannot be here without being described.
pub(crate) fn described() -> (Router<Arc<App>>, OpenApi) {
    OpenApiRouter::with_openapi(OpenApi::default())
        .routes(routes!(status::health))
        .routes(routes!(status::ready))
        .routes(routes!(status::metrics))
        .routes(routes!(status::openapi))
        .routes(routes!(account::login))
        .routes(routes!(account::logout))
        .routes(routes!(account::me))
        .routes(routes!(account::make_code))
        .routes(routes!(sessions::list_sessions, sessions::create_session))
        .routes(routes!(
            sessions::get_session,
            sessions::change_session,
            sessions::delete_session
        ))
        .routes(routes!(sessions::fork_session))
        .routes(routes!(sessions::close_session))
        .routes(routes!(sessions::resume_session))
        .routes(routes!(sessions::interrupt_session))
        .routes(routes!(sessions::stop_task))
        .routes(routes!(messages::list_messages, messages::send_message))
        .routes(routes!(messages::cancel_message))
        .routes(routes!(events::list_events))
        .routes(routes!(streams::follow_session))
        .routes(routes!(surroundings::list_commands))
        .routes(routes!(export::export_session))
        .routes(routes!(streams::follow_everything))
        .routes(routes!(streams::open_socket))
        .routes(routes!(requests::list_requests))
        .routes(routes!(requests::get_request))
        .routes(routes!(requests::answer_request))
        .routes(routes!(rules::list_rules, rules::add_rule))
        .routes(routes!(rules::change_rule, rules::remove_rule))
        .routes(routes!(rules::explain_rule))
        .routes(routes!(trust::show_trust, trust::decide_trust))
        .routes(routes!(surroundings::list_engines))
        .routes(routes!(surroundings::list_models))
        .routes(routes!(attachments::store_attachment))
        .routes(routes!(attachments::get_attachment))
        .routes(routes!(surroundings::list_folders))
        .routes(routes!(surroundings::render_texts))
        .routes(routes!(tokens::list_tokens, tokens::make_token))
        .routes(routes!(tokens::revoke_token))
        .routes(routes!(tokens::read_audit))
        .split_for_parts()
}

/// Everything, in the order in which a request meets it: last written, first met.
pub(crate) fn router(app: Arc<App>, names: Arc<HostNames>) -> Router {
    let page = Router::new()
        .route("/", get(page::index))
        .route("/assets/{*path}", get(page::asset))
        .layer(CompressionLayer::new().gzip(true));
    let (api, _) = described();
    api.merge(page)
        .fallback(nothing)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(Arc::clone(&app), gate::check))
        .layer(from_fn(content::check))
        .layer(from_fn_with_state(Arc::clone(&names), origin::check))
        .layer(from_fn_with_state(names, host::check))
        .layer(from_fn_with_state(Arc::clone(&app), count))
        .layer(from_fn(headers::add))
        .with_state(app)
}

async fn nothing(request: Request) -> Problem {
    Problem::new(
        Code::NotFound,
        format!("there is nothing at {}", request.uri().path()),
    )
}

async fn no_method(request: Request) -> Problem {
    let text = format!(
        "{} does not support {}",
        request.uri().path(),
        request.method()
    );
    Problem::new(Code::MethodNotAllowed, text)
}

/// Counts answers by route.
async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", |path| path.as_str()).to_owned();
    let response = next.run(request).await;
    app.metrics.answered(&route, response.status().as_u16());
    response
}
