//! What is sent and received, as types. Their schemas are the components of the OpenAPI file.

mod account;
mod message;
mod request;
mod rule;
mod session;
mod surroundings;
mod trust;

pub(crate) use account::{AuditLog, Code, CodeAsked, Login, MadeToken, Me, TokenAsked, TokenList};
pub(crate) use message::{MessageList, SendMessage, Sent, TakenBack};
pub use request::Request;
pub(crate) use request::{AnswerRequest, Answered, RequestList, by_api};
pub(crate) use rule::{ChangeRule, ExplainRule, Explanation, RuleAsked, RuleList, RuleReach};
pub(crate) use session::{
    ChangeSession, CreateSession, EventList, ForkSession, Session, SessionList,
};
pub(crate) use surroundings::{
    Command, Commands, EngineList, Folder, FolderList, Health, Model, ModelList, Render, Rendered,
    StoredFile, said,
};

pub(crate) use trust::{DecideTrust, TrustReport};

pub(crate) use crate::problem::Problem;

/// Names types for the OpenAPI file. Their schemas are made by `schemars`, as those of the events
/// are; `utoipa` only learns the names.
macro_rules! described {
    ($($name:ident),* $(,)?) => {
        $(
            impl utoipa::PartialSchema for $name {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                    utoipa::openapi::ObjectBuilder::new().into()
                }
            }
            impl utoipa::ToSchema for $name {}
        )*

        /// Makes the schemas of all of them.
        pub(crate) fn describe(generator: &mut schemars::SchemaGenerator) {
            $(generator.subschema_for::<$name>();)*
        }
    };
}

described! {
    AnswerRequest, Answered, AuditLog, ChangeRule, ChangeSession, Code, CodeAsked, Commands,
    CreateSession, DecideTrust, EngineList, EventList, ExplainRule, Explanation, FolderList, ForkSession,
    Health, Login, MadeToken, Me, MessageList, ModelList, Problem, Render, Rendered, Request,
    RequestList, RuleAsked, Rule, RuleList, SendMessage, Sent, Session, SessionList, StoredFile,
    TakenBack, TokenAsked, TokenList, TrustReport,
}

pub(crate) use rule::Rule;
