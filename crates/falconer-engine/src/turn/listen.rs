//! Listens to one response: shows its blocks, starts its tools, and says how it ended.

use std::time::Instant;

use falconer_model::{
    ApiEvent, ApiFailure, ApiRequest, Assembler, FailureKind, FinishedBlock, WHOLE_REQUEST_ID,
};
use falconer_protocol::content::ToolUseBlock;
use falconer_protocol::message::{AssistantMessage, StopReason, ToolUseMeta};
use falconer_protocol::stream::{Delta, StreamEvent};
use falconer_protocol::{MessageUuid, Object};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::Turn;
use super::interrupt::Cause;
use super::tally::wall_ms;
use super::tools::Tools;
use crate::frame::assistant::{self, Delivery, Head};
use crate::frame::{self, stream, system};
use crate::session::ledger::Tokens;
use crate::tool::{ToolOrigin, readable};

/// What was heard of a response, whole or in part.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The finished blocks, in order.
    pub(crate) blocks: Vec<Spoken>,
    /// The message without its content.
    pub(crate) message: Object,
    pub(crate) request_id: Option<String>,
}

/// A block of a response.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    /// None of a text without a word: nobody is shown it, and the API does not take it back.
    pub(crate) line: Option<MessageUuid>,
    /// As the model said it.
    pub(crate) block: Value,
    /// What was shown instead.
    pub(crate) shown: Option<Value>,
}

impl Spoken {
    /// The block as it was shown.
    fn shown(&self) -> &Value {
        self.shown.as_ref().unwrap_or(&self.block)
    }
}

impl Heard {
    pub(crate) fn stop_reason(&self) -> Option<&str> {
        self.message.get("stop_reason")?.as_str()
    }

    /// The same as a type of the wire.
    pub(crate) fn stop(&self) -> Option<StopReason> {
        self.stop_reason().map(StopReason::from)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.message.get("id")?.as_str()
    }

    pub(crate) fn usage(&self) -> Value {
        self.message.get("usage").cloned().unwrap_or(Value::Null)
    }

    pub(crate) fn content(&self) -> Vec<Value> {
        let shown = self.blocks.iter().filter(|it| it.line.is_some());
        shown.map(|it| it.block.clone()).collect()
    }

    pub(crate) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|it| it.block["type"] == "tool_use")
    }

    /// All text, as the result shows it. One without a word counts only if there is no other.
    pub(crate) fn text(&self) -> String {
        let is_said = |it: &&Spoken| it.line.is_some();
        let said = texts(self.blocks.iter().filter(is_said));
        if said.is_empty() {
            texts(self.blocks.iter())
        } else {
            said
        }
    }
}

fn texts<'a>(blocks: impl Iterator<Item = &'a Spoken>) -> String {
    let shown = blocks.map(Spoken::shown);
    let texts = shown.filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// How listening ended.
pub(crate) enum Listened {
    Answered(Heard),
    Failed {
        failure: ApiFailure,
        /// What was shown before.
        heard: Heard,
        /// Whether the response had begun.
        midstream: bool,
    },
    Interrupted(Heard),
}

/// A response while it is listened to.
struct Listening {
    assembler: Assembler,
    heard: Heard,
    head: Head,
    sent: Instant,
    /// Text of the block that is open, for the case of an interrupt.
    open_text: String,
    open_index: Option<u64>,
    thinking_since: Option<Instant>,
    thinking_tokens: u64,
    begun: bool,
}

/// Sends a request and listens to its answer.
pub(crate) async fn listen(turn: &mut Turn, tools: &mut Tools, request: ApiRequest) -> Listened {
    let provider = std::sync::Arc::clone(&turn.core.provider);
    let interrupt = turn.interrupt.clone();
    let sent = Instant::now();
    let wall = wall_ms();
    let streaming = tokio::select! {
        biased;
        () = interrupt.token().cancelled() => return cut_before_begin(turn).await,
        streaming = provider.stream(request) => streaming,
    };
    let mut streaming = match streaming {
        Ok(streaming) => streaming,
        Err(failure) => return before_begin(failure),
    };
    turn.tally.request_taken((sent, wall));
    let mut listening = Listening::new(sent, streaming.request_id.take());
    loop {
        tokio::select! {
            biased;
            () = interrupt.token().cancelled() => {
                return listening.interrupted(turn, tools).await;
            }
            done = tools.next() => turn.settle(done).await,
            event = streaming.events.next() => match event {
                Some(Ok(event)) => {
                    turn.show_prompt().await;
                    if let Err(failure) = listening.hear(turn, tools, event).await {
                        return listening.failed(turn, failure).await;
                    }
                    if listening.assembler.is_complete() {
                        return Listened::Answered(listening.finish());
                    }
                }
                Some(Err(failure)) => return listening.failed(turn, failure).await,
                None => return listening.ended(turn).await,
            },
        }
    }
}

/// The turn was interrupted while no answer had begun.
pub(crate) async fn cut_before_begin(turn: &mut Turn) -> Listened {
    turn.interrupt.acknowledge(&turn.core.speaker).await;
    if turn.interrupt.cause() == Cause::Preempted {
        turn.hide_prompt();
    }
    turn.show_prompt().await;
    turn.say_cut_short(false).await;
    Listened::Interrupted(Heard::default())
}

fn before_begin(failure: ApiFailure) -> Listened {
    Listened::Failed {
        failure,
        heard: Heard::default(),
        midstream: false,
    }
}

impl Listening {
    fn new(sent: Instant, request_id: Option<String>) -> Self {
        Self {
            assembler: Assembler::new(),
            heard: Heard::default(),
            head: Head {
                request_id,
                ..Head::default()
            },
            sent,
            open_text: String::new(),
            open_index: None,
            thinking_since: None,
            thinking_tokens: 0,
            begun: false,
        }
    }

    async fn hear(
        &mut self,
        turn: &mut Turn,
        tools: &mut Tools,
        event: ApiEvent,
    ) -> Result<(), ApiFailure> {
        let finished = self.assembler.push(&event)?;
        self.note(turn, &event.event);
        if let Some(finished) = finished {
            self.show(turn, tools, finished).await;
        }
        if turn.core.options.output.partial {
            self.forward(turn, event.event).await;
        }
        Ok(())
    }

    /// Keeps what is needed should the response be cut off.
    fn note(&mut self, turn: &mut Turn, event: &StreamEvent) {
        match event {
            StreamEvent::MessageStart(_) => {
                self.begun = true;
                self.head.message = self.assembler.message().clone();
                turn.tally.stream_begun();
            }
            StreamEvent::ContentBlockStart(start) => {
                turn.tally.content_begun();
                self.open_index = Some(start.index);
                self.open_text.clear();
                let thinks = start.content_block.tag() == Some("thinking");
                self.thinking_since = thinks.then(Instant::now);
            }
            StreamEvent::ContentBlockDelta(delta) => {
                if let Delta::Text(delta) = &delta.delta {
                    self.open_text.push_str(&delta.text);
                }
            }
            StreamEvent::ContentBlockStop(_) => self.open_index = None,
            _ => {}
        }
    }

    /// Shows a finished block; its line comes before its `content_block_stop`.
    async fn show(&mut self, turn: &mut Turn, tools: &mut Tools, mut finished: FinishedBlock) {
        if is_blank(&finished.block) {
            self.heard.blocks.push(Spoken {
                line: None,
                block: finished.block,
                shown: None,
            });
            return;
        }
        let tool = tools.prepare(&mut finished);
        let thinking_ms = self.thinking_since.take().map(millis_since);
        let superseded = std::mem::take(&mut turn.superseded);
        let prompts = turn.first_marks();
        let shown = turn.displayed(&finished.block).await;
        let words = shown.as_ref().unwrap_or(&finished.block);
        let meta = tool_meta(words, tool);
        let mut frame = AssistantMessage {
            thinking_duration_ms: thinking_ms,
            thinking_display: thinking_ms.and_then(|_| turn.thinking_display()),
            supersedes: (!superseded.is_empty()).then_some(superseded),
            tool_use_meta: meta.map(|meta| vec![meta]),
            ..assistant::block(&self.head, words)
        };
        assistant::mark_prompts(&mut frame, prompts);
        let line = turn.core.speaker.say(frame).await;
        turn.record_block(&line, &self.head, &finished.block, finished.index);
        turn.core.mirror().await;
        tools.take(&finished, &line);
        self.heard.blocks.push(Spoken {
            line: Some(line),
            block: finished.block,
            shown,
        });
    }

    /// Passes an event on as it came.
    async fn forward(&mut self, turn: &mut Turn, event: StreamEvent) {
        if matches!(event, StreamEvent::Ping(_) | StreamEvent::Error(_)) {
            return;
        }
        let thinks = self.announce_thinking(turn, &event).await;
        let start = matches!(event, StreamEvent::MessageStart(_));
        let mut frame = stream::event(event, self.assembler.id());
        if start {
            let prompts = turn.unmarked_prompts();
            stream::mark_start(&mut frame, millis_since(self.sent), prompts);
        }
        if start || thinks {
            frame.thinking_display = turn.thinking_display();
        }
        turn.core.speaker.say(frame).await;
    }

    /// Says how much was thought before each piece of it. True for events of thinking blocks.
    async fn announce_thinking(&mut self, turn: &Turn, event: &StreamEvent) -> bool {
        let StreamEvent::ContentBlockDelta(delta) = event else {
            return matches!(event, StreamEvent::ContentBlockStart(_))
                && self.thinking_since.is_some();
        };
        let Delta::Thinking(delta) = &delta.delta else {
            return false;
        };
        let tokens = (delta.thinking.len() as u64).div_ceil(4);
        self.thinking_tokens += tokens;
        let frame = system::thinking_tokens(self.thinking_tokens, tokens, &turn.prompts);
        turn.core.speaker.say(frame).await;
        true
    }

    fn finish(mut self) -> Heard {
        self.heard.message = self.assembler.into_message();
        self.heard.request_id = self.head.request_id;
        self.heard
    }

    /// The stream ended. Without `message_stop` that is a broken connection.
    async fn ended(self, turn: &mut Turn) -> Listened {
        let kind = FailureKind::Connection;
        let failure = ApiFailure::new(kind, "the connection closed before the answer was complete");
        self.failed(turn, failure).await
    }

    async fn failed(mut self, turn: &mut Turn, failure: ApiFailure) -> Listened {
        let midstream = self.begun;
        if midstream && turn.core.options.output.partial {
            self.abandon(turn, self.heard.blocks.len() as u64).await;
        }
        let heard = self.finish();
        Listened::Failed {
            failure,
            heard,
            midstream,
        }
    }

    /// Tells readers of the stream that the rest will not come.
    async fn abandon(&mut self, turn: &Turn, from_block: u64) {
        let id = self.assembler.id().unwrap_or_default().to_owned();
        let speaker = &turn.core.speaker;
        let open: Vec<u64> = self.assembler.open_blocks().collect();
        for index in open {
            speaker.say(stream::block_stop(index, &id)).await;
        }
        speaker.say(stream::abandoned(&id, from_block)).await;
    }

    /// The turn was interrupted: open questions are taken back, then what was said of the open
    /// block is shown, then the stream is closed for its readers.
    async fn interrupted(mut self, turn: &mut Turn, tools: &mut Tools) -> Listened {
        let ended = tools.let_go();
        turn.interrupt.acknowledge(&turn.core.speaker).await;
        self.show_cut_text(turn).await;
        for done in ended {
            turn.settle(done).await;
        }
        while !tools.is_done() {
            let done = tools.next().await;
            turn.settle(done).await;
        }
        if self.begun {
            let usage = self.assembler.message().get("usage");
            turn.tally
                .began(Tokens::read(usage.unwrap_or(&Value::Null)));
        }
        turn.say_cut_short(false).await;
        if self.begun && turn.core.options.output.partial {
            self.close_cut_stream(turn).await;
        }
        Listened::Interrupted(self.finish())
    }

    async fn show_cut_text(&mut self, turn: &mut Turn) {
        let Some(index) = self.open_index.filter(|_| !self.open_text.is_empty()) else {
            return;
        };
        let block = json!({"type": "text", "text": std::mem::take(&mut self.open_text)});
        let mut frame = AssistantMessage {
            aborted: Some(true),
            ..assistant::block(&self.head, &block)
        };
        assistant::mark_prompts(&mut frame, turn.first_marks());
        let line = turn.core.speaker.say(frame).await;
        turn.record_block(&line, &self.head, &block, index);
        self.heard.blocks.push(Spoken {
            line: Some(line),
            block,
            shown: None,
        });
    }

    async fn close_cut_stream(&mut self, turn: &Turn) {
        let id = self.assembler.id().unwrap_or_default().to_owned();
        let speaker = &turn.core.speaker;
        let open: Vec<u64> = self.assembler.open_blocks().collect();
        let next = self.heard.blocks.len() as u64;
        for index in open {
            speaker.say(stream::block_stop(index, &id)).await;
        }
        let usage = self.assembler.message().get("usage");
        speaker.say(stream::cut_delta(usage, &id)).await;
        speaker.say(stream::abandoned(&id, next)).await;
    }
}

/// Shows a message that came whole, after its stream had broken.
pub(crate) async fn show_whole(turn: &mut Turn, tools: &mut Tools, message: Value) -> Heard {
    turn.show_prompt().await;
    let Value::Object(mut message) = message else {
        return Heard::default();
    };
    let content = message.shift_remove("content");
    let request_id = message.shift_remove(WHOLE_REQUEST_ID);
    let request_id = request_id.as_ref().and_then(Value::as_str);
    complete_usage(&mut message);
    turn.tally.whole_came();
    let mut listening = Listening::new(Instant::now(), request_id.map(str::to_owned));
    listening.head.delivery = Delivery::Whole;
    listening.head.message = message.clone();
    for (index, block) in content
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let finished = FinishedBlock {
            index: index as u64,
            block: block.clone(),
            malformed_input: None,
        };
        listening.show(turn, tools, finished).await;
    }
    listening.heard.message = message;
    listening.heard.request_id = listening.head.request_id;
    listening.heard
}

fn is_blank(block: &Value) -> bool {
    let text = block["text"].as_str().filter(|_| block["type"] == "text");
    text.is_some_and(|text| text.trim().is_empty())
}

/// Answers in one piece show their final `usage`, with all its fields.
fn complete_usage(message: &mut Object) {
    let usage = message.entry("usage").or_insert(Value::Null);
    let whole = frame::completed(&Tokens::read(usage).usage(), usage.as_object());
    *usage = json!(whole);
}

/// What people call the tool of a server that is called. Of one that is not there only the name
/// is known.
fn tool_meta(block: &Value, origin: Option<ToolOrigin>) -> Option<ToolUseMeta> {
    let call: ToolUseBlock = falconer_protocol::from_value(block.clone()).ok()?;
    let meta = ToolUseMeta {
        id: Some(call.id),
        ..ToolUseMeta::default()
    };
    if let Some(origin) = origin {
        return Some(ToolUseMeta {
            display_name: Some(origin.title),
            server_display_name: Some(origin.server),
            tool_name: Some(origin.own_name),
            ..meta
        });
    }
    let (_, own_name) = call.name.strip_prefix("mcp__")?.split_once("__")?;
    Some(ToolUseMeta {
        display_name: Some(readable(own_name)),
        ..meta
    })
}

fn millis_since(then: Instant) -> u64 {
    u64::try_from(then.elapsed().as_millis()).unwrap_or(u64::MAX)
}
