//! Conversations: order, ends, errors, and what a caller who reads slowly gets.

use std::time::Duration;

use falconer::{
    Client, Decision, Error, FailureClass, Message, Options, PermissionRequest, channel,
    query_through,
};
use serde_json::json;

use crate::scripted::{LIMIT, Scripted, hello_payload};

#[tokio::test]
async fn a_query_ends_when_the_engine_is_idle_not_at_the_first_result() {
    let (transport, end) = channel();
    let engine = tokio::spawn(async move {
        let mut engine = Scripted::new(end);
        engine.hello().await;
        let prompt = engine.prompt().await;
        engine.state("running").await;
        engine.result("first", &[&prompt]).await;
        engine.state("running").await;
        engine.result("of a background task", &[]).await;
        engine.state("idle").await;
        assert_eq!(
            engine.hear().await,
            None,
            "the input ends when the run is over"
        );
    });
    let run = query_through(transport, "go", Options::new())
        .await
        .unwrap();
    let outcome = tokio::time::timeout(LIMIT, run.outcome())
        .await
        .unwrap()
        .unwrap();
    let texts: Vec<_> = outcome.results.iter().map(|result| result.text()).collect();
    assert_eq!(texts, ["first", "of a background task"]);
    assert_eq!(outcome.text(), "of a background task");
    engine.await.unwrap();
}

#[tokio::test]
async fn an_engine_without_states_is_over_when_its_tasks_are() {
    let (transport, end) = channel();
    let engine = tokio::spawn(async move {
        let mut engine = Scripted::new(end);
        engine.hello().await;
        engine.prompt().await;
        engine
            .say(&json!({ "type": "system", "subtype": "task_started", "task_id": "t" }))
            .await;
        engine.result("first", &[]).await;
        engine
            .say(
                &json!({ "type": "system", "subtype": "task_notification", "task_id": "t",
                          "status": "completed" }),
            )
            .await;
        assert_eq!(engine.hear().await, None);
    });
    let run = query_through(transport, "go", Options::new())
        .await
        .unwrap();
    let outcome = tokio::time::timeout(LIMIT, run.outcome())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(outcome.results.len(), 1);
    engine.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_never_becomes_idle_is_ended_at_the_ceiling() {
    let (transport, end) = channel();
    let engine = tokio::spawn(async move {
        let mut engine = Scripted::new(end);
        engine.hello().await;
        let prompt = engine.prompt().await;
        engine.state("running").await;
        engine.result("done", &[&prompt]).await;
        assert_eq!(engine.hear_for(Duration::from_secs(3600)).await, None);
    });
    let options = Options::new().idle_ceiling(Duration::from_secs(30));
    let run = query_through(transport, "go", options).await.unwrap();
    assert_eq!(run.outcome().await.unwrap().text(), "done");
    engine.await.unwrap();
}

#[tokio::test]
async fn results_name_the_tickets_they_answer() {
    let (client, mut messages, mut engine) = Scripted::connect(Options::new()).await;
    let first = client.send("one").await.unwrap();
    let second = client.send("two").await.unwrap();
    let (a, b) = (engine.prompt().await, engine.prompt().await);
    assert_eq!((a.as_str(), b.as_str()), (first.uuid(), second.uuid()));
    engine.result("both", &[&a, &b]).await;
    let Some(Ok(Message::Result(result))) = messages.next().await else {
        panic!("no result")
    };
    assert!(first.is_answered_by(&result) && second.is_answered_by(&result));
}

#[tokio::test]
async fn a_failed_result_is_an_error_whatever_its_subtype_says() {
    let (transport, end) = channel();
    tokio::spawn(async move {
        let mut engine = Scripted::new(end);
        engine.hello().await;
        let prompt = engine.prompt().await;
        engine
            .say(
                &json!({ "type": "result", "subtype": "success", "is_error": true,
                "result": "Invalid API key", "api_error_status": 401, "session_id": "s",
                "terminal_reason": "api_error", "user_message_uuids": [prompt] }),
            )
            .await;
        engine.state("idle").await;
    });
    let run = query_through(transport, "go", Options::new())
        .await
        .unwrap();
    let Err(Error::Failed(failure)) = run.outcome().await else {
        panic!("not a failure")
    };
    assert_eq!(failure.class, FailureClass::Authentication);
    assert_eq!(failure.status, Some(401));
    assert!(!failure.is_retryable());
    let error = Error::Failed(failure.clone());
    assert_eq!(
        (error.is_retryable(), error.advice()),
        (false, failure.advice())
    );
    assert_eq!(
        failure.to_string(),
        "authentication failed: Invalid API key"
    );
}

#[tokio::test]
async fn an_engine_that_ends_in_mid_turn_is_an_error_after_its_last_message() {
    let (client, mut messages, mut engine) = Scripted::connect(Options::new()).await;
    client.send("go").await.unwrap();
    engine.prompt().await;
    engine.say_text("{\"type\":\"novel\",\"x\":1}").await;
    drop(engine);
    let Some(Ok(Message::Unknown(novel))) = messages.next().await else {
        panic!("lost")
    };
    assert_eq!(novel["x"], 1);
    let Some(Err(Error::EngineEnded { .. })) = messages.next().await else {
        panic!("no error")
    };
    assert!(messages.next().await.is_none());
    let gone = client.interrupt().await.unwrap_err();
    assert!(matches!(gone, Error::EngineEnded { .. }), "{gone}");
}

#[tokio::test]
async fn an_engine_that_refuses_to_start_says_why() {
    let error = Scripted::connect_to(Options::new(), |engine| async move {
        engine
            .say(
                &json!({ "type": "result", "subtype": "error_during_execution",
                "is_error": true, "num_turns": 0, "session_id": "s",
                "startup_failure_reason": "sandbox_required_unavailable",
                "errors": ["Sandbox required but unavailable"] }),
            )
            .await;
    })
    .await
    .unwrap_err();
    let Error::Failed(failure) = error else {
        panic!("{error}")
    };
    assert_eq!(
        failure.class,
        FailureClass::Startup("sandbox_required_unavailable".to_owned())
    );
    assert_eq!(failure.message, "Sandbox required but unavailable");
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_never_says_hello_is_a_timeout() {
    let options = Options::new().initialize_timeout(Duration::from_secs(3));
    let error = Scripted::connect_to(options, |mut engine| async move {
        while engine.hear_for(Duration::from_secs(60)).await.is_some() {}
    })
    .await
    .unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert!(error.is_retryable() && !error.advice().is_empty());
    assert_eq!(
        error.to_string(),
        "the engine did not answer initialize within 3s"
    );
}

#[tokio::test]
async fn an_answer_that_comes_twice_or_for_nobody_is_ignored() {
    let (transport, end) = channel();
    let mut engine = Scripted::new(end);
    let connecting = tokio::spawn(Client::connect_through(transport, Options::new()));
    let request = engine.hear().await.unwrap();
    engine.done(&request["request_id"], &hello_payload()).await;
    engine
        .done(&request["request_id"], &json!({ "commands": "nonsense" }))
        .await;
    engine.done(&json!("nobody"), &json!({})).await;
    let (client, mut messages) = connecting.await.unwrap().unwrap();
    assert_eq!(
        client.hello().claude_code_version.as_deref(),
        Some("2.1.325")
    );
    engine.result("fine", &[]).await;
    assert!(matches!(
        messages.next().await,
        Some(Ok(Message::Result(_)))
    ));
}

#[tokio::test]
async fn a_refused_request_carries_the_words_and_the_code() {
    let (client, _messages, mut engine) = Scripted::connect(Options::new()).await;
    let asking = tokio::spawn(async move { client.set_permission_mode("odd".into()).await });
    let request = engine.hear().await.unwrap();
    assert_eq!(
        request["request"],
        json!({ "subtype": "set_permission_mode", "mode": "odd" })
    );
    engine
        .say(
            &json!({ "type": "control_response", "response": { "subtype": "error",
            "request_id": request["request_id"], "error": "no such mode",
            "error_code": "invalid_mode" } }),
        )
        .await;
    let error = asking.await.unwrap().unwrap_err();
    let Error::Refused { message, code, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(
        (message.as_str(), code.as_deref()),
        ("no such mode", Some("invalid_mode"))
    );
}

#[tokio::test]
async fn odd_lines_are_delivered_or_reported_and_never_fatal() {
    let (_client, mut messages, engine) = Scripted::connect(Options::new()).await;
    let odd: [&[u8]; 9] = [
        b"\n",
        b"   \r\n",
        b"garbage on stdout\n",
        b"{\"type\":\"assistant\",\"broken\n",
        b"[1,2]\n",
        b"{\"no\":\"type\"}\n",
        b"{\"type\":\"from_the_future\",\"n\":1}\n",
        b"{\"type\":\"system\",\"subtype\":\"odd\",\"text\":\"\xff\xfe\"}\n",
        b"{\"type\":\"system\",\"subtype\":\"odd\",\"text\":\"\\ud800\"}\n",
    ];
    engine.say_text(odd.concat()).await;
    engine.result("end", &[]).await;
    let mut kinds = Vec::new();
    while let Some(message) = messages.next().await {
        match message.unwrap() {
            Message::Result(_) => break,
            Message::Warning(warning) => kinds.push(warning.kind),
            other => kinds.push(other.tag().unwrap_or("none").to_owned()),
        }
    }
    let malformed = "malformed_line";
    let expect = [
        malformed,
        malformed,
        malformed,
        "none",
        "from_the_future",
        "system",
        "system",
    ];
    assert_eq!(kinds, expect);
}

#[tokio::test]
async fn a_caller_who_does_not_read_holds_up_no_permission_and_loses_no_message() {
    let allow = |_: PermissionRequest| async { Decision::allow() };
    let options = Options::new()
        .on_permission(allow)
        .backlog_limits(4 << 10, 1 << 30);
    let (_client, mut messages, mut engine) = Scripted::connect(options).await;
    let filler = "x".repeat(1000);
    for number in 0..2_000 {
        engine
            .say(&json!({ "type": "novel", "number": number, "filler": filler }))
            .await;
        if number % 500 == 0 {
            let id = format!("q{number}");
            engine.ask_bash(&id, "ls").await;
            assert_eq!(engine.answer_to(&id).await["response"]["behavior"], "allow");
        }
    }
    drop(engine);
    let mut next = 0;
    while let Some(message) = messages.next().await {
        let Message::Unknown(novel) = message.unwrap() else {
            panic!("something else")
        };
        assert_eq!(novel["number"], next);
        next += 1;
    }
    assert_eq!(next, 2_000);
}

#[tokio::test]
async fn dropping_the_last_client_ends_the_input_and_the_messages_go_on() {
    let (client, mut messages, mut engine) = Scripted::connect(Options::new()).await;
    drop(client.clone());
    client.send("go").await.unwrap();
    let prompt = engine.prompt().await;
    drop(client);
    assert_eq!(engine.hear().await, None);
    engine.result("late", &[&prompt]).await;
    drop(engine);
    assert!(matches!(
        messages.next().await,
        Some(Ok(Message::Result(_)))
    ));
    assert!(messages.next().await.is_none());
}

#[tokio::test]
async fn raw_messages_decode_to_the_same() {
    let (_client, mut messages, engine) = Scripted::connect(Options::new()).await;
    engine.result("x", &[]).await;
    engine.result("x", &[]).await;
    let raw = messages.next_raw().await.unwrap().unwrap();
    let typed = messages.next().await.unwrap().unwrap();
    assert_eq!(raw.kind(), falconer::MessageKind::Result);
    assert_eq!(raw.decode().unwrap(), typed);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_reads_nothing_holds_nobody_up_for_ever() {
    let hangs = |_: PermissionRequest| std::future::pending::<Decision>();
    let options = Options::new()
        .on_permission(hangs)
        .request_timeout(Duration::from_secs(5));
    let (client, _messages, engine) = Scripted::connect(options).await;
    engine.ask_bash("q1", "ls").await;
    let long = "x".repeat(100_000);
    let mut sent = 0;
    let error = loop {
        match client.send(long.as_str()).await {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent < 1_000, "everything is queued without a bound");
    };
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    let error = client.interrupt().await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    tokio::time::timeout(Duration::from_secs(60), client.close())
        .await
        .expect("closing waits for ever")
        .unwrap();
}

#[tokio::test]
async fn a_response_ends_at_its_result_and_the_next_one_begins_after_it() {
    let (transport, end) = channel();
    let engine = tokio::spawn(async move {
        let mut engine = Scripted::new(end);
        engine.hello().await;
        let prompt = engine.prompt().await;
        engine.state("running").await;
        engine.result("one", &[&prompt]).await;
        // Already there when the first response is read.
        engine.result("of a background task", &[]).await;
        engine.prompt().await;
        engine.state("running").await;
        drop(engine);
    });
    let connected = Client::connect_through(transport, Options::new()).await;
    let (client, mut messages) = connected.unwrap();
    client.send("go").await.unwrap();
    let mut texts = Vec::new();
    for _ in 0..2 {
        let mut response = messages.response();
        let mut last = None;
        while let Some(message) = response.next().await {
            last = Some(message.unwrap());
        }
        assert!(response.next().await.is_none(), "it stays over");
        let Some(Message::Result(result)) = last else {
            panic!("the last message is {last:?}");
        };
        texts.push(result.text().to_owned());
    }
    assert_eq!(texts, ["one", "of a background task"]);
    client.send("and then?").await.unwrap();
    let mut response = messages.response();
    let mut last = None;
    while let Some(message) = response.next().await {
        last = Some(message);
    }
    assert!(matches!(last, Some(Err(_))), "{last:?}");
    engine.await.unwrap();
}
