//! What is said in a soak, and what the scripted model makes of it.

use std::path::PathBuf;

use falconer_hub::{EngineName, Engines, Launch, LaunchError};
use falconer_native::Scenario;
use falconer_scenario::{any, last_user_contains, text, tool_result_contains, tool_use};
use falconer_store::SessionRecord;
use serde_json::json;

use crate::place::scripted;

/// The most messages a session gets.
const MOST: usize = 12;
/// Where a tool leaves its trace, in the folder of its session.
pub(crate) const TRACE: &str = "ran.txt";
pub(crate) const QUESTION: &str = "Which colour?";

/// What a message leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A long text, in pieces.
    Text,
    /// A command, if somebody allows it.
    Tool,
    /// A question.
    Question,
    /// A command that goes on when the turn is over.
    Background,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Text, Self::Tool, Self::Question, Self::Background];

    /// Every session begins with another one and goes through all.
    pub(crate) fn of(session: usize, message: usize) -> Self {
        Self::ALL[(session + message) % Self::ALL.len()]
    }
}

pub(crate) fn words(kind: Kind, message: usize) -> String {
    format!("message {message}: {kind:?}")
}

/// What is in the answer to a text, and in no other.
pub(crate) fn reply(message: usize) -> String {
    format!("reply {message}.")
}

pub(crate) fn command(kind: Kind, message: usize) -> String {
    let trace = format!("echo {message} >> {TRACE}");
    match kind {
        Kind::Background => format!("{trace}; sleep 3600"),
        _ => trace,
    }
}

/// Nothing is counted, so a model that is started again goes on as if it had not been.
fn scenario() -> Scenario {
    let mut scenario = Scenario::new();
    for message in 0..MOST {
        for kind in Kind::ALL {
            let said = last_user_contains(words(kind, message));
            scenario = scenario.on(said).always().reply(answer(kind, message));
        }
    }
    scenario
        .on(tool_result_contains(""))
        .always()
        .reply(text("that was it"))
        .on(any())
        .always()
        .reply(text("said"))
}

fn answer(kind: Kind, message: usize) -> falconer_scenario::MessageReply {
    let run = |background: bool| {
        let input = json!({"command": command(kind, message), "run_in_background": background});
        tool_use("Bash", input)
    };
    match kind {
        Kind::Text => {
            let long: String = (0..60).map(|word| format!("wörd{word} ")).collect();
            let pause = std::time::Duration::from_millis(2);
            text(reply(message) + &long)
                .delta_chars(24)
                .delta_delay(pause)
        }
        Kind::Tool => run(false),
        Kind::Background => run(true),
        Kind::Question => tool_use(
            "AskUserQuestion",
            json!({"questions": [{
                "question": QUESTION, "header": "Colour", "multiSelect": false,
                "options": [
                    {"label": "red", "description": "warm"},
                    {"label": "blue", "description": "cold"},
                ],
            }]}),
        ),
    }
}

/// The native engine on that model.
pub(crate) struct Scripted {
    home: PathBuf,
}

pub(crate) fn engines(home: PathBuf) -> Scripted {
    Scripted { home }
}

impl Engines for Scripted {
    fn launch(&self, _: &SessionRecord) -> Result<Launch, LaunchError> {
        Ok(scripted(&self.home, scenario()))
    }

    fn names(&self) -> Vec<EngineName> {
        vec![EngineName::available("script", "it is a test")]
    }
}
