//! `falconer approve`: what waits for an answer on a server, and answering it.

use clap::Args;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::ask::{Desk, Lines, Meaning, Open, Step};
use crate::drive;
use crate::exit::{Done, Exit, Fault, say};
use crate::remote::{Remote, Server, is_meant, open_of, verdict_json};
use crate::render::{Screen, Window, clean, for_stdout, visible_line};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer approve                      answer open requests one by one
  falconer approve --list               show open requests in full
  falconer approve dd5d5538              answer this one; the beginning of an id is enough
  falconer approve dd5d5538 'no use the staging server'
  falconer approve dd5d5538 yes --digest 3fe0c2…
  falconer approve --list --json

An answer applies to exactly what was shown. On a terminal the request is shown
before it can be approved; elsewhere an approval needs the digest that `--list`
prints. If someone else answered first or the request changed, nothing is
decided and you are told.")]
pub(crate) struct Approve {
    /// The request's id, or the beginning of it
    request: Option<String>,
    /// The answer: yes, no with a reason, always, edit or stop
    #[arg(requires = "request")]
    answer: Option<String>,
    /// Digest of the request as shown; required to approve without a terminal
    #[arg(long, requires = "answer", value_name = "DIGEST")]
    digest: Option<String>,
    /// List open requests and exit
    #[arg(long, conflicts_with = "answer")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Server,
}

pub(crate) async fn approve(arguments: Approve) -> Done {
    let remote = Remote::connect(&arguments.server)?;
    if let (Some(id), Some(answer)) = (&arguments.request, &arguments.answer) {
        return one(&remote, id, answer, arguments.digest.as_deref()).await;
    }
    let waiting = remote.get("/v1/requests?state=pending").await?;
    let mut waiting = waiting["requests"].as_array().cloned().unwrap_or_default();
    if let Some(id) = &arguments.request {
        let is_exact = waiting.iter().any(|request| request["id"] == id.as_str());
        waiting.retain(|request| {
            if is_exact {
                request["id"] == id.as_str()
            } else {
                is_meant(request, id)
            }
        });
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&waiting).map_err(std::io::Error::other)?;
        anstream::println!("{}", for_stdout(text));
        return Ok(Exit::Success);
    }
    if waiting.is_empty() {
        say("note:", "no requests need an answer");
    }
    if arguments.list || !drive::is_person_here() {
        waiting.iter().for_each(print);
    } else {
        ask_all(&remote, &waiting).await?;
    }
    Ok(Exit::Success)
}

/// Prints a request in full, and the digest an approval has to name.
fn print(request: &Value) {
    let text = |name: &str| visible_line(request[name].as_str().unwrap_or_default());
    let (id, session, tool) = (text("id"), text("session"), text("tool"));
    anstream::println!("{}  {session}  {tool}", id.bold());
    let Some(open) = open_of(request) else {
        return;
    };
    for row in open.sheet().rows(Window::now().columns) {
        anstream::println!("{row}");
    }
    anstream::println!("  digest: {}", visible_line(&open.digest));
}

async fn one(remote: &Remote, id: &str, answer: &str, digest: Option<&str>) -> Done {
    crate::trust::refuse_agents()?;
    let request = remote.asked(id).await?;
    let mut open = open_of(&request).ok_or_else(unknown_kind)?;
    let mut nowhere = Screen::new(std::io::sink(), "");
    let Step::Verdict(verdict) = open.take(Some(answer), &mut nowhere)? else {
        let text = format!("invalid answer `{answer}`");
        let hint = "answer yes, no with a reason, always, edit COMMAND, or stop";
        return Err(Fault::usage(text, hint));
    };
    match digest {
        // Nothing is allowed by a denial, so nothing has to be seen for it.
        None if !verdict.is_denial() && drive::is_person_here() => {
            ask_all(remote, std::slice::from_ref(&request)).await?;
        }
        None if !verdict.is_denial() => {
            print(&request);
            return Err(Fault::usage(
                format!("approving request {id} needs its digest"),
                "review the request above, then pass its digest with `--digest`",
            ));
        }
        Some(digest) if digest != open.digest => {
            print(&request);
            return Err(Fault::new(
                Exit::Session,
                format!("request {id} does not have the digest {digest}"),
                "nothing was decided; review the request above",
            ));
        }
        _ => send(remote, &request, &open, &verdict).await?,
    }
    Ok(Exit::Success)
}

async fn ask_all(remote: &Remote, waiting: &[Value]) -> Result<(), Fault> {
    crate::trust::refuse_agents()?;
    let mut lines = Lines::of_stdin();
    let mut screen = Screen::new(anstream::stdout(), "");
    let mut desk = Desk::new();
    for request in waiting {
        let Some(open) = open_of(request) else {
            continue;
        };
        let text = |name: &str| request[name].as_str().unwrap_or_default();
        screen.line(format!("session {}", clean(text("session"))).dimmed())?;
        screen.ensure_call(text("id"), text("tool"), &request["input"])?;
        desk.add(open, request);
        desk.show(&mut screen)?;
        while !desk.is_empty() {
            if !desk.is_asking() {
                desk.moment().await;
                lines.forget();
                desk.ask(&mut screen)?;
            }
            let line = lines.next().await;
            screen.answered();
            let Some(line) = line else {
                return Ok(());
            };
            if desk.meaning(&line) == Meaning::Stale {
                desk.refuse(&mut screen)?;
                continue;
            }
            let taken = desk.take(Some(&line.text), &mut screen)?;
            if let Some((open, request, verdict)) = taken
                && let Err(fault) = send(remote, request, &open, &verdict).await
            {
                fault.report();
            }
        }
    }
    Ok(())
}

pub(crate) async fn send(
    remote: &Remote,
    request: &Value,
    open: &Open,
    verdict: &falconer_session::Verdict,
) -> Result<(), Fault> {
    let suggestions = request["suggestions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut body = json!({"digest": open.digest, "verdict": verdict_json(verdict, &suggestions)});
    if let Some(shown) = open.shown() {
        body["shown"] = json!(shown);
    }
    let path = format!("/v1/requests/{}/answer", escaped(&open.id));
    remote.post(&path, &body).await.map(drop)
}

fn unknown_kind() -> Fault {
    Fault::new(
        Exit::Agent,
        "this version cannot answer this kind of request",
        "update falconer, or answer it on the server's page",
    )
}

/// An id in a path: it may hold a slash.
pub(crate) fn escaped(id: &str) -> String {
    let mut text = String::new();
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text.push(byte as char),
            other => text += &format!("%{other:02X}"),
        }
    }
    text
}
