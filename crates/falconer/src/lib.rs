//! Run coding agents from Rust.
//!
//! [`query`] asks one thing and streams what the agent does. [`query_as`] wants the answer in
//! a type of yours. [`Client`] is for conversations. All of them drive the official Claude
//! Code CLI as a child process, an engine in this process ([`Options::engine`]), or any other
//! engine through a [`Transport`].
//!
//! ```no_run
//! # async fn example() -> Result<(), falconer::Error> {
//! use falconer::{Decision, Message, Options, query};
//!
//! let options = Options::new()
//!     .allow_tools(["Read", "Grep"])
//!     .on_permission(|request| async move {
//!         match request.tool_name() {
//!             "Bash" => Decision::deny("no commands, please"),
//!             _ => Decision::allow(),
//!         }
//!     });
//! let mut run = query("Where is the parser?", options).await?;
//! while let Some(message) = run.next().await {
//!     match message? {
//!         Message::Assistant(answer) => print!("{}", answer.text()),
//!         Message::Result(result) => println!("\n{} turns", result.num_turns.unwrap_or(0)),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What the agent may do is decided by rules ([`Options::allow_tools`],
//! [`Options::disallow_tools`]), the [`PermissionMode`], hooks ([`Options::hook`]) and, for
//! what is left, the permission handler. Without a handler what would be asked is denied.
//! Tools of your own are async functions: see [`Tool`].
//!
//! Handlers run beside the loop that reads messages. [`ordering`] says what you may rely on.

#![deny(missing_docs)]

pub mod account;
mod client;
mod connection;
mod elicitation;
mod engine_choice;
mod error;
mod failure;
mod handlers;
mod hook;
pub mod isolation;
mod launch;
mod messages;
pub mod mirror;
mod options;
pub mod ordering;
mod permission;
mod position;
mod prompt;
mod query;
mod question;
pub mod sessions;
mod start;
mod structured;
mod tool;
mod transport;

pub use falconer_process::SpawnError;
/// The wire types: messages, content blocks, control requests, hooks, permissions.
pub use falconer_protocol as protocol;
pub use falconer_protocol::message::ResultMessage;
pub use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
pub use falconer_protocol::{Message, MessageKind, Priority, RawMessage};

pub use client::{Client, Closed};
pub use elicitation::{
    DialogAnswer, DialogHandler, DialogRequest, ElicitationAnswer, ElicitationHandler,
    ElicitationRequest,
};
pub use engine_choice::{EngineLaunch, InProcessEngine};
pub use error::Error;
pub use failure::{Failure, FailureClass};
pub use hook::{Hook, HookCall, HookError, OnFailure};
pub use launch::{
    CliFeature, CliVersion, ExecutableProblem, HostFeatures, LaunchPlan, LaunchWarning, NamedBy,
    OLDEST_CLI_VERSION, OptionProblem, OptionProblems, SdkServer, SettingsVariable, Support,
    Surroundings, TESTED_CLI_VERSION, UnreadableVersion, VersionProblem, find_cli,
};
pub use messages::{Messages, Response};
pub use options::{
    Auth, BacklogLimits, Billing, BuiltinTools, Bypass, CloseLadder, Effort, Options,
    PermissionPrompts, Plugin, PreviewFormat, RuntimeLimits, SettingSource, Settings, Skills,
    SystemPrompt, Thinking, ThinkingDisplay, TraceContext, mcp_tool_name,
};
pub use permission::{Decision, PermissionHandler, PermissionRequest};
pub use position::Position;
pub use prompt::{Prompt, Ticket};
pub use query::{Outcome, Run, query, query_through};
pub use question::{
    Answers, PlanDecision, PlanHandler, PlanRequest, QuestionHandler, QuestionRequest,
};
pub use structured::{Structured, query_as, schema_of};
#[cfg(feature = "rmcp")]
pub use tool::RmcpServer;
pub use tool::{
    DEFAULT_TOOL_TIMEOUT, IntoToolOutput, MediaKind, MountedServer, Tool, ToolCall, ToolContent,
    ToolOutput, ToolServer,
};
pub use transport::{
    Ending, Engine, EngineEnd, EngineExit, Inbound, LineSink, LineSource, Link, SkippedLine,
    StderrCallback, Subprocess, Transport, channel,
};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So do those of the page on accounts.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/accounts.md")]
struct Accounts;

/// And those of the page on isolation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/isolation.md")]
struct Isolation;

/// And those of the page on the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
