//! Every recorded session of the official CLI, as events.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use falconer_event::{Body, Draft, End, ItemContent, Normaliser, Run};
use falconer_protocol::Message;
use serde_json::Value;

use crate::rules;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cassettes")
}

/// The recorded sessions, by name.
pub(crate) fn all() -> &'static [(String, Vec<Message>)] {
    static ALL: LazyLock<Vec<(String, Vec<Message>)>> = LazyLock::new(read_all);
    &ALL
}

fn read_all() -> Vec<(String, Vec<Message>)> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut found: Vec<(String, Vec<Message>)> = files
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, messages(&path))
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() > 200, "only {} recorded sessions", found.len());
    found
}

fn messages(path: &Path) -> Vec<Message> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let out = lines.filter(|line| line["dir"] == "out" && line["line"].is_object());
    out.map(|line| serde_json::from_value(line["line"].clone()).unwrap())
        .collect()
}

/// All events of a session, the last one included.
pub(crate) fn events(messages: &[Message]) -> Vec<Draft> {
    let mut normaliser = Normaliser::new(Run::default());
    let mut drafts: Vec<Draft> = messages
        .iter()
        .flat_map(|message| normaliser.message(message))
        .collect();
    drafts.extend(normaliser.end(End::default()));
    assert!(normaliser.end(End::default()).is_empty(), "a run ends once");
    drafts
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
    let content = |content: &ItemContent| match content {
        ItemContent::Message { text } => format!("message {:?}", short(text)),
        ItemContent::Injected { text } => format!("injected {:?}", short(text)),
        ItemContent::Thought { text } => format!("thought {:?}", short(text)),
        ItemContent::Summary { text, .. } => format!("summary {:?}", short(text)),
        ItemContent::Action(action) => {
            let result = action
                .result
                .as_ref()
                .map(|result| short(&result.first_line));
            format!(
                "{:?} {:?} {:?} {result:?}",
                action.kind,
                short(&action.title),
                action.status
            )
        }
        other => format!("{other:?}"),
    };
    match body {
        Body::RunStarted(run) => format!("run.started {:?} {:?}", run.model, run.permission_mode),
        Body::TurnCompleted(turn) => {
            let failure = turn
                .failure
                .as_ref()
                .map(|failure| (&failure.class, short(&failure.text)));
            format!(
                "turn.completed ok={} {:?} {failure:?}",
                turn.ok,
                short(&turn.text)
            )
        }
        Body::ItemStarted(item) => format!("item.started {}", content(&item.content)),
        Body::ItemDelta { text, offset, .. } => format!("item.delta {offset} {:?}", short(text)),
        Body::ItemCompleted(item) => format!("item.completed {}", content(&item.content)),
        Body::Unknown(unknown) => format!("unknown {}", unknown.kind),
        Body::Warning(warning) => format!("warning {} {:?}", warning.kind, short(&warning.text)),
        Body::TaskStarted(task) => format!("task.started {:?} {:?}", task.kind, task.description),
        Body::TaskProgress(task) => format!("task.progress {:?}", task.summary),
        Body::TaskCompleted(task) => format!("task.completed {:?}", task.end),
        Body::RunCompleted(run) => {
            let class = run.failure.as_ref().map(|failure| &failure.class);
            format!(
                "run.completed {:?} turns={} {class:?}",
                run.outcome, run.turns
            )
        }
        other => format!("{other:?}"),
    }
}

fn short(text: &str) -> String {
    let line: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(60)
        .collect();
    match line.len() < text.len() {
        true => format!("{line}…"),
        false => line,
    }
}

#[test]
fn every_recorded_session_has_its_events() {
    for (name, messages) in all() {
        let events = events(messages);
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
    for (name, messages) in all() {
        for length in 0..messages.len() {
            let events = events(&messages[..length]);
            rules::hold(&events).unwrap_or_else(|broken| panic!("{name} {length}: {broken}"));
        }
    }
}
