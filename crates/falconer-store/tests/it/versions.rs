//! Databases of earlier and later versions.
//!
//! `tests/fixtures/version-1.sql` is a dump of what `populate` made when version 1 was current:
//! the role `populate` of `child.rs` makes the file, `sqlite3 FILE .dump` the text, the two
//! pragmas at its end are added by hand. A later version adds a dump of its own; none is ever
//! changed.

use std::path::{Path, PathBuf};

use falconer_event::Failure;
use falconer_store::{
    Append, Attachment, AuditId, Claim, Decided, DecisionRecord, Delivery, Error, EventQuery,
    InputQuery, InputState, LastTurn, LivePatch, NewAudit, NewBlob, NewEvent, NewInput, NewRequest,
    NewRule, NewSession, NewToken, RequestKind, RequestState, RuleEffect, RuleQuery, RuleScope,
    Scope, SessionPatch, SessionState, SqliteStore, Store, TokenHash, TurnOutcome,
};
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use crate::scene::{LONG, Scene};

/// Something of everything.
async fn populate(store: &dyn Store) {
    let mut parent = NewSession::new("auto", "/project");
    parent.id = "parent".into();
    store.create_session(parent).await.unwrap();
    let mut new = NewSession::new("claude", "/project/ä");
    new.id = "child".into();
    new.title = Some("a title".to_owned());
    new.parent = Some("parent".into());
    new.config = json!({"limits": {"turns": 3}});
    let id = store.create_session(new).await.unwrap().id;
    let Claim::Claimed(lease) = store.claim(&id, &"node".into(), LONG).await.unwrap() else {
        panic!("held");
    };
    let attachment = NewBlob::new("image/png", vec![0, 1, 2, 255]).name("a.png");
    let blob = store.put_blob(attachment).await.unwrap();
    let mut input = NewInput::new(id.clone(), "client", "do it");
    input.id = "message".into();
    input.delivery = Delivery::Steer;
    input.by = Some("token:1".to_owned());
    input
        .attachments
        .push(Attachment::new(blob.id, "a.png", "image/png", 4));
    store.insert_input(input).await.unwrap();
    let mut append = Append::new(id.clone(), lease.fence, 1, Vec::new());
    append.events = (1..=3)
        .map(|n| NewEvent::new(format!("kind.{n}"), format!("{{ \"n\": {n} }}")))
        .collect();
    let mut request = NewRequest::new(
        "request",
        RequestKind::Permission,
        json!({"command": "ls"}),
        "digest",
    );
    request.tool = Some("Bash".to_owned());
    append.requests.push(request);
    append.requests.push(NewRequest::new(
        "open",
        RequestKind::Plan,
        json!("plan"),
        "digest",
    ));
    append.inputs.push(("message".into(), InputState::Sent));
    append.live = LivePatch::default()
        .state(SessionState::Waiting)
        .native_session("native")
        .run(Some("run".into()));
    store.append(append).await.unwrap();
    let decision = DecisionRecord::new(json!({"type": "allow"}), "token:1");
    let decided = store
        .decide(&"request".into(), "digest", decision)
        .await
        .unwrap();
    assert!(matches!(decided, Decided::Won(_)));
    store
        .update_session(&id, SessionPatch::default().pinned(true))
        .await
        .unwrap();
    for scope in [
        RuleScope::User,
        RuleScope::Project {
            path: "/project".to_owned(),
        },
        RuleScope::Session { id: id.clone() },
    ] {
        let rule = NewRule::new("Bash(ls:*)", RuleEffect::Allow, scope, "me");
        let rule = store.add_rule(rule).await.unwrap();
        store.use_rule(&rule.id).await.unwrap();
    }
    let token = NewToken::new(
        "laptop",
        TokenHash::of("secret"),
        vec![Scope::Read, Scope::Admin],
    );
    store.add_token(token).await.unwrap();
    let audit = NewAudit::new("token:1", "request.answer")
        .session(id)
        .detail(json!({"a": 1}));
    store.audit(audit).await.unwrap();
}

/// The role of a process that makes the file of a dump.
pub(crate) async fn make(database: &Path) {
    let store = SqliteStore::open(database).await.unwrap();
    populate(&store).await;
    store.close().await.unwrap();
}

/// Everything `populate` made is there, and can be changed.
async fn check(store: &dyn Store) {
    let session = store.session(&"child".into()).await.unwrap();
    assert_eq!(session.title.as_deref(), Some("a title"));
    assert_eq!(
        (session.engine.as_str(), session.cwd.as_str()),
        ("claude", "/project/ä")
    );
    assert_eq!(
        (session.state, session.head, session.pending),
        (SessionState::Waiting, 3, 1)
    );
    assert_eq!(session.parent, Some("parent".into()));
    assert_eq!(session.native_session.as_deref(), Some("native"));
    assert_eq!(
        (session.run, session.fence.0, session.pinned),
        (Some("run".into()), 1, true)
    );
    assert_eq!(session.config, json!({"limits": {"turns": 3}}));
    let page = store
        .events(&session.id, EventQuery::after(0))
        .await
        .unwrap();
    let events: Vec<_> = page
        .events
        .iter()
        .map(|e| (e.seq, e.kind.as_str(), e.json.as_str()))
        .collect();
    let expected = [
        (1, "kind.1", r#"{ "n": 1 }"#),
        (2, "kind.2", r#"{ "n": 2 }"#),
        (3, "kind.3", r#"{ "n": 3 }"#),
    ];
    assert_eq!(events, expected);

    let inputs = store
        .inputs(&session.id, InputQuery::default())
        .await
        .unwrap();
    assert_eq!(
        (inputs[0].id.as_str(), inputs[0].text.as_str()),
        ("message", "do it")
    );
    assert_eq!(
        (inputs[0].state, inputs[0].delivery),
        (InputState::Sent, Delivery::Steer)
    );
    let blob = store.blob(&inputs[0].attachments[0].id).await.unwrap();
    assert_eq!(store.blob_bytes(&blob.hash).await.unwrap(), [0, 1, 2, 255]);
    let request = store.request(&"request".into()).await.unwrap();
    assert_eq!(
        (request.state, request.tool.as_deref()),
        (RequestState::Answered, Some("Bash"))
    );
    assert_eq!(request.decision.unwrap().by, "token:1");
    assert_eq!(
        store.request(&"open".into()).await.unwrap().state,
        RequestState::Pending
    );
    let rules = store.rules(RuleQuery::All).await.unwrap();
    assert_eq!(
        rules.iter().map(|rule| rule.used).collect::<Vec<_>>(),
        [1, 1, 1]
    );
    let token = store
        .token(&TokenHash::of("secret"))
        .await
        .unwrap()
        .unwrap();
    assert!(token.allows(Scope::Admin) && !token.allows(Scope::Approve));
    let audit = store.audit_log(AuditId(0), 10).await.unwrap();
    assert_eq!(audit.records[0].detail, json!({"a": 1}));

    let append = Append::new(
        session.id.clone(),
        session.fence,
        4,
        vec![NewEvent::new("k", "{}")],
    );
    assert_eq!(store.append(append).await.unwrap(), 4);
    let decision = DecisionRecord::new(json!({"type": "deny"}), "me");
    let decided = store
        .decide(&"open".into(), "digest", decision)
        .await
        .unwrap();
    assert!(matches!(decided, Decided::Won(_)));
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

async fn plain_connection(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true);
    options.connect().await.unwrap()
}

async fn load(scene: &Scene, name: &str) {
    let dump = std::fs::read_to_string(fixture(name)).unwrap();
    let mut connection = plain_connection(&scene.database()).await;
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(dump)))
        .await
        .unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn this_version_reads_what_it_wrote() {
    let scene = Scene::new();
    make(&scene.database()).await;
    let store = scene.open().await;
    check(&store).await;
}

#[tokio::test]
async fn version_1_is_read_and_brought_up_to_date() {
    let scene = Scene::new();
    load(&scene, "version-1.sql").await;
    let store = scene.open().await;
    check(&store).await;
    store.close().await.unwrap();
    assert_eq!(schema(&scene).await, fresh_schema().await);
}

#[tokio::test]
async fn version_2_is_read_and_brought_up_to_date() {
    let scene = Scene::new();
    load(&scene, "version-2.sql").await;
    let store = scene.open().await;
    check(&store).await;
    let request = store.request(&"request".into()).await.unwrap();
    assert_eq!(request.cwd.as_deref(), Some("/project/ä"));
    store.close().await.unwrap();
    assert_eq!(schema(&scene).await, fresh_schema().await);
}

#[tokio::test]
async fn version_3_is_read_and_brought_up_to_date() {
    let scene = Scene::new();
    load(&scene, "version-3.sql").await;
    let store = scene.open().await;
    check(&store).await;
    let session = store.session(&"child".into()).await.unwrap();
    assert_eq!(session.last_turn, None, "nothing is known of earlier turns");
    let failure = Failure::new("server_died", "it died").hint("go on");
    let last = LastTurn::without_answer(4, TurnOutcome::Interrupted, failure);
    let patch = LivePatch::default().last_turn(last.clone());
    let changed = store.update_live(&session.id, session.fence, patch).await;
    assert_eq!(changed.unwrap().last_turn, Some(last));
    store.close().await.unwrap();
    assert_eq!(schema(&scene).await, fresh_schema().await);
}

async fn fresh_schema() -> Vec<String> {
    let scene = Scene::new();
    scene.open().await.close().await.unwrap();
    schema(&scene).await
}

async fn schema(scene: &Scene) -> Vec<String> {
    let mut connection = plain_connection(&scene.database()).await;
    let objects = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
                   WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1";
    let objects: Vec<String> = sqlx::query_scalar(objects)
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    objects
        .into_iter()
        .chain([format!("version {version}")])
        .collect()
}

#[tokio::test]
async fn a_newer_version_is_refused_and_left_alone() {
    let scene = Scene::new();
    scene.open().await.close().await.unwrap();
    let mut connection = plain_connection(&scene.database()).await;
    let newer = "PRAGMA user_version = 1000; CREATE TABLE of_the_future (x)";
    connection.execute(sqlx::raw_sql(newer)).await.unwrap();
    connection.close().await.unwrap();
    let before = schema(&scene).await;
    let error = SqliteStore::open(scene.database()).await.unwrap_err();
    assert!(
        matches!(error, Error::TooNew { found: 1_000, .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.contains("was made by a newer version (schema 1000, this one knows "),
        "{text}"
    );
    assert_eq!(schema(&scene).await, before);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_left_alone() {
    for sql in [
        "CREATE TABLE theirs (x)",
        "CREATE TABLE theirs (x); PRAGMA user_version = 1",
        "PRAGMA application_id = 7; PRAGMA user_version = 1",
    ] {
        let scene = Scene::new();
        let mut connection = plain_connection(&scene.database()).await;
        connection.execute(sqlx::raw_sql(sql)).await.unwrap();
        connection.close().await.unwrap();
        let before = schema(&scene).await;
        let error = SqliteStore::open(scene.database()).await.unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{sql}: {error:?}");
        assert!(
            error
                .to_string()
                .contains("it is the database of another program"),
            "{error}"
        );
        assert_eq!(schema(&scene).await, before);
    }
}
