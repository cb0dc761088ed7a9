//! The routes, one after the other, and how they fail.

use reqwest::Method;
use serde_json::{Value, json};

use crate::place::{LIMIT, Place, good, problem};

#[tokio::test]
async fn a_session_is_made_listed_changed_closed_resumed_and_deleted() {
    let place = Place::new();
    let server = place.serve().await;
    let id = uuid::Uuid::new_v4().to_string();
    let asked = json!({"id": id, "title": "first", "engine": "script", "cwd": place.work(),
        "limits": {"turns": 50}, "message": {"client_msg_id": "1", "text": "hello"}});
    let request = server.ask(Method::POST, "/v1/sessions").json(&asked);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 201);
    let url = response.headers()["location"].to_str().unwrap().to_owned();
    let session = good(response).await;
    assert_eq!(session["id"], id.as_str());
    assert_eq!(session["url"], url.as_str());
    assert_eq!(session["limits"]["turns"], 50);
    for hidden in ["owner", "fence", "config"] {
        assert!(session.get(hidden).is_none(), "{hidden}");
    }
    let taken = server
        .ask(Method::POST, "/v1/sessions")
        .json(&asked)
        .send()
        .await
        .unwrap();
    problem(taken, 409, "conflict").await;
    server.turns(&url, 1).await;

    let changed = server
        .patch(&url, json!({"title": "second", "pinned": true}))
        .await;
    assert_eq!(
        (&changed["title"], &changed["pinned"]),
        (&json!("second"), &json!(true))
    );
    let changed = server
        .patch(&url, json!({"mode": "acceptEdits", "archived": true}))
        .await;
    assert_eq!(changed["mode"], "acceptEdits");
    assert_eq!(
        server.get("/v1/sessions").await["sessions"],
        json!([]),
        "it is archived"
    );
    server.patch(&url, json!({"archived": false})).await;

    let closed = server.post(&format!("{url}/close"), json!({})).await;
    assert_eq!(closed["state"], "closed");
    let message = json!({"client_msg_id": "2", "text": "hello"});
    let late = server
        .ask(Method::POST, &format!("{url}/messages"))
        .json(&message);
    problem(late.send().await.unwrap(), 409, "wrong_state").await;
    server.post(&format!("{url}/resume"), json!({})).await;
    server.send(&url, "again").await;
    server.turns(&url, 2).await;
    let commands = server.get(&format!("{url}/commands")).await;
    assert!(commands["commands"].is_array() && commands["models"].is_array());

    let fork = server
        .post(&format!("{url}/fork"), json!({"title": "third"}))
        .await;
    assert_eq!(
        (&fork["parent"], &fork["title"]),
        (&json!(id), &json!("third"))
    );
    let early = server
        .ask(Method::POST, &format!("{url}/fork"))
        .json(&json!({"at": 1}));
    problem(early.send().await.unwrap(), 422, "invalid_value").await;

    let deleted = server.ask(Method::DELETE, &url).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    problem(
        server.ask(Method::GET, &url).send().await.unwrap(),
        404,
        "not_found",
    )
    .await;
    server.stop().await;
}

#[tokio::test]
async fn sessions_are_listed_by_page_and_by_filter() {
    let place = Place::new();
    let server = place.serve().await;
    for number in 0..5 {
        let asked = json!({"engine": "script", "cwd": place.work(), "title": format!("n{number}")});
        server.post("/v1/sessions", asked).await;
    }
    let mut seen = Vec::new();
    let mut path = "/v1/sessions?limit=2".to_owned();
    loop {
        let page = server.get(&path).await;
        let sessions = page["sessions"].as_array().unwrap();
        seen.extend(sessions.iter().map(|session| session["title"].clone()));
        match page["next"].as_str() {
            Some(next) => path = format!("/v1/sessions?limit=2&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["n4", "n3", "n2", "n1", "n0"]);
    let found = server.get("/v1/sessions?q=N3&state=idle,ready").await;
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1);
    let none = server.get("/v1/sessions?state=running").await;
    assert_eq!(none["sessions"], json!([]));
    for wrong in ["state=asleep", "cursor=x", "archived=maybe", "limit=x"] {
        let path = format!("/v1/sessions?{wrong}");
        problem(
            server.ask(Method::GET, &path).send().await.unwrap(),
            422,
            "invalid_value",
        )
        .await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_message_counts_once_and_can_be_taken_back_while_it_waits() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    let path = format!("{session}/messages");
    let message = json!({"client_msg_id": "m1", "text": "write one"});
    let request = server
        .ask(Method::POST, &path)
        .json(&message)
        .send()
        .await
        .unwrap();
    assert_eq!(request.status(), 202);
    let first = good(request).await;
    assert_eq!(first["duplicate"], false);
    assert_eq!(first["message"]["by"], "anna");
    assert_eq!(server.post(&path, message).await["duplicate"], true);
    let other = json!({"client_msg_id": "m1", "text": "something else"});
    let other = server
        .ask(Method::POST, &path)
        .json(&other)
        .send()
        .await
        .unwrap();
    problem(other, 409, "conflict").await;
    server.request(&session).await;
    let queued = server
        .post(&path, json!({"client_msg_id": "m2", "text": "write two"}))
        .await;
    let queued = format!("{path}/{}", queued["message"]["id"].as_str().unwrap());
    let cancelled = server.ask(Method::DELETE, &queued).send().await.unwrap();
    assert_eq!(good(cancelled).await["cancelled"], true);
    let again = server.ask(Method::DELETE, &queued).send().await.unwrap();
    assert_eq!(good(again).await["cancelled"], false);
    let listed = server.get(&path).await;
    let states: Vec<&Value> = (listed["messages"].as_array().unwrap().iter())
        .map(|message| &message["state"])
        .collect();
    assert_eq!(states, ["sent", "cancelled"]);

    for wrong in [
        json!({"client_msg_id": "", "text": "x"}),
        json!({"client_msg_id": "x".repeat(300), "text": "x"}),
        json!({"client_msg_id": "m3", "text": "  "}),
        json!({"client_msg_id": "m3"}),
        json!({"client_msg_id": "m3", "text": "x", "delivery": "pigeon"}),
    ] {
        let refused = server
            .ask(Method::POST, &path)
            .json(&wrong)
            .send()
            .await
            .unwrap();
        problem(refused, 422, "invalid_value").await;
    }
    let lost = json!({"client_msg_id": "m4", "text": "x", "attachments": ["none"]});
    let lost = server
        .ask(Method::POST, &path)
        .json(&lost)
        .send()
        .await
        .unwrap();
    problem(lost, 404, "not_found").await;
    let none = server
        .ask(Method::DELETE, &format!("{path}/none"))
        .send()
        .await
        .unwrap();
    problem(none, 404, "not_found").await;
    let broken = server
        .ask(Method::POST, &path)
        .header("content-type", "application/json");
    problem(broken.body("{").send().await.unwrap(), 400, "invalid_json").await;
    server.stop().await;
}

#[tokio::test]
async fn a_turn_is_interrupted_and_a_file_goes_with_a_message() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    let idle = server
        .ask(Method::POST, &format!("{session}/interrupt"))
        .send()
        .await
        .unwrap();
    problem(idle, 409, "wrong_state").await;
    let request = server
        .ask(Method::POST, "/v1/attachments")
        .header("content-type", "text/plain");
    let stored = request
        .header("x-falconer-name", "notes.txt")
        .body("notes")
        .send()
        .await
        .unwrap();
    assert_eq!(stored.status(), 201);
    let stored = good(stored).await;
    assert_eq!(
        (&stored["name"], &stored["bytes"]),
        (&json!("notes.txt"), &json!(5))
    );
    let message = json!({"client_msg_id": "1", "text": "wait", "attachments": [stored["id"]]});
    let sent = server.post(&format!("{session}/messages"), message).await;
    assert_eq!(sent["message"]["attachments"][0]["name"], "notes.txt");
    server.state(&session, "running").await;
    let told = server
        .ask(Method::POST, &format!("{session}/interrupt"))
        .send()
        .await
        .unwrap();
    assert_eq!(told.status(), 202);
    server.turns(&session, 1).await;
    let task = server
        .ask(Method::POST, &format!("{session}/tasks/none/stop"))
        .send()
        .await
        .unwrap();
    assert_eq!(task.status(), 202);
    let none = server
        .ask(Method::GET, "/v1/attachments/none")
        .send()
        .await
        .unwrap();
    problem(none, 404, "not_found").await;
    let empty = server
        .ask(Method::POST, "/v1/attachments")
        .header("x-falconer-name", "a");
    problem(empty.send().await.unwrap(), 422, "invalid_value").await;
    let path = server
        .ask(Method::POST, "/v1/attachments")
        .header("x-falconer-name", "../a");
    problem(path.body("x").send().await.unwrap(), 422, "invalid_value").await;
    server.stop().await;
}

#[tokio::test]
async fn events_come_by_page_and_as_a_file() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "hello").await;
    let head = server.turns(&session, 1).await["head"].as_u64().unwrap();
    let first = server.get(&format!("{session}/events?limit=2")).await;
    assert_eq!(first["events"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&first["head"], &first["more"]),
        (&json!(head), &json!(true))
    );
    let rest = server
        .get(&format!("{session}/events?after=2&limit=1000"))
        .await;
    assert_eq!(rest["more"], false);
    assert_eq!(rest["events"].as_array().unwrap().len() as u64, head - 2);
    let turns = server
        .get(&format!(
            "{session}/events?types=turn.started,turn.completed"
        ))
        .await;
    assert_eq!(turns["events"].as_array().unwrap().len(), 2);
    // The page holds the bytes of the log.
    let path = format!("{session}/events?limit=1000");
    let page = server
        .ask(Method::GET, &path)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    for line in server.log(&session).await {
        assert!(page.contains(&line), "{line}");
    }
    let path = format!("{session}/export?format=markdown");
    let text = server.ask(Method::GET, &path).send().await.unwrap();
    assert!(
        text.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/markdown")
    );
    let text = text.text().await.unwrap();
    assert!(
        text.contains("## User\n\nhello") && text.contains("## Agent\n\nsaid"),
        "{text}"
    );
    let path = format!("{session}/export?format=pdf");
    problem(
        server.ask(Method::GET, &path).send().await.unwrap(),
        422,
        "invalid_value",
    )
    .await;
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_start_says_why_and_leaves_nothing() {
    let place = Place::new();
    let server = place.serve().await;
    for (engine, status, code, hint) in [
        ("unknown", 422, "invalid_value", "ask for `script`"),
        ("missing", 502, "engine_failed", "install it"),
    ] {
        let asked = json!({"engine": engine, "cwd": place.work(),
            "message": {"client_msg_id": "1", "text": "hello"}});
        let failed = server.ask(Method::POST, "/v1/sessions").json(&asked);
        let failed = problem(failed.send().await.unwrap(), status, code).await;
        assert_eq!(failed["hint"], hint);
    }
    assert_eq!(
        server.get("/v1/sessions?archived=any").await["sessions"],
        json!([])
    );
    for wrong in [
        json!({"cwd": place.work(), "id": "not a uuid"}),
        json!({"cwd": place.work(), "limits": {"turns": "many"}}),
        json!({"cwd": place.work(), "limits": {"speed": 1}}),
        json!({}),
        json!([]),
    ] {
        let refused = server
            .ask(Method::POST, "/v1/sessions")
            .json(&wrong)
            .send()
            .await
            .unwrap();
        problem(refused, 422, "invalid_value").await;
    }
    server.stop().await;
}

#[tokio::test]
async fn the_server_says_how_it_is_and_what_it_has() {
    let place = Place::new();
    let server = place.serve().await;
    for path in ["/health", "/ready"] {
        let answer = good(server.bare(Method::GET, path).send().await.unwrap()).await;
        assert_eq!(answer["status"], "ok");
    }
    let session = server.session().await;
    let metrics = server
        .ask(Method::GET, "/metrics")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    for line in [
        "falconer_sessions{state=\"idle\"} 1",
        "falconer_requests_pending 0",
        "falconer_http_requests_total{route=\"/v1/sessions\",status=\"201\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let engines = server.get("/v1/engines").await;
    assert_eq!(engines["engines"][0]["name"], "script");
    assert_eq!(server.get("/v1/models").await["models"], json!([]));
    // An engine that runs has said what it has.
    server.send(&session, "hello").await;
    server.turns(&session, 1).await;
    let path = format!("{session}/commands");
    let told = server.get(&path).await["models"].clone();
    assert!(
        told.as_array().is_some_and(|models| models.len() > 1),
        "{told}"
    );
    let known = json!({"engine": "script", "models": told});
    for path in ["/v1/models", "/v1/models?engine=script"] {
        let heard = async { while server.get(path).await != known {} };
        tokio::time::timeout(LIMIT, heard).await.unwrap();
    }
    let none = server.ask(Method::GET, "/v1/models?engine=none").send();
    problem(none.await.unwrap(), 404, "not_found").await;
    let me = server.get("/v1/me").await;
    assert_eq!(me["name"], "anna");
    assert_eq!(me["roots"][0], place.work().to_str().unwrap());
    problem(
        server.ask(Method::GET, "/v1/nothing").send().await.unwrap(),
        404,
        "not_found",
    )
    .await;
    let put = server
        .ask(Method::PUT, "/v1/sessions")
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    problem(put, 405, "method_not_allowed").await;
    server.stop().await;
}

#[tokio::test]
async fn a_session_of_another_program_with_the_same_store_is_visible() {
    let place = Place::new();
    let server = place.serve().await;
    let other = place.hub().await;
    let new = falconer_hub::NewSession::new("script", place.work());
    let session = other.create(new).await.unwrap();
    let message = falconer_hub::NewMessage::new("1", "hello", "somebody");
    other.send(&session.id, message).await.unwrap();
    let path = format!("/v1/sessions/{}", session.id);
    server.turns(&path, 1).await;
    let log = server.log(&path).await;
    assert!(log.iter().any(|line| line.contains("\"said\"")));
    other.shut_down().await;
    server.stop().await;
}

#[tokio::test]
async fn rules_are_checked_before_they_are_kept() {
    let place = Place::new();
    let server = place.serve().await;
    let rule = json!({"text": "Bash(git status:*)", "effect": "allow", "scope": {"type": "user"}});
    let made = server
        .ask(Method::POST, "/v1/rules")
        .json(&rule)
        .send()
        .await
        .unwrap();
    assert_eq!(made.status(), 201);
    for wrong in [
        json!({"text": "", "effect": "allow", "scope": {"type": "user"}}),
        json!({"text": "Bash(", "effect": "allow", "scope": {"type": "user"}}),
        json!({"text": "Bash", "effect": "maybe", "scope": {"type": "user"}}),
        json!({"text": "Bash", "effect": "allow", "scope": {"type": "project", "path": "here"}}),
        json!({"text": "Bash", "effect": "allow"}),
    ] {
        let refused = server
            .ask(Method::POST, "/v1/rules")
            .json(&wrong)
            .send()
            .await
            .unwrap();
        problem(refused, 422, "invalid_value").await;
    }
    let nowhere =
        json!({"text": "Bash", "effect": "allow", "scope": {"type": "session", "id": "x"}});
    let nowhere = server
        .ask(Method::POST, "/v1/rules")
        .json(&nowhere)
        .send()
        .await
        .unwrap();
    problem(nowhere, 404, "not_found").await;
    let gone = server
        .ask(Method::DELETE, "/v1/rules/none")
        .send()
        .await
        .unwrap();
    problem(gone, 404, "not_found").await;
    server.stop().await;
}
