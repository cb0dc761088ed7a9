//! Guarantees about the order of messages, requests and endings.
//!
//! This page has no code. It says what a program may rely on, what it may not, which deadlocks
//! handlers make possible, and what happens to work that is dropped or takes too long.
//!
//! # Three ways to hear from an engine
//!
//! An engine writes one line after the other. One task reads them, never waits for code of yours,
//! and sorts them:
//!
//! - **Messages** wait in a backlog until you read them from [`Messages`] or [`Run`].
//! - **Requests** are permissions, questions, plans, hooks and calls of your tools. Each starts its
//!   handler at once, in a task of its own.
//! - **Answers** to requests of yours, such as [`Client::interrupt`], go to the caller that waits.
//!
//! Messages come in the order of the engine, and none is dropped without a warning in its place. Between the three there is one rule:
//! everything the engine wrote before a request or an answer can be read from the backlog by the
//! time the handler starts or the caller goes on. It need not have been read. So:
//!
//! - A permission handler may run before you have read the call it is about, or any message of the
//!   turn. Decide on [`PermissionRequest::ask`], not on what your reading loop has seen.
//! - [`Client::set_model`] may return before you have read the messages of the old model.
//! - [`Client::idle`] looks at the run as the reading task sees it. It may return before the last
//!   messages can be read: read on until you have the result you want.
//!
//! A slow reader holds up nobody: unread messages go to memory, then to disk. Only when the disk
//! part is full ([`Options::backlog_limits`]) does the reading task wait, and then requests behind
//! the full backlog wait as well.
//!
//! # Order within a turn
//!
//! For one tool call, both the official CLI and the native engine keep this order:
//!
//! 1. the [`Message::Assistant`] with the call
//! 2. `PreToolUse` hooks
//! 3. the permission request, with the arguments as hooks left them
//! 4. the tool itself; for a tool of yours, its function
//! 5. `PostToolUse` or `PostToolUseFailure` hooks
//! 6. the [`Message::User`] with the result
//!
//! Then, when the model has stopped, come `Stop` hooks, the [`Message::Result`], and later the
//! session state `idle`.
//!
//! Do not assume more than that:
//!
//! - Calls of one message may run at the same time if they only read, and so may their handlers.
//!   Results come in the order in which calls end. A handler must be able to run twice at once.
//! - All hooks that match an event are asked at once. The strictest answer counts.
//! - A `PermissionRequest` hook and the permission handler are asked at once. The first answer
//!   counts, and the other request is withdrawn.
//! - A permission request need not belong to a call in a message: the CLI asks about network access
//!   of a sandboxed command under an id of its own.
//! - A denied call still gets its [`Message::User`] with a result.
//!
//! # Prompts, results and the end of a run
//!
//! Prompts that one task sends arrive in that order. [`Client::send`] returns when the line is on
//! its way, not when the engine has read it.
//!
//! Prompts and results do not pair up. Prompts sent while the agent works may share a result;
//! background tasks cause results that answer no prompt. Match them with
//! [`Ticket::is_answered_by`].
//!
//! A result ends a turn, not the run. Messages may follow it, and whole turns. A [`Run`] ends by
//! itself when every prompt is answered, no turn is queued and no background task runs;
//! [`Client::idle`] waits for the same. With a session store, a result is handed out only after
//! the store has taken everything that led to it.
//!
//! The stream of messages ends after the engine has: once it returns `None` or an error, the
//! process and everything it started are gone, and open requests have been denied.
//!
//! # Deadlocks
//!
//! The turn waits for your handler. So a handler must not wait for the turn, directly or through
//! another task.
//!
//! - **A reading loop that only reads.** The handler asks a task for the answer, and that task is
//!   busy with [`Messages::next`] until the result. The result cannot come before the answer. Let
//!   the task wait for both, as below.
//! - **Waiting for the run.** [`Client::idle`] never returns in a handler of the same run.
//! - **Interrupting.** The engine withdraws the request before it answers [`Client::interrupt`], and
//!   a withdrawn handler is dropped at its `await`: code behind it does not run. Return
//!   [`Decision::deny_and_stop`] instead.
//! - **Closing.** [`Client::close`] drops open handlers first, and with the handler the call it is
//!   making: the session stays open. Let a task that is not a handler close it.
//! - **Owning the client.** The session owns its handlers. A handler that owns a [`Client`] of the
//!   session keeps it alive after you have dropped yours. Give the handler a channel to the task
//!   that has the client.
//! - **Blocking.** A handler that blocks its thread, with `std::thread::sleep` or a lock, cannot be
//!   dropped or timed out. On a runtime with one thread it stops the reading task, too. Use
//!   `tokio::task::spawn_blocking`.
//!
//! None of these lasts for ever unless [`Options::without_permission_timeout`] is set: after the
//! limit the answer is a denial. Requests to the engine from a handler are fine otherwise, as long
//! as the engine can answer them in the middle of a turn: [`Client::set_permission_mode`] can.
//!
//! One task that reads messages and answers permission requests:
//!
//! ```no_run
//! use falconer::{Client, Decision, Message, Options, PermissionRequest};
//! use tokio::sync::{mpsc, oneshot};
//!
//! # async fn example() -> Result<(), falconer::Error> {
//! type Question = (PermissionRequest, oneshot::Sender<Decision>);
//! let (questions, mut asked) = mpsc::channel::<Question>(8);
//! let options = Options::new().on_permission(move |request| {
//!     let questions = questions.clone();
//!     async move {
//!         let (answer, decision) = oneshot::channel();
//!         if questions.send((request, answer)).await.is_err() {
//!             return Decision::deny("nobody answers any more");
//!         }
//!         decision.await.unwrap_or_else(|_| Decision::deny("nobody answered"))
//!     }
//! });
//! let (client, mut messages) = Client::connect(options).await?;
//! client.send("Tidy up the tests").await?;
//! loop {
//!     tokio::select! {
//!         Some((request, answer)) = asked.recv() => {
//!             // The call may still be unread in `messages`.
//!             println!("{} {}", request.tool_name(), request.input());
//!             // Fails if the request was withdrawn in the meantime.
//!             let _ = answer.send(Decision::deny("not today"));
//!         }
//!         message = messages.next() => match message {
//!             Some(Ok(Message::Result(_))) | None => break,
//!             Some(message) => drop(message?),
//!         },
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Dropping and cancelling
//!
//! | dropped | effect |
//! |---|---|
//! | the future of [`Messages::next`] | none; the next call continues where it was |
//! | the future of [`Client::send`] | the line is sent whole or not at all |
//! | the future of another [`Client`] method | the engine may still act; its answer is ignored |
//! | [`Messages`] | the engine goes on, handlers are served, messages are thrown away |
//! | the last [`Client`] | the input ends: the engine finishes what it has and ends, messages go on, but permissions and hooks can no longer be answered, which denies them |
//! | both, or a [`Run`] | handlers are dropped, the engine is terminated with everything it started |
//!
//! [`Client::end_input`] is the same as dropping the last client. [`Client::close`] answers open
//! requests with a denial first, then ends the input, then terminates and kills, and returns when
//! nothing is left. Messages that came before can still be read.
//!
//! A handler is dropped at its next `await` when its request is withdrawn (an interrupt, another
//! answer), when its time is up, and when the session ends. Put cleanup into a guard with [`Drop`],
//! or watch [`PermissionRequest::withdrawn`] from a task of your own:
//!
//! ```no_run
//! use falconer::{Decision, Options, PermissionRequest};
//!
//! # fn close_dialog(id: u64) {}
//! # async fn dialog(id: u64) -> bool { true }
//! let options = Options::new().on_permission(|request: PermissionRequest| async move {
//!     let dialog_id = 7;
//!     let withdrawn = request.withdrawn.clone();
//!     tokio::spawn(async move {
//!         withdrawn.cancelled().await;
//!         close_dialog(dialog_id);
//!     });
//!     if dialog(dialog_id).await {
//!         Decision::allow()
//!     } else {
//!         Decision::deny("the user said no")
//!     }
//! });
//! # let _ = options;
//! ```
//!
//! # Time limits
//!
//! | wait | default | then |
//! |---|---|---|
//! | permission, question, plan | 300 s, [`Options::permission_timeout`] | denied |
//! | form of an MCP server, dialog | the same | cancelled |
//! | hook | 60 s, [`Options::hook_timeout`] or [`Hook::timeout`] | as [`OnFailure`] says |
//! | tool of yours | 120 s, [`Tool::timeout`] | the model reads an error |
//! | answer of the engine to a request | 60 s, [`Options::request_timeout`] | [`Error::Timeout`]; a late answer is ignored |
//! | a [`Run`] after its last result, until it is idle | 600 s, [`Options::idle_ceiling`] | closed |
//! | [`Client::close`] | 5 s, [`Options::close_grace`], and 2 s, [`Options::kill_grace`] | SIGTERM, then SIGKILL |
//!
//! A handler that panics counts as one whose time is up. [`Client::handler_failures`] counts both.

#[expect(unused_imports, reason = "for the links in this page")]
use crate::{
    Client, Decision, Error, Hook, Message, Messages, OnFailure, Options, PermissionRequest, Run,
    Ticket, Tool,
};
