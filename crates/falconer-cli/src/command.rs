//! The command line of `falconer`: which commands there are. Each has a file of its own.

use clap::{Parser, Subcommand};
use falconer_choice::{EngineRequest, choose};
use owo_colors::OwoColorize;

use crate::approve::Approve;
use crate::attach::Attach;
use crate::chat::Chat;
use crate::completions::{Completions, Man};
use crate::config::ConfigCommand;
use crate::demo::Demo;
use crate::doctor::Doctor;
use crate::explain::Explain;
use crate::here;
use crate::init::Init;
use crate::log::Log;
use crate::login::Login;
use crate::record::Record;
use crate::replay::Replay;
use crate::run::Run;
use crate::serve::Serve;
use crate::sessions::Sessions;
use crate::trust::Trust;

/// Run coding agents, and approve what they do before they do it
#[derive(Debug, Parser)]
#[command(name = "falconer", version, about, after_help = after_help())]
pub(crate) struct Falconer {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) log: Log,
}

fn after_help() -> String {
    let examples = "\
Examples:
  falconer demo
  falconer run 'What does this project do?'
  git diff | falconer run 'Review this change' --allow Read,Grep";
    format!("{examples}\n\n{}", crate::exit::CODES)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a whole agent session on a scripted model: no key, no network
    Demo(Demo),
    /// Run an agent on a task in this directory
    Run(Box<Run>),
    /// Chat with an agent in this directory
    Chat(Box<Chat>),
    /// List, show, search, export, fork, rename and delete sessions
    Sessions(Sessions),
    /// Serve agents to programs and browsers
    Serve(Box<Serve>),
    /// Follow a session on a server and talk to its agent
    Attach(Attach),
    /// Approve or deny what agents on a server ask for
    Approve(Approve),
    /// Print a link that signs a browser or phone in to a server
    Login(Login),
    /// Find accounts and engines and write a starter configuration
    Init(Init),
    /// Check the setup and suggest fixes
    Doctor(Doctor),
    /// Show and change the configuration
    Config(ConfigCommand),
    /// Explain how the rules would decide a tool call
    Explain(Box<Explain>),
    /// Review a project's settings and trust them
    Trust(Trust),
    /// Run an agent and record everything to a file
    Record(Box<Record>),
    /// Replay a recorded run offline
    Replay(Replay),
    /// Print shell completions
    Completions(Completions),
    /// Print manual pages
    Man(Man),
}

/// What `falconer` says when it is asked nothing: what can be done here, now.
pub(crate) fn first_steps() {
    anstream::println!(
        "{}\n",
        "falconer runs coding agents and asks before they act.".bold()
    );
    match choose(&EngineRequest::default(), here::environment()) {
        Ok(chosen) => {
            let about = chosen.about;
            let auth = about.auth.unwrap_or_default();
            anstream::println!("Ready: the engine `{}` with {auth}.\n", about.engine);
            anstream::println!("  falconer run 'What does this project do?'");
            anstream::println!("  falconer chat                  a conversation");
        }
        Err(_) => {
            anstream::println!("Found no API key and no logged-in Claude Code.\n");
            anstream::println!("  falconer init                  find accounts and set one up");
        }
    }
    anstream::println!(
        "  falconer demo                  a whole session, without a key or a network\n  \
           falconer doctor                check the setup and suggest fixes\n  \
           falconer help                  all commands"
    );
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Falconer::command().debug_assert();
    }

    /// A command and all below it, with their names.
    fn all(command: &clap::Command, name: &str, found: &mut Vec<(String, clap::Command)>) {
        found.push((name.to_owned(), command.clone()));
        for below in command
            .get_subcommands()
            .filter(|it| it.get_name() != "help")
        {
            all(below, &format!("{name} {}", below.get_name()), found);
        }
    }

    #[test]
    fn every_command_says_what_it_does_with_examples() {
        let mut found = Vec::new();
        let mut falconer = super::Falconer::command();
        falconer.build();
        all(&falconer, "falconer", &mut found);
        assert!(found.len() > 25, "only {} commands", found.len());
        for (name, mut command) in found {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:"), "{name}: {help}");
            assert!(
                help.lines().all(|line| line.chars().count() <= 100),
                "{name} is too wide: {help}"
            );
            insta::assert_snapshot!(name.replace(' ', "_"), help);
        }
    }
}
