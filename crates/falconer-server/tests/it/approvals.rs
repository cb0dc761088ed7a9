//! Permissions and questions over HTTP: one answer counts, and it is about what was shown.

use reqwest::Method;
use serde_json::{Value, json};

use crate::place::{Place, good, problem};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_browsers_that_click_at_once_one_decides_and_both_see_it() {
    let place = Place::new();
    let server = place.serve().await;
    for round in 0..10 {
        let session = server.session().await;
        server.send(&session, "write one").await;
        let request = server.request(&session).await;
        let boris = server
            .token(&format!("boris {round}"), &["read", "approve"])
            .await;
        let allow = server.answer(&request, json!({"type": "allow"}));
        let deny = server.answer_as(&boris, &request, json!({"type": "deny", "message": "no"}));
        let (allow, deny) = tokio::join!(allow, deny);
        let statuses = (allow.status().as_u16(), deny.status().as_u16());
        let (won, lost) = match statuses {
            (200, 409) => (allow, deny),
            (409, 200) => (deny, allow),
            other => panic!("{other:?}"),
        };
        let won = good(won).await["request"].clone();
        let lost = problem(lost, 409, "already_answered").await;
        assert_eq!(lost["request"]["decision"], won["decision"]);
        server.turns(&session, 1).await;
        let path = format!("/v1/requests/{}", request["id"].as_str().unwrap());
        let kept = server.get(&path).await;
        assert_eq!(kept["decision"], won["decision"]);
        let was_allowed = kept["decision"]["verdict"]["type"] == "allow";
        assert_eq!(place.read("one.txt").is_some(), was_allowed);
        let _ = std::fs::remove_file(place.work().join("one.txt"));
        let log = server.log(&session).await;
        let resolved = log
            .iter()
            .filter(|line| line.contains("\"permission.resolved\""));
        assert_eq!(resolved.count(), 1);
    }
    server.stop().await;
}

#[tokio::test]
async fn an_edited_command_runs_and_both_versions_are_on_record() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "write one").await;
    let request = server.request(&session).await;
    assert_eq!(request["input"]["command"], "echo one > one.txt");
    let edited = json!({"command": "echo edited > one.txt"});
    let verdict = json!({"type": "allow_edited", "input": edited});
    let answered = good(server.answer(&request, verdict).await).await;
    assert_eq!(answered["request"]["digest"], request["digest"]);
    server.turns(&session, 1).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("edited\n"));
    let log = server.log(&session).await.join("\n");
    for text in ["echo one > one.txt", "echo edited > one.txt"] {
        assert!(log.contains(text), "{text}");
    }
    assert!(log.contains(request["digest"].as_str().unwrap()));
    let audit = server.get("/v1/audit?limit=1000").await.to_string();
    assert!(audit.contains("echo one > one.txt") && audit.contains("echo edited > one.txt"));
    server.stop().await;
}

#[tokio::test]
async fn an_always_rule_is_shown_counted_revocable_and_survives_a_restart() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "write one").await;
    let request = server.request(&session).await;
    let rule = json!({"text": "Bash(echo one > one.txt)", "scope": "project"});
    let question = json!({"tool": "Bash", "input": request["input"], "session": request["session"],
        "rule": rule["text"]});
    let explained = server.post("/v1/rules/explain", question.clone()).await;
    assert_eq!(explained["effect"], "ask");
    assert_eq!(explained["would_have_allowed"]["of"], 1, "{explained}");
    let verdict = json!({"type": "allow_always", "rule": rule});
    good(server.answer(&request, verdict).await).await;
    server.turns(&session, 1).await;
    server.send(&session, "write one").await;
    let used = |rules: Value| rules["rules"][0]["used"].as_u64().filter(|used| *used > 0);
    server
        .until(|| async { used(server.get("/v1/rules").await) })
        .await;
    server.turns(&session, 2).await;
    server.stop().await;

    let server = place.serve().await;
    let rules = server.get("/v1/rules").await;
    assert_eq!(rules["rules"][0]["text"], rule["text"]);
    assert_eq!(rules["rules"][0]["created_by"], "anna");
    assert_eq!(rules["rules"][0]["scope"]["type"], "project");
    let explained = server.post("/v1/rules/explain", question).await;
    assert_eq!(explained["effect"], "allow", "{explained}");
    let path = format!("/v1/rules/{}", rules["rules"][0]["id"].as_str().unwrap());
    let changed = server.patch(&path, json!({"effect": "ask"})).await;
    assert_eq!(changed["effect"], "ask");
    let removed = server.ask(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(removed.status(), 204);
    server.send(&session, "write one").await;
    let again = server.request(&session).await;
    assert_ne!(again["id"], request["id"], "it is asked again");
    server.stop().await;
}

#[tokio::test]
async fn a_permission_raised_after_the_turn_ended_is_answered() {
    // It is built if it is not there, which may take longer than a request.
    falconer_testkit::fake_engine_path().unwrap();
    let place = Place::new();
    let server = place.serve().await;
    let asked = json!({"engine": "late", "cwd": place.work(),
        "message": {"client_msg_id": "1", "text": "go"}});
    let session = server.post("/v1/sessions", asked).await["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let request = server.request(&session).await;
    assert_eq!(request["input"]["command"], "echo late");
    let log = server.log(&session).await;
    let place_of = |kind: &str| {
        log.iter()
            .position(|line| line.contains(&format!("\"{kind}\"")))
    };
    assert!(
        place_of("turn.completed") < place_of("permission.requested"),
        "{log:#?}"
    );
    good(server.answer(&request, json!({"type": "allow"})).await).await;
    let path = format!("/v1/requests/{}", request["id"].as_str().unwrap());
    server
        .until(|| async {
            let kept = server.get(&path).await;
            (kept["state"] == "delivered").then_some(())
        })
        .await;
    server.stop().await;
}

#[tokio::test]
async fn questions_are_answered_and_wrong_answers_are_not_taken() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.send(&session, "ask me").await;
    let request = server.request(&session).await;
    assert_eq!(request["kind"], "choice");
    let wrong = server.answer(&request, json!({"type": "allow"})).await;
    problem(wrong, 422, "invalid_value").await;
    let mut other = request.clone();
    other["digest"] = json!("of something else");
    let choices = json!({"type": "choices", "answers": {"Which colour?": ["blue"]}});
    let changed = server.answer(&other, choices.clone()).await;
    problem(changed, 409, "changed").await;
    let unknown = server.answer(&request, json!({"type": "maybe"})).await;
    problem(unknown, 422, "invalid_value").await;
    good(server.answer(&request, choices).await).await;
    server.turns(&session, 1).await;

    server.send(&session, "write one").await;
    let open = server.request(&session).await;
    server.post(&format!("{session}/close"), json!({})).await;
    let late = server.answer(&open, json!({"type": "allow"})).await;
    problem(late, 410, "expired").await;
    assert_eq!(place.read("one.txt"), None);
    let all = server.get("/v1/requests?state=all").await;
    assert_eq!(all["requests"].as_array().unwrap().len(), 2);
    let none = server
        .ask(Method::GET, "/v1/requests/none")
        .send()
        .await
        .unwrap();
    problem(none, 404, "not_found").await;
    server.stop().await;
}
