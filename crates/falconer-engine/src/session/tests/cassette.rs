//! Reads a recorded session of the official CLI, and makes a scenario of what its model said.

use std::path::{Path, PathBuf};

use falconer_scenario::{MessageReply, Part, Reply, Scenario, Usage};
use serde_json::Value;

/// Where the recordings believed to be.
const PROJECT: &str = "/home/user/project";
const HOME: &str = "/home/user";

/// A recorded session.
pub(super) struct Cassette {
    pub(super) steps: Vec<Step>,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) exit: Option<i64>,
}

pub(super) enum Step {
    In(Value),
    Eof,
    Out(Value),
    Signal,
}

impl Cassette {
    /// Reads a recording; its project becomes the one below `dir`.
    pub(super) fn read(name: &str, dir: &Path) -> Self {
        let path = directory().join(format!("{name}.jsonl"));
        let text = std::fs::read_to_string(&path).expect("the cassette is there");
        let text = text
            .replace(PROJECT, &dir.join("project").display().to_string())
            .replace(HOME, &dir.join("home").display().to_string());
        let mut cassette = Self {
            steps: Vec::new(),
            argv: Vec::new(),
            env: Vec::new(),
            exit: None,
        };
        for line in text.lines() {
            cassette.take(&serde_json::from_str(line).expect("a line of a cassette"));
        }
        cassette
    }

    fn take(&mut self, entry: &Value) {
        let line = entry["line"].clone();
        match entry["dir"].as_str() {
            Some("in") if line == "[EOF]" => self.steps.push(Step::Eof),
            Some("in") => self.steps.push(Step::In(line)),
            Some("out") => self.steps.push(Step::Out(line)),
            Some("exit") => self.exit = line["code"].as_i64(),
            Some("meta") => self.meta(&line),
            _ => {}
        }
    }

    fn meta(&mut self, line: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(argv) = line["argv"].as_array() {
            self.argv = argv.iter().map(text).collect();
            let env = line["env"].as_array().into_iter().flatten();
            self.env = env.map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        } else if line["signal"].is_string() {
            self.steps.push(Step::Signal);
        }
    }

    pub(super) fn outs(&self) -> impl Iterator<Item = &Value> {
        self.steps.iter().filter_map(|step| match step {
            Step::Out(value) => Some(value),
            _ => None,
        })
    }

    /// The value behind a flag, in either spelling.
    pub(super) fn flag(&self, name: &str) -> Option<String> {
        let inline = format!("{name}=");
        let mut arguments = self.argv.iter();
        while let Some(argument) = arguments.next() {
            if argument == name {
                return arguments.next().cloned();
            }
            if let Some(value) = argument.strip_prefix(&inline) {
                return Some(value.to_owned());
            }
        }
        None
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.argv.iter().any(|it| it == name)
    }

    /// What the model said, response by response.
    pub(super) fn scenario(&self, usage: Option<Usage>, stop: Option<&str>) -> Scenario {
        let mut replies: Vec<(String, MessageReply)> = Vec::new();
        for frame in self.outs() {
            let message = &frame["message"];
            if frame["type"] != "assistant" || message["model"] == "<synthetic>" {
                continue;
            }
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            if replies.last().is_none_or(|(last, _)| *last != id) {
                let mut reply = MessageReply::default();
                reply.usage = usage;
                reply.stop_reason = stop.map(str::to_owned);
                replies.push((id, reply));
            }
            let reply = &mut replies.last_mut().expect("just pushed").1;
            for block in message["content"].as_array().into_iter().flatten() {
                reply.content.push(part(block));
            }
            if frame["aborted"] == Value::Bool(true) {
                reply.content.push(Part::Hold {
                    name: "never".to_owned(),
                });
            }
        }
        let turn = |scenario: Scenario, (_, reply)| scenario.turn(Reply::from(reply));
        replies.into_iter().fold(Scenario::new(), turn)
    }
}

fn part(block: &Value) -> Part {
    let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => Part::Text { text: text("text") },
        Some("thinking") => Part::Thinking {
            thinking: text("thinking"),
            signature: text("signature"),
        },
        Some("tool_use") => Part::ToolUse {
            id: Some(text("id")),
            name: text("name"),
            input: block["input"].clone(),
        },
        _ => Part::Raw {
            block: block.clone(),
        },
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cassettes")
}
