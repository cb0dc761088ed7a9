//! Answers reach who asked; questions that nobody waits for are taken back.

use falconer_protocol::control::{
    CanUseTool, ControlResponse, EngineRequest, McpMessage, OauthTokenRefresh,
};
use serde_json::{Value, json};

use super::{Host, HostError, Resolved};
use crate::frame::LANE;

fn question(name: &str) -> EngineRequest {
    EngineRequest::McpMessage(McpMessage {
        server_name: name.to_owned(),
        ..McpMessage::default()
    })
}

fn name_of(request: &EngineRequest) -> &str {
    match request {
        EngineRequest::McpMessage(message) => &message.server_name,
        other => panic!("unexpected question {other:?}"),
    }
}

#[tokio::test]
async fn answers_in_any_order_reach_who_asked() {
    let (host, _outbox, mut lane) = Host::pair();
    let ask = |name: &'static str| {
        let host = host.clone();
        tokio::spawn(async move { host.ask(question(name)).await })
    };
    let (first, second) = (ask("first"), ask("second"));
    let mut asked = [lane.question().await, lane.question().await];
    asked.reverse();
    for (id, request) in &asked {
        let answer = json!({ "to": name_of(request) });
        assert_eq!(lane.answer(id, &answer), Resolved::Delivered);
    }
    assert_eq!(first.await.unwrap(), Ok(json!({"to": "first"})));
    assert_eq!(second.await.unwrap(), Ok(json!({"to": "second"})));
}

#[tokio::test]
async fn errors_and_answers_without_payload_are_told_apart() {
    let (host, _outbox, mut lane) = Host::pair();
    type Respond = fn(&str) -> ControlResponse;
    let answers: [(Respond, Result<Value, HostError>); 3] = [
        (|id| ControlResponse::done(id), Ok(json!({}))),
        (
            |id| ControlResponse::error(id, "no such server"),
            Err(HostError::Refused("no such server".to_owned())),
        ),
        (
            |id| {
                let odd = json!({"type": "control_response",
                    "response": {"subtype": "odd", "request_id": id}});
                falconer_protocol::from_value(odd).unwrap()
            },
            Err(HostError::Refused(
                "the host's answer is neither a success nor an error".to_owned(),
            )),
        ),
    ];
    for (respond, expected) in answers {
        let asking = tokio::spawn({
            let host = host.clone();
            async move { host.ask(question("s")).await }
        });
        let (id, _) = lane.question().await;
        assert_eq!(host.resolve(respond(id.as_str())), Resolved::Delivered);
        assert_eq!(asking.await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_dropped_question_is_taken_back_once() {
    let (host, _outbox, mut lane) = Host::pair();
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.ask(question("s")).await }
    });
    let (id, _) = lane.question().await;
    asking.abort();
    let cancel = lane.frame().await;
    assert_eq!(
        cancel,
        json!({"type": "control_cancel_request", "request_id": id.as_str()})
    );
    assert_eq!(lane.answer(&id, &json!({})), Resolved::Unasked);
    assert!(lane.lines.try_recv().is_err(), "nothing else is sent");
}

#[tokio::test]
async fn a_full_lane_delays_the_cancellation_but_does_not_lose_it() {
    let (host, outbox, mut lane) = Host::pair();
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.ask(question("s")).await }
    });
    let (id, _) = lane.question().await;
    for number in 0..LANE {
        outbox.send(&number).await;
    }
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    for _ in 0..LANE {
        lane.frame().await;
    }
    assert_eq!(lane.frame().await["request_id"], id.as_str());
}

#[tokio::test]
async fn a_question_that_was_never_sent_is_not_taken_back() {
    let (host, outbox, mut lane) = Host::pair();
    for number in 0..LANE {
        outbox.send(&number).await;
    }
    let mut asking = Box::pin(host.ask(question("s")));
    assert!(futures_util::poll!(&mut asking).is_pending());
    drop(asking);
    for _ in 0..LANE {
        lane.frame().await;
    }
    assert!(lane.lines.try_recv().is_err());
}

#[tokio::test]
async fn closing_fails_all_questions_now_and_later() {
    let (host, _outbox, mut lane) = Host::pair();
    let asking = tokio::spawn({
        let host = host.clone();
        async move { host.ask(question("s")).await }
    });
    lane.question().await;
    host.close();
    assert!(host.is_closed());
    assert_eq!(asking.await.unwrap(), Err(HostError::Closed));
    let later = host.ask(EngineRequest::OauthTokenRefresh(
        OauthTokenRefresh::default(),
    ));
    assert_eq!(later.await, Err(HostError::Closed));
    assert!(
        lane.lines.try_recv().is_err(),
        "nothing is asked or cancelled"
    );
}

#[tokio::test]
async fn only_questions_for_a_person_are_listed_as_open() {
    let (host, _outbox, mut lane) = Host::pair();
    let permission = EngineRequest::CanUseTool(Box::new(CanUseTool {
        tool_name: "Bash".to_owned(),
        ..CanUseTool::default()
    }));
    let both = tokio::spawn({
        let host = host.clone();
        async move { tokio::join!(host.ask(permission), host.ask(question("s"))) }
    });
    let (permission_id, _) = lane.question().await;
    let (other_id, _) = lane.question().await;
    let open = host.open_questions();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].request_id, permission_id);
    lane.answer(&permission_id, &json!({"behavior": "allow"}));
    lane.answer(&other_id, &json!({}));
    both.await.unwrap().0.unwrap();
    assert_eq!(host.open_questions(), []);
}
