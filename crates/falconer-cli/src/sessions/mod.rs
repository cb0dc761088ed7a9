//! `falconer sessions`: the sessions on this machine: the files of both engines, and the store of
//! the server.

mod conversation;
mod export;
mod kept;
mod shelf;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use owo_colors::OwoColorize;
use serde_json::json;

use crate::exit::{Done, Exit, Fault, say};
use crate::render::{clean, first_line, for_stdout};
use conversation::Part;
use shelf::{Copy, Entry, Shelf};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer sessions list               in this directory
  falconer sessions list --all --json
  falconer sessions show 4f2a          the beginning of an id is enough
  falconer sessions search 'flaky test' --all
  falconer sessions export 4f2a --format html --output session.html
  falconer sessions fork 4f2a --title 'another way'
  falconer sessions rename 4f2a 'The flaky test'
  falconer sessions delete 4f2a --yes
  falconer run 'And the docs' --resume 4f2a8c1e-…

Lists the session files of both engines and the sessions a server on this machine keeps;
a session in both is listed once. A session running on a server can be changed only
through that server.")]
pub(crate) struct Sessions {
    /// Server store; defaults to the one in the state directory
    #[arg(long, value_name = "FILE", global = true)]
    store: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List sessions, newest first
    #[command(
        after_help = "Examples:\n  falconer sessions list               in this directory\n  falconer sessions list --all --json"
    )]
    List {
        #[command(flatten)]
        place: Where,
        /// Show at most this many
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a session
    #[command(
        after_help = "Examples:\n  falconer sessions show 4f2a          the beginning of an id is enough"
    )]
    Show {
        /// The request's id, or the beginning of it
        session: String,
    },
    /// Search the text of sessions
    #[command(after_help = "Examples:\n  falconer sessions search 'flaky test' --all")]
    Search {
        /// What was said; capitals do not matter
        text: String,
        #[command(flatten)]
        place: Where,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Export a session as a document
    #[command(
        after_help = "Examples:\n  falconer sessions export 4f2a > session.md\n  falconer sessions export 4f2a --format html --output session.html"
    )]
    Export {
        /// The request's id, or the beginning of it
        session: String,
        /// What kind of document
        #[arg(long, value_enum, default_value_t = Format::Markdown)]
        format: Format,
        /// Where to; stdout if not given
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Fork a session
    #[command(after_help = "Examples:\n  falconer sessions fork 4f2a --title 'another way'")]
    Fork {
        /// The request's id, or the beginning of it
        session: String,
        /// What the copy is called
        #[arg(long)]
        title: Option<String>,
        /// The last message that is copied, by its uuid
        #[arg(long, value_name = "MESSAGE")]
        up_to: Option<String>,
    },
    /// Rename a session
    #[command(after_help = "Examples:\n  falconer sessions rename 4f2a 'The flaky test'")]
    Rename {
        /// The request's id, or the beginning of it
        session: String,
        /// The title
        title: String,
    },
    /// Delete a session permanently
    #[command(after_help = "Examples:\n  falconer sessions delete 4f2a --yes")]
    Delete {
        /// The request's id, or the beginning of it
        session: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

/// Which sessions are meant.
#[derive(Debug, Args)]
struct Where {
    /// List sessions in all directories
    #[arg(long, short)]
    all: bool,
    /// List sessions in this directory
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

pub(crate) async fn sessions(arguments: Sessions) -> Done {
    let store = arguments.store.as_deref();
    let shelf = match &arguments.what {
        What::List { place, .. } | What::Search { place, .. } => shelf_of(place, store).await?,
        _ => Shelf::all(store).await?,
    };
    let done = act(&shelf, arguments.what).await;
    shelf.close().await;
    done
}

/// The conversation of the one session whose id begins like this.
pub(crate) async fn conversation_of(
    beginning: &str,
    store: Option<&Path>,
) -> Result<String, Fault> {
    let shelf = Shelf::all(store).await?;
    let found = shelf.find(beginning).await;
    shelf.close().await;
    Ok(found?.id().to_owned())
}

async fn act(shelf: &Shelf, what: What) -> Done {
    match what {
        What::List { limit, json, .. } => list(shelf, limit, json).await?,
        What::Show { session } => show(shelf, &session).await?,
        What::Search { text, json, .. } => return search(shelf, &text, json).await,
        What::Export {
            session,
            format,
            output,
        } => export_to(shelf, &session, format, output).await?,
        What::Fork {
            session,
            title,
            up_to,
        } => fork(shelf, &session, title, up_to).await?,
        What::Rename { session, title } => {
            let entry = shelf.find(&session).await?;
            shelf.rename(&entry, &title).await?;
        }
        What::Delete { session, yes } => delete(shelf, &session, yes).await?,
    }
    Ok(Exit::Success)
}

async fn shelf_of(place: &Where, store: Option<&Path>) -> Result<Shelf, Fault> {
    match (&place.cwd, place.all) {
        (_, true) => Shelf::all(store).await,
        (directory, false) => {
            let directory = crate::run::start::directory(directory.as_deref())?;
            Shelf::of_directory(directory, store).await
        }
    }
}

async fn list(shelf: &Shelf, limit: usize, json: bool) -> Result<(), Fault> {
    let listed = shelf.list(limit).await?;
    if json {
        let rows: Vec<_> = listed.iter().map(Entry::json).collect();
        return print_json(&json!(rows));
    }
    if listed.is_empty() {
        say(
            "note:",
            "no sessions in this directory; add `--all` to list all",
        );
    }
    for entry in &listed {
        print_line(entry, None);
    }
    Ok(())
}

fn print_line(entry: &Entry, found: Option<&str>) {
    let time = entry.changed().strftime("%Y-%m-%d %H:%M");
    let title = first_line(&clean(&entry.title));
    let place = entry
        .directory()
        .map(|directory| directory.display().to_string())
        .unwrap_or_default();
    let kept = match entry.record() {
        Some(record) if record.owner.is_some() => format!("  ({})", record.state),
        Some(_) if !entry.has_file() => "  (only in the store)".to_owned(),
        _ => String::new(),
    };
    anstream::println!(
        "{}  {time}  {title}  {}{kept}",
        clean(entry.id()).bold(),
        clean(&place).dimmed()
    );
    if let Some(found) = found {
        anstream::println!("    {}", found.dimmed());
    }
}

async fn show(shelf: &Shelf, session: &str) -> Result<(), Fault> {
    let entry = shelf.find(session).await?;
    let text = export::markdown(&entry.title, &shelf.parts(&entry).await?);
    let cwd = PathBuf::new();
    crate::render::Screen::new(anstream::stdout(), cwd).markdown_block(&text)?;
    Ok(())
}

async fn search(shelf: &Shelf, text: &str, json: bool) -> Done {
    let wanted = text.to_lowercase();
    let mut found = Vec::new();
    for entry in shelf.list(usize::MAX).await? {
        // A session that cannot be read is told by `show`.
        let parts = shelf.parts(&entry).await.unwrap_or_default();
        let hit = parts.iter().find_map(|part| part.line_with(&wanted));
        let titled = entry.title.to_lowercase().contains(&wanted);
        let titled = titled.then(|| entry.title.clone());
        if let Some(line) = hit.or(titled) {
            found.push((entry, first_line(&clean(&line))));
        }
    }
    if json {
        let rows: Vec<_> = found
            .iter()
            .map(|(entry, line)| json!({"session": entry.json(), "line": line}))
            .collect();
        print_json(&json!(rows))?;
    } else {
        found
            .iter()
            .for_each(|(entry, line)| print_line(entry, Some(line)));
    }
    Ok(if found.is_empty() {
        Exit::Agent
    } else {
        Exit::Success
    })
}

async fn export_to(
    shelf: &Shelf,
    session: &str,
    format: Format,
    output: Option<PathBuf>,
) -> Result<(), Fault> {
    let entry = shelf.find(session).await?;
    let text = match format {
        Format::Jsonl => shelf.raw(&entry).await?,
        Format::Markdown => export::markdown(&entry.title, &shelf.parts(&entry).await?),
        Format::Html => export::html(&entry.title, &shelf.parts(&entry).await?),
    };
    match output {
        None => io::stdout().write_all(for_stdout(text).as_bytes())?,
        Some(path) => std::fs::write(&path, text).map_err(|error| {
            let text = format!("failed to write {}: {error}", path.display());
            Fault::setup(text, "choose a writable file")
        })?,
    }
    Ok(())
}

async fn fork(
    shelf: &Shelf,
    session: &str,
    title: Option<String>,
    up_to: Option<String>,
) -> Result<(), Fault> {
    let entry = shelf.find(session).await?;
    let (id, next) = match shelf.fork(&entry, title, up_to).await? {
        Copy::File(id) => {
            let next = format!("`falconer run --resume {id} '…'` continues the copy");
            (id, next)
        }
        Copy::Kept(id) => {
            let next = format!("`falconer attach {id}` continues the copy on the server");
            (id, next)
        }
    };
    anstream::println!("{id}");
    say("next:", next);
    Ok(())
}

async fn delete(shelf: &Shelf, session: &str, yes: bool) -> Result<(), Fault> {
    let entry = shelf.find(session).await?;
    if !yes {
        if !io::stdin().is_terminal() {
            let text = "deleting is permanent and there is no terminal to confirm on";
            return Err(Fault::usage(text, "add `--yes`"));
        }
        let title = first_line(&clean(&entry.title));
        anstream::print!("permanently delete {} ({title})? [y/N] ", clean(entry.id()));
        io::stdout().flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if !matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            anstream::println!("kept");
            return Ok(());
        }
    }
    shelf.delete(&entry).await
}

fn print_json(value: &serde_json::Value) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    anstream::println!("{}", for_stdout(text));
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
