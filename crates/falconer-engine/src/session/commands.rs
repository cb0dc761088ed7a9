//! Commands that work without a terminal: `/clear`, `/context`, `/cost`, `/usage`, `/model`.

use falconer_protocol::SessionId;
use falconer_protocol::command::SlashCommand;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::{
    AssistantMessage, ContextReport, LocalCommandOutcome, LocalCommandRun,
};

use super::config::Commands;
use super::queue::Prompt;
use super::switch::{Source, Switch};
use crate::frame::assistant::{self, SyntheticStop};
use crate::frame::result::{self, Ending};
use crate::frame::{lifecycle, system};
use crate::turn::Turn;
use crate::turn::hooks::Base;

/// The commands of a session.
pub(crate) const NAMES: &[&str] = &["clear", "compact", "context", "cost", "model", "usage"];

const ABOUT: &[(&str, &str, &str)] = &[
    ("clear", "Start a new conversation", ""),
    (
        "compact",
        "Replace the conversation by a summary",
        "[instructions]",
    ),
    ("context", "Show what fills the context", ""),
    ("cost", "Show what the session has cost", ""),
    ("model", "Change the model", "<model>"),
    ("usage", "Show what the session has used", ""),
];

/// Commands of the CLI that need its terminal.
const TERMINAL_ONLY: &[&str] = &[
    "bug",
    "color",
    "config",
    "doctor",
    "exit",
    "export",
    "focus",
    "help",
    "hooks",
    "ide",
    "init",
    "login",
    "logout",
    "mcp",
    "memory",
    "permissions",
    "resume",
    "status",
    "terminal-setup",
    "theme",
    "vim",
];

/// The commands, for `initialize`.
pub(crate) fn listing() -> Vec<SlashCommand> {
    let entry = |(name, about, hint): &(&str, &str, &str)| SlashCommand {
        name: (*name).to_owned(),
        description: Some((*about).to_owned()),
        argument_hint: Some((*hint).to_owned()),
        builtin: Some(true),
        ..SlashCommand::default()
    };
    ABOUT.iter().map(entry).collect()
}

/// What a command says, and how it is marked.
#[derive(Default)]
struct Said {
    text: String,
    run: Option<LocalCommandRun>,
    outcome: Option<LocalCommandOutcome>,
    context: Option<ContextReport>,
    /// `local_command` of the result, if it has run.
    name: Option<String>,
}

impl Turn {
    /// Runs a command. `None` if there is no such command: then it is a prompt like any other.
    pub(crate) async fn command(
        &mut self,
        name: &str,
        arguments: &str,
        prompt: &Prompt,
    ) -> Option<Ending> {
        let is_off = self.core.options.commands == Commands::Disabled;
        match name {
            name if is_off && NAMES.contains(&name) => self.say_command(unavailable(name)).await,
            "clear" => return Some(self.clear(arguments, prompt).await),
            "compact" => {
                let text = "Compacting is not available in this engine yet; /clear starts anew";
                self.say_command(ran(name, arguments, text.to_owned()))
                    .await
            }
            "context" => {
                let (text, usage) = self.core.context_report().await;
                let said = Said {
                    context: Some(usage),
                    ..ran(name, arguments, text)
                };
                self.say_command(said).await
            }
            "cost" | "usage" => {
                let text = self.core.ledger().words();
                let said = Said {
                    name: Some(name.to_owned()),
                    ..ran("usage", arguments, text)
                };
                self.say_command(said).await
            }
            "model" => {
                let (chosen, text) = self.choose_model(arguments).await;
                // The turn of the command still belongs to the model before.
                self.core.say_init(&self.prompts).await;
                if let Some(id) = chosen {
                    self.core.state().model = id;
                }
                self.show_command(ran(name, arguments, text)).await
            }
            other if TERMINAL_ONLY.contains(&other) => self.say_command(unavailable(other)).await,
            _ => return None,
        }
        .into()
    }

    /// The model to take, unless a hook objects, and what to say.
    async fn choose_model(&mut self, name: &str) -> (Option<String>, String) {
        if name.is_empty() {
            return (None, format!("The model is `{}`", self.core.model()));
        }
        let id = falconer_model::resolve_model(name);
        let switch = Switch {
            from: self.core.model(),
            to: id.clone(),
            requested: Some(name.to_owned()),
            source: Source::Command,
        };
        let token = self.interrupt.token();
        if let Err(why) = self.core.ask_to_switch(&switch, token).await {
            return (None, why);
        }
        self.core.tell_switched(&switch, token).await;
        let text = format!("Set model to `{id}` for this session only");
        (Some(id), text)
    }

    async fn say_command(&mut self, said: Said) -> Ending {
        self.core.say_init(&self.prompts).await;
        self.show_command(said).await
    }

    async fn show_command(&mut self, said: Said) -> Ending {
        let source = format!("<local-command-stdout>{}</local-command-stdout>", said.text);
        let frame = AssistantMessage {
            local_command_source: Some(source),
            local_command_run: said.run.clone().map(Box::new),
            local_command_outcome: said.outcome.map(Box::new),
            context_usage: said.context.map(Box::new),
            ..assistant::synthetic(&said.text, SyntheticStop::command())
        };
        self.core.speaker.say(frame).await;
        let mut ending = result::local(said.text);
        if let Some(run) = said.run {
            let prompt = self.prompts.last();
            self.core
                .replay_command(&run.command, &run.args, prompt)
                .await;
        }
        ending.local_command = said.name;
        ending
    }

    /// Forgets the conversation; what follows belongs to a new session.
    async fn clear(&mut self, arguments: &str, prompt: &Prompt) -> Ending {
        self.fire_session_hook(HookEvent::SessionEnd).await;
        let new = SessionId::new(uuid::Uuid::new_v4().to_string());
        let uuid = prompt.uuid.clone().unwrap_or_else(crate::frame::new_uuid);
        // The old session announces its end; the new conversation is named after this frame.
        let conversation = crate::frame::new_uuid();
        let frame = lifecycle::conversation_reset(&conversation, &uuid);
        self.core.speaker.say_as(frame, &conversation).await;
        self.core.say_tasks().await;
        self.core.record.turn_ended(&self.core);
        self.core.forget_conversation(&new);
        let title = self.core.state().title.clone();
        if let Some(title) = title {
            // As often as the official CLI says it.
            for _ in 0..2 {
                let frame = system::title_changed(&title);
                self.core.speaker.say(frame).await;
            }
        }
        self.fire_session_hook(HookEvent::SessionStart).await;
        self.core.say_init(&self.prompts).await;
        let prompt = self.prompts.last();
        self.core.replay_command("clear", arguments, prompt).await;
        let mut ending = result::local(String::new());
        ending.local_command = Some("clear".to_owned());
        ending
    }

    async fn fire_session_hook(&mut self, event: HookEvent) {
        if !self.core.hooks.has(&event) {
            return;
        }
        let base = Base::of_session(&self.core, None);
        let input = match event {
            HookEvent::SessionEnd => base.session_end("clear"),
            _ => base.session_start("clear"),
        };
        let fired = self
            .core
            .hooks
            .fire(&input, Some("clear"), self.interrupt.token())
            .await;
        self.core.state().start_contexts.extend(fired.contexts);
        if event == HookEvent::SessionStart {
            self.core.watch_files(fired.watch_paths);
        }
    }
}

fn ran(name: &str, arguments: &str, text: String) -> Said {
    Said {
        text,
        run: Some(LocalCommandRun {
            command: name.to_owned(),
            args: arguments.to_owned(),
            ..LocalCommandRun::default()
        }),
        name: Some(name.to_owned()),
        ..Said::default()
    }
}

fn unavailable(name: &str) -> Said {
    Said {
        text: format!("/{name} isn't available in this environment."),
        outcome: Some(LocalCommandOutcome {
            kind: "unavailable_headless".to_owned(),
            ..LocalCommandOutcome::default()
        }),
        ..Said::default()
    }
}
