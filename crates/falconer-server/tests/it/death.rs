//! A server that is killed with an approval open, and the one that comes after it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::place::{Place, good, problem};

/// Where a child process finds its place.
const ROOT: &str = "FALCONER_SERVER_TEST_ROOT";
const TEST: &str = "death::an_approval_open_at_kill_9_is_there_after_it_and_nothing_ran";

/// Serves until it is killed, with an approval open and a message behind it.
async fn be_victim(place: Place) {
    let server = place.serve().await;
    let session = server.session().await;
    server.patch(&session, json!({"mode": "acceptEdits"})).await;
    server.send(&session, "write three").await;
    let request = server.request(&session).await;
    server.send(&session, "write three again").await;
    println!(
        "\nREADY {} {} {}",
        session,
        request["id"].as_str().unwrap(),
        server.token
    );
    std::future::pending::<()>().await;
}

fn victim(place: &Place) -> (Child, Vec<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(ROOT, place.root())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_once("READY ").map(|(_, rest)| rest.to_owned())
    });
    let ready = ready.expect("the child got where it should be");
    (child, ready.split(' ').map(str::to_owned).collect())
}

#[tokio::test]
async fn an_approval_open_at_kill_9_is_there_after_it_and_nothing_ran() {
    if let Some(root) = std::env::var_os(ROOT) {
        return be_victim(Place::at(root)).await;
    }
    let place = Place::new();
    let (mut child, told) = victim(&place);
    let [session, request, token] = told.try_into().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let server = place.serve().await;
    let old = server
        .with(&token, reqwest::Method::GET, &session)
        .send()
        .await
        .unwrap();
    let found = good(old).await;
    assert_eq!(found["state"], "interrupted");
    assert_eq!(found["mode"], "acceptEdits", "the same mode");
    let kept = server.get(&format!("/v1/requests/{request}")).await;
    assert_eq!(kept["state"], "expired", "it says what became of it");
    let late = server.answer(&kept, json!({"type": "allow"})).await;
    let late = problem(late, 410, "expired").await;
    assert_eq!(late["request"]["id"], request.as_str());
    assert_eq!(place.read("three.txt"), None);
    let log = server.log(&session).await;
    assert!(log.last().unwrap().contains("server_died"), "{log:#?}");

    server.post(&format!("{session}/resume"), json!({})).await;
    let next = server.request(&session).await;
    assert_ne!(next["id"], request.as_str(), "what waited goes on");
    assert_eq!(
        place.read("three.txt"),
        None,
        "nothing is run again by itself"
    );
    good(server.answer(&next, json!({"type": "allow"})).await).await;
    let resumed = server.state(&session, "ready").await;
    assert_eq!(
        resumed["native_session"], found["native_session"],
        "its own conversation"
    );
    assert_eq!(resumed["mode"], "acceptEdits");
    assert_eq!(place.read("three.txt").as_deref(), Some("three\n"));
    let after = server.log(&session).await;
    assert_eq!(after[..log.len()], log, "what was there stays as it was");
    server.stop().await;
}
