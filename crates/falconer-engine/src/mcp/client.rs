//! What a server can ask of us.

use std::sync::Arc;

use falconer_protocol::control::{
    Elicitation as Question, ElicitationAction as Action, ElicitationReply, EngineRequest,
};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, Implementation, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

use super::{Elicitation, Wiring};
use crate::host::Host;

/// How many questions of one server a user may have to answer at the same time.
const QUESTIONS: usize = 4;

/// Our side of a connection.
#[derive(Debug)]
pub(super) struct Client {
    server: String,
    host: Host,
    elicitation: Elicitation,
    questions: Semaphore,
    version: String,
    /// Told when the server's tools have changed.
    changed: Arc<Notify>,
}

impl Client {
    pub(super) fn new(server: &str, wiring: &Wiring, changed: Arc<Notify>) -> Self {
        Self {
            server: server.to_owned(),
            host: wiring.host.clone(),
            elicitation: wiring.elicitation,
            questions: Semaphore::new(QUESTIONS),
            version: wiring.version.clone(),
            changed,
        }
    }

    /// Asks the host; whatever goes wrong counts as a refusal of the user.
    async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let Ok(_permit) = self.questions.try_acquire() else {
            return declined();
        };
        let Some(question) = question(&self.server, request) else {
            return declined();
        };
        let question = EngineRequest::Elicitation(Box::new(question));
        let Ok(answer) = self.host.ask(question).await else {
            return declined();
        };
        let Ok(reply) = falconer_protocol::from_value::<ElicitationReply>(answer) else {
            return declined();
        };
        let action = match reply.action {
            Action::Accept => ElicitationAction::Accept,
            Action::Cancel => ElicitationAction::Cancel,
            _ => ElicitationAction::Decline,
        };
        let result = ElicitResult::new(action);
        match reply.content {
            Some(content) => result.with_content(Value::Object(content)),
            None => result,
        }
    }
}

impl ClientHandler for Client {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if self.elicitation == Elicitation::Decline {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        }
        tokio::select! {
            answer = self.ask(request) => Ok(answer),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.elicitation == Elicitation::AskHost {
            capabilities.elicitation = Some(ElicitationCapability::default());
        }
        let us = Implementation::new("claude-code", &self.version).with_title("Falconer");
        let mut info = ClientConfig::new(capabilities, us);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}

fn question(server: &str, request: ElicitRequestParams) -> Option<Question> {
    let question = match request {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => {
            let schema = serde_json::to_value(requested_schema).ok()?;
            let Value::Object(schema) = schema else {
                return None;
            };
            Question {
                message,
                mode: Some("form".to_owned()),
                requested_schema: Some(schema),
                ..Question::default()
            }
        }
        ElicitRequestParams::UrlElicitationParams {
            message,
            url,
            elicitation_id,
            ..
        } => Question {
            message,
            mode: Some("url".to_owned()),
            url: Some(url),
            elicitation_id: Some(elicitation_id),
            ..Question::default()
        },
        _ => return None,
    };
    Some(Question {
        mcp_server_name: server.to_owned(),
        ..question
    })
}
