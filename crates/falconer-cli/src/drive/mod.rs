//! A run from its first message to its end: events are shown, questions are asked, Ctrl-C
//! interrupts the turn and, pressed again, ends the run.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};

use falconer_event::{Body, Event, Resolution, RunCompleted};
use falconer_session::{EventStream, SessionHandle};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::ask::{Answering, Desk, Line, Meaning, Open};
use crate::exit::{Exit, Fault};
use crate::keep::Agent;
use crate::render::{Screen, visible_line};

/// What shows a run.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each run of the command"
)]
pub(crate) enum View<W> {
    /// To people.
    Person(Screen<W>),
    /// To programs: an event per line.
    Json(W),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) completed: Box<RunCompleted>,
    /// Ctrl-C was pressed.
    pub(crate) interrupted: bool,
}

impl Driven {
    pub(crate) fn exit(&self) -> Exit {
        if self.interrupted {
            Exit::Interrupted
        } else {
            Exit::of_run(&self.completed)
        }
    }
}

/// Shows a run until it ends.
pub(crate) async fn drive<W: Write>(
    agent: &Agent,
    events: &mut EventStream,
    view: &mut View<W>,
    answering: &mut Answering,
) -> Result<Driven, Fault> {
    let mut driver = Driver {
        agent,
        view,
        desk: Desk::new(),
        held: VecDeque::new(),
        presses: 0,
        errands: None,
    };
    let driven = driver.run(events, answering).await;
    if driven.is_err() {
        // What cannot be shown must not go on unseen.
        agent.session.close().await;
    }
    driven
}

struct Driver<'a, W> {
    agent: &'a Agent,
    view: &'a mut View<W>,
    /// What was asked; the first is on the screen.
    desk: Desk<()>,
    /// Events that wait until the question on the screen is answered.
    held: VecDeque<Event>,
    presses: u32,
    /// An interrupt or a close that is under way.
    errands: Option<BoxFuture<'a, ()>>,
}

impl<W: Write> Driver<'_, W> {
    async fn run(
        &mut self,
        events: &mut EventStream,
        answering: &mut Answering,
    ) -> Result<Driven, Fault> {
        let mut ctrl_c = signals()?;
        loop {
            let is_asking = self.desk.is_asking();
            let moment = self.desk.moment();
            let line = async {
                match (&mut *answering, is_asking) {
                    (Answering::Person(lines), true) => lines.next().await,
                    _ => std::future::pending().await,
                }
            };
            let errand = async {
                match &mut self.errands {
                    Some(errand) => errand.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = ctrl_c.pressed() => self.press()?,
                () = errand => self.errands = None,
                event = events.next() => match event {
                    Some(event) => {
                        if let Some(completed) = self.event(event, answering).await? {
                            let interrupted = self.presses > 0;
                            return Ok(Driven { completed, interrupted });
                        }
                    }
                    None => return Err(Fault::new(
                        Exit::Internal,
                        "the run ended without an outcome",
                        "run it again; `falconer doctor` may show more",
                    )),
                },
                () = moment => self.prompt(answering)?,
                line = line => self.line(line.as_ref(), answering).await?,
            }
        }
    }

    fn press(&mut self) -> io::Result<()> {
        self.presses += 1;
        let session = self.agent.session.clone();
        let said = match self.presses {
            1 => "interrupting the turn; press Ctrl-C again to end the run",
            _ => "ending the run",
        };
        if let View::Person(screen) = self.view {
            screen.line(said)?;
        }
        self.errands = Some(match self.presses {
            // A turn that is over already, or an engine that is deaf: the next press ends it.
            1 => async move { drop(session.interrupt().await) }.boxed(),
            _ => async move { session.close().await }.boxed(),
        });
        Ok(())
    }

    /// Shows an event, or keeps it until the question on the screen is answered.
    async fn event(
        &mut self,
        event: Event,
        answering: &mut Answering,
    ) -> Result<Option<Box<RunCompleted>>, Fault> {
        let over = match &event.body {
            Body::PermissionResolved(resolved) => {
                self.settled(&resolved.id, resolved.resolution, &resolved.by)?
            }
            Body::QuestionResolved(resolved) => {
                self.settled(&resolved.id, resolved.resolution, &resolved.by)?
            }
            Body::RunCompleted(_) => {
                self.desk.keep(|_| false);
                true
            }
            _ => false,
        };
        if over {
            self.release(answering).await?;
        }
        if !self.desk.is_empty() && !matches!(event.body, Body::RunCompleted(_)) {
            self.held.push_back(event);
            return Ok(None);
        }
        self.show(event, answering).await
    }

    /// A request is settled; whether that was the one on the screen.
    fn settled(&mut self, id: &str, resolution: Resolution, by: &str) -> io::Result<bool> {
        let was_shown = self.desk.remove(id);
        if let (true, View::Person(screen)) = (was_shown, &mut *self.view) {
            screen.line(settled(resolution, by))?;
        }
        Ok(was_shown)
    }

    /// Goes on with what was held back, up to the next question.
    async fn release(&mut self, answering: &mut Answering) -> Result<(), Fault> {
        while self.desk.is_empty()
            && let Some(event) = self.held.pop_front()
        {
            self.show(event, answering).await?;
        }
        Ok(())
    }

    async fn show(
        &mut self,
        event: Event,
        answering: &mut Answering,
    ) -> Result<Option<Box<RunCompleted>>, Fault> {
        match &mut *self.view {
            View::Json(out) => write_json(out, &event)?,
            View::Person(screen) => screen.event(&event)?,
        }
        match event.body {
            Body::PermissionRequested(request) => {
                if let View::Person(screen) = &mut *self.view {
                    screen.ensure_call(&request.tool_use_id, &request.tool, &request.input)?;
                }
                self.ask(Open::permission(&request), answering).await?;
            }
            Body::QuestionRequested(request) => {
                self.ask(Open::question(&request), answering).await?;
            }
            Body::RunCompleted(completed) => return Ok(Some(completed)),
            _ => {}
        }
        Ok(None)
    }

    async fn ask(&mut self, open: Open, answering: &mut Answering) -> Result<(), Fault> {
        let verdict = match (&mut *self.view, &mut *answering) {
            (View::Json(_), Answering::Others) => None,
            (View::Person(screen), Answering::Others) => {
                open.leave_to_others(screen)?;
                None
            }
            (View::Json(_), _) => {
                let why = "questions are denied with `--json`";
                Some(falconer_session::Verdict::Deny(why.to_owned()))
            }
            (View::Person(screen), Answering::Person(_)) => {
                self.desk.add(open, ());
                self.desk.show(screen)?;
                return Ok(());
            }
            (View::Person(screen), answering) => open.without_a_person(answering, screen)?,
        };
        match verdict {
            Some(verdict) => self.answer(&open, verdict).await,
            None => Ok(()),
        }
    }

    /// Asks for the answer to the question on the screen. What was typed before is no answer.
    fn prompt(&mut self, answering: &mut Answering) -> io::Result<()> {
        if let (View::Person(screen), Answering::Person(lines)) = (&mut *self.view, answering) {
            lines.forget();
            self.desk.ask(screen)?;
        }
        Ok(())
    }

    async fn line(&mut self, line: Option<&Line>, answering: &mut Answering) -> Result<(), Fault> {
        let View::Person(screen) = &mut *self.view else {
            return Ok(());
        };
        screen.answered();
        if line.is_some_and(|line| self.desk.meaning(line) == Meaning::Stale) {
            return Ok(self.desk.refuse(screen)?);
        }
        let text = line.map(|line| line.text.as_str());
        let Some((open, (), verdict)) = self.desk.take(text, screen)? else {
            return Ok(());
        };
        self.answer(&open, verdict).await?;
        self.release(answering).await
    }

    async fn answer(
        &mut self,
        open: &Open,
        verdict: falconer_session::Verdict,
    ) -> Result<(), Fault> {
        let remark = self.agent.answer(open, verdict).await?;
        if let (Some(remark), View::Person(screen)) = (remark, &mut *self.view) {
            screen.line(format!("  ({remark})"))?;
        }
        Ok(())
    }
}

/// Tells what became of a question that was not answered here.
pub(crate) fn settled(resolution: Resolution, by: &str) -> String {
    match resolution {
        Resolution::Allowed => format!("  (allowed by {})", visible_line(by)),
        Resolution::Denied => format!("  (denied by {})", visible_line(by)),
        Resolution::Expired => "  (denied: nobody answered in time; `--answer-within` and \
             `run.answer_seconds` say how long to wait)"
            .to_owned(),
        _ => "  (no longer asked)".to_owned(),
    }
}

/// Sends a message. A run that is over already tells why by its last event.
pub(crate) async fn send(
    session: &SessionHandle,
    message: impl Into<falconer_session::Message>,
) -> Result<(), Fault> {
    match session.send(message).await {
        Ok(_) | Err(falconer_session::Error::Over) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether somebody sees what is written and can type.
pub(crate) fn is_person_here() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// An event on a line of its own.
pub(crate) fn write_json(out: &mut impl Write, event: &Event) -> io::Result<()> {
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Ctrl-C, or SIGTERM, which means the same.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

pub(crate) fn signals() -> io::Result<Signals> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }
    #[cfg(not(unix))]
    Ok(Signals {})
}

impl Signals {
    pub(crate) async fn pressed(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
