//! `falconer attach`: a session of a server, in the terminal.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use falconer_event::{Body, Event};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::approve::{escaped, send};
use crate::ask::{Desk, Line, Meaning, Open};
use crate::chat::{Input, TerminalMode, Typed, coloured, is_plain};
use crate::drive;
use crate::exit::{Done, Exit, Fault};
use crate::ids;
use crate::remote::{Frame, Frames, Remote, Server};
use crate::render::{Detail, Prompts, Screen, clean, first_line};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer attach                       the running session; a list if there are several
  falconer attach 4f2a8c1e              show a session on the server and follow it
  falconer attach 4f2a8c1e --new        only new events
  falconer attach 4f2a8c1e < /dev/null  show what there is and exit

What you type is sent to the agent; questions are answered on the same line, as in
`chat`. /interrupt stops the turn, Ctrl-D detaches: the session keeps running.")]
pub(crate) struct Attach {
    /// Session or conversation id, or the beginning of either; defaults to the one
    /// that is running
    session: Option<String>,
    /// Show only new events
    #[arg(long)]
    new: bool,
    #[command(flatten)]
    server: Server,
}

/// How often a lost connection is made again before it is given up.
const TRIES: u32 = 30;

pub(crate) async fn attach(arguments: Attach) -> Done {
    crate::trust::refuse_agents()?;
    let remote = Remote::connect(&arguments.server)?;
    let record = match &arguments.session {
        Some(session) => remote.session(session).await?,
        None => only_live(&remote).await?,
    };
    let id = record["id"].as_str().unwrap_or_default().to_owned();
    let path = format!("/v1/sessions/{}", escaped(&id));
    let cwd = record["cwd"].as_str().unwrap_or_default().to_owned();
    let after = if arguments.new {
        record["head"].as_u64().unwrap_or(0)
    } else {
        0
    };
    let is_person = drive::is_person_here();
    let before = TerminalMode::save();
    let (input, out): (Input, Box<dyn Write>) = match is_person {
        true if is_plain() => (Input::of_plain_terminal(), Box::new(anstream::stdout())),
        true => {
            let words = Arc::new(Mutex::new(vec![
                "/interrupt".to_owned(),
                "/quit".to_owned(),
            ]));
            let (input, above) = Input::of_terminal(None, words).map_err(|error| {
                let text = format!("failed to set up the terminal: {error}");
                Fault::setup(text, "try `falconer approve`, which needs no full terminal")
            })?;
            (input, coloured(above))
        }
        false => (Input::of_pipe(), Box::new(anstream::stdout())),
    };
    let mut attached = Attached {
        remote: &remote,
        path,
        screen: Screen::new(out, cwd)
            .detail(Detail::Conversation)
            .prompts(Prompts::Shown),
        desk: Desk::new(),
        held: VecDeque::new(),
        seen: after,
        head: after,
        is_person,
    };
    let done = attached.run(&id, input).await;
    before.restore();
    done
}

/// The session that runs, if it is the only one.
async fn only_live(remote: &Remote) -> Result<Value, Fault> {
    let mut live = remote.live_sessions().await?;
    if live.len() == 1 {
        return Ok(live.remove(0));
    }
    if live.is_empty() {
        return Err(Fault::new(
            Exit::Session,
            "no session is running",
            "`falconer attach ID` shows any session; `falconer sessions list --all` lists them",
        ));
    }
    let name = |session: &Value| {
        let native = session["native_session"].as_str();
        native
            .or(session["id"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let names: Vec<String> = live.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (session, id) in live.iter().zip(ids::shortened(&names)) {
        let text = |name: &str| clean(session[name].as_str().unwrap_or_default());
        let title = first_line(&text("title"));
        anstream::println!(
            "{}  {:<8} {title}  {}",
            clean(id).bold(),
            text("state"),
            text("cwd").dimmed()
        );
    }
    let text = format!("{} sessions are running", live.len());
    Err(Fault::usage(text, "choose one: `falconer attach ID`"))
}

struct Attached<'a> {
    remote: &'a Remote,
    path: String,
    screen: Screen<Box<dyn Write>>,
    /// What is asked, with the request as the server tells it.
    desk: Desk<Value>,
    /// Events that wait until the question on the screen is answered.
    held: VecDeque<Event>,
    /// The number of the last event that was shown.
    seen: u64,
    /// The number of the last event there was when we came.
    head: u64,
    is_person: bool,
}

impl Attached<'_> {
    async fn run(&mut self, session: &str, mut input: Input) -> Done {
        let session = escaped(session);
        let mut frames = self.remote.stream(&session, self.seen).await?;
        input.want();
        loop {
            let moment = self.desk.moment();
            tokio::select! {
                biased;
                frame = frames.next() => match frame {
                    Some(frame) => self.frame(&frame)?,
                    None => frames = self.again(&session).await?,
                },
                () = moment => {
                    self.desk.ask(&mut self.screen)?;
                    self.screen.finish_prompt("")?;
                    input.asked(self.desk.keys());
                }
                typed = input.next() => {
                    if self.typed(typed).await? {
                        return Ok(Exit::Success);
                    }
                    input.set_keys(self.desk.keys());
                    input.want();
                }
            }
            input.set_keys(self.desk.keys());
            // Without a person there is nothing to wait for once all is shown.
            if !self.is_person && self.seen >= self.head && self.head > 0 {
                return Ok(Exit::Success);
            }
        }
    }

    /// Connects again where it broke off.
    async fn again(&mut self, session: &str) -> Result<Frames, Fault> {
        self.screen
            .line("! connection lost; reconnecting".yellow())?;
        for _ in 1..TRIES {
            tokio::time::sleep(Duration::from_secs(1)).await;
            match self.remote.stream(session, self.seen).await {
                Ok(frames) => {
                    self.screen.line("  reconnected".dimmed())?;
                    return Ok(frames);
                }
                Err(fault) if fault.exit == Exit::Setup => {}
                Err(fault) => return Err(fault),
            }
        }
        self.remote.stream(session, self.seen).await
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), Fault> {
        let data: Value = serde_json::from_str(&frame.data).unwrap_or_default();
        match frame.kind.as_str() {
            "hello" => {
                self.head = data["head"].as_u64().unwrap_or(0);
                self.pending(data["pending"].as_array().cloned().unwrap_or_default());
                self.ask_if_current()?;
            }
            "event" | "delta" => {
                // An event of tomorrow is passed over, and counted.
                if let Ok(event) = serde_json::from_value::<Event>(data.clone()) {
                    self.event(&event, &data)?;
                }
                self.seen = self.seen.max(data["seq"].as_u64().unwrap_or(0));
                if self.seen == self.head {
                    self.ask_if_current()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What is open now; a question that stays open stays on the screen.
    fn pending(&mut self, pending: Vec<Value>) {
        let is_open = |id: &str| pending.iter().any(|request| request["id"] == id);
        self.desk.keep(is_open);
        for request in pending {
            if let Some(open) = crate::remote::open_of(&request)
                && !self.desk.has(&open.id)
            {
                self.desk.add(open, request);
            }
        }
    }

    fn event(&mut self, event: &Event, data: &Value) -> Result<(), Fault> {
        if self.desk.is_shown() {
            self.held.push_back(event.clone());
        } else {
            self.show(event)?;
        }
        match &event.body {
            Body::PermissionRequested(asked) => {
                let open = Open::permission(asked);
                self.add(open, data["data"].clone(), event.seq)?;
            }
            Body::QuestionRequested(asked) => {
                self.add(Open::question(asked), data["data"].clone(), event.seq)?;
            }
            Body::PermissionResolved(resolved) => self.remove(&resolved.id, &resolved.by)?,
            Body::QuestionResolved(resolved) => self.remove(&resolved.id, &resolved.by)?,
            _ => {}
        }
        Ok(())
    }

    /// Shows an event, with the call that a question is about.
    fn show(&mut self, event: &Event) -> io::Result<()> {
        self.screen.event(event)?;
        match &event.body {
            Body::PermissionRequested(asked) => {
                self.screen
                    .ensure_call(&asked.tool_use_id, &asked.tool, &asked.input)
            }
            _ => Ok(()),
        }
    }

    /// What was asked before we came is known from the beginning.
    fn add(&mut self, open: Open, request: Value, number: u64) -> Result<(), Fault> {
        if self.desk.has(&open.id) || number <= self.head {
            return Ok(());
        }
        self.desk.add(open, request);
        self.ask_if_current()
    }

    /// A request is settled by somebody else: an own answer is not waited for here.
    fn remove(&mut self, id: &str, by: &str) -> Result<(), Fault> {
        if !self.desk.remove(id) {
            return Ok(());
        }
        if self.is_person && self.seen >= self.head {
            let by = clean(by);
            self.screen.line(format!("  (answered by {by})").dimmed())?;
        }
        self.ask_if_current()
    }

    fn ask_if_current(&mut self) -> Result<(), Fault> {
        if !self.desk.is_shown() {
            while let Some(event) = self.held.pop_front() {
                self.show(&event)?;
            }
        }
        if self.is_person && self.seen >= self.head {
            self.desk.show(&mut self.screen)?;
        }
        Ok(())
    }

    /// Whether it is time to leave.
    async fn typed(&mut self, typed: Typed) -> Result<bool, Fault> {
        let line = match typed {
            Typed::Line(line) => line,
            Typed::Interrupt => return Ok(true),
            Typed::End => return Ok(self.is_person),
        };
        let told = match (line.text.trim(), self.desk.meaning(&line)) {
            ("/quit" | "/exit", _) => return Ok(true),
            ("/interrupt" | "/stop", _) => {
                let path = format!("{}/interrupt", self.path);
                self.remote.post(&path, &json!({})).await.map(drop)
            }
            (_, Meaning::Answer) => self.answer(&line).await,
            (_, Meaning::Stale) => {
                self.desk.refuse(&mut self.screen)?;
                self.screen.finish_prompt("")?;
                Ok(())
            }
            (_, Meaning::Unclear) => {
                self.desk.unclear(&mut self.screen)?;
                self.screen.finish_prompt("")?;
                Ok(())
            }
            ("", Meaning::Other) => Ok(()),
            (text, Meaning::Other) => {
                let id = uuid::Uuid::new_v4().to_string();
                let body = json!({"client_msg_id": id, "text": text});
                let path = format!("{}/messages", self.path);
                self.remote.post(&path, &body).await.map(drop)
            }
        };
        if let Err(fault) = told {
            self.screen.line(format!("! {}", fault.text).yellow())?;
        }
        Ok(false)
    }

    async fn answer(&mut self, line: &Line) -> Result<(), Fault> {
        self.screen.answered();
        let Some((open, request, verdict)) = self.desk.take(Some(&line.text), &mut self.screen)?
        else {
            self.screen.finish_prompt("")?;
            return Ok(());
        };
        let sent = send(self.remote, &request, &open, &verdict).await;
        self.ask_if_current()?;
        sent
    }
}
