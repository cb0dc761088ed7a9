//! `falconer chat`: a conversation. What is typed while the agent works waits its turn.

mod editor;
mod slash;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use falconer::PermissionMode;
use falconer_event::{Body, Event, RunCompleted};
use falconer_session::{Cancelled, EngineInfo, EventStream, Lifetime, MessageId, Verdict};
use owo_colors::OwoColorize;

use crate::ask::{Answering, Desk, Line as Spoken, Meaning, Open};
use crate::drive;
use crate::exit::{Done, Exit, Fault};
use crate::keep::{self, Agent};
use crate::places;
use crate::render::{Detail, Screen};
use crate::run::start::{self, Start};
use crate::trust::Asking;
use editor::{Above, Words};
pub(crate) use editor::{Input, Typed, is_plain};
use slash::Line;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer chat
  falconer chat --continue
  falconer chat 'Look at the failing test first' --permission-mode plan
  printf 'one\\ntwo\\n' | falconer chat      each line is a message; nobody is asked

Type while the agent works: messages wait their turn, /steer is read along the way.
End a line with \\ to go on in the next. /help lists the commands; Tab completes them.
Questions are answered in the same line: y, n with a reason, a(lways), e(dit), s(top).
Ctrl-C interrupts the turn, or ends the conversation if nothing runs; so does Ctrl-D.")]
pub(crate) struct Chat {
    /// The first message
    message: Option<String>,
    #[command(flatten)]
    start: Start,
}

pub(crate) async fn chat(arguments: Chat) -> Done {
    let prepared = start::prepare(&arguments.start, Asking::on_terminal())?;
    let words: Words = Arc::new(Mutex::new(own_words()));
    let is_person = drive::is_person_here();
    let before = TerminalMode::save();
    let (input, out): (Input, Box<dyn Write>) = match is_person {
        true if is_plain() => (Input::of_plain_terminal(), Box::new(anstream::stdout())),
        true => {
            let (input, above) = Input::of_terminal(history(), words.clone()).map_err(|error| {
                let text = format!("failed to set up the terminal: {error}");
                Fault::setup(text, "try `falconer run`, which needs no full terminal")
            })?;
            (input, coloured(above))
        }
        false => (Input::of_pipe(), Box::new(anstream::stdout())),
    };
    let screen = Screen::new(out, &prepared.cwd).detail(Detail::Conversation);
    let (agent, events) = keep::start(prepared, Lifetime::UntilClosed).await?;
    let mut conversation = Conversation {
        agent: &agent,
        screen,
        words,
        is_person,
        desk: Desk::new(),
        held: VecDeque::new(),
        sent: Vec::new(),
        engine: EngineInfo::default(),
        has_ended: false,
        waits_for_wish: false,
    };
    let talked = conversation.run(arguments.message, input, events).await;
    agent.session.close().await;
    agent.end().await;
    before.restore();
    talked
}

/// Output keeps its colours where stdout would.
pub(crate) fn coloured(above: Above) -> Box<dyn Write> {
    match anstream::stdout().current_choice() {
        anstream::ColorChoice::Never => {
            Box::new(anstream::StripStream::new(Box::new(above) as Box<dyn Write>))
        }
        _ => Box::new(above),
    }
}

fn history() -> Option<std::path::PathBuf> {
    let directory = places::state_directory().ok()?;
    std::fs::create_dir_all(&directory).ok()?;
    Some(directory.join("history"))
}

fn own_words() -> Vec<String> {
    slash::OURS
        .iter()
        .map(|(name, _)| format!("/{name}"))
        .collect()
}

/// How the terminal was, for the case that an editor is at work when the run ends.
pub(crate) struct TerminalMode(Option<rustix::termios::Termios>);

impl TerminalMode {
    pub(crate) fn save() -> Self {
        Self(rustix::termios::tcgetattr(io::stdin()).ok())
    }

    pub(crate) fn restore(&self) {
        if let Some(mode) = &self.0 {
            let now = rustix::termios::OptionalActions::Now;
            let _ = rustix::termios::tcsetattr(io::stdin(), now, mode);
        }
    }
}

struct Conversation<'a> {
    agent: &'a Agent,
    screen: Screen<Box<dyn Write>>,
    words: Words,
    is_person: bool,
    desk: Desk<()>,
    /// Events that wait until the question on the screen is answered.
    held: VecDeque<Event>,
    /// Messages without an answer yet.
    sent: Vec<MessageId>,
    engine: EngineInfo,
    /// No more lines will come.
    has_ended: bool,
    waits_for_wish: bool,
}

/// What happens after something was looked at.
enum Next {
    Go,
    /// The conversation is over.
    Over(Exit),
}

impl Conversation<'_> {
    async fn run(
        &mut self,
        first: Option<String>,
        mut input: Input,
        mut events: EventStream,
    ) -> Done {
        self.greet()?;
        if let Some(message) = first {
            self.send(message).await?;
        }
        self.want(&input);
        loop {
            let moment = self.desk.moment();
            let next = tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => self.event(event).await?,
                    None => Next::Over(Exit::Success),
                },
                () = moment => {
                    self.desk.ask(&mut self.screen)?;
                    self.screen.finish_prompt("")?;
                    input.asked(self.desk.keys());
                    Next::Go
                }
                typed = input.next(), if self.waits_for_wish => {
                    self.waits_for_wish = false;
                    self.typed(typed).await?
                }
            };
            if let Next::Over(exit) = next {
                return Ok(exit);
            }
            input.set_keys(self.desk.keys());
            self.want(&input);
            if self.has_ended && self.sent.is_empty() {
                return Ok(Exit::Success);
            }
        }
    }

    /// Asks for the next line. A pipe is read when what came before is answered.
    fn want(&mut self, input: &Input) {
        if self.waits_for_wish || self.has_ended || (!self.is_person && !self.sent.is_empty()) {
            return;
        }
        self.waits_for_wish = true;
        input.want();
    }

    fn greet(&mut self) -> io::Result<()> {
        if self.is_person {
            self.screen
                .line("Type a message. /help lists commands, Ctrl-D quits.".dimmed())
        } else {
            Ok(())
        }
    }

    async fn event(&mut self, event: Event) -> Result<Next, Fault> {
        match &event.body {
            Body::PermissionResolved(resolved) => {
                self.settled(
                    &resolved.id,
                    drive::settled(resolved.resolution, &resolved.by),
                )?;
            }
            Body::QuestionResolved(resolved) => {
                self.settled(
                    &resolved.id,
                    drive::settled(resolved.resolution, &resolved.by),
                )?;
            }
            Body::TurnCompleted(turn) => {
                self.sent
                    .retain(|id| !turn.prompts.iter().any(|prompt| prompt == id.as_str()));
                if turn.prompts.is_empty() && !self.sent.is_empty() {
                    self.sent.remove(0);
                }
            }
            _ => {}
        }
        if let Body::RunCompleted(_) = event.body {
            self.desk.keep(|_| false);
            self.release()?;
        }
        if self.desk.is_shown() {
            self.held.push_back(event.clone());
        } else {
            self.show(&event)?;
        }
        match event.body {
            Body::RunStarted(_) => self.learn().await,
            Body::PermissionRequested(request) => self.ask(Open::permission(&request)).await?,
            Body::QuestionRequested(request) => self.ask(Open::question(&request)).await?,
            Body::RunCompleted(completed) => return Ok(Next::Over(exit_of(&completed))),
            _ => {}
        }
        Ok(Next::Go)
    }

    /// Shows an event, with the call that a question is about.
    fn show(&mut self, event: &Event) -> io::Result<()> {
        if !matches!(event.body, Body::RunCompleted(_)) || !self.has_ended {
            self.screen.event(event)?;
        }
        match &event.body {
            Body::PermissionRequested(request) => {
                self.screen
                    .ensure_call(&request.tool_use_id, &request.tool, &request.input)
            }
            _ => Ok(()),
        }
    }

    /// Shows what was held back, and then the next question.
    fn release(&mut self) -> io::Result<()> {
        if self.desk.is_shown() {
            return Ok(());
        }
        while let Some(event) = self.held.pop_front() {
            self.show(&event)?;
        }
        self.desk.show(&mut self.screen)
    }

    /// What the engine knows, for completion and for unknown commands.
    async fn learn(&mut self) {
        let Ok(info) = self.agent.session.info().await else {
            return;
        };
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        *words = own_words();
        words.extend(
            info.commands
                .iter()
                .map(|command| format!("/{}", command.name)),
        );
        drop(words);
        self.engine = info;
    }

    async fn ask(&mut self, open: Open) -> Result<(), Fault> {
        if !self.is_person {
            let nobody = Answering::No("no terminal to ask on");
            if let Some(verdict) = open.without_a_person(&nobody, &mut self.screen)? {
                self.answer(&open, verdict).await?;
            }
            return Ok(());
        }
        self.desk.add(open, ());
        self.desk.show(&mut self.screen)?;
        Ok(())
    }

    /// Somebody else has answered, or nobody wants to know any more.
    fn settled(&mut self, id: &str, said: String) -> io::Result<()> {
        if self.desk.remove(id) && self.is_person {
            self.screen.line(said)?;
        }
        self.release()
    }

    async fn typed(&mut self, typed: Typed) -> Result<Next, Fault> {
        let line = match typed {
            Typed::Line(line) => line,
            Typed::Interrupt if !self.sent.is_empty() => {
                self.interrupt().await?;
                return Ok(Next::Go);
            }
            Typed::Interrupt => return Ok(Next::Over(Exit::Success)),
            Typed::End => {
                self.has_ended = true;
                return Ok(if self.is_person {
                    Next::Over(Exit::Success)
                } else {
                    Next::Go
                });
            }
        };
        match self.desk.meaning(&line) {
            Meaning::Answer => self.take(&line).await?,
            Meaning::Stale => {
                self.desk.refuse(&mut self.screen)?;
                self.screen.finish_prompt("")?;
            }
            Meaning::Unclear => {
                self.desk.unclear(&mut self.screen)?;
                self.screen.finish_prompt("")?;
                let text = "  (to say something else, answer first or use /steer)";
                self.screen.line(text.dimmed())?;
            }
            Meaning::Other => return self.line(slash::read(&line.text, &self.engine)).await,
        }
        Ok(Next::Go)
    }

    /// A line that answers the question on the screen.
    async fn take(&mut self, line: &Spoken) -> Result<(), Fault> {
        self.screen.answered();
        match self.desk.take(Some(&line.text), &mut self.screen)? {
            Some((open, (), verdict)) => self.answer(&open, verdict).await?,
            None => self.screen.finish_prompt("")?,
        }
        Ok(self.release()?)
    }

    async fn line(&mut self, line: Line) -> Result<Next, Fault> {
        match line {
            Line::Nothing => {}
            Line::Message(text) => self.send(text).await?,
            Line::Steer(text) => {
                let steered = self.agent.session.steer(text).await.map(drop);
                self.tell(steered, "the agent will read it while it works")?;
            }
            Line::Help => self.help()?,
            Line::Quit => return Ok(Next::Over(Exit::Success)),
            Line::Model(Some(model)) => {
                let set = self.agent.session.set_model(&model).await;
                self.tell(set, &format!("using {model} from the next turn"))?;
            }
            Line::Model(None) => self.models()?,
            Line::Mode(mode) => {
                let set = self
                    .agent
                    .session
                    .set_mode(PermissionMode::from(mode.as_str()))
                    .await;
                self.tell(set, &format!("permission mode: {}", mode.as_str()))?;
            }
            Line::Interrupt => self.interrupt().await?,
            Line::Cancel => self.cancel().await?,
            Line::Unknown { said, nearest } => {
                let text = format!("unknown command `{said}`; did you mean `{nearest}`?");
                self.screen.line(text.yellow())?;
            }
        }
        Ok(Next::Go)
    }

    async fn send(&mut self, text: String) -> Result<(), Fault> {
        let waits = self.is_person && !self.sent.is_empty();
        match self.agent.session.send(text).await {
            Ok(id) => self.sent.push(id),
            // Why it is over is told by its last event.
            Err(falconer_session::Error::Over) => return Ok(()),
            Err(error) => self.screen.line(format!("! {error}").yellow())?,
        }
        if waits {
            self.screen
                .line("  queued; /cancel to take it back".dimmed())?;
        }
        Ok(())
    }

    async fn interrupt(&mut self) -> Result<(), Fault> {
        let told = self.agent.session.interrupt().await;
        self.tell(told, "interrupted")
    }

    async fn cancel(&mut self) -> Result<(), Fault> {
        let Some(newest) = self.sent.last().cloned() else {
            self.screen.line("nothing is queued".dimmed())?;
            return Ok(());
        };
        match self.agent.session.cancel(&newest).await {
            Ok(Cancelled::Yes) => {
                self.sent.pop();
                self.screen.line("taken back".dimmed())?;
            }
            Ok(_) => self
                .screen
                .line("too late: the agent already has it".dimmed())?,
            Err(error) => self.screen.line(format!("! {error}").yellow())?,
        }
        Ok(())
    }

    fn tell(&mut self, told: Result<(), falconer_session::Error>, done: &str) -> Result<(), Fault> {
        match told {
            Ok(()) => self.screen.line(format!("  {done}").dimmed())?,
            Err(error) => self.screen.line(format!("! {error}").yellow())?,
        }
        Ok(())
    }

    fn help(&mut self) -> io::Result<()> {
        for (name, about) in slash::OURS {
            self.screen
                .line(format!("  {:<12} {about}", format!("/{name}")))?;
        }
        let engines = self.engine.commands.clone();
        for command in engines {
            let about = crate::render::first_line(&crate::render::clean(&command.description));
            self.screen
                .line(format!("  {:<12} {about}", format!("/{}", command.name)).dimmed())?;
        }
        Ok(())
    }

    fn models(&mut self) -> io::Result<()> {
        let models = self.engine.models.clone();
        for model in models {
            self.screen
                .line(format!("  {:<24} {}", model.id, model.description))?;
        }
        Ok(())
    }

    async fn answer(&mut self, open: &Open, verdict: Verdict) -> Result<(), Fault> {
        if let Some(remark) = self.agent.answer(open, verdict).await? {
            self.screen.line(format!("  ({remark})"))?;
        }
        Ok(())
    }
}

fn exit_of(completed: &RunCompleted) -> Exit {
    Exit::of_run(completed)
}
