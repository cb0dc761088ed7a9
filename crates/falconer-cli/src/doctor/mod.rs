//! `falconer doctor`: check the setup and suggest fixes.

mod account;
mod check;
mod claude;
mod locks;
mod machine;
mod model;
mod store;

use std::path::Path;

use clap::Args;
use falconer_session::Policy;
use owo_colors::OwoColorize;
use serde_json::json;

use crate::config::{self, Effective};
use crate::exit::{Done, Exit, Fault};
use crate::run::start;
use check::{Check, State};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer doctor
  falconer doctor --online     also send the model a one-word test, which costs a little
  falconer doctor --json

Exits with 0 if runs can start here and 3 if setup is incomplete. Warnings do not count.")]
pub(crate) struct Doctor {
    /// Also send the model a one-word test
    #[arg(long)]
    online: bool,
    /// Print JSON
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
    let mut checks = vec![configuration(effective.as_ref())];
    checks.extend(policy(&settings));
    checks.push(claude::check(&settings).await);
    checks.extend(account::checks(&settings, &cwd));
    checks.push(model::check(arguments.online).await);
    checks.push(machine::sandbox());
    checks.push(machine::confinement());
    checks.extend(machine::directories());
    checks.push(locks::locks());
    checks.push(store::check().await);
    checks.push(machine::server(&settings));
    checks.push(machine::disk());
    let has_failed = checks.iter().any(|check| check.state == State::Failed);
    if arguments.json {
        print_json(&checks, has_failed)?;
    } else {
        print(&checks, has_failed);
    }
    Ok(if has_failed {
        Exit::Setup
    } else {
        Exit::Success
    })
}

fn configuration(effective: Result<&Effective, &Fault>) -> Check {
    match (effective, config::path()) {
        (Err(fault), _) => Check::failed("configuration", &fault.text, &fault.hint),
        (Ok(effective), _) if !effective.warnings.is_empty() => Check::warning(
            "configuration",
            effective.warnings.join("; "),
            "correct it with `falconer config edit`, or the file of the project",
        ),
        (Ok(_), Ok(path)) if path.exists() => {
            Check::ok("configuration", format!("{} is valid", path.display()))
        }
        (Ok(_), _) => Check::ok("configuration", "none yet; using defaults".to_owned()),
    }
}

/// The policy file of the configuration, if it names one.
fn policy(settings: &config::Config) -> Option<Check> {
    let file = Path::new(settings.run.policy.as_deref()?);
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let read = text.and_then(|text| text.parse::<Policy>().map_err(|error| error.to_string()));
    let fix = format!("fix {}; see docs/limits.md", file.display());
    Some(match read {
        Err(problem) => Check::failed("policy", problem, fix),
        Ok(policy) if !policy.warnings().is_empty() => {
            Check::warning("policy", policy.warnings().join("; "), fix)
        }
        Ok(_) => Check::ok("policy", format!("{} is valid", file.display())),
    })
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
    if has_failed {
        anstream::println!("\nSetup is incomplete; `falconer demo` works without it.");
    } else {
        anstream::println!("\nReady to run: {}", "falconer run 'hello'".bold());
    }
}

fn print_json(checks: &[Check], has_failed: bool) -> Result<(), Fault> {
    let report = json!({"ok": !has_failed, "checks": checks});
    let text = serde_json::to_string_pretty(&report).map_err(std::io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}
