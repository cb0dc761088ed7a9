//! What the session is told.

use falconer_event::Source;

use super::driving::{Engine, Step};
use super::live::{Edited, Live};
use crate::answer::Answer;
use crate::error::{AnswerError, Error};
use crate::handle::{Command, Reply};
use crate::info::EngineInfo;

impl Live {
    pub(super) fn command(&mut self, engine: &Engine, command: Command) -> Step {
        let client = engine.client.clone();
        match command {
            Command::Send(message, reply) => self.accept(*message, reply),
            Command::Answer(answer, reply) => self.answer(*answer, reply),
            Command::Cancel(id, reply) => self.cancel(engine, id, reply),
            Command::Interrupt(reply) => {
                self.job(reply, async move { client.interrupt().await.map(drop) });
            }
            Command::Model(model, reply) => {
                self.job(
                    reply,
                    async move { client.set_model(model).await.map(drop) },
                );
            }
            Command::Mode(mode, reply) => {
                self.job(reply, async move { client.set_permission_mode(mode).await });
            }
            Command::StopTask(task, reply) => {
                self.job(reply, async move { client.stop_task(task).await });
            }
            Command::Info(reply) => drop(reply.send(Ok(EngineInfo::of(client.hello())))),
            Command::Close => return self.close(engine),
        }
        Step::GoOn
    }

    /// Asks the engine without waiting for it.
    fn job<T: Send + 'static>(
        &mut self,
        reply: Reply<T>,
        work: impl Future<Output = Result<T, falconer::Error>> + Send + 'static,
    ) {
        self.jobs.spawn(async move {
            let _ = reply.send(work.await.map_err(Error::from));
            None
        });
    }

    /// Input that comes with an answer is judged first.
    fn answer(&mut self, answer: Answer, reply: Reply<()>) {
        let Some(edit) = self.pending.edit(&answer) else {
            return self.take(answer, reply);
        };
        let gate = self.gate.clone();
        self.edits.push(Box::pin(async move {
            let checked = gate.check_edit(edit).await;
            (answer, reply, checked)
        }));
    }

    /// Takes an answer whose input was judged.
    pub(super) fn edited(&mut self, (answer, reply, checked): Edited) {
        match checked {
            Ok(()) => self.take(answer, reply),
            Err(reason) => {
                let refused = AnswerError::Refused {
                    id: answer.id,
                    reason,
                };
                let _ = reply.send(Err(refused.into()));
            }
        }
    }

    fn take(&mut self, answer: Answer, reply: Reply<()>) {
        let answered = self.pending.answer(answer);
        let outcome = answered.map(|body| self.recorder.note(Source::User, body));
        self.still_asking();
        let _ = reply.send(outcome.map_err(Error::from));
    }
}
