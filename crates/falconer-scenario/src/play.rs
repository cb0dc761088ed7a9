//! A scenario being played: which rules are used up, and which ids have been given out.

use serde_json::Value;

use super::compose::Composed;
use super::message::MessageReply;
use super::reply::{ApiError, Reply};
use super::request::{ModelRequest, RequestKind};
use super::step::Step;
use super::steps::Steps;
use super::{Part, Scenario, StreamFault};

/// A scenario being played.
///
/// ```
/// use falconer_scenario::{ModelRequest, Scenario, Script, text};
/// use serde_json::json;
///
/// let mut script = Script::new(Scenario::new().turn(text("hello")));
/// let request = ModelRequest::new(json!({"messages": [{"role": "user", "content": "hi"}]}));
/// assert_eq!(script.answer(&request).rule, Some(0));
/// assert!(script.answer(&request).unmatched.is_some(), "the only rule is used up");
/// ```
#[derive(Debug)]
pub struct Script {
    scenario: Scenario,
    used: Vec<u32>,
    calls: Vec<(RequestKind, u32)>,
    messages: u32,
    tool_uses: u32,
    broken: Option<Broken>,
}

/// A request whose stream ended with an error event, and the reply it was to get.
#[derive(Debug)]
struct Broken {
    messages: Value,
    reply: MessageReply,
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// Purpose of the request.
    pub kind: RequestKind,
    /// Number of the request among those of its kind, counted from 1.
    pub call: u32,
    /// The rule that answered, by position; `None` for side calls answered by default.
    pub rule: Option<usize>,
    /// Reason no rule matched, if none did; the steps then report it as an error.
    pub unmatched: Option<String>,
    /// More headers of the answer.
    pub headers: Vec<(String, String)>,
    /// Writes the stream in pieces of so many bytes.
    pub chunk_bytes: Option<usize>,
    /// Steps to take.
    pub steps: Steps,
}

impl Script {
    /// Begins a scenario.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            used: vec![0; scenario.rules.len()],
            scenario,
            calls: Vec::new(),
            messages: 0,
            tool_uses: 0,
            broken: None,
        }
    }

    /// Answers a request, which may use up a rule.
    pub fn answer(&mut self, request: &ModelRequest) -> Answer {
        let kind = self.classify(request);
        let call = self.count(kind);
        let mut answer = Answer {
            kind,
            call,
            rule: self.pick(request, kind, call),
            unmatched: None,
            headers: Vec::new(),
            chunk_bytes: None,
            steps: Steps::default(),
        };
        let reply = match answer.rule {
            Some(rule) => self.scenario.rules[rule].reply.clone(),
            None => match self.default_reply(kind) {
                Some(reply) => reply,
                None => self.no_rule(request, &mut answer),
            },
        };
        self.fill(&mut answer, &reply, request);
        answer
    }

    /// The answer to a request to count tokens.
    pub fn count_tokens(&self, request: &ModelRequest) -> u64 {
        let size = request.body.to_string().len() as u64;
        self.scenario.count_tokens.unwrap_or(size / 4 + 1)
    }

    /// The rules that have not been used as often as they should have been, by position.
    ///
    /// A rule that may be used without end counts as used after the first time.
    pub fn unused(&self) -> Vec<usize> {
        let open = |(position, rule): (usize, &super::Rule)| match rule.times {
            super::Times::Count(count) => self.used[position] < count,
            super::Times::Always => self.used[position] == 0,
        };
        let rules = self.scenario.rules.iter().enumerate();
        rules
            .filter(|rule| open(*rule))
            .map(|rule| rule.0)
            .collect()
    }

    fn classify(&self, request: &ModelRequest) -> RequestKind {
        let repeats = |broken: &Broken| broken.messages == request.body["messages"];
        if !request.streams() && self.broken.as_ref().is_some_and(repeats) {
            RequestKind::Retry
        } else {
            request.kind()
        }
    }

    fn count(&mut self, kind: RequestKind) -> u32 {
        match self.calls.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, calls)) => {
                *calls += 1;
                *calls
            }
            None => {
                self.calls.push((kind, 1));
                1
            }
        }
    }

    fn pick(&mut self, request: &ModelRequest, kind: RequestKind, call: u32) -> Option<usize> {
        let rules = self.scenario.rules.iter().zip(&self.used);
        let found = rules.into_iter().position(|(rule, used)| {
            rule.times.allow_after(*used) && rule.when.matches(request, kind, call)
        })?;
        self.used[found] += 1;
        Some(found)
    }

    fn default_reply(&mut self, kind: RequestKind) -> Option<Reply> {
        match kind {
            RequestKind::Main => None,
            RequestKind::Probe => Some(super::text("ok").stop_reason("max_tokens").into()),
            RequestKind::Title => Some(super::text(r#"{"title": "Scripted conversation"}"#).into()),
            RequestKind::Retry => self.broken.take().map(|broken| broken.reply.into()),
        }
    }

    fn no_rule(&self, request: &ModelRequest, answer: &mut Answer) -> Reply {
        let text = self.describe_unmatched(request, answer.call);
        answer.unmatched = Some(text.clone());
        let error = ApiError::new(400).message(text);
        error.header("x-should-retry", "false").into()
    }

    fn describe_unmatched(&self, request: &ModelRequest, call: u32) -> String {
        let name = match self.scenario.name.as_str() {
            "" => String::new(),
            name => format!(" `{name}`"),
        };
        let said: String = request.last_user_texts().join("\n");
        let said: String = said.chars().rev().take(200).collect();
        let said: String = said.chars().rev().collect();
        let results = request.tool_results();
        let results: Vec<&str> = results.iter().map(|r| r.tool_use_id.as_str()).collect();
        let left = self.unused().len();
        format!(
            "no rule of the scenario{name} matches request {call} (model {:?}, last user text \
             ends with {said:?}, tool results {results:?}); {left} of {} rules are not used up",
            request.model(),
            self.used.len(),
        )
    }

    fn fill(&mut self, answer: &mut Answer, reply: &Reply, request: &ModelRequest) {
        match reply {
            Reply::Text(text) => self.say(answer, &super::text(text), request),
            Reply::Message(message) => self.say(answer, message, request),
            Reply::Error(error) => answer.steps.push(Step::Error(error.clone())),
            Reply::Hang => {
                let forever = Step::Hold("hang".to_owned());
                answer.steps.extend([forever, Step::Reset]);
            }
            Reply::Reset => answer.steps.push(Step::Reset),
            Reply::Garbage(bytes) => answer.steps.push(Step::Garbage(bytes.clone())),
        }
    }

    fn say(&mut self, answer: &mut Answer, reply: &MessageReply, request: &ModelRequest) {
        let composed = self.compose(reply, request);
        answer.steps = if request.streams() {
            composed.streamed()
        } else {
            composed.whole()
        };
        answer.headers = reply.headers.clone().into_iter().collect();
        answer.chunk_bytes = reply.chunk_bytes;
        if request.streams() {
            self.broken = Broken::by(reply, request);
        }
    }

    fn compose<'a>(&mut self, reply: &'a MessageReply, request: &ModelRequest) -> Composed<'a> {
        self.messages += 1;
        let unnamed = |part: &&Part| matches!(part, Part::ToolUse { id: None, .. });
        let unnamed = reply.content.iter().filter(unnamed).count();
        let tool_use_ids = (0..unnamed).map(|_| {
            self.tool_uses += 1;
            format!("toolu_scripted_{:04}", self.tool_uses)
        });
        let tool_use_ids = tool_use_ids.collect();
        let model = reply.model.clone();
        Composed {
            reply,
            id: format!("msg_scripted_{:04}", self.messages),
            model: model.unwrap_or_else(|| request.model().to_owned()),
            tool_use_ids,
        }
    }
}

impl Broken {
    fn by(reply: &MessageReply, request: &ModelRequest) -> Option<Self> {
        let error = matches!(reply.fault, Some(StreamFault::Error { .. }));
        error.then(|| Self {
            messages: request.body["messages"].clone(),
            reply: MessageReply {
                fault: None,
                ..reply.clone()
            },
        })
    }
}
