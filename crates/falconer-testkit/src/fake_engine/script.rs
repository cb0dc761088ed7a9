//! The behaviour of a fake engine, step by step.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The behaviour of a fake engine.
///
/// After the last step it goes on answering control requests until its input ends; then it
/// exits, with code 1 if its last result was an error. While it waits for something else it
/// answers the control requests that come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EngineScript {
    /// The answer to `--version`, and the version in its messages.
    pub version: String,
    /// The id of its session, unless `--session-id` or `--resume` names one.
    pub session_id: String,
    /// Goes on living when its input has ended.
    pub ignore_eof: bool,
    /// Does not die of SIGTERM.
    pub ignore_sigterm: bool,
    /// Steps to take.
    pub steps: Vec<EngineStep>,
}

impl Default for EngineScript {
    fn default() -> Self {
        Self {
            version: "2.1.325".to_owned(),
            session_id: "5e551017-0000-4000-8000-000000000001".to_owned(),
            ignore_eof: false,
            ignore_sigterm: false,
            steps: Vec::new(),
        }
    }
}

/// One step of a fake engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum EngineStep {
    /// Waits for `initialize` and answers it.
    Initialize(InitializeReply),
    /// Waits for something from the host.
    Await(AwaitedMessage),
    /// Writes a whole turn: init, assistant, result, idle.
    Turn(Turn),
    /// Answers every prompt with a turn that repeats it, until the input ends.
    EchoUntilEof,
    /// Writes a message.
    Emit(Value),
    /// Writes a line that need not be JSON.
    EmitText(String),
    /// Writes part of a line, without its end.
    HalfLine(String),
    /// Writes a line with bytes that are not UTF-8.
    BadUtf8,
    /// Writes one assistant message of about so many bytes.
    HugeLine {
        /// Its length.
        bytes: usize,
    },
    /// Sends a control request and waits for its answer.
    Ask(Value),
    /// Writes to stderr.
    Stderr(String),
    /// Starts a process in a session of its own that sleeps.
    Grandchild {
        /// Seconds it sleeps.
        seconds: u64,
        /// Fate of its output.
        #[serde(default)]
        output: GrandchildOutput,
    },
    /// Does nothing for a time.
    Pause {
        /// Milliseconds.
        ms: u64,
    },
    /// Does nothing any more, and reads nothing.
    Hang,
    /// Exits with this code.
    Exit(i32),
    /// Dies of this signal.
    Crash(i32),
    /// Writes many messages fast: of 25, 20 stream events, 3 assistant and 2 tool results.
    Burst {
        /// Number of messages.
        messages: usize,
        /// The length of each.
        bytes: usize,
    },
    /// Writes many long messages fast.
    BigLines {
        /// Number of requests.
        count: usize,
        /// The length of each.
        bytes: usize,
    },
    /// Sends requests one after the other and reports how long the answers took.
    ///
    /// A `tool_use_id` in the request becomes a new one each time, and the `callback_id`
    /// `"first"` becomes the first the host has registered.
    RoundTrips {
        /// The request.
        request: Value,
        /// Number of lines.
        count: usize,
    },
}

/// The answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InitializeReply {
    /// As it should be.
    Once,
    /// The same answer two times.
    Twice,
    /// Not at all.
    Never,
    /// With an error.
    Error(String),
}

/// The line that a fake engine waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AwaitedMessage {
    /// A prompt.
    User,
    /// A control request of this subtype, which is answered.
    Control(String),
    /// The end of the input.
    Eof,
}

/// A turn in which the engine says one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Turn {
    /// Text of the result.
    pub text: String,
    /// `true` if the turn failed.
    pub is_error: bool,
    /// `true` to announce the state `idle` afterwards.
    pub idle: bool,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            text: "hello".to_owned(),
            is_error: false,
            idle: true,
        }
    }
}

/// The fate of a grandchild's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrandchildOutput {
    /// Nothing.
    #[default]
    Closed,
    /// It holds the engine's stdout open.
    Inherited,
}

impl EngineScript {
    /// A script without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// The script that is played when none is given: answers every prompt.
    pub fn echo() -> Self {
        Self::new().initialize().step(EngineStep::EchoUntilEof)
    }

    /// Goes on living when the input has ended.
    #[must_use]
    pub fn ignoring_eof(mut self) -> Self {
        self.ignore_eof = true;
        self
    }

    /// Does not die of SIGTERM.
    #[must_use]
    pub fn ignoring_sigterm(mut self) -> Self {
        self.ignore_sigterm = true;
        self
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: EngineStep) -> Self {
        self.steps.push(step);
        self
    }

    /// Waits for `initialize` and answers it.
    #[must_use]
    pub fn initialize(self) -> Self {
        self.step(EngineStep::Initialize(InitializeReply::Once))
    }

    /// Waits for `initialize` and answers it in this way.
    #[must_use]
    pub fn initialize_with(self, reply: InitializeReply) -> Self {
        self.step(EngineStep::Initialize(reply))
    }

    /// Waits for a prompt.
    #[must_use]
    pub fn on_user(self) -> Self {
        self.step(EngineStep::Await(AwaitedMessage::User))
    }

    /// Waits for a control request of this subtype.
    #[must_use]
    pub fn on_control(self, subtype: impl Into<String>) -> Self {
        self.step(EngineStep::Await(AwaitedMessage::Control(subtype.into())))
    }

    /// Writes a whole turn that says this.
    #[must_use]
    pub fn turn(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.step(EngineStep::Turn(Turn {
            text,
            ..Turn::default()
        }))
    }

    /// Writes a whole turn, but does not say that it is idle afterwards.
    #[must_use]
    pub fn turn_without_idle(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.step(EngineStep::Turn(Turn {
            text,
            idle: false,
            ..Turn::default()
        }))
    }

    /// Writes a whole turn that failed with this text.
    #[must_use]
    pub fn failed_turn(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.step(EngineStep::Turn(Turn {
            text,
            is_error: true,
            ..Turn::default()
        }))
    }

    /// Writes a message.
    #[must_use]
    pub fn emit(self, message: Value) -> Self {
        self.step(EngineStep::Emit(message))
    }

    /// Sends a control request and waits for its answer.
    #[must_use]
    pub fn ask(self, request: Value) -> Self {
        self.step(EngineStep::Ask(request))
    }

    /// Asks whether a tool may be used, and waits for the answer.
    #[must_use]
    pub fn ask_can_use_tool(self, tool: &str, input: Value) -> Self {
        self.ask(Self::can_use_tool(tool, input))
    }

    /// Calls a hook and waits for the answer. The id `first` means the first registered one.
    #[must_use]
    pub fn ask_hook(self, callback_id: &str, input: Value) -> Self {
        self.ask(Self::hook_callback(callback_id, input))
    }

    /// Sends a message to an MCP server of the host and waits for the answer.
    #[must_use]
    pub fn ask_mcp(self, server: &str, message: Value) -> Self {
        self.ask(Self::mcp_message(server, message))
    }

    /// A request whether a tool may be used.
    pub fn can_use_tool(tool: &str, input: Value) -> Value {
        let mut request = json!({"subtype": "can_use_tool", "tool_name": tool,
                                 "display_name": tool, "tool_use_id": "toolu_fake_0001"});
        request["input"] = input;
        request
    }

    /// A call of a hook.
    pub fn hook_callback(callback_id: &str, input: Value) -> Value {
        let mut request = json!({"subtype": "hook_callback", "callback_id": callback_id,
                                 "tool_use_id": "toolu_fake_0001"});
        request["input"] = input;
        request
    }

    /// A message to an MCP server of the host.
    pub fn mcp_message(server: &str, message: Value) -> Value {
        let mut request = json!({"subtype": "mcp_message", "server_name": server});
        request["message"] = message;
        request
    }
}
