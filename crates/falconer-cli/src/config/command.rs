//! `falconer config`: looking at the configuration and changing it.

use std::path::Path;
use std::process::Command as Process;

use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::{file, keys, look, schema};
use crate::exit::{Done, Exit, Fault, say};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer config list
  falconer config set run.model sonnet
  falconer config set run.deny 'Bash(git push:*),WebFetch'
  falconer config get run.model
  falconer config unset run.model
  FALCONER_RUN__MODEL=haiku falconer config get run.model

A value comes from the first of: a flag, a variable FALCONER_SECTION__KEY, your file,
the default. The nearest .falconer.toml above the directory can then narrow what a run
may do, never widen it.")]
pub(crate) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the path of the file
    #[command(after_help = "Examples:\n  $EDITOR \"$(falconer config path)\"")]
    Path,
    /// List every key with its value and origin
    #[command(after_help = "Examples:\n  falconer config list\n  falconer config list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the value of a key
    #[command(after_help = "Examples:\n  falconer config get run.model")]
    Get {
        /// Such as `run.model`
        key: String,
    },
    /// Set a key in your file, keeping comments
    #[command(
        after_help = "Examples:\n  falconer config set run.model sonnet\n  falconer config set run.deny 'Bash(git push:*),WebFetch'"
    )]
    Set {
        /// Such as `run.model`
        key: String,
        /// A text, a number, true or false, or a list with commas
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from your file
    #[command(after_help = "Examples:\n  falconer config unset run.model")]
    Unset {
        /// Such as `run.model`
        key: String,
    },
    /// Edit your file in $VISUAL or $EDITOR, then check it
    #[command(after_help = "Examples:\n  EDITOR=nano falconer config edit")]
    Edit,
    /// Print the JSON Schema of the file
    #[command(after_help = "Examples:\n  falconer config schema > config.schema.json")]
    Schema,
}

pub(crate) fn config(arguments: Config) -> Done {
    match arguments.what {
        What::Path => anstream::println!("{}", file::path()?.display()),
        What::List { json } => list(json)?,
        What::Get { key } => get(&key)?,
        What::Set { key, value } => set(&key, &value)?,
        What::Unset { key } => unset(&key)?,
        What::Edit => edit()?,
        What::Schema => print_json(&schema::json_schema())?,
    }
    Ok(Exit::Success)
}

fn list(json: bool) -> Result<(), Fault> {
    let effective = look(&std::env::current_dir()?)?;
    let rows = keys::keys()
        .iter()
        .map(|key| (key, effective.value(key), effective.origin(&key.path)));
    if json {
        let rows: Vec<Value> = rows
            .map(|(key, value, origin)| {
                json!({"key": key.path, "value": value, "default": key.default, "origin": origin.to_string(),
                    "about": key.about, "variable": key.variable()})
            })
            .collect();
        return print_json(&json!(rows));
    }
    for (key, value, origin) in rows {
        let value = value.map_or_else(|| "(not set)".to_owned(), |value| shown(&value));
        anstream::println!(
            "{} = {value}  {}",
            key.path.bold(),
            format!("# {origin}").dimmed()
        );
    }
    for warning in &effective.warnings {
        say("warning:", warning);
    }
    Ok(())
}

fn get(name: &str) -> Result<(), Fault> {
    let key = file::key(name)?;
    let effective = look(&std::env::current_dir()?)?;
    match effective.value(key) {
        Some(value) => anstream::println!("{}", shown(&value)),
        None => {
            return Err(Fault::new(
                Exit::Agent,
                format!("`{name}` is not set"),
                format!("`falconer config set {name} VALUE` sets it"),
            ));
        }
    }
    Ok(())
}

fn set(name: &str, value: &str) -> Result<(), Fault> {
    let key = file::key(name)?;
    let value = key.kind.read(value).map_err(|problem| {
        Fault::usage(format!("`{name}` cannot be set: {problem}"), &key.about)
    })?;
    let path = file::path()?;
    file::bring_up_to_date(&path)?;
    let text = file::text(&path)?.unwrap_or_default();
    file::write(&path, &file::set(&text, key, value)?)?;
    warn_if_overridden(&key.variable());
    Ok(())
}

fn unset(name: &str) -> Result<(), Fault> {
    let key = file::key(name)?;
    let path = file::path()?;
    file::bring_up_to_date(&path)?;
    let text = file::text(&path)?.unwrap_or_default();
    if let Some(text) = file::unset(&text, key)? {
        file::write(&path, &text)?;
    }
    warn_if_overridden(&key.variable());
    Ok(())
}

fn warn_if_overridden(variable: &str) {
    if std::env::var_os(variable).is_some() {
        say(
            "warning:",
            format!("the variable {variable} overrides the file; unset it"),
        );
    }
}

fn edit() -> Result<(), Fault> {
    let path = file::path()?;
    if file::text(&path)?.is_none() {
        file::write(&path, &format!("version = {}\n", schema::VERSION))?;
    }
    run_editor(&path)?;
    let text = file::text(&path)?.unwrap_or_default();
    super::layers::read(&path.display().to_string(), &text)?;
    Ok(())
}

fn run_editor(path: &Path) -> Result<(), Fault> {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let editor = variable("VISUAL")
        .or_else(|| variable("EDITOR"))
        .ok_or_else(|| {
            let text = "no editor: neither VISUAL nor EDITOR is set";
            Fault::setup(
                text,
                format!("set EDITOR, or edit {} directly", path.display()),
            )
        })?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Process::new(program).args(words).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Fault::setup(
            format!("`{editor}` exited with {status}"),
            "run it again",
        )),
        Err(error) => {
            let text = format!("failed to start `{editor}`: {error}");
            Err(Fault::setup(
                text,
                "set EDITOR to an editor that is installed",
            ))
        }
    }
}

/// A value on one line; a text without quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn print_json(value: &Value) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}
