//! `falconer approve`: what waits for an answer on a server, and answering it.

use clap::Args;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::ask::{Lines, Open};
use crate::drive;
use crate::exit::{Done, Exit, Fault, say};
use crate::remote::{Remote, Server, open_of, verdict_json};
use crate::render::{Screen, clean, first_line};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer approve                      asks what waits, one after the other
  falconer approve --list               only says what waits
  falconer approve 7f3/1 yes
  falconer approve 7f3/1 'no use the staging server'
  falconer approve --list --json

An answer is about exactly what was shown. If somebody else was faster, or the
request has changed, nothing is decided and you are told.")]
pub(crate) struct Approve {
    /// The request
    request: Option<String>,
    /// The answer, as on the terminal: yes, no with a reason, always, edit, stop
    #[arg(requires = "request")]
    answer: Option<String>,
    /// Only say what waits
    #[arg(long, conflicts_with = "answer")]
    list: bool,
    /// For programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Server,
}

pub(crate) async fn approve(arguments: Approve) -> Done {
    let remote = Remote::connect(&arguments.server)?;
    if let (Some(id), Some(answer)) = (&arguments.request, &arguments.answer) {
        return one(&remote, id, answer).await;
    }
    let waiting = remote.get("/v1/requests?state=pending").await?;
    let mut waiting = waiting["requests"].as_array().cloned().unwrap_or_default();
    if let Some(id) = &arguments.request {
        waiting.retain(|request| request["id"] == id.as_str());
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&waiting).map_err(std::io::Error::other)?;
        anstream::println!("{text}");
        return Ok(Exit::Success);
    }
    if waiting.is_empty() {
        say("note:", "nothing waits for an answer");
    }
    match arguments.list || !drive::is_person_here() {
        true => waiting.iter().for_each(print),
        false => ask_all(&remote, &waiting).await?,
    }
    Ok(Exit::Success)
}

fn print(request: &Value) {
    let text = |name: &str| clean(request[name].as_str().unwrap_or_default());
    let input = first_line(&clean(&request["input"].to_string()));
    anstream::println!(
        "{}  {}  {}  {input}",
        text("id").bold(),
        text("session"),
        text("tool")
    );
}

async fn one(remote: &Remote, id: &str, answer: &str) -> Done {
    let request = remote.get(&format!("/v1/requests/{}", escaped(id))).await?;
    let mut open = open_of(&request).ok_or_else(unknown_kind)?;
    // Nothing is shown: the words of the command line are the answer.
    let mut screen = Screen::new(std::io::sink(), "");
    let verdict = open.take(Some(answer), &mut screen)?.ok_or_else(|| {
        let text = format!("`{answer}` is no answer to this request");
        Fault::usage(
            text,
            "answer yes, no with a reason, always, edit COMMAND, or stop",
        )
    })?;
    send(remote, &request, &open, &verdict).await?;
    Ok(Exit::Success)
}

async fn ask_all(remote: &Remote, waiting: &[Value]) -> Result<(), Fault> {
    let mut lines = Lines::of_stdin();
    let mut screen = Screen::new(anstream::stdout(), "");
    for request in waiting {
        let Some(mut open) = open_of(request) else {
            continue;
        };
        let text = |name: &str| request[name].as_str().unwrap_or_default();
        screen.line(format!("session {}", clean(text("session"))).dimmed())?;
        screen.ensure_call(text("id"), text("tool"), &request["input"])?;
        lines.forget();
        open.begin(&mut screen)?;
        let verdict = loop {
            let line = lines.next().await;
            screen.answered();
            if line.is_none() {
                return Ok(());
            }
            if let Some(verdict) = open.take(line.as_deref(), &mut screen)? {
                break verdict;
            }
        };
        if let Err(fault) = send(remote, request, &open, &verdict).await {
            fault.report();
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
    let body = json!({"digest": open.digest, "verdict": verdict_json(verdict, &suggestions)});
    let path = format!("/v1/requests/{}/answer", escaped(&open.id));
    remote.post(&path, &body).await.map(drop)
}

fn unknown_kind() -> Fault {
    Fault::new(
        Exit::Agent,
        "this request is of a kind that this version cannot answer",
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
