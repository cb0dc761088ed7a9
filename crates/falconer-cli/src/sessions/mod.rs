//! `falconer sessions`: the sessions on this machine, of both engines: they keep the same files.
//!
//! What a server keeps is behind its API; a second [`Shelf`] will read that.

mod conversation;
mod export;
mod shelf;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use falconer::sessions::SessionInfo;
use owo_colors::OwoColorize;
use serde_json::json;

use crate::exit::{Done, Exit, Fault, say};
use crate::render::{clean, first_line};
use conversation::Part;
use shelf::Shelf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer sessions list               those of this directory
  falconer sessions list --all --json
  falconer sessions show 4f2a          the beginning of an id is enough
  falconer sessions search 'flaky test' --all
  falconer sessions export 4f2a --format html --output session.html
  falconer sessions fork 4f2a --title 'another way'
  falconer sessions rename 4f2a 'The flaky test'
  falconer sessions delete 4f2a --yes
  falconer run 'And the docs' --resume 4f2a8c1e-…")]
pub(crate) struct Sessions {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions, the newest first
    List {
        #[command(flatten)]
        place: Where,
        /// At most so many
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        limit: usize,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Show a session
    Show {
        /// Its id, or the beginning of it
        session: String,
    },
    /// Find sessions in which something was said
    Search {
        /// What was said; capitals do not matter
        text: String,
        #[command(flatten)]
        place: Where,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Write a session as a document
    Export {
        /// Its id, or the beginning of it
        session: String,
        /// What kind of document
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
        /// Where to; stdout if not given
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Copy a session, to go on with the copy
    Fork {
        /// Its id, or the beginning of it
        session: String,
        /// What the copy is called
        #[arg(long)]
        title: Option<String>,
        /// The last message that is copied, by its uuid
        #[arg(long, value_name = "MESSAGE")]
        up_to: Option<String>,
    },
    /// Give a session another title
    Rename {
        /// Its id, or the beginning of it
        session: String,
        /// The title
        title: String,
    },
    /// Delete a session for good
    Delete {
        /// Its id, or the beginning of it
        session: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

/// Which sessions are meant.
#[derive(Debug, Args)]
struct Where {
    /// Those of all directories
    #[arg(long, short)]
    all: bool,
    /// Those of another directory
    #[arg(long, short = 'C', value_name = "DIRECTORY", conflicts_with = "all")]
    cwd: Option<PathBuf>,
}

/// Documents a session can become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading and for other programs' Markdown
    Markdown,
    /// A message per line
    Jsonl,
    /// One page, without scripts
    Html,
}

pub(crate) fn sessions(arguments: Sessions) -> Done {
    match arguments.what {
        What::List { place, limit, json } => list(&shelf_of(&place)?, limit, json)?,
        What::Show { session } => show(&session)?,
        What::Search { text, place, json } => return search(&shelf_of(&place)?, &text, json),
        What::Export {
            session,
            format,
            output,
        } => export_to(&session, format, output)?,
        What::Fork {
            session,
            title,
            up_to,
        } => {
            let shelf = Shelf::all()?;
            let copy = shelf.fork(&shelf.find(&session)?, title, up_to)?;
            anstream::println!("{copy}");
            say(
                "next:",
                format!("`falconer run --resume {copy} '…'` goes on with the copy"),
            );
        }
        What::Rename { session, title } => {
            let shelf = Shelf::all()?;
            shelf.rename(&shelf.find(&session)?, &title)?;
        }
        What::Delete { session, yes } => delete(&session, yes)?,
    }
    Ok(Exit::Success)
}

fn shelf_of(place: &Where) -> Result<Shelf, Fault> {
    match (&place.cwd, place.all) {
        (_, true) => Shelf::all(),
        (directory, false) => {
            Shelf::of_directory(crate::run::start::directory(directory.as_deref())?)
        }
    }
}

fn list(shelf: &Shelf, limit: usize, json: bool) -> Result<(), Fault> {
    let listed = shelf.list(limit);
    if json {
        return print_json(&json!(listed));
    }
    if listed.is_empty() {
        say(
            "note:",
            "there are no sessions here; `--all` looks everywhere",
        );
    }
    for info in &listed {
        print_line(info, None);
    }
    Ok(())
}

fn print_line(info: &SessionInfo, found: Option<&str>) {
    let time = info.last_modified.strftime("%Y-%m-%d %H:%M");
    let title = first_line(&clean(&info.summary));
    let id = info.session_id.as_str();
    let place = info
        .cwd
        .as_ref()
        .map(|cwd| cwd.display().to_string())
        .unwrap_or_default();
    anstream::println!(
        "{}  {time}  {title}  {}",
        clean(id).bold(),
        clean(&place).dimmed()
    );
    if let Some(found) = found {
        anstream::println!("    {}", found.dimmed());
    }
}

fn show(session: &str) -> Result<(), Fault> {
    let shelf = Shelf::all()?;
    let id = shelf.find(session)?;
    let text = export::markdown(&shelf.title(&id), &shelf.parts(&id)?);
    let cwd = PathBuf::new();
    crate::render::Screen::new(anstream::stdout(), cwd).markdown_block(&text)?;
    Ok(())
}

fn search(shelf: &Shelf, text: &str, json: bool) -> Done {
    let wanted = text.to_lowercase();
    let mut found = Vec::new();
    for info in shelf.list(usize::MAX) {
        // A session that cannot be read is told by `show`.
        let parts = shelf.parts(&info.session_id).unwrap_or_default();
        let hit = parts.iter().find_map(|part| part.line_with(&wanted));
        let titled = info
            .summary
            .to_lowercase()
            .contains(&wanted)
            .then(|| info.summary.clone());
        if let Some(line) = hit.or(titled) {
            found.push((info, first_line(&clean(&line))));
        }
    }
    if json {
        let rows: Vec<_> = found
            .iter()
            .map(|(info, line)| json!({"session": info, "line": line}))
            .collect();
        print_json(&json!(rows))?;
    } else {
        found
            .iter()
            .for_each(|(info, line)| print_line(info, Some(line)));
    }
    Ok(match found.is_empty() {
        true => Exit::Agent,
        false => Exit::Success,
    })
}

fn export_to(session: &str, format: Format, output: Option<PathBuf>) -> Result<(), Fault> {
    let shelf = Shelf::all()?;
    let id = shelf.find(session)?;
    let text = match format {
        Format::Jsonl => shelf.raw(&id)?,
        Format::Markdown => export::markdown(&shelf.title(&id), &shelf.parts(&id)?),
        Format::Html => export::html(&shelf.title(&id), &shelf.parts(&id)?),
    };
    match output {
        None => io::stdout().write_all(text.as_bytes())?,
        Some(path) => std::fs::write(&path, text).map_err(|error| {
            let text = format!("failed to write {}: {error}", path.display());
            Fault::setup(text, "name a file that can be written")
        })?,
    }
    Ok(())
}

fn delete(session: &str, yes: bool) -> Result<(), Fault> {
    let shelf = Shelf::all()?;
    let id = shelf.find(session)?;
    if !yes {
        if !io::stdin().is_terminal() {
            let text = "deleting is for good, and there is nobody to ask";
            return Err(Fault::usage(text, "add `--yes`"));
        }
        anstream::print!(
            "delete {id} ({}) for good? [y/N] ",
            first_line(&clean(&shelf.title(&id)))
        );
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if !matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            anstream::println!("kept");
            return Ok(());
        }
    }
    shelf.delete(&id)
}

fn print_json(value: &serde_json::Value) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}

impl Part {
    /// The line in which something is said.
    fn line_with(&self, wanted: &str) -> Option<String> {
        let mut lines = self.text().lines();
        lines
            .find(|line| line.to_lowercase().contains(wanted))
            .map(str::to_owned)
    }
}
