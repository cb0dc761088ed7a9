//! The few requests the measurements need.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::role::Serving;

/// Makes so many sessions and says where they are.
async fn sessions(
    client: &reqwest::Client,
    serving: &Serving,
    folder: &Path,
    count: usize,
) -> Vec<String> {
    let mut paths = Vec::with_capacity(count);
    for _ in 0..count {
        let body = json!({"engine": "script", "cwd": folder});
        let url = format!("{}/v1/sessions", serving.url);
        let made = post(client, serving, &url, &body).await;
        paths.push(made["url"].as_str().expect("a path").to_owned());
    }
    paths
}

pub(crate) async fn say(client: &reqwest::Client, serving: &Serving, path: &str, id: usize) {
    let body = json!({"client_msg_id": id.to_string(), "text": "go on"});
    let url = format!("{}{path}/messages", serving.url);
    post(client, serving, &url, &body).await;
}

async fn post(client: &reqwest::Client, serving: &Serving, url: &str, body: &Value) -> Value {
    let request = client.post(url).bearer_auth(&serving.token).json(body);
    let answer = request.send().await.expect("an answer");
    let status = answer.status();
    let text = answer.text().await.expect("an answer");
    assert!(status.is_success(), "{url}: {status} {text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// Sessions whose engines run and have nothing to do.
pub(crate) async fn live(
    client: &reqwest::Client,
    serving: &Serving,
    folder: &Path,
    count: usize,
) -> Vec<String> {
    let paths = sessions(client, serving, folder, count).await;
    for path in &paths {
        say(client, serving, path, 0).await;
    }
    for path in &paths {
        at_rest(client, serving, path).await;
    }
    paths
}

/// Waits until the engine has nothing to do; the number of the last event.
pub(crate) async fn at_rest(client: &reqwest::Client, serving: &Serving, path: &str) -> u64 {
    loop {
        let session = get(client, serving, path).await;
        if session["state"] == "ready" {
            return session["head"].as_u64().expect("a head");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The number of the last event of a session.
pub(crate) async fn head(client: &reqwest::Client, serving: &Serving, path: &str) -> u64 {
    let session = get(client, serving, path).await;
    session["head"].as_u64().expect("a head")
}

async fn get(client: &reqwest::Client, serving: &Serving, path: &str) -> Value {
    let url = format!("{}{path}", serving.url);
    let answer = client.get(url).bearer_auth(&serving.token).send().await;
    let text = answer.expect("an answer").text().await.expect("an answer");
    serde_json::from_str(&text).expect("JSON")
}
