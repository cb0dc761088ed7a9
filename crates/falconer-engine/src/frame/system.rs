//! `system` lines without a family of their own.

use falconer_protocol::permission::PermissionMode;
use falconer_protocol::system::{
    ElicitationComplete, Informational, Level, ModelFallback, ModelRefusalFallback,
    ModelRefusalNoFallback, Notification, PromptSubmitOutcome, SessionTitleChanged, Status,
    StatusMessage, ThinkingTokens,
};
use falconer_protocol::{MessageUuid, Object};

/// Says that the permission mode changed.
pub(crate) fn mode_changed(mode: PermissionMode) -> StatusMessage {
    let message = StatusMessage {
        permission_mode: Some(mode),
        ..StatusMessage::default()
    };
    message.with_empty("status")
}

/// Says that the model is being asked.
pub(crate) fn requesting(prompts: &[MessageUuid]) -> StatusMessage {
    StatusMessage {
        status: Some(Status::Requesting),
        user_message_uuids: (!prompts.is_empty()).then(|| prompts.to_vec()),
        ..StatusMessage::default()
    }
}

/// Says how much the model has been thinking.
pub(crate) fn thinking_tokens(total: u64, delta: u64, prompts: &[MessageUuid]) -> ThinkingTokens {
    ThinkingTokens {
        estimated_tokens: total,
        estimated_tokens_delta: Some(delta),
        user_message_uuid: prompts.last().cloned(),
        ..ThinkingTokens::default()
    }
}

/// Says that another model takes over because the first is overloaded or gone.
pub(crate) fn model_fallback(trigger: &str, from: &str, to: &str) -> ModelFallback {
    ModelFallback {
        trigger: Some(trigger.to_owned()),
        original_model: from.to_owned(),
        fallback_model: to.to_owned(),
        content: Some(format!(
            "{from} is not available right now; going on with {to}"
        )),
        ..ModelFallback::default()
    }
}

/// What the API said about a refusal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusal {
    /// `stop_details` of the answer.
    pub(crate) details: Option<Object>,
    pub(crate) prompt: MessageUuid,
    pub(crate) request_id: Option<String>,
}

impl Refusal {
    fn detail(&self, name: &str) -> Option<String> {
        Some(self.details.as_ref()?.get(name)?.as_str()?.to_owned())
    }

    /// Says that another model is asked instead.
    pub(crate) fn fallback(
        &self,
        from: &str,
        to: &str,
        retracted: Vec<MessageUuid>,
    ) -> ModelRefusalFallback {
        let message = ModelRefusalFallback {
            trigger: Some("refusal".to_owned()),
            direction: Some("retry".to_owned()),
            scope: Some("session".to_owned()),
            original_model: from.to_owned(),
            fallback_model: to.to_owned(),
            request_id: self.request_id.clone(),
            api_refusal_category: self.detail("category"),
            api_refusal_explanation: self.detail("explanation"),
            retracted_message_uuids: Some(retracted),
            refused_user_message_uuid: Some(self.prompt.clone()),
            content: Some(format!("{from} declined to answer; asking {to} instead")),
            ..ModelRefusalFallback::default()
        };
        message
            .with_empty("request_id")
            .with_empty("api_refusal_category")
            .with_empty("api_refusal_explanation")
    }

    /// Says that no other model is asked.
    pub(crate) fn no_fallback(&self, from: &str) -> ModelRefusalNoFallback {
        let message = ModelRefusalNoFallback {
            original_model: from.to_owned(),
            request_id: self.request_id.clone(),
            api_refusal_category: self.detail("category"),
            api_refusal_explanation: self.detail("explanation"),
            refused_user_message_uuid: Some(self.prompt.clone()),
            content: Some(String::new()),
            ..ModelRefusalNoFallback::default()
        };
        message
            .with_empty("request_id")
            .with_empty("api_refusal_category")
            .with_empty("api_refusal_explanation")
    }
}

/// Makes a text for the user.
pub(crate) fn informational(content: impl Into<String>, level: Level) -> Informational {
    Informational {
        content: content.into(),
        level: Some(level),
        ..Informational::default()
    }
}

/// Says that a prompt did not pass the hooks.
pub(crate) fn prompt_blocked(content: &str, outcome: PromptSubmitOutcome) -> Informational {
    Informational {
        prevent_continuation: Some(true),
        prompt_submit_outcome: Some(outcome),
        ..informational(content, Level::Warning)
    }
}

/// Says that a server is done with what it sent the user to a page for.
pub(crate) fn elicitation_complete(server: &str, id: &str) -> ElicitationComplete {
    ElicitationComplete {
        mcp_server_name: server.to_owned(),
        elicitation_id: id.to_owned(),
        ..ElicitationComplete::default()
    }
}

/// Makes a short text for the user.
pub(crate) fn notification(key: &str, text: &str) -> Notification {
    Notification {
        key: key.to_owned(),
        text: text.to_owned(),
        priority: Some("immediate".to_owned()),
        ..Notification::default()
    }
}

/// Says that the session has a new title.
pub(crate) fn title_changed(title: &str) -> SessionTitleChanged {
    SessionTitleChanged {
        title: Some(title.to_owned()),
        ..SessionTitleChanged::default()
    }
}
