//! What would happen to a call that has not been made, in words for people.

use std::path::Path;

use falconer_protocol::Object;
use falconer_protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use falconer_rule::{Access, Call, Outcome, Subject, Voice};
use serde_json::Value;

use super::question::{Question, Verdict};
use super::{Permissions, Target};

impl Permissions {
    /// What [`Permissions::judge`] says about a call, if somebody can be asked.
    pub(crate) fn explain(&self, call: &Call<'_>) -> Voice {
        let nothing = Object::new();
        let target = target(call);
        let read_only = matches!(
            target,
            Target::Read(_) | Target::Domain(_) | Target::Nothing
        );
        let verdict = self.judge(&Question {
            tool: call.tool,
            target: &target,
            input: call.input.as_object().unwrap_or(&nothing),
            read_only,
            hook: None,
            host_can_ask: true,
            cwd: call.cwd,
        });
        let (outcome, because) = match verdict {
            Verdict::Allow { reason } => (Outcome::Allow, reason),
            Verdict::Deny { reason, .. } => (Outcome::Deny, reason),
            Verdict::Ask(ask) => (Outcome::Ask, ask.because),
        };
        Voice {
            who: "engine".to_owned(),
            outcome,
            needs_person: because.needs_person(),
            because: because.to_string(),
        }
    }
}

/// What a call is about, told from its input alone. A tool that is not known is treated as one
/// of a server: it needs a rule or a yes.
fn target(call: &Call<'_>) -> Target {
    let text = |name: &str| call.input.get(name).and_then(Value::as_str);
    let unsandboxed = call.input.get("dangerouslyDisableSandbox") == Some(&Value::Bool(true));
    match call.tool {
        ASK_USER_QUESTION | "EnterPlanMode" | EXIT_PLAN_MODE => return Target::User,
        "TodoWrite" | "TaskStop" | "StructuredOutput" => return Target::Nothing,
        "Glob" | "Grep" => return Target::Read(call.cwd.join(text("path").unwrap_or_default())),
        _ => {}
    }
    match call.subject() {
        Subject::Command { text, .. } if call.tool == "Bash" => Target::Command {
            command: text.clone(),
            unsandboxed,
        },
        Subject::Files { access, places } => {
            let path = places
                .first()
                .map_or(call.cwd, |place| place.spelled.as_path());
            file(*access, path)
        }
        Subject::Host(host) => Target::Domain(host.clone()),
        _ if call.tool == "WebFetch" => Target::Domain(String::new()),
        _ => other(call.tool),
    }
}

fn file(access: Access, path: &Path) -> Target {
    match access {
        Access::Read => Target::Read(path.to_owned()),
        Access::Write => Target::Write(path.to_owned()),
    }
}

fn other(tool: &str) -> Target {
    let server = tool.strip_prefix("mcp__").unwrap_or_default();
    let server = server.split_once("__").map_or(server, |(server, _)| server);
    Target::Mcp {
        server: server.to_owned(),
    }
}
