//! The calls of one response: started in order while it streams, collected as they end.

use falconer_model::FinishedBlock;
use falconer_protocol::{MessageUuid, Object, ToolUseId};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use serde_json::Value;

use super::call::{self, Context, Done, Reading, Wanted};
use super::schedule::Schedule;
use crate::tool::ToolOrigin;

/// The calls of one response.
pub(crate) struct Tools {
    context: Context,
    schedule: Schedule<(Wanted, Reading)>,
    running: FuturesUnordered<BoxFuture<'static, Done>>,
    /// How many calls there were.
    pub(crate) calls: usize,
}

impl Tools {
    pub(crate) fn new(context: Context) -> Self {
        Self {
            context,
            schedule: Schedule::default(),
            running: FuturesUnordered::new(),
            calls: 0,
        }
    }

    /// Completes the input of a call before it is shown, and says where its tool comes from.
    pub(crate) fn prepare(&self, finished: &mut FinishedBlock) -> Option<ToolOrigin> {
        let block = &mut finished.block;
        if block["type"] != "tool_use" {
            return None;
        }
        let tool = self.context.core.find_tool(block["name"].as_str()?)?;
        let input = input_of(block);
        let origin = tool.origin();
        if finished.malformed_input.is_none()
            && let Ok(prepared) = tool.prepare(&input)
        {
            block["input"] = Value::Object(prepared.tool().complete(input));
        }
        origin
    }

    /// Takes the call of a finished block, if it is one, and starts what may start.
    pub(crate) fn take(&mut self, finished: &FinishedBlock, line: &MessageUuid) {
        if finished.block["type"] != "tool_use" {
            return;
        }
        let text = |field: &str| {
            finished.block[field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let name = text("name");
        let tool = self.context.core.find_tool(&name);
        let input = input_of(&finished.block);
        let wanted = Wanted {
            id: ToolUseId::new(text("id")),
            input: match &tool {
                Some(tool) => tool.taken(input),
                None => input,
            },
            tool,
            line: line.clone(),
            name,
        };
        let malformed = finished.malformed_input.as_ref().map(ToString::to_string);
        let reading = wanted.read(&self.context.core, malformed);
        self.calls += 1;
        let company = wanted.company(&reading);
        self.schedule.add(company, (wanted, reading));
        self.start();
    }

    fn start(&mut self) {
        while let Some((wanted, reading)) = self.schedule.start() {
            let performing = call::perform(self.context.clone(), wanted, reading);
            self.running.push(performing.boxed());
        }
    }

    /// The next call that ends; waits forever if none is running.
    pub(crate) async fn next(&mut self) -> Done {
        match self.running.next().await {
            Some(done) => {
                self.schedule.finish();
                self.start();
                done
            }
            None => std::future::pending().await,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.schedule.is_done()
    }

    /// After an interrupt: lets every call notice it, so that open questions are taken back, and
    /// gives the calls that end by that. Calls that have not started never will.
    pub(crate) fn let_go(&mut self) -> Vec<Done> {
        let mut done = Vec::new();
        while let Some(Some(ended)) = self.running.next().now_or_never() {
            self.schedule.finish();
            done.push(ended);
        }
        let abandoned = self.schedule.abandon().into_iter();
        done.extend(abandoned.map(|(wanted, _)| wanted.rejected()));
        done
    }
}

fn input_of(block: &Value) -> Object {
    block["input"].as_object().cloned().unwrap_or_default()
}
