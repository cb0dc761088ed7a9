//! `falconer doctor`: what is here, what is missing, and how to fix it.

mod account;
mod check;
mod claude;
mod locks;
mod machine;
mod model;
mod store;

use clap::Args;
use owo_colors::OwoColorize;
use serde_json::json;

use crate::config;
use crate::exit::{Done, Exit, Fault};
use crate::run::start;
use check::{Check, State};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer doctor
  falconer doctor --online     also ask the model for one word, which costs a little
  falconer doctor --json

The exit code is 0 if runs can be started here, 3 if something must be set up first.
Warnings do not count.")]
pub(crate) struct Doctor {
    /// Also ask the model for one word
    #[arg(long)]
    online: bool,
    /// For programs
    #[arg(long)]
    json: bool,
}

pub(crate) async fn doctor(arguments: Doctor) -> Done {
    let cwd = start::directory(None)?;
    let effective = config::look(&cwd);
    let settings = match &effective {
        Ok(effective) => effective.config.clone(),
        Err(_) => config::Config::default(),
    };
    let mut checks = vec![configuration(effective.as_ref().err())];
    checks.push(claude::check(&settings).await);
    checks.extend(account::checks(&settings, &cwd));
    checks.push(model::check(arguments.online).await);
    checks.push(machine::sandbox());
    checks.extend(machine::directories());
    checks.push(locks::locks());
    checks.push(store::check().await);
    checks.push(machine::server(&settings));
    checks.push(machine::disk());
    let has_failed = checks.iter().any(|check| check.state == State::Failed);
    match arguments.json {
        true => print_json(&checks, has_failed)?,
        false => print(&checks, has_failed),
    }
    Ok(match has_failed {
        true => Exit::Setup,
        false => Exit::Success,
    })
}

fn configuration(fault: Option<&Fault>) -> Check {
    match (fault, config::path()) {
        (Some(fault), _) => Check::failed("configuration", &fault.text, &fault.hint),
        (None, Ok(path)) if path.exists() => {
            Check::ok("configuration", format!("{} is fine", path.display()))
        }
        (None, _) => Check::ok(
            "configuration",
            "none yet; the defaults are used".to_owned(),
        ),
    }
}

fn print(checks: &[Check], has_failed: bool) {
    for check in checks {
        let mark = match check.state {
            State::Ok => "ok  ".green().to_string(),
            State::Warning => "warn".yellow().to_string(),
            State::Failed => "FAIL".red().bold().to_string(),
            State::Skipped => "skip".dimmed().to_string(),
        };
        anstream::println!("{mark} {}: {}", check.name.bold(), check.text);
        for line in &check.details {
            anstream::println!("       {}", line.dimmed());
        }
        if let Some(fix) = &check.fix {
            anstream::println!("     {} {fix}", "fix:".bold());
        }
    }
    match has_failed {
        true => anstream::println!(
            "\nSomething must be set up first; `falconer demo` runs all the same."
        ),
        false => anstream::println!(
            "\nRuns can be started here: {}",
            "falconer run 'hello'".bold()
        ),
    }
}

fn print_json(checks: &[Check], has_failed: bool) -> Result<(), Fault> {
    let report = json!({"ok": !has_failed, "checks": checks});
    let text = serde_json::to_string_pretty(&report).map_err(std::io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}
