//! Every recorded session of the official CLI, as events.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use falconer_event::{
    Action, Body, Draft, End, Failure, ItemContent, Ledger, Normaliser, Run, RunCompleted, Task,
    Tokens, TurnCompleted,
};
use falconer_protocol::Message;
use serde_json::Value;

use crate::rules;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cassettes")
}

/// A recorded session.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) messages: Vec<Message>,
    /// What is known of its end, as a live session would know it.
    end: End,
}

/// The recorded sessions, in the order of their names.
pub(crate) fn all() -> &'static [Recorded] {
    static ALL: LazyLock<Vec<Recorded>> = LazyLock::new(read_all);
    &ALL
}

fn read_all() -> Vec<Recorded> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut found: Vec<Recorded> = files
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .map(|path| recorded(&path))
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(found.len() > 200, "only {} recorded sessions", found.len());
    found
}

fn recorded(path: &Path) -> Recorded {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |dir: &'static str| lines.iter().filter(move |line| line["dir"] == dir);
    let messages: Vec<Message> = of("out")
        .filter(|line| line["line"].is_object())
        .map(|line| serde_json::from_value(line["line"].clone()).unwrap())
        .collect();
    let mut end = End::default();
    let code = of("exit").find_map(|line| line["line"]["code"].as_i64());
    let has_result = messages
        .iter()
        .any(|message| matches!(message, Message::Result(_)));
    if let (false, Some(code @ 1..)) = (has_result, code) {
        end.failure = Some(Failure::new("engine_ended", format!("exit code {code}")));
        let said = of("err").filter_map(|line| line["line"].as_str());
        end.stderr = said.map(str::to_owned).collect();
    }
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    Recorded {
        name,
        messages,
        end,
    }
}

/// All events of a session, the last one included.
pub(crate) fn events(messages: &[Message]) -> Vec<Draft> {
    events_until(messages, &End::default())
}

fn events_until(messages: &[Message], end: &End) -> Vec<Draft> {
    let mut normaliser = Normaliser::new(Run::default());
    let mut drafts: Vec<Draft> = messages
        .iter()
        .flat_map(|message| normaliser.message(message))
        .collect();
    close(&mut normaliser, &mut drafts, end.clone());
    drafts
}

/// Ends a run after these events.
pub(crate) fn close(normaliser: &mut Normaliser, drafts: &mut Vec<Draft>, end: End) {
    drafts.extend(normaliser.finish());
    let mut ledger = Ledger::default();
    drafts.iter().for_each(|draft| ledger.observe(draft));
    drafts.extend(ledger.end(end));
    assert!(ledger.end(End::default()).is_empty(), "a run ends once");
}

/// One line for an event: what a reviewer wants to see.
fn line(draft: &Draft) -> String {
    let turn = draft
        .turn
        .map_or_else(|| "-".to_owned(), |turn| turn.0.to_string());
    let parent = draft
        .parent
        .as_ref()
        .map(|id| format!(" in {id}"))
        .unwrap_or_default();
    format!("{turn}{parent} {}", said(&draft.body))
}

fn said(body: &Body) -> String {
    match body {
        Body::RunStarted(run) => format!(
            "run.started {:?} {:?} {:?} in {:?} of {:?}",
            run.model, run.permission_mode, run.auth, run.cwd, run.version
        ),
        Body::TurnStarted(turn) => format!("turn.started {:?} {:?}", turn.prompts, turn.model),
        Body::TurnCompleted(turn) => turn_completed(turn),
        Body::ItemStarted(item) => format!("item.started {}", content(&item.content)),
        Body::ItemDelta { text, offset, .. } => format!("item.delta {offset} {:?}", short(text)),
        Body::ItemCompleted(item) => format!("item.completed {}", content(&item.content)),
        Body::Unknown(unknown) => format!("unknown {}", unknown.kind),
        Body::Warning(warning) => format!("warning {} {:?}", warning.kind, short(&warning.text)),
        Body::TaskStarted(task) => format!("task.started {}", task_line(task)),
        Body::TaskProgress(task) => format!("task.progress {}", task_line(task)),
        Body::TaskCompleted(task) => format!("task.completed {}", task_line(task)),
        Body::RunCompleted(run) => run_completed(run),
        other => format!("{other:?}"),
    }
}

fn content(content: &ItemContent) -> String {
    match content {
        ItemContent::Message { text } => format!("message {:?}", short(text)),
        ItemContent::Injected { text } => format!("injected {:?}", short(text)),
        ItemContent::Thought { text } => format!("thought {:?}", short(text)),
        ItemContent::Summary { text, of } => format!("summary {:?} of {of:?}", short(text)),
        ItemContent::Action(action) => action_line(action),
        other => format!("{other:?}"),
    }
}

/// Kind, tool, title and status; then who made it, what came back and what it changes.
fn action_line(action: &Action) -> String {
    let mut line = format!(
        "{:?} {} {:?} {:?}",
        action.kind,
        action.tool,
        short(&action.title),
        action.status
    );
    if let Some(agent) = &action.agent {
        write!(line, " by {agent}").unwrap();
    }
    if let Some(result) = &action.result {
        let cut = if result.truncated { ", cut" } else { "" };
        let first = short(&result.first_line);
        write!(line, " -> {first:?} ({}{cut})", result.length).unwrap();
    }
    if let Some(diff) = &action.diff {
        write!(line, " diff {:?}", diff.hunks).unwrap();
    }
    line
}

fn turn_completed(turn: &TurnCompleted) -> String {
    let mut line = format!("turn.completed ok={} {:?}", turn.ok, short(&turn.text));
    if let Some(failure) = &turn.failure {
        write!(line, " {} {:?}", failure.class, short(&failure.text)).unwrap();
    }
    if let Some(value) = &turn.structured_output {
        write!(line, " value {value}").unwrap();
    }
    let reasons = (&turn.stop_reason, &turn.terminal_reason);
    write!(
        line,
        " {} {reasons:?}",
        used(turn.tokens, turn.total_cost_usd)
    )
    .unwrap();
    if !turn.prompts.is_empty() || turn.origin.is_some() {
        write!(line, " for {:?} {:?}", turn.prompts, turn.origin).unwrap();
    }
    line
}

fn run_completed(run: &RunCompleted) -> String {
    let class = run.failure.as_ref().map(|failure| &failure.class);
    let mut line = format!(
        "run.completed {:?} turns={} {class:?} {:?} {}",
        run.outcome,
        run.turns,
        short(&run.text),
        used(run.tokens, run.cost_usd)
    );
    if run.native_session.is_none() {
        line.push_str(" without a session");
    }
    if let Some(said) = run.stderr.last() {
        write!(line, " stderr {:?}", short(said)).unwrap();
    }
    line
}

fn task_line(task: &Task) -> String {
    let place = if task.in_background {
        "background"
    } else {
        "foreground"
    };
    format!(
        "{:?} {:?} {place} by {:?} {:?} {:?}",
        task.kind,
        task.description,
        task.tool_use_id,
        task.summary.as_deref().map(short),
        task.end
    )
}

/// Tokens in, out, read from the cache and written to it, and dollars so far.
fn used(tokens: Tokens, dollars: f64) -> String {
    let Tokens {
        input,
        output,
        cache_read,
        cache_write,
        ..
    } = tokens;
    format!("[{input}+{output}+{cache_read}+{cache_write} ${dollars:.6}]")
}

fn short(text: &str) -> String {
    let line: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(60)
        .collect();
    if line.len() < text.len() {
        format!("{line}…")
    } else {
        line
    }
}

#[test]
fn every_recorded_session_has_its_events() {
    for Recorded {
        name,
        messages,
        end,
    } in all()
    {
        let events = events_until(messages, end);
        rules::hold(&events).unwrap_or_else(|broken| panic!("{name}: {broken}"));
        let mut text = String::new();
        for event in &events {
            writeln!(text, "{}", line(event)).unwrap();
        }
        insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(name.as_str(), text);
        });
    }
}

#[test]
fn every_prefix_of_every_session_keeps_the_rules() {
    for Recorded { name, messages, .. } in all() {
        for length in 0..messages.len() {
            let events = events(&messages[..length]);
            rules::hold(&events).unwrap_or_else(|broken| panic!("{name} {length}: {broken}"));
        }
    }
}
