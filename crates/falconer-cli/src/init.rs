//! `falconer init`: looks around, says what it found, writes a configuration, and ends with one
//! command that works.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use falconer_choice::{Credentials, EngineRequest, choose};
use owo_colors::OwoColorize;

use crate::config;
use crate::exit::{Done, Exit, Fault};
use crate::here;
use crate::run::start;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer init
  falconer init --yes     do not ask

Nothing is sent anywhere. Keys are located, never shown or copied.")]
pub(crate) struct Init {
    /// Write the configuration without asking
    #[arg(long, short)]
    yes: bool,
}

/// What a first configuration says; everything in it is a default, to be changed.
const FIRST: &str = "\
# The configuration of falconer. `falconer config list` shows every key.
version = 1

[run]
# Engine that runs the agent: auto, claude, native.
engine = \"auto\"
# Ask before anything no rule covers: default. Also: plan, acceptEdits, dontAsk.
permission_mode = \"default\"
# Never without you, whatever a project says.
deny = []
";

pub(crate) fn init(arguments: &Init) -> Done {
    let environment = here::environment();
    let cwd = start::directory(None)?;
    let looked = Credentials::look(environment, Some(&cwd));
    anstream::println!("{}", "Accounts".bold());
    for credential in looked.found() {
        anstream::println!("  {} (billed: {})", credential.source, credential.billing);
    }
    if looked.found().is_empty() {
        let places = looked.looked_at().len();
        anstream::println!("  none found in {places} places; `falconer doctor` lists them");
    }
    anstream::println!("\n{}", "Engine".bold());
    let chosen = choose(&EngineRequest::default(), environment);
    match &chosen {
        Ok(chosen) => {
            let reason = chosen.about.engine_reason.as_deref().unwrap_or_default();
            anstream::println!("  {} ({reason})", chosen.about.engine);
        }
        Err(error) => {
            anstream::println!("  none can run yet");
            anstream::println!("  {} {}", "hint:".bold(), error.advice());
        }
    }
    anstream::println!("\n{}", "Configuration".bold());
    write_first(arguments)?;
    let next = match chosen {
        Ok(_) => "falconer run 'What does this project do?'",
        Err(_) => "falconer demo",
    };
    anstream::println!("\nNow try:\n  {}", next.bold());
    Ok(Exit::Success)
}

fn write_first(arguments: &Init) -> Result<(), Fault> {
    let path = config::path()?;
    if path.exists() {
        // It may be old, or wrong; better told now than at the first run.
        config::look(&start::directory(None)?)?;
        anstream::println!("  {} already exists and is unchanged", path.display());
        return Ok(());
    }
    if !arguments.yes && io::stdin().is_terminal() && io::stdout().is_terminal() {
        anstream::print!("  write {}? [Y/n] ", path.display());
        io::stdout().flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        let answer = line.trim().to_ascii_lowercase();
        if read == 0 || !matches!(answer.as_str(), "" | "y" | "yes") {
            anstream::println!("  not written");
            return Ok(());
        }
    }
    config::write(&path, FIRST)?;
    anstream::println!("  written: {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_configuration_says_what_is_the_default_anyway() {
        let path = std::path::Path::new("config.toml");
        let layers = crate::config::Layers {
            user: Some((path, super::FIRST)),
            ..crate::config::Layers::default()
        };
        let effective = layers.resolve().unwrap();
        assert_eq!(effective.config, crate::config::Config::default());
    }
}
