//! A long conversation with one engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use falconer_protocol::TaskId;
use falconer_protocol::command::SlashCommand;
use falconer_protocol::control::{
    AccountInfo, AgentInfo, ApplyFlagSettings, CancelAsyncMessage, CancelAsyncMessageResponse,
    ContextUsage, GetContextUsage, HostRequest, InitializeResponse, Interrupt, InterruptResponse,
    McpMessage, McpReconnect, McpSetServers, McpSetServersResponse, McpStatus, McpStatusResponse,
    McpToggle, ModelInfo, RewindFiles, RewindResponse, SetMaxThinkingTokens, SetModel,
    SetModelResponse, SetPermissionMode, StopTask,
};
use falconer_protocol::mcp::{McpServerConfig, McpServerStatus};
use falconer_protocol::permission::PermissionMode;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::connection::{Connection, RunPhase};
use crate::error::Error;
use crate::isolation::IsolationInForce;
use crate::messages::Messages;
use crate::options::{Billing, Options};
use crate::prompt::{Prompt, Ticket};
use crate::start;
use crate::transport::{EngineExit, Transport};

/// A handle on a running engine: send, interrupt, change, ask, close.
///
/// Cheap to clone and usable from several tasks at once. The messages come from the
/// [`Messages`] that [`Client::connect`] returns with it. The engine and everything it
/// started end when [`Client::close`] is called, or when the last `Client` and the
/// `Messages` are gone.
///
/// Every method that asks the engine something fails with [`Error::Timeout`] when it does
/// not answer, with [`Error::Refused`] when it says no, and with [`Error::EngineEnded`] when
/// it is gone.
///
/// ```no_run
/// # async fn example() -> Result<(), falconer::Error> {
/// use falconer::{Client, Options};
///
/// let (client, mut messages) = Client::connect(Options::new()).await?;
/// let ticket = client.send("What is in this directory?").await?;
/// while let Some(message) = messages.next().await {
///     if let falconer::Message::Result(result) = message? {
///         assert!(ticket.is_answered_by(&result));
///         break;
///     }
/// }
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) connection: Arc<Connection>,
    hello: Arc<InitializeResponse>,
    verbatim: bool,
    pub(crate) billing: Option<Billing>,
    pub(crate) isolation: Option<Arc<IsolationInForce>>,
    pub(crate) cost_before: f64,
    _last: Arc<LastClient>,
}

/// Ends the input when the last client is gone; the messages may still be read.
#[derive(Debug)]
struct LastClient(Arc<Connection>);

impl Drop for LastClient {
    fn drop(&mut self) {
        self.0.end_input();
    }
}

/// The end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closed {
    /// End of the engine. Exit code 1 is usual when the last result was an error.
    pub exit: EngineExit,
    /// The last lines it wrote to stderr.
    pub stderr: Vec<String>,
}

impl Client {
    pub(crate) fn new(
        connection: Arc<Connection>,
        hello: InitializeResponse,
        verbatim: bool,
    ) -> Self {
        let last = Arc::new(LastClient(connection.clone()));
        Self {
            connection,
            hello: Arc::new(hello),
            verbatim,
            billing: None,
            isolation: None,
            cost_before: 0.0,
            _last: last,
        }
    }

    /// Returns the payer, as far as the launch decides it; `None` for an engine behind a transport.
    #[must_use]
    pub fn billing(&self) -> Option<Billing> {
        self.billing
    }

    /// The isolation the run really has; none if none was asked for.
    #[must_use]
    pub fn isolation(&self) -> Option<&IsolationInForce> {
        self.isolation.as_deref()
    }

    /// Returns the cost of the session before it was resumed, in US dollars; zero for a new one.
    ///
    /// The `total_cost_usd` of results counts on from there, unless it is lower.
    #[must_use]
    pub fn cost_before(&self) -> f64 {
        self.cost_before
    }

    /// Starts the official CLI, or the engine of [`Options::engine`], and waits until it is
    /// ready.
    ///
    /// # Errors
    /// Everything that can be known to be wrong before the start, and
    /// [`Error::Failed`] or [`Error::EngineEnded`] if the CLI refuses to start.
    pub async fn connect(options: Options) -> Result<(Self, Messages), Error> {
        // Starting holds a lot on its way; callers should not have to carry that.
        Box::pin(start::cli(options, None)).await
    }

    /// Connects through a transport of the caller's: another engine, a recording, a remote
    /// process. Options that are carried by the command line have no effect then.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_through(
        transport: impl Transport,
        options: Options,
    ) -> Result<(Self, Messages), Error> {
        Box::pin(start::through(Box::new(transport), options, None)).await
    }

    /// Sends a message. It is queued if the agent is at work.
    ///
    /// # Errors
    /// When the engine is gone.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<Ticket, Error> {
        let (input, ticket) = prompt.into().into_input();
        self.connection.send_prompt(&input, self.verbatim).await?;
        Ok(ticket)
    }

    /// Waits until nothing is left to do: every message answered, no queued turn, no
    /// background task.
    ///
    /// Returns at once if nothing was ever sent, and when the engine ends.
    pub async fn idle(&self) {
        let mut standing = self.connection.shared.standing();
        if self.connection.shared.is_untouched() {
            return;
        }
        tokio::select! {
            _ = standing.wait_for(|standing| standing.phase == RunPhase::Over) => {}
            _ = self.connection.shared.end_of_engine() => {}
        }
    }

    /// Interrupts the turn; messages that were queued stay and run next.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn interrupt(&self) -> Result<InterruptResponse, Error> {
        self.ask(Interrupt::default()).await
    }

    /// Interrupts the turn and takes back what was queued.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn interrupt_all(&self) -> Result<InterruptResponse, Error> {
        self.ask(Interrupt {
            cancel_queued: Some(true),
            ..Interrupt::default()
        })
        .await
    }

    /// Changes the model from the next turn on; returns its full name.
    ///
    /// # Errors
    /// See [`Client`]; an unknown model is refused.
    pub async fn set_model(&self, model: impl Into<String>) -> Result<SetModelResponse, Error> {
        self.ask(SetModel {
            model: Some(model.into()),
            ..SetModel::default()
        })
        .await
    }

    /// Goes back to the engine's default model.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn reset_model(&self) -> Result<SetModelResponse, Error> {
        self.ask(SetModel::default()).await
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// See [`Client`]; bypassing is refused unless it was allowed at the start.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.tell(SetPermissionMode {
            mode,
            ..SetPermissionMode::default()
        })
        .await
    }

    /// Limits thinking to so many tokens; `None` goes back to what the session began with, 0
    /// turns thinking off where the model allows it.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        let mut request = SetMaxThinkingTokens {
            max_thinking_tokens: tokens,
            ..SetMaxThinkingTokens::default()
        };
        if tokens.is_none() {
            // Left out it would mean no change.
            request.extra.insert("max_thinking_tokens", Value::Null);
        }
        self.tell(request).await
    }

    /// Applies settings on the level of command line flags.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn apply_flag_settings(&self, settings: Value) -> Result<(), Error> {
        self.tell(ApplyFlagSettings {
            settings,
            ..ApplyFlagSettings::default()
        })
        .await
    }

    /// The MCP servers and how they are.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>, Error> {
        let status: McpStatusResponse = self.ask(McpStatus::default()).await?;
        Ok(status.mcp_servers)
    }

    /// Replaces the MCP servers that were added while running.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn set_mcp_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpSetServersResponse, Error> {
        self.ask(McpSetServers {
            servers,
            ..McpSetServers::default()
        })
        .await
    }

    /// Connects an MCP server anew.
    ///
    /// # Errors
    /// See [`Client`]; an unknown server is refused.
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.tell(McpReconnect {
            server_name: name.into(),
            ..McpReconnect::default()
        })
        .await
    }

    /// Switches an MCP server on.
    ///
    /// # Errors
    /// See [`Client`]; an unknown server is refused.
    pub async fn enable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.tell(McpToggle {
            server_name: name.into(),
            enabled: true,
            ..McpToggle::default()
        })
        .await
    }

    /// Switches an MCP server off.
    ///
    /// # Errors
    /// See [`Client`]; an unknown server is refused.
    pub async fn disable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.tell(McpToggle {
            server_name: name.into(),
            ..McpToggle::default()
        })
        .await
    }

    /// Tells the engine that the tools of an in-process server have changed.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn announce_tools_changed(&self, server: impl Into<String>) -> Result<(), Error> {
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        self.tell(HostRequest::McpMessage(McpMessage {
            server_name: server.into(),
            message: changed,
            ..McpMessage::default()
        }))
        .await
    }

    /// Measures the context window.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn context_usage(&self) -> Result<ContextUsage, Error> {
        self.ask(GetContextUsage::default()).await
    }

    /// Takes file changes back to how they were before this message was sent.
    ///
    /// # Errors
    /// See [`Client`]; refused unless file checkpointing was switched on.
    pub async fn rewind_files(&self, to: &Ticket) -> Result<RewindResponse, Error> {
        self.ask(rewind(to, None)).await
    }

    /// Says what [`Client::rewind_files`] would change.
    ///
    /// # Errors
    /// See [`Client`]; refused unless file checkpointing was switched on.
    pub async fn preview_rewind(&self, to: &Ticket) -> Result<RewindResponse, Error> {
        self.ask(rewind(to, Some(true))).await
    }

    /// Stops one background task.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn stop_task(&self, task_id: impl Into<TaskId>) -> Result<(), Error> {
        self.tell(StopTask {
            task_id: task_id.into(),
            ..StopTask::default()
        })
        .await
    }

    /// Takes back a message that is still queued; `false` if it was too late.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn cancel_message(&self, ticket: &Ticket) -> Result<bool, Error> {
        let answer: CancelAsyncMessageResponse = self
            .ask(CancelAsyncMessage {
                message_uuid: ticket.uuid().into(),
                ..CancelAsyncMessage::default()
            })
            .await?;
        Ok(answer.cancelled)
    }

    /// Sends initialize again: hooks and servers are replaced by what the options say,
    /// requests that are open are delivered again.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn reinitialize(&self) -> Result<InitializeResponse, Error> {
        let initialize = Box::new(self.connection.initialize().clone());
        self.ask(HostRequest::Initialize(initialize)).await
    }

    /// Sends any request, typed or not, and returns the raw answer.
    ///
    /// # Errors
    /// See [`Client`].
    pub async fn request(&self, request: HostRequest) -> Result<Value, Error> {
        self.ask(request).await
    }

    /// Returns the engine's description of itself: commands, models, agents, account, version.
    pub fn hello(&self) -> &InitializeResponse {
        &self.hello
    }

    /// The slash commands there are.
    pub fn supported_commands(&self) -> &[SlashCommand] {
        &self.hello.commands
    }

    /// The models there are to choose from.
    pub fn supported_models(&self) -> &[ModelInfo] {
        &self.hello.models
    }

    /// The sub-agents there are.
    pub fn supported_agents(&self) -> &[AgentInfo] {
        &self.hello.agents
    }

    /// Returns the account that pays, as far as the engine tells.
    pub fn account(&self) -> Option<&AccountInfo> {
        self.hello.account.as_ref()
    }

    /// The session of the last turn, once there was one. `/clear` changes it.
    pub fn session_id(&self) -> Option<String> {
        self.connection.shared.session()
    }

    /// The ids of the background tasks that run now.
    pub fn background_tasks(&self) -> Vec<String> {
        self.connection.shared.tasks()
    }

    /// The engine's process id, if it is a process.
    pub fn pid(&self) -> Option<u32> {
        self.connection.pid()
    }

    /// The last lines the engine wrote to stderr.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.connection.stderr_tail()
    }

    /// Returns the number of handlers (permissions, hooks, …) that panicked, failed or ran out of
    /// time.
    pub fn handler_failures(&self) -> u64 {
        self.connection.shared.desk.failures()
    }

    /// Ends the input. The engine finishes what it was given and ends; the messages go on
    /// until then.
    pub fn end_input(&self) {
        self.connection.end_input();
    }

    /// Ends the conversation and waits until nothing of the engine is left.
    ///
    /// Open permission requests are denied. An engine that does not end by itself is
    /// terminated, then killed.
    ///
    /// # Errors
    /// When reading from the engine had failed.
    pub async fn close(&self) -> Result<Closed, Error> {
        let end = self.connection.close().await;
        match &end.read_error {
            Some(_) => Err(end.error("being closed")),
            None => Ok(Closed {
                exit: end.exit.clone(),
                stderr: end.stderr.clone(),
            }),
        }
    }

    async fn ask<T: DeserializeOwned>(&self, request: impl Into<HostRequest>) -> Result<T, Error> {
        self.connection.request(&request.into()).await
    }

    async fn tell(&self, request: impl Into<HostRequest>) -> Result<(), Error> {
        self.connection.command(&request.into()).await
    }
}

fn rewind(to: &Ticket, dry_run: Option<bool>) -> RewindFiles {
    RewindFiles {
        user_message_id: to.uuid().into(),
        dry_run,
        ..RewindFiles::default()
    }
}
