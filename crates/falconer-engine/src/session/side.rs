//! Questions to the model beside the conversation.

use falconer_model::{ApiFailure, ApiRequest, FailureKind, RequestBody};
use serde_json::Value;

use super::core::Core;
use crate::turn::request;

impl Core {
    /// Asks with the conversation as context; neither question nor answer becomes part of it.
    pub(crate) async fn side_question(&self, question: &str) -> Result<String, ApiFailure> {
        let model = self.model();
        let mut parts = self.request_parts(&model);
        let note = format!(
            "Answer this question beside the task, in plain text and without tools. Do not go on \
             with the task.\n\n{question}"
        );
        parts.conversation.push_user(&Value::String(note));
        let request = request::build(parts, &self.provider.capabilities());
        let message = self.provider.whole(request).await?;
        self.ledger().book(&model, &message["usage"]);
        let blocks = message["content"].as_array().into_iter().flatten();
        Ok(blocks.filter_map(|block| block["text"].as_str()).collect())
    }

    /// Whether the provider knows a model. Anything but "not found" counts as yes.
    pub(crate) async fn probe(&self, model: &str) -> Result<(), ApiFailure> {
        let request = ApiRequest {
            body: RequestBody::question(model, 1, "hi"),
            betas: Vec::new(),
        };
        match self.provider.whole(request).await {
            Err(failure) if failure.kind == FailureKind::ModelNotFound => Err(failure),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
