//! One who keeps a session busy: sends messages, answers what is asked, and loses the connection.

use reqwest::Method;
use serde_json::{Value, json};

use crate::apart::{PATIENCE, Reach};
use crate::soak::chance::Chance;
use crate::soak::script::{Kind, QUESTION, words};
use crate::soak::view::View;

/// One who keeps a session busy.
pub(crate) struct Driver {
    pub(crate) number: usize,
    /// The path of the session.
    pub(crate) session: String,
    pub(crate) anna: Reach,
    pub(crate) ben: Reach,
    pub(crate) chance: Chance,
    pub(crate) view: View,
}

impl Driver {
    /// Sends a message and stays until something has become of it.
    pub(crate) async fn see_through(&mut self, message: usize) {
        let id = format!("client-{}-{message}", self.number);
        let body = json!({
            "client_msg_id": id, "text": words(Kind::of(self.number, message), message),
        });
        let path = format!("{}/messages", self.session);
        self.impatient(&path, &body).await;
        let sent = self.anna.post(&path, body).await;
        let id = sent["message"]["id"].as_str().unwrap().to_owned();
        let seeing = async {
            while !self.is_settled(&id).await {
                self.stay().await;
            }
        };
        if tokio::time::timeout(PATIENCE, seeing).await.is_err() {
            let session = self.anna.get(&self.session).await;
            let tail = self.view.log.iter().rev().take(5).collect::<Vec<_>>();
            panic!("nothing becomes of message {message} in {session}: {tail:#?}");
        }
    }

    /// Now and then somebody hangs up before the answer, whatever was done; then asks again.
    async fn impatient(&mut self, path: &str, body: &Value) {
        if self.chance.below(3) == 0 {
            let asking = self.anna.ask(Method::POST, path, body);
            let _ = tokio::time::timeout(self.chance.time(1, 15), asking).await;
        }
    }

    /// Whether the message got its answer or never will. One that waits for an engine that is
    /// not there gets one.
    async fn is_settled(&self, id: &str) -> bool {
        let messages = self.anna.get(&format!("{}/messages", self.session)).await;
        let messages = messages["messages"].as_array().unwrap();
        let mine = messages.iter().find(|message| message["id"] == id);
        let state = mine.expect("what was taken is kept")["state"].as_str();
        match state.unwrap() {
            "done" | "interrupted" | "cancelled" => true,
            "queued" => {
                let session = self.anna.get(&self.session).await;
                let state = session["state"].as_str().unwrap();
                if ["idle", "interrupted"].contains(&state) {
                    let path = format!("{}/resume", self.session);
                    self.anna.post(&path, json!({})).await;
                }
                false
            }
            _ => false,
        }
    }

    /// Follows until a turn or a run is over or the connection is; answers what is asked.
    async fn stay(&mut self) {
        let path = format!("{}/stream", self.session);
        let Some(mut wire) = self.anna.follow(&path, self.view.last()).await else {
            return;
        };
        let frames = 1 + self.chance.below(80);
        let until = tokio::time::Instant::now() + self.chance.time(50, 2_000);
        for _ in 0..frames {
            let told = tokio::time::timeout_at(until, wire.next()).await;
            let Ok(Some(told)) = told else {
                return;
            };
            if told.event == "hello" {
                let hello: Value = serde_json::from_str(&told.data).unwrap();
                for request in hello["pending"].as_array().unwrap() {
                    self.answer(request["id"].as_str().unwrap()).await;
                }
            }
            let Some(event) = self.view.take(told) else {
                continue;
            };
            match event["type"].as_str().unwrap() {
                "permission.requested" | "question.requested" => {
                    self.answer(event["data"]["id"].as_str().unwrap()).await;
                }
                "turn.completed" | "run.completed" => return,
                _ => {}
            }
        }
    }

    /// Two answer at the same time; at most one of them counts.
    async fn answer(&mut self, id: &str) {
        let path = format!("/v1/requests/{id}");
        let request = self.anna.get(&path).await;
        if request["state"] != "pending" {
            return;
        }
        let verdicts = match request["kind"].as_str().unwrap() {
            "permission" => [
                json!({"type": "allow"}),
                json!({"type": "deny", "message": "no"}),
            ],
            _ => ["red", "blue"]
                .map(|colour| json!({"type": "choices", "answers": {QUESTION: [colour]}})),
        };
        let [one, other] =
            verdicts.map(|verdict| json!({"digest": request["digest"], "verdict": verdict}));
        let path = format!("{path}/answer");
        let (anna, ben) = (&self.anna, &self.ben);
        let (first, second) = match self.chance.below(2) {
            0 => (anna, ben),
            _ => (ben, anna),
        };
        let (one, other) = tokio::join!(
            first.ask(Method::POST, &path, &one),
            second.ask(Method::POST, &path, &other)
        );
        let is_won = |answer: &(u16, String)| answer.0 == 200;
        assert!(
            !is_won(&one) || !is_won(&other),
            "one decision: {one:?} {other:?}"
        );
        for (status, text) in [one, other] {
            assert!([200, 409, 410].contains(&status), "{status} {text}");
        }
    }
}
