//! One scenario: how the engine is started, what the host does, what the model says.

use std::path::Path;

use falconer_testkit::scenario::Scenario;
use serde_json::{Value, json};

use super::frames::{Trace, kind};
use super::{normal, stage};

/// A scenario that two engines go through.
pub(super) struct Case {
    /// `<project>`, `<home>`, `<python>` and `<answer>`, the id of the first message of the model
    /// in the run before, are replaced.
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) scenario: Box<dyn Fn(&Path) -> Scenario + Send + Sync>,
    pub(super) steps: Vec<Step>,
    pub(super) answers: Vec<(String, Answer)>,
    /// What is done before, in the same place; only what comes out of this case is compared.
    pub(super) before: Option<Box<Case>>,
    /// Files that are compared after the run.
    pub(super) left: Vec<String>,
    results: Results,
    /// Where this case alone is meant to differ.
    meant: Vec<Meant>,
}

/// How much of what tools tell the model must be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// What tools found that tell nothing else.
    Found,
    /// All of it, words of the engine too.
    All,
}

/// A difference that is meant, with what is expected instead of equality.
#[derive(Debug, Clone)]
enum Meant {
    /// The last frame of this kind has this value at this place; the official one may differ.
    Ours(&'static str, &'static str, Value),
    /// How often the model is asked by the official engine and by ours.
    Requests(usize, usize),
    /// A frame of this kind that only the official engine sends.
    Unsaid(&'static str),
    /// Both have something at this place of a frame of this kind.
    Apart(&'static str, &'static str),
    /// This callback of the host is called at any time.
    AnyTime(&'static str),
}

/// What the host does next.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Sends a line. `<project>` in it stands for the directory of the run, `<task>` for the id
    /// of the last task that was started.
    Send(String),
    /// Waits for so many frames of a kind, counted from the start.
    Until(String, usize),
    /// Waits until the model was asked so often.
    Requests(usize),
    /// Lets a held reply of the model go on.
    Release(String),
    /// Waits until a file of the project exists.
    File(String),
    /// Makes an empty file in the project.
    Touch(String),
    /// Removes a file of the project.
    Remove(String),
    /// Writes to a file now and then until there are so many frames of a kind. For engines that do
    /// not say when they have begun to watch.
    TouchUntil(String, String, usize),
    Signal(i32),
    /// Sends a line without its end, and closes stdin.
    Tail(String),
    Eof,
}

/// What the host says to a question of the engine.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Success(Value),
    Error(String),
    /// As an in-process server with the tools `add` and `boom` would.
    Calculator,
    Silence,
}

impl Case {
    /// A conversation over stdin.
    pub(super) fn bidi(scenario: impl Fn(&Path) -> Scenario + Send + Sync + 'static) -> Self {
        Self::bare(scenario).args([
            "--print",
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
        ])
    }

    /// One prompt on the command line; stdin is closed from the start.
    pub(super) fn one_shot(
        prompt: &str,
        args: &[&str],
        scenario: impl Fn(&Path) -> Scenario + Send + Sync + 'static,
    ) -> Self {
        Self::bare(scenario)
            .args(["-p", "--output-format=stream-json", "--verbose"])
            .args(args.iter().copied())
            .args(["--", prompt])
            .eof()
    }

    /// Whatever arguments are added.
    pub(super) fn bare(scenario: impl Fn(&Path) -> Scenario + Send + Sync + 'static) -> Self {
        Self {
            args: Vec::new(),
            env: Vec::new(),
            files: Vec::new(),
            scenario: Box::new(scenario),
            steps: Vec::new(),
            answers: Vec::new(),
            before: None,
            left: Vec::new(),
            results: Results::Found,
            meant: Vec::new(),
        }
    }

    pub(super) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A file of the project, or of the home if it begins with `~/`.
    pub(super) fn file(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.files
            .push((name.to_owned(), content.as_ref().to_owned()));
        self
    }

    /// A file that must be the same after the run, or missing.
    pub(super) fn leaves(mut self, name: &str) -> Self {
        self.left.push(name.to_owned());
        self
    }

    /// All that the tools tell the model must be the same, failures too.
    pub(super) fn with_results(mut self) -> Self {
        self.results = Results::All;
        self
    }

    /// Replaces what the model says.
    pub(super) fn scripted(
        mut self,
        scenario: impl Fn(&Path) -> Scenario + Send + Sync + 'static,
    ) -> Self {
        self.scenario = Box::new(scenario);
        self
    }

    /// Questions of this subtype stay without an answer.
    pub(super) fn without_answers(mut self, subtype: &str) -> Self {
        self.answers.retain(|(wanted, _)| wanted != subtype);
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The first request of a host, with these fields, and its answer.
    pub(super) fn hello(self, mut fields: Value) -> Self {
        fields["subtype"] = json!("initialize");
        self.control("hello", fields)
    }

    /// A request of the host; waits for the answer.
    pub(super) fn control(self, id: &str, request: Value) -> Self {
        self.control_without_waiting(id, request)
            .until("control_response")
    }

    pub(super) fn control_without_waiting(self, id: &str, request: Value) -> Self {
        let mut line = json!({"type": "control_request", "request_id": id});
        line["request"] = request;
        self.send(&line)
    }

    pub(super) fn say(self, text: &str) -> Self {
        self.send(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "session_id": ""
        }))
    }

    /// A prompt with a name of its own.
    pub(super) fn say_as(self, uuid: &str, text: &str) -> Self {
        self.send(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": uuid
        }))
    }

    /// A prompt of which the host says that a person typed it.
    pub(super) fn say_by_person(self, uuid: &str, text: &str) -> Self {
        self.say_from(&json!({"kind": "human"}), uuid, text)
    }

    pub(super) fn say_from(self, origin: &Value, uuid: &str, text: &str) -> Self {
        self.send(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": uuid,
            "origin": origin
        }))
    }

    pub(super) fn send(self, line: &Value) -> Self {
        self.raw(&line.to_string())
    }

    pub(super) fn raw(self, line: &str) -> Self {
        self.step(Step::Send(line.to_owned()))
    }

    /// Waits for one more frame of this kind.
    pub(super) fn until(self, kind: &str) -> Self {
        let count = self.awaited(kind) + 1;
        self.step(Step::Until(kind.to_owned(), count))
    }

    /// Waits for so many more of them.
    pub(super) fn until_all(self, kind: &str, count: usize) -> Self {
        (0..count).fold(self, |case, _| case.until(kind))
    }

    /// Waits for one more, and writes to a watched file meanwhile.
    pub(super) fn touch_until(self, name: &str, kind: &str) -> Self {
        let count = self.awaited(kind) + 1;
        self.step(Step::TouchUntil(name.to_owned(), kind.to_owned(), count))
    }

    /// How many frames of a kind were waited for.
    fn awaited(&self, kind: &str) -> usize {
        let before = |step: &&Step| match step {
            Step::Until(known, _) | Step::TouchUntil(_, known, _) => known == kind,
            _ => false,
        };
        self.steps.iter().filter(before).count()
    }

    pub(super) fn requests(self, count: usize) -> Self {
        self.step(Step::Requests(count))
    }

    pub(super) fn release(self, gate: &str) -> Self {
        self.step(Step::Release(gate.to_owned()))
    }

    pub(super) fn until_file(self, name: &str) -> Self {
        self.step(Step::File(name.to_owned()))
    }

    pub(super) fn touch(self, name: &str) -> Self {
        self.step(Step::Touch(name.to_owned()))
    }

    pub(super) fn remove(self, name: &str) -> Self {
        self.step(Step::Remove(name.to_owned()))
    }

    /// Goes through another case first, with the same model, home and project.
    pub(super) fn after(mut self, before: Self) -> Self {
        self.before = Some(Box::new(before));
        self
    }

    pub(super) fn signal(self, signal: i32) -> Self {
        self.step(Step::Signal(signal))
    }

    pub(super) fn tail(self, line: &str) -> Self {
        self.step(Step::Tail(line.to_owned()))
    }

    pub(super) fn eof(self) -> Self {
        self.step(Step::Eof)
    }

    /// The answer to the next question of this subtype that has none; the last one is repeated.
    pub(super) fn answer(mut self, subtype: &str, answer: Answer) -> Self {
        self.answers.push((subtype.to_owned(), answer));
        self
    }

    pub(super) fn allow(self) -> Self {
        self.answer(
            "can_use_tool",
            Answer::Success(json!({"behavior": "allow"})),
        )
    }

    pub(super) fn deny(self, message: &str) -> Self {
        let denial = json!({"behavior": "deny", "message": message});
        self.answer("can_use_tool", Answer::Success(denial))
    }

    pub(super) fn hook(self, output: Value) -> Self {
        self.answer("hook_callback", Answer::Success(output))
    }

    /// What our engine does, where it is meant to do something else.
    pub(super) fn only_ours(&self) -> Trace {
        stage::run(self, stage::Engine::Ours)
    }

    /// What ours says at a place, given as a JSON pointer, whatever the official engine says.
    pub(super) fn ours(mut self, kind: &'static str, place: &'static str, value: Value) -> Self {
        self.meant.push(Meant::Ours(kind, place, value));
        self
    }

    /// Both say something at a place, given as a JSON pointer, but not the same.
    pub(super) fn apart(mut self, kind: &'static str, place: &'static str) -> Self {
        self.meant.push(Meant::Apart(kind, place));
        self
    }

    /// How often the model is asked, if not equally often.
    pub(super) fn requests_differ(mut self, official: usize, ours: usize) -> Self {
        self.meant.push(Meant::Requests(official, ours));
        self
    }

    /// One frame of this kind comes from the official engine only.
    pub(super) fn unsaid(mut self, kind: &'static str) -> Self {
        self.meant.push(Meant::Unsaid(kind));
        self
    }

    /// A hook of the host that the official engine calls beside its work: where among the other
    /// lines the call comes is chance.
    pub(super) fn any_time(mut self, callback: &'static str) -> Self {
        self.meant.push(Meant::AnyTime(callback));
        self
    }

    /// Checks what is meant to differ, and takes it out of the comparison.
    fn set_apart(&self, official: &mut Trace, ours: &mut Trace) {
        for meant in &self.meant {
            match meant {
                Meant::Ours(kind, place, value) => {
                    assert_eq!(take(ours, kind, place), Some(value.clone()), "{place}");
                    take(official, kind, place);
                }
                Meant::Unsaid(wanted) => {
                    let said = official.frames.iter().position(|it| kind(it) == *wanted);
                    official
                        .frames
                        .remove(said.expect("the official engine says it"));
                }
                Meant::AnyTime(callback) => {
                    to_the_end(official, callback);
                    to_the_end(ours, callback);
                }
                Meant::Apart(kind, place) => {
                    let (said, ours) = (take(official, kind, place), take(ours, kind, place));
                    assert!(
                        said.is_some() && ours.is_some(),
                        "{place}: {said:?}, {ours:?}"
                    );
                }
                Meant::Requests(expected, found) => {
                    let asked = (official.requests.len(), ours.requests.len());
                    assert_eq!(asked, (*expected, *found), "requests");
                    ours.requests.clone_from(&official.requests);
                }
            }
        }
    }

    /// Runs both engines and compares.
    #[track_caller]
    pub(super) fn same(&self) {
        if let Err(differences) = self.compare() {
            panic!("{differences}");
        }
    }

    fn compare(&self) -> Result<(), String> {
        let (official, ours) = std::thread::scope(|scope| {
            let official = scope.spawn(|| stage::run(self, stage::Engine::Official));
            let ours = stage::run(self, stage::Engine::Ours);
            (official.join(), ours)
        });
        let mut official: Trace = official.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut ours = ours;
        self.set_apart(&mut official, &mut ours);
        let lines = |trace: &Trace| normal::lines(trace, self.results);
        let (expected, found) = (lines(&official), lines(&ours));
        if expected != found {
            let differences = normal::describe(&expected, &found);
            return Err(format!(
                "the engines differ (- official, + ours):\n{differences}\n\
                 arguments: {:?} {:?}\nofficial stderr: {}\nour stderr: {}",
                self.args, self.env, official.stderr, ours.stderr
            ));
        }
        Ok(())
    }
}

/// Compares several cases, and tells of all that differ.
#[track_caller]
pub(super) fn all_same(cases: impl IntoIterator<Item = Case>) {
    let failures = cases.into_iter().filter_map(|case| case.compare().err());
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n---\n"));
}

/// Puts the calls of a hook behind everything else.
fn to_the_end(trace: &mut Trace, callback: &str) {
    let is_it = |frame: &Value| frame["request"]["callback_id"] == callback;
    let (calls, others): (Vec<_>, Vec<_>) = trace.frames.drain(..).partition(is_it);
    assert!(!calls.is_empty(), "{callback} is never called");
    trace.frames = others;
    trace.frames.extend(calls);
}

/// Replaces a value in the last frame of a kind, and gives it.
fn take(trace: &mut Trace, wanted: &str, place: &str) -> Option<Value> {
    let frames = trace.frames.iter_mut().rev();
    let frame = frames.into_iter().find(|frame| kind(frame) == wanted)?;
    let value = frame.pointer_mut(place)?;
    Some(std::mem::replace(value, json!("<set apart>")))
}
