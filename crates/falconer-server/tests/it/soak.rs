//! Many sessions, clients that come and go, and a server that is killed in the middle: whatever
//! dies, every client has seen the stored log, and nothing ran twice or without being allowed.

mod chance;
mod driver;
mod script;
pub(crate) mod view;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::apart::{self, Apart, Reach};
use crate::soak::chance::Chance;
use crate::soak::driver::Driver;
use crate::soak::script::{Kind, TRACE, command, reply};
use crate::soak::view::View;

/// `cargo xtask soak` sets it.
pub(crate) const LONG: &str = "FALCONER_SOAK";
const TEST: &str = "soak::every_client_sees_the_stored_log_whatever_dies";

/// How much of everything.
#[derive(Debug, Clone, Copy)]
struct Size {
    sessions: usize,
    messages: usize,
    kills: usize,
}

impl Size {
    fn asked_for() -> Self {
        match std::env::var_os(LONG) {
            Some(_) => Self {
                sessions: 200,
                messages: 12,
                kills: 8,
            },
            None => Self {
                sessions: 32,
                messages: 4,
                kills: 2,
            },
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_client_sees_the_stored_log_whatever_dies() {
    apart::serve_if_asked(script::engines).await;
    let size = Size::asked_for();
    let mut apart = Apart::start(TEST).await;
    let anna = apart.reach();
    let made = json!({"name": "ben", "scopes": ["read", "approve"]});
    let made = anna.post("/v1/tokens", made).await;
    let ben = anna.by(made["secret"].as_str().unwrap());
    let (progress, mut done) = watch::channel(0);
    let progress = Arc::new(progress);

    let mut busy = JoinSet::new();
    let mut watching = JoinSet::new();
    for number in 0..size.sessions {
        let session = create(&apart, &anna, number).await;
        let driver = Driver {
            number,
            session: session.clone(),
            anna: anna.clone(),
            ben: ben.clone(),
            chance: Chance::new(number),
            view: View::default(),
        };
        busy.spawn(drive(driver, size.messages, progress.clone()));
        watching.spawn(read(number, session, ben.clone(), done.clone(), size));
    }
    let all = size.sessions * size.messages;
    for kill in 1..=size.kills {
        let enough = all * kill / (size.kills + 1);
        done.wait_for(|done| *done >= enough).await.unwrap();
        apart.replace().await;
    }
    let drivers = busy.join_all().await;
    let readers = watching.join_all().await;

    // The last one is killed with commands in the background, and what is in the log stays.
    apart.replace().await;
    let mut views: HashMap<usize, View> = readers.into_iter().collect();
    let mut tally = Tally::default();
    for mut driver in drivers {
        let stored = stored(&anna, &driver.session).await;
        let head = u64::try_from(stored.len()).unwrap();
        for view in [&mut driver.view, views.get_mut(&driver.number).unwrap()] {
            view.catch_up(&anna, &driver.session, head).await;
            assert_eq!(view.log, stored, "byte for byte");
        }
        let folder = apart.place.work().join(driver.number.to_string());
        let trace = std::fs::read_to_string(folder.join(TRACE)).unwrap_or_default();
        tally.add(check(&driver, size, &stored, &trace).await);
    }
    tally.is_worth_something(size);
    apart.kill().await;
    apart.leaves_nothing().await;
}

async fn create(apart: &Apart, reach: &Reach, number: usize) -> String {
    let folder = apart.place.work().join(number.to_string());
    std::fs::create_dir(&folder).unwrap();
    let asked = json!({"engine": "script", "cwd": folder});
    let session = reach.post("/v1/sessions", asked).await;
    session["url"].as_str().unwrap().to_owned()
}

async fn drive(mut driver: Driver, messages: usize, progress: Arc<watch::Sender<usize>>) -> Driver {
    for message in 0..messages {
        driver.see_through(message).await;
        progress.send_modify(|done| *done += 1);
    }
    driver
}

/// One who only reads, until everybody is done.
async fn read(
    number: usize,
    session: String,
    reach: Reach,
    done: watch::Receiver<usize>,
    size: Size,
) -> (usize, View) {
    let mut view = View::default();
    let mut chance = Chance::new(size.sessions + number);
    while *done.borrow() < size.sessions * size.messages {
        view.visit(&reach, &session, &mut chance).await;
    }
    (number, view)
}

/// The log of a session, page by page, each event exactly as it is sent.
async fn stored(reach: &Reach, session: &str) -> Vec<String> {
    let path = format!("{session}/export?format=jsonl");
    let (_, export) = reach.ask(reqwest::Method::GET, &path, &Value::Null).await;
    let lines: Vec<String> = export.lines().map(str::to_owned).collect();
    let mut after = 0;
    while after < lines.len() {
        let path = format!("{session}/events?after={after}&limit=100");
        let (_, page) = reach.ask(reqwest::Method::GET, &path, &Value::Null).await;
        let events: Value = serde_json::from_str(&page).unwrap();
        let count = events["events"].as_array().unwrap().len();
        let expected = lines[after..after + count].join(",");
        assert!(
            page.starts_with(&format!("{{\"events\":[{expected}],")),
            "{page}"
        );
        assert_eq!(events["head"], lines.len());
        after += count;
    }
    lines
}

/// What happened to the messages of the sessions, to see that something did.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    done: usize,
    interrupted: usize,
    ran: usize,
    refused: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.done += other.done;
        self.interrupted += other.interrupted;
        self.ran += other.ran;
        self.refused += other.refused;
    }

    fn is_worth_something(&self, size: Size) {
        let all = size.sessions * size.messages;
        assert!(self.done > all / 2, "most came to their end: {self:?}");
        assert!(self.interrupted > 0, "some were cut: {self:?}");
        assert!(self.ran > 0 && self.refused > 0, "both were said: {self:?}");
    }
}

/// Nothing ran twice, and nothing that nobody allowed.
async fn check(driver: &Driver, size: Size, stored: &[String], trace: &str) -> Tally {
    let events: Vec<Value> = stored
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let messages = driver
        .anna
        .get(&format!("{}/messages", driver.session))
        .await;
    let messages = messages["messages"].as_array().unwrap();
    assert_eq!(messages.len(), size.messages, "each message is there once");
    let in_state = |state: &str| {
        let states = messages.iter().map(|message| &message["state"]);
        states.filter(|found| **found == state).count()
    };
    for message in messages {
        let given = events
            .iter()
            .filter(|event| is_given(event, &message["id"]));
        assert!(given.count() <= 1, "{message} was given once");
    }
    let allowed = allowed(driver, &events).await;
    let ran: Vec<&str> = trace.lines().collect();
    for message in 0..size.messages {
        let kind = Kind::of(driver.number, message);
        let times = ran
            .iter()
            .filter(|ran| **ran == message.to_string())
            .count();
        let is_allowed = allowed.contains(&command(kind, message));
        assert!(
            times <= usize::from(is_allowed),
            "{message} ran {times} times: {allowed:?}"
        );
        let replies = events
            .iter()
            .filter(|event| is_reply(event, message))
            .count();
        assert!(
            replies <= 1,
            "message {message} was answered {replies} times"
        );
    }
    Tally {
        done: in_state("done"),
        interrupted: in_state("interrupted"),
        ran: ran.len(),
        refused: requested(&events).count() - allowed.len(),
    }
}

fn is_given(event: &Value, message: &Value) -> bool {
    event["type"] == "item.completed"
        && event["data"]["id"] == *message
        && event["data"]["content"]["state"] == "sent"
}

fn is_reply(event: &Value, message: usize) -> bool {
    let content = &event["data"]["content"];
    event["type"] == "item.completed"
        && content["type"] == "message"
        && content["text"]
            .as_str()
            .is_some_and(|text| text.starts_with(&reply(message)))
}

fn requested(events: &[Value]) -> impl Iterator<Item = &Value> {
    let asked = |event: &&Value| event["type"] == "permission.requested";
    events.iter().filter(asked)
}

/// The commands that somebody allowed.
async fn allowed(driver: &Driver, events: &[Value]) -> Vec<String> {
    let mut allowed = Vec::new();
    for event in requested(events) {
        let id = event["data"]["id"].as_str().unwrap();
        let request = driver.anna.get(&format!("/v1/requests/{id}")).await;
        assert_ne!(
            request["state"], "pending",
            "nobody is there any more to be told"
        );
        if request["decision"]["verdict"]["type"] == "allow" {
            let command = request["input"]["command"].as_str().unwrap();
            allowed.push(command.to_owned());
        }
    }
    allowed
}
