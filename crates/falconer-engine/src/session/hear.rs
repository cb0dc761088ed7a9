//! What the host says to a session, line by line.

use std::sync::Arc;

use bytes::Bytes;
use falconer_protocol::message::CommandState;
use falconer_protocol::system::{Level, SessionState};
use serde::Serialize;
use serde_json::Value;

use super::actor::Actor;
use super::control::{self, Outcome};
use super::line::{self, Fatal, Line, Request};
use super::queue::{Admission, Prompt, Since};
use super::stop::Exit;
use crate::frame::lifecycle;
use crate::frame::reply::Reply;
use crate::frame::system;

/// The variables that were taken.
#[derive(Debug, Serialize)]
struct Applied {
    applied: Vec<String>,
}

impl Actor {
    pub(super) async fn read(&mut self, bytes: &Bytes) {
        for text in bytes.split(|byte| *byte == b'\n') {
            if self.ending.is_some() {
                return;
            }
            match line::read(text) {
                Ok(line) => self.take(line).await,
                Err(fatal) => self.fail(&fatal),
            }
        }
    }

    async fn take(&mut self, line: Line) {
        if self.await_initialize && line != Line::Ignored {
            self.await_initialize = false;
            let first = matches!(&line, Line::Request(it) if it.subtype == "initialize");
            if !first {
                return self.fail(&Fatal::NotInitialized);
            }
        }
        match line {
            Line::Prompt(prompt) => self.enqueue(*prompt).await,
            Line::Request(request) => self.answer(request).await,
            Line::Answer(value) => self.resolve(value),
            Line::Environment {
                variables,
                request_id,
            } => {
                let reply = match self.core.update_environment(&variables) {
                    Ok(applied) => Reply::success(&Applied { applied }),
                    Err(error) => Reply::failure(error.to_string()),
                };
                if request_id.is_some() {
                    let frame = reply.frame(request_id.as_ref());
                    self.core.speaker.reply(&frame).await;
                } else if let Reply::Failure(failure) = reply {
                    let frame = system::informational(failure.error, Level::Warning);
                    self.core.speaker.say(frame).await;
                }
            }
            Line::Ignored => {}
        }
    }

    fn fail(&mut self, fatal: &Fatal) {
        self.turn = None;
        self.ending = Some(Exit {
            code: 1,
            stderr: vec![fatal.to_string()],
        });
    }

    fn resolve(&self, value: Value) {
        match falconer_protocol::from_value(value) {
            Ok(response) => {
                self.core.host.resolve(response);
            }
            Err(error) => tracing::debug!(%error, "an answer that cannot be read"),
        }
    }

    async fn enqueue(&mut self, prompt: Prompt) {
        let admission = self.core.queue().push(prompt.clone());
        match admission {
            Admission::Queued => self.queued(&prompt).await,
            Admission::Waiting => {}
            Admission::Repeated(since) => self.repeated(&prompt, since).await,
            Admission::Full => tracing::warn!("the queue is full; a prompt was dropped"),
        }
    }

    async fn queued(&mut self, prompt: &Prompt) {
        self.core.record.enqueued(prompt);
        self.tell_busy().await;
        if let Some(uuid) = &prompt.uuid {
            let frame = lifecycle::command(uuid, CommandState::Queued);
            self.core.speaker.say(frame).await;
        }
        if let (true, Some(turn)) = (self.core.queue().is_urgent(), &self.turn) {
            turn.interrupt.preempt();
        }
    }

    /// Tells the host that nothing more comes of a prompt it has sent before.
    async fn repeated(&mut self, prompt: &Prompt, since: Since) {
        self.core.echo(prompt).await;
        if let (Since::Before, Some(uuid)) = (since, &prompt.uuid) {
            let frame = lifecycle::command(uuid, CommandState::Completed);
            self.core.speaker.say(frame).await;
        }
        if !self.busy {
            self.core.speaker.state(SessionState::Idle).await;
        }
    }

    async fn answer(&mut self, request: Request) {
        let id = request.id.clone();
        match control::answer(self, request).await {
            Outcome::Now(reply) => {
                let frame = reply.frame(id.as_ref());
                self.core.speaker.reply(&frame).await;
            }
            Outcome::Then(reply, frames) => {
                let frame = reply.frame(id.as_ref());
                self.core.speaker.reply(&frame).await;
                for frame in frames {
                    self.core.speaker.say(frame).await;
                }
            }
            Outcome::Said => {}
            Outcome::Alone(job) => self.jobs.push(job),
            Outcome::Later(job) => {
                let core = Arc::clone(&self.core);
                self.jobs.push(Box::pin(async move {
                    let frame = job.await.frame(id.as_ref());
                    core.speaker.reply(&frame).await;
                }));
            }
        }
    }
}
