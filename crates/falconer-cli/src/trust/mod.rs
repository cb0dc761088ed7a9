//! `falconer trust`: what a project wants beyond narrowing, and whether that is trusted.

mod gate;
mod official;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use falconer_choice::Environment;
use falconer_engine::{InspectedItem, Inspection, Standing, TrustStore, inspect};
use falconer_hub::{ProjectTrust, TrustItem, TrustScript};
use serde_json::{Value, json};

use crate::exit::{Done, Exit, Fault};
use crate::places;
use crate::render::visible_line;
use crate::run::start;

pub(crate) use gate::{Asking, TrustFlag, settle, without_asking};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  falconer trust                        show what this project asks for
  falconer trust grant                  show it, ask, and remember the answer
  falconer trust grant --yes --digest 5f1c…    for scripts: exactly this content
  falconer trust revoke ~/src/thing
  falconer trust list --json

A project can always narrow what a session does. Its hooks, helpers, variables, MCP
servers, allow rules, wider modes and extra directories are used only if you trust
this content. If the content changes, you are asked again. No project can set the
model's address, proxies, PATH, loader or shell variables."
)]
pub(crate) struct Trust {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    show: Show,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show everything a project asks for
    #[command(after_help = "\
Examples:
  falconer trust show
  falconer trust show ~/src/thing --json")]
    Show(Show),
    /// Trust the content of a project
    Grant(Grant),
    /// Revoke trust in a project
    Revoke(Revoke),
    /// List trusted projects
    List(List),
}

#[derive(Debug, Args)]
struct Show {
    /// Project directory; defaults to the current one
    directory: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer trust grant
  falconer trust grant ~/src/thing --yes --digest 5f1c…")]
struct Grant {
    /// Project directory; defaults to the current one
    directory: Option<PathBuf>,
    /// Do not ask; needs the digest of the content
    #[arg(long, requires = "digest")]
    yes: bool,
    /// Trust the content only if this is its digest
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer trust revoke
  falconer trust revoke ~/src/thing")]
struct Revoke {
    /// Project directory; defaults to the current one
    directory: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer trust list
  falconer trust list --json")]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn trust(arguments: Trust) -> Done {
    match arguments.action.unwrap_or(Action::Show(arguments.show)) {
        Action::Show(show) => {
            let inspection = look(&start::directory(show.directory.as_deref())?)?;
            if show.json {
                print_json(&json!(inspection))?;
            } else {
                show::print(&inspection, &mut anstream::stdout())?;
            }
            Ok(Exit::Success)
        }
        Action::Grant(grant) => self::grant(&grant),
        Action::Revoke(revoke) => self::revoke(&revoke),
        Action::List(list) => self::list(&list),
    }
}

/// The trust of this user.
pub(crate) fn store() -> Result<TrustStore, Fault> {
    Ok(TrustStore::new(&places::state_directory()?))
}

/// Looks at a project.
pub(crate) fn look(project: &Path) -> Result<Inspection, Fault> {
    let own = Environment::of_this_process().claude_directory();
    inspect(project, &store()?, own.as_deref()).map_err(|error| {
        let hint = "check the directory, and the directory `trust` in the state directory";
        Fault::setup(error, hint)
    })
}

/// Remembers that the content of an inspection is trusted.
pub(crate) fn remember(inspection: &Inspection, digest: &str) -> Result<(), Fault> {
    let granted = store()?.grant(inspection, digest);
    granted.map_err(|error| Fault::setup(error, "run `falconer trust` to review the content"))
}

/// Takes back all trust in a project. Returns `false` if there was none.
pub(crate) fn forget(project: &Path) -> Result<bool, Fault> {
    let revoked = store()?.revoke(project);
    revoked.map_err(|error| Fault::setup(error, "remove the file by hand"))
}

/// An inspection as the server tells it.
pub(crate) fn described(inspection: Inspection) -> ProjectTrust {
    let mut trust = ProjectTrust::default();
    trust.project = inspection.project.to_string_lossy().into_owned();
    inspection.standing.as_str().clone_into(&mut trust.standing);
    trust.digest = inspection.digest.unwrap_or_default();
    trust.items = inspection.items.into_iter().map(described_item).collect();
    trust.gone = inspection.gone;
    trust.ignored = inspection.ignored;
    trust
}

fn described_item(item: InspectedItem) -> TrustItem {
    let mut described = TrustItem::default();
    item.kind.wish().clone_into(&mut described.wish);
    described.file = item.file;
    described.key = item.key;
    described.text = item.text;
    described.is_new = item.is_new;
    let scripts = item.scripts.into_iter().map(|script| {
        let mut described = TrustScript::default();
        described.path = script.path;
        described.digest = script.digest;
        described.text = script.text;
        described
    });
    described.scripts = scripts.collect();
    described
}

/// Refuses to take a decision from a process that an agent has started.
pub(crate) fn refuse_agents() -> Result<(), Fault> {
    let variables = falconer_process::variables();
    let is_mark = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("FALCONER_RUN_");
    // A command that wiped its environment still has the limits it inherited.
    if falconer_process::is_supervised() || variables.iter().any(|(name, _)| is_mark(name)) {
        return Err(Fault::usage(
            "agents cannot change trust",
            "run this in your own terminal",
        ));
    }
    Ok(())
}

fn grant(arguments: &Grant) -> Done {
    refuse_agents()?;
    let inspection = look(&start::directory(arguments.directory.as_deref())?)?;
    let Some(digest) = inspection.digest.as_deref() else {
        anstream::eprintln!("nothing in {} needs trust", inspection.project.display());
        return Ok(Exit::Success);
    };
    if arguments.digest.as_deref().is_some_and(|it| it != digest) {
        return Err(Fault::usage(
            format!(
                "the content of {} has a different digest: {digest}",
                inspection.project.display()
            ),
            "run `falconer trust` to review the content",
        ));
    }
    if !arguments.yes && !gate::ask(&inspection, "trust this content?")? {
        anstream::eprintln!("nothing was trusted");
        return Ok(Exit::Agent);
    }
    remember(&inspection, digest)?;
    if arguments.json {
        print_json(&json!({"project": inspection.project, "digest": digest}))?;
    } else {
        anstream::println!("trusted {}", inspection.project.display());
    }
    Ok(Exit::Success)
}

fn revoke(arguments: &Revoke) -> Done {
    // A project that is gone can be named, too.
    let directory = std::path::absolute(arguments.directory.clone().unwrap_or_else(|| ".".into()))?;
    let revoked = forget(&directory)?;
    match (arguments.json, revoked) {
        (true, _) => print_json(&json!({"project": directory, "revoked": revoked}))?,
        (false, true) => anstream::println!("revoked the trust in {}", directory.display()),
        (false, false) => anstream::println!("{} was not trusted", directory.display()),
    }
    Ok(Exit::Success)
}

fn list(arguments: &List) -> Done {
    let grants = store()?.list();
    let grants = grants.map_err(|error| Fault::setup(error, "remove the file by hand"))?;
    let rows: Vec<Value> = grants
        .iter()
        .filter(|grant| grant.digest.is_some())
        .map(|grant| {
            let now = look(&grant.project).map(|it| it.standing).ok();
            json!({"project": grant.project, "digest": grant.digest,
                "granted_at": grant.granted_at, "standing": now})
        })
        .collect();
    if arguments.json {
        print_json(&json!(rows))?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        anstream::println!("no trusted projects");
    }
    for row in rows {
        let note = match row["standing"].as_str() {
            Some("trusted") => "",
            Some("changed") => "  (changed since; run `falconer trust show`)",
            Some(_) => "  (nothing needs trust)",
            None => "  (unreadable)",
        };
        let project = visible_line(row["project"].as_str().unwrap_or_default());
        anstream::println!("{project}{note}");
    }
    Ok(Exit::Success)
}

fn print_json(value: &Value) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}

/// Whether something is there that nobody trusts.
pub(crate) fn is_open(standing: Standing) -> bool {
    !matches!(standing, Standing::NotNeeded | Standing::Trusted)
}
