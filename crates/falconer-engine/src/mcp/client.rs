//! What a server can ask of us.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::Object;
use falconer_protocol::control::{
    Elicitation as Question, ElicitationAction as Action, ElicitationReply, EngineRequest,
};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};

use super::{Elicitation, Listener, Wiring};
use crate::host::Host;

/// How many questions of one server a user may have to answer at the same time.
const QUESTIONS: usize = 4;
/// How many pages of one server are remembered, and how long their ids may be.
const PAGES: usize = 32;
const LONGEST_ID: usize = 1024;
/// The server is done with what it sent the user to a page for.
const COMPLETE: &str = "notifications/elicitation/complete";

/// Our side of a connection.
#[derive(Debug)]
pub(super) struct Client {
    server: String,
    host: Host,
    elicitation: Elicitation,
    listener: Option<Arc<dyn Listener>>,
    questions: Semaphore,
    /// Pages the user was sent to, until the server says that it is done.
    pages: Mutex<VecDeque<String>>,
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
            listener: wiring.listener.clone(),
            questions: Semaphore::new(QUESTIONS),
            pages: Mutex::default(),
            version: wiring.version.clone(),
            changed,
        }
    }

    /// Asks the user; whatever goes wrong counts as a refusal.
    async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let Ok(_permit) = self.questions.try_acquire() else {
            return declined();
        };
        let Some(question) = question(&self.server, request) else {
            return declined();
        };
        self.remember_page(question.elicitation_id.as_deref());
        let reply = match &self.listener {
            Some(listener) => match listener.asked(&question).await {
                Some(reply) => reply,
                None => {
                    let reply = self.ask_host(&question).await;
                    listener.answered(&question, reply).await
                }
            },
            None => self.ask_host(&question).await,
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

    fn remember_page(&self, id: Option<&str>) {
        let Some(id) = id.filter(|id| id.len() <= LONGEST_ID) else {
            return;
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= PAGES {
            pages.pop_front();
        }
        pages.push_back(id.to_owned());
    }

    /// A page that the server may speak of, once.
    fn take_page(&self, id: &str) -> Option<String> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pages.iter().position(|page| page == id)?;
        pages.remove(at)
    }

    async fn ask_host(&self, question: &Question) -> ElicitationReply {
        let request = EngineRequest::Elicitation(Box::new(question.clone()));
        let answer = self.host.ask(request).await.ok();
        let reply = answer.and_then(|answer| falconer_protocol::from_value(answer).ok());
        // The default is a refusal.
        reply.unwrap_or_default()
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

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        if notification.method != COMPLETE {
            return;
        }
        let id = notification.params.as_ref();
        let id = id.and_then(|params| params["elicitationId"].as_str());
        let page = id.and_then(|id| self.take_page(id));
        if let (Some(page), Some(listener)) = (page, &self.listener) {
            listener.completed(&self.server, &page).await;
        }
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.elicitation == Elicitation::AskHost {
            let elicitation = ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        let us = Implementation::new("claude-code", &self.version).with_title("Falconer");
        let mut info = ClientConfig::new(capabilities, us);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}

/// The fields of a form, in the order they are shown.
fn property_order(schema: &Object) -> Option<Vec<String>> {
    let properties = schema.get("properties")?.as_object()?;
    Some(properties.keys().cloned().collect())
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
                property_order: property_order(&schema),
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
