//! Plays a script.

use std::collections::VecDeque;
use std::time::Duration;

use falconer_testkit::{AwaitedMessage, EngineScript, EngineStep, InitializeReply, Turn};
use serde_json::{Value, json};

use crate::messages::{Messages, failure, success};
use crate::wire::{Wire, complain};
use crate::{Stop, bench, misbehave};

/// A script being played.
pub(crate) struct Play {
    script: EngineScript,
    pub(crate) wire: Wire,
    pub(crate) messages: Messages,
    /// Prompts that came while something else was waited for.
    prompts: VecDeque<Value>,
    /// The prompt the next turn answers.
    prompt: Value,
    /// The first callback the host has registered.
    callback: Option<String>,
    last_result_failed: bool,
}

impl Play {
    pub(crate) fn new(script: EngineScript, session: Option<String>, wire: Wire) -> Self {
        let session = session.unwrap_or_else(|| script.session_id.clone());
        Self {
            messages: Messages::new(session, script.version.clone()),
            script,
            wire,
            prompts: VecDeque::new(),
            prompt: Value::Null,
            callback: None,
            last_result_failed: false,
        }
    }

    /// Plays to the end; the exit code.
    pub(crate) fn run(mut self) -> Result<u8, Stop> {
        let steps = std::mem::take(&mut self.script.steps);
        let played = steps.iter().try_for_each(|step| self.step(step));
        let ended = played.and_then(|()| self.serve());
        match ended {
            Err(Stop::Eof) if self.script.ignore_eof => misbehave::hang(),
            Err(Stop::Eof) => {
                self.wire.flush()?;
                Ok(u8::from(self.last_result_failed))
            }
            Err(stop) => {
                self.wire.flush()?;
                Err(stop)
            }
            Ok(never) => match never {},
        }
    }

    fn step(&mut self, step: &EngineStep) -> Result<(), Stop> {
        match step {
            EngineStep::Initialize(reply) => self.initialize(reply),
            EngineStep::Await(awaited) => self.wait_for(awaited),
            EngineStep::Turn(turn) => self.turn(turn),
            EngineStep::EchoUntilEof => self.echo(),
            EngineStep::Emit(message) => self.emit(message),
            EngineStep::EmitText(text) => self.text(&format!("{text}\n")),
            EngineStep::HalfLine(text) => self.text(text),
            EngineStep::BadUtf8 => Ok(self.wire.write_bytes(b"{\"type\":\"\xff\xfe\"}\n")?),
            EngineStep::HugeLine { bytes } => self.long_line(*bytes),
            EngineStep::Ask(request) => self.ask(request).map(drop),
            EngineStep::Stderr(text) => {
                complain(text);
                Ok(())
            }
            EngineStep::Grandchild { seconds, output } => {
                let pid = misbehave::grandchild(*seconds, *output)?;
                Ok(self.wire.dump.grandchild(pid)?)
            }
            EngineStep::Pause { ms } => self.pause(Duration::from_millis(*ms)),
            EngineStep::Hang => {
                self.wire.flush()?;
                misbehave::hang()
            }
            EngineStep::Exit(code) => Err(Stop::Exit(u8::try_from(*code).unwrap_or(u8::MAX))),
            EngineStep::Crash(signal) => {
                self.wire.flush()?;
                misbehave::crash(*signal)
            }
            EngineStep::Burst { messages, bytes } => bench::burst(self, *messages, *bytes),
            EngineStep::BigLines { count, bytes } => bench::big_lines(self, *count, *bytes),
            EngineStep::RoundTrips { request, count } => bench::round_trips(self, request, *count),
            other => Err(Stop::Wrong(format!("unknown step {other:?}"))),
        }
    }

    fn initialize(&mut self, reply: &InitializeReply) -> Result<(), Stop> {
        let id = self.request("initialize")?["request_id"].clone();
        let answer = success(&id, self.messages.initialized());
        match reply {
            InitializeReply::Never => Ok(()),
            InitializeReply::Error(text) => self.emit(&failure(&id, text, None)),
            InitializeReply::Twice => {
                self.emit(&answer)?;
                self.emit(&answer)
            }
            _ => self.emit(&answer),
        }
    }

    fn wait_for(&mut self, awaited: &AwaitedMessage) -> Result<(), Stop> {
        match awaited {
            AwaitedMessage::User => self.next_prompt(),
            AwaitedMessage::Control(subtype) => {
                let message = self.request(subtype)?;
                self.emit(&answer_to(&message["request_id"], &message["request"]))
            }
            AwaitedMessage::Eof => match self.read() {
                Err(Stop::Eof) => Ok(()),
                Err(stop) => Err(stop),
                Ok(_) => self.wait_for(awaited),
            },
            other => Err(Stop::Wrong(format!("cannot wait for {other:?}"))),
        }
    }

    /// Waits for a control request of this subtype.
    fn request(&mut self, subtype: &str) -> Result<Value, Stop> {
        loop {
            let message = self.receive()?;
            if message["type"] != "control_request" {
                self.keep(message);
            } else if message["request"]["subtype"] == subtype {
                return Ok(message);
            } else {
                self.emit(&answer_to(&message["request_id"], &message["request"]))?;
            }
        }
    }

    fn next_prompt(&mut self) -> Result<(), Stop> {
        loop {
            if let Some(prompt) = self.prompts.pop_front() {
                self.prompt = prompt;
                return Ok(());
            }
            self.read()?;
        }
    }

    /// Reads one message, keeping prompts and answering requests.
    fn read(&mut self) -> Result<Value, Stop> {
        let message = self.receive()?;
        if message["type"] == "control_request" {
            self.emit(&answer_to(&message["request_id"], &message["request"]))?;
        }
        self.keep(message.clone());
        Ok(message)
    }

    fn receive(&mut self) -> Result<Value, Stop> {
        let message = self.wire.read()?.ok_or(Stop::Eof)?;
        if message["request"]["subtype"] == "initialize" {
            self.callback = first_callback(&message["request"]["hooks"]);
        }
        Ok(message)
    }

    fn keep(&mut self, message: Value) {
        if message["type"] == "user" {
            self.prompts.push_back(message);
        }
    }

    /// A turn in answer to the prompt that was waited for, if one was.
    fn turn(&mut self, turn: &Turn) -> Result<(), Stop> {
        let prompt = self.prompt.take()["uuid"].take();
        if prompt.is_string() {
            self.lifecycle(&prompt, "queued")?;
            self.lifecycle(&prompt, "started")?;
        }
        let messages = [
            self.messages.session_state("running"),
            self.messages.init(),
            self.messages.assistant(&turn.text),
            self.messages.result(&turn.text, turn.is_error, &prompt),
        ];
        messages.iter().try_for_each(|message| self.emit(message))?;
        if prompt.is_string() {
            self.lifecycle(&prompt, "completed")?;
        }
        if turn.idle {
            let idle = self.messages.session_state("idle");
            self.emit(&idle)?;
        }
        Ok(self.wire.flush()?)
    }

    fn lifecycle(&mut self, prompt: &Value, state: &str) -> Result<(), Stop> {
        let message = self.messages.lifecycle(prompt, state);
        self.emit(&message)
    }

    fn echo(&mut self) -> Result<(), Stop> {
        loop {
            self.next_prompt()?;
            self.turn(&echo_of(&self.prompt))?;
        }
    }

    /// Goes on answering control requests after the last step.
    fn serve(&mut self) -> Result<std::convert::Infallible, Stop> {
        loop {
            self.read()?;
        }
    }

    /// Sends a control request and waits for its answer, which is the `response` object.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, Stop> {
        let id = Value::String(self.messages.uuid());
        let mut request = request.clone();
        if request["callback_id"] == "first"
            && let Some(callback) = &self.callback
        {
            request["callback_id"] = callback.clone().into();
        }
        self.emit(&json!({"type": "control_request", "request_id": id, "request": request}))?;
        loop {
            let message = self.read()?;
            let is_answer = message["type"] == "control_response";
            if is_answer && message["response"]["request_id"] == id {
                return Ok(message["response"].clone());
            }
        }
    }

    pub(crate) fn emit(&mut self, message: &Value) -> Result<(), Stop> {
        if message["type"] == "result" {
            self.last_result_failed = message["is_error"] == true;
        }
        Ok(self.wire.write(message)?)
    }

    fn text(&mut self, text: &str) -> Result<(), Stop> {
        self.wire.write_bytes(text.as_bytes())?;
        Ok(self.wire.flush()?)
    }

    fn long_line(&mut self, bytes: usize) -> Result<(), Stop> {
        let message = bench::padded(|text| self.messages.assistant(text), bytes);
        self.emit(&message)
    }

    fn pause(&mut self, time: Duration) -> Result<(), Stop> {
        self.wire.flush()?;
        std::thread::sleep(time);
        Ok(())
    }
}

/// A turn that repeats what was said.
fn echo_of(prompt: &Value) -> Turn {
    let content = &prompt["message"]["content"];
    let said = match content.as_str() {
        Some(text) => text.to_owned(),
        None => content[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let mut turn = Turn::default();
    turn.text = format!("You said: {said}");
    turn
}

fn first_callback(hooks: &Value) -> Option<String> {
    let matchers = hooks
        .as_object()?
        .values()
        .filter_map(Value::as_array)
        .flatten();
    let mut ids = matchers.filter_map(|matcher| matcher["hookCallbackIds"][0].as_str());
    ids.next().map(str::to_owned)
}

/// Returns the answer to a control request that the script does not wait for.
fn answer_to(id: &Value, request: &Value) -> Value {
    let subtype = request["subtype"].as_str().unwrap_or_default();
    match subtype {
        "interrupt" => success(id, json!({"still_queued": []})),
        "set_model" => success(id, json!({"model": request["model"]})),
        "set_permission_mode" => success(id, json!({"mode": request["mode"]})),
        "mcp_status" => success(id, json!({"mcpServers": []})),
        "mcp_set_servers" => success(id, json!({"added": [], "removed": [], "errors": {}})),
        "initialize"
        | "set_max_thinking_tokens"
        | "mcp_message"
        | "mcp_reconnect"
        | "mcp_toggle"
        | "stop_task"
        | "apply_flag_settings"
        | "rename_session" => success(id, Value::Null),
        unknown => {
            let text = format!("Unsupported control request subtype: {unknown}");
            failure(id, &text, Some("unsupported_request"))
        }
    }
}
