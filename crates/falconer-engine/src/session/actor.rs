//! The task that owns a session: reads lines, runs turns, answers at any time, ends in order.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use falconer_protocol::MessageUuid;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::CommandState;
use falconer_protocol::system::SessionState;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::config::Input;
use super::core::Core;
use super::lookout::FileChange;
use super::queue::Prompt;
use super::stop::{Exit, Stop};
use crate::frame::lifecycle;
use crate::frame::system;
use crate::task::StopBy;
use crate::turn::hooks::Base;
use crate::turn::interrupt::{Cause, Interrupt};
use crate::turn::{self, Finished};

/// How many control requests may be worked on at once. More wait for their turn.
const MAX_JOBS: usize = 64;
/// How often hooks hear of changes of settings files.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// How long a session that has lost its host waits for shells in the background.
const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

/// A session and everything that is going on in it.
pub(super) struct Actor {
    pub(super) core: Arc<Core>,
    input: Option<mpsc::Receiver<Bytes>>,
    stop: Stop,
    pub(super) turn: Option<Running>,
    /// Answers that take time.
    pub(super) jobs: FuturesUnordered<BoxFuture<'static, ()>>,
    pub(super) await_initialize: bool,
    last_was_error: bool,
    pub(super) ending: Option<Exit>,
    /// Tasks are to be stopped when the turn has ended.
    tasks_end: bool,
    /// No more turns: a signal or `end_session`.
    closing: bool,
    /// `running` was said and `idle` was not.
    pub(super) busy: bool,
    /// When the input was closed.
    closed_at: Option<Instant>,
    /// When to look at the settings files again.
    look_at: Instant,
}

/// The turn that is going on.
pub(super) struct Running {
    future: BoxFuture<'static, Finished>,
    pub(super) interrupt: Interrupt,
    prompts: Vec<MessageUuid>,
}

/// What happened.
enum Event {
    Lines(Option<Bytes>),
    TurnEnded(Finished),
    Task(Box<crate::task::TaskEvent>),
    JobDone,
    Interrupted,
    Terminated,
    WaitedLongEnough,
    TimeToLook,
    FilesChanged(Vec<FileChange>),
}

impl Actor {
    pub(super) fn new(
        core: Arc<Core>,
        input: mpsc::Receiver<Bytes>,
        stop: Stop,
        how: &Input,
    ) -> Self {
        let mut actor = Self {
            core,
            input: Some(input),
            stop,
            turn: None,
            jobs: FuturesUnordered::new(),
            await_initialize: matches!(
                how,
                Input::Lines {
                    await_initialize: true
                }
            ),
            last_was_error: false,
            ending: None,
            tasks_end: false,
            closing: false,
            busy: false,
            closed_at: None,
            look_at: Instant::now() + BETWEEN_LOOKS,
        };
        if let Input::OneShot(prompt) = how {
            actor.core.queue().push(Prompt::text(prompt.clone()));
            actor.input_closed();
        }
        actor
    }

    /// Runs the session to its end.
    pub(super) async fn run(mut self) -> Exit {
        self.say_hello().await;
        let exit = loop {
            if let Some(exit) = self.ending.take() {
                break exit;
            }
            self.start_turn().await;
            if self.is_over() {
                break self.normal_exit();
            }
            let event = self.next().await;
            self.handle(event).await;
        };
        self.close().await;
        exit
    }

    /// Hooks of settings files hear that a session starts.
    async fn say_hello(&mut self) {
        let core = &self.core;
        let title = core.state().title.clone();
        if let Some(title) = title {
            core.speaker.say(system::title_changed(&title)).await;
        }
        if !core.hooks.has(&HookEvent::SessionStart) {
            return core.watch_files(Vec::new());
        }
        let resumed = !core.state().conversation.is_empty();
        let source = if resumed { "resume" } else { "startup" };
        let input = Base::of_session(core, None).session_start(source);
        let token = self.stop.terminated();
        let fired = core.hooks.fire(&input, Some(source), token).await;
        core.state().start_contexts.extend(fired.contexts);
        core.watch_files(fired.watch_paths);
    }

    /// Hooks of settings files hear that it ends, except when there is no time for them.
    async fn say_goodbye(&mut self) {
        let core = &self.core;
        if !core.hooks.has(&HookEvent::SessionEnd) {
            return;
        }
        let last_prompt = core.state().last_prompt_id.clone();
        let input = Base::of_session(core, last_prompt.as_deref()).session_end("other");
        let token = self.stop.terminated();
        core.hooks
            .fire_in_settings(&input, Some("other"), token)
            .await;
    }

    async fn next(&mut self) -> Event {
        let core = Arc::clone(&self.core);
        let has_turn = self.turn.is_some();
        let has_jobs = !self.jobs.is_empty();
        let has_room = self.jobs.len() < MAX_JOBS;
        let reads = self.input.is_some() && has_room;
        let deadline = self.background_deadline();
        // Only where somebody wants to know at once: idle sessions are not to be woken.
        let is_watched = core.hooks.has(&HookEvent::ConfigChange);
        let look_at = is_watched.then_some(self.look_at);
        let input = &mut self.input;
        let turn = &mut self.turn;
        let lines = async {
            match input {
                Some(input) => input.recv().await,
                None => std::future::pending().await,
            }
        };
        let finished = async {
            match turn {
                Some(turn) => (&mut turn.future).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.stop.terminated().cancelled() => Event::Terminated,
            () = self.stop.interrupted().cancelled(), if !self.closing => Event::Interrupted,
            bytes = lines, if reads => Event::Lines(bytes),
            finished = finished, if has_turn => Event::TurnEnded(finished),
            event = core.next_task_event() => Event::Task(Box::new(event)),
            Some(()) = self.jobs.next(), if has_jobs => Event::JobDone,
            () = sleep_until(deadline) => Event::WaitedLongEnough,
            () = sleep_until(look_at) => Event::TimeToLook,
            changes = core.next_file_changes(), if has_room => Event::FilesChanged(changes),
        }
    }

    /// When to stop waiting for shells after the input was closed.
    fn background_deadline(&self) -> Option<Instant> {
        let closed_at = self.closed_at.filter(|_| self.turn.is_none())?;
        let variable = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS";
        let limit = self.core.workbench.shop.environment.text(variable);
        let limit = limit.and_then(|text| text.trim().parse().ok());
        Some(closed_at + limit.map_or(BACKGROUND_WAIT, Duration::from_millis))
    }

    async fn handle(&mut self, event: Event) {
        match event {
            Event::Lines(Some(bytes)) => {
                // Answers that are ready go out before the host is heard again.
                while let Some(Some(())) = self.jobs.next().now_or_never() {}
                self.read(&bytes).await;
            }
            Event::Lines(None) => self.input_closed(),
            Event::TurnEnded(finished) => self.turn_ended(finished).await,
            Event::Task(event) => self.core.take_task_event(*event).await,
            Event::JobDone => {}
            Event::Interrupted => self.interrupted().await,
            Event::Terminated => self.terminated(),
            Event::WaitedLongEnough => self.closing = true,
            Event::TimeToLook => self.look_at_settings(),
            Event::FilesChanged(changes) => {
                let core = Arc::clone(&self.core);
                self.jobs.push(Box::pin(core.tell_file_changes(changes)));
            }
        }
    }

    /// Somebody may have changed the settings files.
    fn look_at_settings(&mut self) {
        self.look_at = Instant::now() + BETWEEN_LOOKS;
        let changes = self.core.watch().look();
        if changes.is_empty() {
            return;
        }
        if self.core.hooks.has(&HookEvent::ConfigChange) {
            let core = Arc::clone(&self.core);
            self.jobs.push(Box::pin(core.take_changes(changes)));
        } else {
            self.core.take_restrictions();
        }
    }

    fn input_closed(&mut self) {
        self.input = None;
        self.closed_at = Some(Instant::now());
        self.core.host.close();
    }

    async fn interrupted(&mut self) {
        self.closing = true;
        match &self.turn {
            Some(turn) => turn.interrupt.pull(Cause::User, None),
            None => self.ending = Some(Exit::default()),
        }
    }

    fn terminated(&mut self) {
        self.turn = None;
        self.ending = Some(Exit {
            code: 143,
            stderr: Vec::new(),
        });
    }

    /// Whether nothing is left to do.
    fn is_over(&self) -> bool {
        let idle = self.turn.is_none();
        if self.closing && idle {
            return true;
        }
        let waiting = !self.core.queue().is_empty() || !self.jobs.is_empty();
        let tasks = || !self.core.workbench.shop.tasks.list().is_empty();
        // The end of a task is news that may start a turn.
        let news = || self.core.has_task_events();
        self.input.is_none() && idle && !waiting && !tasks() && !news()
    }

    /// 1 after an error, except when a signal ended the session.
    fn normal_exit(&self) -> Exit {
        let failed = self.last_was_error && !self.closing;
        Exit {
            code: i32::from(failed),
            stderr: Vec::new(),
        }
    }

    async fn close(&mut self) {
        self.turn = None;
        self.jobs.clear();
        self.core.host.close();
        self.say_goodbye().await;
        let core = &self.core;
        core.lookout().close();
        core.workbench.shop.tasks.close().await;
        core.servers.close().await;
        core.hooks.close().await;
        core.record.close().await;
    }

    /// Starts the next turn, if there is something to do and nothing going on.
    async fn start_turn(&mut self) {
        let is_held_up = self.core.state().pending_switches > 0;
        if self.turn.is_some() || self.closing || is_held_up {
            return;
        }
        let prompts = self.core.queue().take_turn();
        let task_ended = std::mem::take(&mut self.core.state().task_ended);
        if prompts.is_empty() {
            if std::mem::take(&mut self.busy) || task_ended {
                self.core.speaker.state(SessionState::Idle).await;
            }
            return;
        }
        self.tell_busy().await;
        // The words of all are shown under the name of the last.
        let mut named = prompts.iter().filter(|it| it.uuid.is_some());
        let _last = named.next_back();
        for prompt in named {
            self.core.echo(prompt).await;
        }
        let uuids: Vec<MessageUuid> = prompts.iter().filter_map(|it| it.uuid.clone()).collect();
        for uuid in &uuids {
            let frame = lifecycle::command(uuid, CommandState::Started);
            self.core.speaker.say(frame).await;
        }
        self.look_at_settings();
        self.core.record.dequeued();
        self.core.state().turns += 1;
        let interrupt = Interrupt::default();
        let core = Arc::clone(&self.core);
        self.turn = Some(Running {
            future: Box::pin(turn::run(core, prompts, interrupt.clone())),
            interrupt,
            prompts: uuids,
        });
    }

    /// Tells the host that work has begun, if that is news.
    pub(super) async fn tell_busy(&mut self) {
        if !std::mem::replace(&mut self.busy, true) {
            self.core.speaker.state(SessionState::Running).await;
        }
    }

    async fn turn_ended(&mut self, finished: Finished) {
        self.last_was_error = finished.is_error;
        let prompts = self.turn.take().map(|it| it.prompts).unwrap_or_default();
        for uuid in &prompts {
            let frame = lifecycle::command(uuid, finished.prompts.clone());
            self.core.speaker.say(frame).await;
        }
        self.end_tasks();
    }

    /// The lever of the running turn.
    pub(super) fn interrupt(&self) -> Option<&Interrupt> {
        self.turn.as_ref().map(|turn| &turn.interrupt)
    }

    /// Stops what runs in the background when the turn has ended. Without a turn nothing is
    /// interrupted.
    pub(super) fn stop_tasks_after_turn(&mut self) {
        self.tasks_end = self.turn.is_some();
    }

    /// What becomes of the tasks is told when it has happened.
    fn end_tasks(&mut self) {
        if !std::mem::take(&mut self.tasks_end) {
            return;
        }
        let core = Arc::clone(&self.core);
        self.jobs.push(Box::pin(async move {
            core.workbench.shop.tasks.stop_all(StopBy::Interrupt).await;
        }));
    }

    /// No more turns; the session ends when its answer is out.
    pub(super) fn end_session(&mut self) {
        self.closing = true;
        self.turn = None;
    }
}

pub(super) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
