//! Messages with a subtype.

use falconer_protocol::Message;
use falconer_protocol::system::{
    ApiRetry, CompactBoundary, ModelFallback, ModelRefusalFallback, StatusMessage, SystemMessage,
};

use super::Normaliser;
use crate::body::{Body, Retry, SessionChanged};
use crate::envelope::Draft;

impl Normaliser {
    pub(super) fn system(&mut self, message: &SystemMessage, out: &mut Vec<Draft>) {
        match message {
            SystemMessage::Init(init) => self.init(init, out),
            SystemMessage::Status(status) => self.status(status, out),
            SystemMessage::ApiRetry(retry) => self.retry(retry, out),
            SystemMessage::TaskStarted(task) => self.task_started(task, out),
            SystemMessage::TaskProgress(task) => self.task_progress(task, out),
            SystemMessage::TaskUpdated(task) => self.task_updated(task, out),
            SystemMessage::TaskNotification(task) => self.task_ended(task, out),
            SystemMessage::CompactBoundary(boundary) => self.compacted(boundary, out),
            SystemMessage::ModelFallback(change) => self.model_changed(change, out),
            SystemMessage::ModelRefusalFallback(refusal) => self.refused(refusal, out),
            SystemMessage::ModelRefusalNoFallback(refusal) => {
                let text = format!("{} refused to answer", refusal.original_model);
                self.warn("refusal", &text, out);
            }
            SystemMessage::SessionTitleChanged(change) => {
                let to = change.title.clone().unwrap_or_default();
                self.changed(SessionChanged::Title { to }, out);
            }
            SystemMessage::Informational(note) => {
                self.warn("notice", &note.content, out);
            }
            SystemMessage::Notification(note) => {
                self.warn("notice", &note.text, out);
            }
            // Said again, with more, by the result, the end of the task, or the item itself.
            SystemMessage::PermissionDenied(_)
            | SystemMessage::BackgroundTasksChanged(_)
            | SystemMessage::SessionStateChanged(_)
            | SystemMessage::ThinkingTokens(_)
            | SystemMessage::ControlRequestProgress(_) => {}
            other => self.unknown(&Message::System(other.clone()), out),
        }
    }

    fn changed(&self, change: SessionChanged, out: &mut Vec<Draft>) {
        self.push(None, Body::SessionChanged(change), out);
    }

    fn status(&mut self, status: &StatusMessage, out: &mut Vec<Draft>) {
        if let Some(mode) = &status.permission_mode {
            self.mode_is(mode.as_str(), out);
        }
    }

    fn retry(&self, retry: &ApiRetry, out: &mut Vec<Draft>) {
        let event = Retry {
            attempt: retry.attempt,
            max_attempts: retry.max_retries,
            delay_ms: retry.retry_delay_ms.as_f64(),
            status: retry.error_status,
            error: retry.error.as_ref().map(|error| error.as_str().to_owned()),
        };
        self.push(None, Body::Retry(event), out);
    }

    fn compacted(&self, boundary: &CompactBoundary, out: &mut Vec<Draft>) {
        let change = SessionChanged::Compacted {
            trigger: boundary.compact_metadata.trigger.clone(),
            tokens_before: boundary.compact_metadata.pre_tokens,
            tokens_after: boundary.compact_metadata.post_tokens,
        };
        self.changed(change, out);
    }

    /// The model would not answer; another one may.
    fn refused(&mut self, refusal: &ModelRefusalFallback, out: &mut Vec<Draft>) {
        self.conversation.model_is(&refusal.fallback_model);
        let change = SessionChanged::Model {
            from: Some(refusal.original_model.clone()),
            to: refusal.fallback_model.clone(),
            reason: Some("refusal".to_owned()),
        };
        self.changed(change, out);
    }

    fn model_changed(&mut self, change: &ModelFallback, out: &mut Vec<Draft>) {
        self.conversation.model_is(&change.fallback_model);
        let change = SessionChanged::Model {
            from: Some(change.original_model.clone()),
            to: change.fallback_model.clone(),
            reason: change.trigger.clone(),
        };
        self.changed(change, out);
    }
}
