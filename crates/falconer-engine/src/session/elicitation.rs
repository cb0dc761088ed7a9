//! What hooks hear of the questions of MCP servers, and what they make of them.

use std::sync::{Arc, OnceLock, Weak};

use falconer_protocol::control::{Elicitation as Question, ElicitationAction, ElicitationReply};
use falconer_protocol::hook::{HookEvent, HookSpecificOutput};
use futures_util::future::{BoxFuture, FutureExt};

use super::core::Core;
use crate::frame::system;
use crate::hook::Fired;
use crate::mcp::Listener;
use crate::turn::hooks::Base;

/// Stands between the servers of a session and its hooks.
///
/// Servers are connected before there is a session, which is put in afterwards.
#[derive(Debug, Default)]
pub(super) struct Witness {
    core: OnceLock<Weak<Core>>,
}

impl Witness {
    pub(super) fn attend(&self, core: &Arc<Core>) {
        // There is one session for each, so this is the first time.
        let _ = self.core.set(Arc::downgrade(core));
    }

    fn core(&self) -> Option<Arc<Core>> {
        self.core.get()?.upgrade()
    }

    async fn before(&self, question: &Question) -> Option<ElicitationReply> {
        let core = self.core()?;
        if !core.hooks.has(&HookEvent::Elicitation) {
            return None;
        }
        let input = base(&core).elicitation(question);
        let server = Some(question.mcp_server_name.as_str());
        let fired = core.hooks.fire(&input, server, core.hooks.closing()).await;
        verdict(&fired)
    }

    async fn after(&self, question: &Question, reply: ElicitationReply) -> ElicitationReply {
        let Some(core) = self.core() else {
            return reply;
        };
        let mut reply = reply;
        if core.hooks.has(&HookEvent::ElicitationResult) {
            let input = base(&core).elicitation_result(question, &reply);
            let server = Some(question.mcp_server_name.as_str());
            let fired = core.hooks.fire(&input, server, core.hooks.closing()).await;
            reply = verdict(&fired).unwrap_or(reply);
        }
        let (server, action) = (&question.mcp_server_name, &reply.action);
        let text = format!("The server {server:?} was answered: {action}");
        notify(&core, text, "elicitation_response").await;
        reply
    }

    async fn over(&self, server: &str, id: &str) {
        let Some(core) = self.core() else {
            return;
        };
        core.speaker
            .say(system::elicitation_complete(server, id))
            .await;
        let text = format!("The server {server:?} says that {id} is complete");
        notify(&core, text, "elicitation_complete").await;
    }
}

impl Listener for Witness {
    fn asked<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<ElicitationReply>> {
        self.before(question).boxed()
    }

    fn answered<'a>(
        &'a self,
        question: &'a Question,
        reply: ElicitationReply,
    ) -> BoxFuture<'a, ElicitationReply> {
        self.after(question, reply).boxed()
    }

    fn completed<'a>(&'a self, server: &'a str, id: &'a str) -> BoxFuture<'a, ()> {
        self.over(server, id).boxed()
    }
}

fn base(core: &Core) -> Base {
    let prompt = core.state().last_prompt_id.clone();
    Base::of_session(core, prompt.as_deref())
}

async fn notify(core: &Core, text: String, kind: &str) {
    if core.hooks.has(&HookEvent::Notification) {
        let input = base(core).notification(text, kind);
        let closing = core.hooks.closing();
        core.hooks.fire(&input, Some(kind), closing).await;
    }
}

/// What hooks answer in the place of the user; an objection is a refusal.
fn verdict(fired: &Fired) -> Option<ElicitationReply> {
    let declined = || ElicitationReply {
        action: ElicitationAction::Decline,
        ..ElicitationReply::default()
    };
    if fired.block.is_some() || fired.no_verdict.is_some() {
        return Some(declined());
    }
    let said = fired.specific.iter().find_map(|specific| match specific {
        HookSpecificOutput::Elicitation(it) => Some((it.action.as_deref()?, &it.content)),
        HookSpecificOutput::ElicitationResult(it) => Some((it.action.as_deref()?, &it.content)),
        _ => None,
    });
    let (action, content) = said?;
    let action = ElicitationAction::from(action);
    let content = content
        .clone()
        .filter(|_| action == ElicitationAction::Accept);
    Some(ElicitationReply {
        action,
        content,
        ..ElicitationReply::default()
    })
}
