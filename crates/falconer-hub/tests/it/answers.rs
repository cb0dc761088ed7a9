//! Permissions and questions: answered once, by whoever is first, about what was shown.

use std::collections::BTreeMap;

use falconer_event::{ActionStatus, Body, ItemContent, Resolution};
use falconer_hub::{Error, Verdict};
use falconer_store::{AuditId, Decided, RequestKind, RequestState, SessionState};
use serde_json::json;

use crate::place::{Place, events, open_request, send, state};

#[tokio::test]
async fn nothing_runs_before_it_is_allowed_and_the_answer_is_on_record() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    assert_eq!(request.kind, RequestKind::Permission);
    assert_eq!(request.tool.as_deref(), Some("Bash"));
    let record = hub.store().session(&session).await.unwrap();
    assert_eq!((record.state, record.pending), (SessionState::Waiting, 1));
    assert_eq!(place.read("one.txt"), None);
    let decided = hub
        .answer(&request.id, &request.digest, Verdict::Allow, "anna")
        .await
        .unwrap();
    assert!(matches!(decided, Decided::Won(_)));
    state(&hub, &session, SessionState::Ready).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("\0"));
    let request = hub.store().request(&request.id).await.unwrap();
    assert_eq!(request.state, RequestState::Delivered);
    assert_eq!(request.decision.unwrap().by, "anna");
    let audit = hub.store().audit_log(AuditId::default(), 10).await.unwrap();
    assert_eq!(audit.records[0].who, "anna");
    assert_eq!(
        audit.records[0].detail["input"]["command"],
        "truncate -s 1 one.txt"
    );
}

#[tokio::test]
async fn of_many_answers_at_once_exactly_one_counts() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let answers = (0..20).map(|number| {
        let (hub, request) = (hub.clone(), request.clone());
        let verdict = match number % 2 {
            0 => Verdict::Allow,
            _ => Verdict::Deny {
                message: "no".to_owned(),
            },
        };
        tokio::spawn(async move {
            let by = format!("person {number}");
            hub.answer(&request.id, &request.digest, verdict, &by).await
        })
    });
    let mut won = Vec::new();
    let mut lost = Vec::new();
    for answer in answers.collect::<Vec<_>>() {
        match answer.await.unwrap().unwrap() {
            Decided::Won(request) => won.push(request),
            Decided::Lost(request) => lost.push(request),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((won.len(), lost.len()), (1, 19));
    let winner = won[0].decision.clone().unwrap().by;
    for request in lost {
        assert_eq!(request.decision.unwrap().by, winner);
    }
    state(&hub, &session, SessionState::Ready).await;
    let told = events(&hub, &session).await;
    let resolved: Vec<_> = told
        .iter()
        .filter_map(|event| match &event.body {
            Body::PermissionResolved(resolved) => Some((resolved.by.clone(), resolved.resolution)),
            _ => None,
        })
        .collect();
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0].0, winner);
    let ran = resolved[0].1 == Resolution::Allowed;
    assert_eq!(place.read("one.txt").is_some(), ran);
}

#[tokio::test]
async fn an_edited_command_runs_and_both_are_on_record() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let edited = json!({"command": "truncate -s 3 one.txt"});
    let verdict = Verdict::AllowEdited {
        input: edited.clone(),
    };
    let answered = hub.answer(&request.id, &request.digest, verdict, "anna");
    assert!(matches!(answered.await.unwrap(), Decided::Won(_)));
    state(&hub, &session, SessionState::Ready).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("\0\0\0"));
    let request = hub.store().request(&request.id).await.unwrap();
    assert_eq!(request.input["command"], "truncate -s 1 one.txt");
    assert_eq!(request.decision.unwrap().edited, Some(edited));
}

#[tokio::test]
async fn an_answer_about_another_input_or_of_another_kind_is_refused() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let changed = hub.answer(&request.id, "another digest", Verdict::Allow, "anna");
    assert!(matches!(changed.await.unwrap(), Decided::Changed(_)));
    let plan = Verdict::ApprovePlan { mode: None };
    let wrong = hub.answer(&request.id, &request.digest, plan, "anna").await;
    assert!(matches!(wrong, Err(Error::WrongAnswer(_))));
    let unknown = hub
        .answer(&"nothing".into(), "", Verdict::Allow, "anna")
        .await;
    assert!(matches!(
        unknown,
        Err(Error::Store(falconer_store::Error::NotFound { .. }))
    ));
    assert_eq!(place.read("one.txt"), None);
    let request = hub.store().request(&request.id).await.unwrap();
    assert_eq!(request.state, RequestState::Pending);
}

#[tokio::test]
async fn a_question_is_answered_with_choices() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "ask me").await;
    let request = open_request(&hub, &session).await;
    assert_eq!(request.kind, RequestKind::Choice);
    let allow = hub
        .answer(&request.id, &request.digest, Verdict::Allow, "anna")
        .await;
    assert!(
        matches!(allow, Err(Error::WrongAnswer(_))),
        "nobody was asked"
    );
    let answers = BTreeMap::from([("Which colour?".to_owned(), vec!["blue".to_owned()])]);
    let verdict = Verdict::Choices { answers };
    let answered = hub
        .answer(&request.id, &request.digest, verdict, "anna")
        .await;
    assert!(matches!(answered.unwrap(), Decided::Won(_)));
    state(&hub, &session, SessionState::Ready).await;
    let told = events(&hub, &session).await;
    let asked = told.iter().find_map(|event| match &event.body {
        Body::ItemCompleted(item) => match &item.content {
            ItemContent::Action(action) if action.tool == "AskUserQuestion" => Some(action),
            _ => None,
        },
        _ => None,
    });
    let asked = asked.unwrap();
    assert_eq!(asked.status, ActionStatus::Ok);
    assert!(format!("{:?}", asked.result).contains("blue"), "{asked:?}");
}

#[tokio::test]
async fn what_is_open_when_a_session_is_closed_is_denied() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let record = hub.close(&session).await.unwrap();
    assert_eq!((record.state, record.pending), (SessionState::Closed, 0));
    let late = hub
        .answer(&request.id, &request.digest, Verdict::Allow, "anna")
        .await;
    assert!(matches!(late.unwrap(), Decided::Gone(_)));
    assert_eq!(place.read("one.txt"), None);
}
