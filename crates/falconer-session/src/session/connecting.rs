//! Waiting for the engine to start.

use falconer::{Client, Messages};
use falconer_event::End;
use tokio::sync::mpsc;

use super::Connecting;
use super::driving::at;
use super::live::Live;
use crate::error::Error;
use crate::failure::{RunFailure, of_error, stderr_of};
use crate::handle::Command;
use crate::limits::{LimitKind, Limits};

/// Commands that may wait for an engine that is starting; more are refused.
const EARLY: usize = 64;

/// An engine that has started.
pub(super) struct Connected {
    pub(super) client: Client,
    pub(super) messages: Messages,
    /// What it was told meanwhile.
    pub(super) early: Vec<Command>,
}

/// What follows from a command that came too early.
enum Early {
    Wait,
    Leave,
}

impl Live {
    /// Waits for the engine. Messages may be sent meanwhile; other commands wait.
    pub(super) async fn connect(
        &mut self,
        mut connecting: Connecting,
        told: &mut mpsc::Receiver<Command>,
    ) -> Result<Connected, End> {
        let mut early = Vec::new();
        let mut has_handles = true;
        loop {
            let deadline = self.watch.next(&Limits {
                deadline: self.limits.deadline,
                ..only_deadline()
            });
            tokio::select! {
                connected = &mut connecting => return match connected {
                    Ok((client, messages)) => Ok(Connected { client, messages, early }),
                    Err(error) => Err(not_started(&error)),
                },
                command = told.recv(), if has_handles => {
                    has_handles = command.is_some();
                    if let Early::Leave = self.command_before_the_engine(command, &mut early) {
                        return Err(cancelled_end());
                    }
                },
                () = at(deadline) => {
                    let mut end = End::default();
                    end.failure = Some(self.reached(LimitKind::Deadline));
                    return Err(end);
                }
            }
        }
    }

    /// There is nobody yet who could obey, except for what concerns the queue.
    fn command_before_the_engine(
        &mut self,
        command: Option<Command>,
        early: &mut Vec<Command>,
    ) -> Early {
        match command {
            Some(Command::Send(message, reply)) => self.accept(*message, reply),
            Some(Command::Cancel(id, reply)) => {
                let taken = self.turns.cancel(&id);
                let _ = reply.send(Ok(self.taken_back(taken)));
            }
            Some(Command::Answer(answer, reply)) => {
                let _ = reply.send(Err(crate::AnswerError::NotOpen(answer.id).into()));
            }
            Some(Command::Close) => return Early::Leave,
            None if !self.outlives_handles() => return Early::Leave,
            None => {}
            Some(other) if early.len() < EARLY => early.push(other),
            Some(other) => refuse(other),
        }
        Early::Wait
    }
}

fn not_started(error: &falconer::Error) -> End {
    let mut end = End::default();
    end.failure = Some(of_error(error, RunFailure::EngineNotStarted));
    end.stderr = stderr_of(error);
    end
}

fn only_deadline() -> Limits {
    Limits {
        grace: None,
        ..Limits::default()
    }
}

fn cancelled_end() -> End {
    let mut end = End::default();
    end.cancelled = true;
    end
}

fn refuse(command: Command) {
    match command {
        Command::Interrupt(reply)
        | Command::Model(_, reply)
        | Command::Mode(_, reply)
        | Command::StopTask(_, reply) => drop(reply.send(Err(Error::Starting(EARLY)))),
        Command::Info(reply) => drop(reply.send(Err(Error::Starting(EARLY)))),
        // Obeyed at once.
        Command::Send(..) | Command::Cancel(..) | Command::Answer(..) | Command::Close => {}
    }
}
