//! Waiting for the engine to start.

use falconer_event::End;
use futures_util::future::BoxFuture;

use super::driving::at;
use super::live::{Live, Told};
use crate::engine::{Running, Stopped};
use crate::error::Error;
use crate::handle::Command;
use crate::limits::LimitKind;

/// Commands that may wait for an engine that is starting; more are refused.
const EARLY: usize = 64;

/// What follows from a command that came too early.
enum Early {
    Wait,
    Leave,
}

impl Live {
    /// Waits for the engine; returns it with the commands that came too early. Messages may be
    /// sent meanwhile; other commands wait.
    pub(super) async fn connect(
        &mut self,
        mut starting: BoxFuture<'static, Result<Running, Stopped>>,
        told: &mut Told,
    ) -> Result<(Running, Vec<Command>), End> {
        let mut early = Vec::new();
        loop {
            tokio::select! {
                started = &mut starting => return match started {
                    Ok(running) => Ok((running, early)),
                    Err(stopped) => Err(not_started(stopped)),
                },
                command = told.commands.recv(), if told.has_handles => {
                    told.has_handles = command.is_some();
                    if let Early::Leave = self.command_before_the_engine(command, &mut early) {
                        return Err(cancelled_end());
                    }
                },
                () = at(self.bounds.deadline()) => {
                    let mut end = End::default();
                    let failure = self.bounds.tell(LimitKind::Deadline, &mut self.recorder);
                    end.failure = Some(failure);
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
                let taken = self.prompts.take(&id).unwrap_or_default();
                let cancelled = self.prompts.taken_back(taken, &mut self.recorder);
                let _ = reply.send(Ok(cancelled));
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

fn not_started(stopped: Stopped) -> End {
    let mut end = End::default();
    end.failure = Some(stopped.failure);
    end.stderr = stopped.stderr;
    end
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
