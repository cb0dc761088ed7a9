//! Answers to control requests of the host, in every state of the session.
//!
//! One line per request in [`answer`]; the work is in the files of the families.

mod directory;
mod files;
mod hooks;
mod info;
mod initialize;
mod interrupt;
mod mcp;
mod model;
mod permission;
mod settings;
mod task;
mod variables;

pub(super) use initialize::set_schema;

use falconer_protocol::{Message, Object};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::actor::Actor;
use super::line::Request;
use crate::frame::reply::Reply;

/// What a request comes to.
pub(super) enum Outcome {
    Now(Reply),
    /// An answer, and lines that follow it.
    Then(Reply, Vec<Message>),
    /// An answer that takes time.
    Later(BoxFuture<'static, Reply>),
    /// Work that takes time and answers by itself.
    Alone(BoxFuture<'static, ()>),
    /// The answer is sent elsewhere.
    Said,
}

impl From<Reply> for Outcome {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

/// A success with nothing in it; some requests answer with an empty object, not with nothing.
fn empty() -> Reply {
    Reply::Success(Value::Object(Object::new()))
}

/// Answers a request.
pub(super) async fn answer(actor: &mut Actor, request: Request) -> Outcome {
    let body = &request.body;
    let core = &actor.core;
    match request.subtype.as_str() {
        "initialize" => initialize::initialize(actor, body).await,
        "interrupt" => interrupt::interrupt(actor, &request).await,
        "cancel_async_message" => interrupt::cancel_message(actor, body).await,
        "end_session" => interrupt::end_session(actor),
        "side_question" => interrupt::side_question(core, &request).await,
        "set_model" => model::set_model(core, &request).await,
        "set_max_thinking_tokens" => model::set_thinking(core, body).into(),
        "list_models" => model::list().into(),
        "set_permission_mode" => permission::set_mode(core, body),
        "list_permission_rules" => permission::list(core).into(),
        "mcp_status" => mcp::status(core).into(),
        "mcp_set_servers" => mcp::set_servers(core, body),
        "mcp_reconnect" => mcp::reconnect(core, body),
        "mcp_toggle" => mcp::toggle(core, body),
        "mcp_message" => mcp::message(core, body).into(),
        "mcp_call" => mcp::call(core, body),
        "mcp_read_resource" => mcp::read_resource(core, body),
        "get_context_usage" => info::context_usage(core),
        "get_usage" => info::usage(core).into(),
        "get_session_cost" => info::cost(core).into(),
        "get_binary_version" => info::version(core).into(),
        "get_status" => info::status(core).into(),
        "rename_session" => info::rename(core, body).await.into(),
        "set_has_subscribers" => Reply::Done.into(),
        "rewind_files" => files::rewind(core, body),
        "read_file" => files::read(core, body),
        "seed_read_state" => files::seed(core, body),
        "stop_task" => task::stop(core, body).await.into(),
        "background_tasks" => task::to_background(core, body).await.into(),
        "get_task_output" => task::output(core, body).into(),
        "apply_flag_settings" => settings::apply_flag(core, &request).await,
        "update_settings" => settings::update(core, body).into(),
        "get_settings" => settings::get(core).into(),
        "get_hooks_listing" => hooks::list(core).into(),
        "register_repo_root" => directory::register(actor, body).into(),
        "file_suggestions" => directory::suggest(core, body),
        "reload_plugins" => info::plugins(core).into(),
        "reload_skills" => info::skills().into(),
        "reload_output_styles" => info::output_styles().into(),
        other => Reply::unsupported(other).into(),
    }
}

/// A text of a request, or the failure that it is missing.
fn text<'a>(body: &'a Value, field: &str) -> Result<&'a str, Reply> {
    let missing = || Reply::failure(format!("{field} is missing or not a text"));
    body[field].as_str().ok_or_else(missing)
}
