//! Sessions are made, changed and deleted.

use falconer_event::{RunId, Tokens};
use serde_json::json;

use super::{Stores, claimed, event, events, new_session, unexpected};
use crate::{
    Append, Attachment, Error, EventQuery, Guard, InputQuery, LivePatch, NewAudit, NewBlob,
    NewInput, NewRequest, NewRule, NewSession, RequestKind, RequestQuery, Result, RuleEffect,
    RuleQuery, RuleScope, SessionPatch, SessionState,
};

/// Every field of a new session is read back.
pub async fn a_session_is_read_as_it_was_made(Stores { store, .. }: Stores) -> Result<()> {
    let parent = new_session(&store).await?;
    let mut new = NewSession::new("claude", "/home/ä/π 'quoted'");
    new.title = Some("a \"title\"\nin two lines".to_owned());
    new.model = Some("fast".to_owned());
    new.mode = "plan".to_owned();
    new.native_session = Some("native".to_owned());
    new.parent = Some(parent.id.clone());
    new.config = json!({"limits": {"turns": 3}, "list": [1, 2.5, null]});
    let made = store.create_session(new.clone()).await?;
    let read = store.session(&made.id).await?;
    assert_eq!(made, read);
    assert_eq!(
        (&read.id, &read.title, &read.engine),
        (&new.id, &new.title, &new.engine)
    );
    assert_eq!(
        (&read.model, &read.mode, &read.cwd),
        (&new.model, &new.mode, &new.cwd)
    );
    assert_eq!((&read.parent, &read.config), (&new.parent, &new.config));
    assert_eq!(read.native_session, new.native_session);
    assert_eq!(
        (read.state, read.head, read.fence.0),
        (SessionState::Idle, 0, 0)
    );
    assert_eq!(
        (read.owner, read.run, read.tokens),
        (None, None, Tokens::default())
    );
    assert_eq!(read.created_at, read.updated_at);
    Ok(())
}

/// A second session of the same name is refused, and a parent must exist.
pub async fn a_taken_name_is_a_conflict(Stores { store, .. }: Stores) -> Result<()> {
    let mut new = NewSession::new("auto", "/p");
    store.create_session(new.clone()).await?;
    let again = store.create_session(new.clone()).await;
    assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
    new.id = "other".into();
    new.parent = Some("nobody".into());
    let orphan = store.create_session(new).await;
    assert!(matches!(orphan, Err(Error::NotFound { .. })), "{orphan:?}");
    let none = store.session(&"other".into()).await;
    assert!(matches!(none, Err(Error::NotFound { .. })), "{none:?}");
    Ok(())
}

/// Patches change single fields, also back to nothing.
pub async fn a_patch_changes_what_it_names_and_nothing_else(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let mut expected = store.session(&id).await?;

    let patch = SessionPatch::default()
        .title(Some("new".to_owned()))
        .pinned(true);
    let read = store.update_session(&id, patch).await?;
    assert!(read.updated_at >= expected.updated_at);
    expected.title = Some("new".to_owned());
    expected.pinned = true;
    expected.updated_at = read.updated_at;
    assert_eq!(read, expected);

    let mut live = LivePatch::default()
        .state(SessionState::Running)
        .native_session("n")
        .run(Some(RunId::from("run")))
        .model("m")
        .mode("acceptEdits");
    let mut tokens = Tokens::default();
    tokens.output = 7;
    live = live.usage(tokens, 0.1).sandbox("proven");
    let read = store.update_live(&id, fence, live).await?;
    expected.state = SessionState::Running;
    expected.native_session = Some("n".to_owned());
    expected.run = Some(RunId::from("run"));
    expected.model = Some("m".to_owned());
    expected.mode = "acceptEdits".to_owned();
    expected.tokens = tokens;
    expected.cost_usd = 0.1;
    expected.config["sandbox"] = json!("proven");
    expected.updated_at = read.updated_at;
    assert_eq!(read, expected);

    let patch = SessionPatch::default()
        .title(None)
        .model(None)
        .config(json!([1]))
        .archived(true);
    store.update_session(&id, patch).await?;
    let read = store
        .update_live(&id, fence, LivePatch::default().run(None))
        .await?;
    expected.title = None;
    expected.model = None;
    expected.config = json!([1]);
    expected.archived = true;
    expected.run = None;
    expected.updated_at = read.updated_at;
    assert_eq!(read, expected);
    assert_eq!(store.session(&id).await?, expected);
    Ok(())
}

/// Nothing of a deleted session can be read; what others have stays.
pub async fn deleting_removes_everything_but_the_audit(Stores { store, .. }: Stores) -> Result<()> {
    let (gone, fence) = claimed(&store).await?;
    let (kept, kept_fence) = claimed(&store).await?;
    let own = store
        .put_blob(NewBlob::new("text/plain", b"own".to_vec()))
        .await?;
    let shared = store
        .put_blob(NewBlob::new("text/plain", b"shared".to_vec()))
        .await?;
    for (session, fence, blobs) in [
        (&gone, fence, vec![&own, &shared]),
        (&kept, kept_fence, vec![&shared]),
    ] {
        let mut append = events(session, fence, 1, 3);
        let request = NewRequest::new(format!("r-{session}"), RequestKind::Plan, json!({}), "d");
        append.requests.push(request);
        store.append(append).await?;
        let mut input = NewInput::new(session.clone(), "c", "text");
        let attach = |blob: &&crate::BlobRecord| {
            Attachment::new(blob.id.clone(), "n", "text/plain", blob.size)
        };
        input.attachments = blobs.iter().map(attach).collect();
        store.insert_input(input).await?;
        let scope = RuleScope::Session {
            id: session.clone(),
        };
        store
            .add_rule(NewRule::new("Bash", RuleEffect::Allow, scope, "me"))
            .await?;
    }
    store
        .audit(NewAudit::new("me", "delete").session(gone.clone()))
        .await?;
    store.delete_session(&gone, Guard::Holder(fence)).await?;

    assert!(matches!(
        store.session(&gone).await,
        Err(Error::NotFound { .. })
    ));
    let page = store.events(&gone, EventQuery::after(0)).await;
    assert!(matches!(page, Err(Error::NotFound { .. })), "{page:?}");
    assert_eq!(store.inputs(&gone, InputQuery::default()).await?, []);
    let requests = store.requests(RequestQuery::default()).await?;
    assert_eq!(
        requests.iter().map(|r| &r.session).collect::<Vec<_>>(),
        [&kept]
    );
    assert_eq!(store.rules(RuleQuery::All).await?.len(), 1);
    assert!(matches!(
        store.blob(&own.id).await,
        Err(Error::NotFound { .. })
    ));
    assert!(matches!(
        store.blob_bytes(&own.hash).await,
        Err(Error::NotFound { .. })
    ));
    assert_eq!(store.blob_bytes(&shared.hash).await?, b"shared");
    let audit = store.audit_log(crate::AuditId(0), 10).await?;
    assert_eq!(audit.records[0].session, Some(gone.clone()));

    assert_eq!(store.session(&kept).await?.head, 3);
    assert_eq!(super::all_events(&store, &kept).await?.len(), 3);
    let again = store.delete_session(&gone, Guard::Anyone).await;
    assert!(matches!(again, Err(Error::NotFound { .. })), "{again:?}");

    // A new session of the same name has nothing of the old one.
    let mut new = NewSession::new("auto", "/p");
    new.id = gone.clone();
    store.create_session(new).await?;
    assert_eq!(super::all_events(&store, &gone).await?, []);
    Ok(())
}

/// Only the holder deletes a session that is run by somebody.
pub async fn a_session_that_runs_is_not_deleted_by_others(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    match store.delete_session(&id, Guard::Anyone).await {
        Err(Error::Held { owner, .. }) => assert_eq!(owner.as_str(), "a"),
        other => return Err(unexpected(other)),
    }
    let stale = store
        .delete_session(&id, Guard::Holder(crate::Fence(fence.0 + 1)))
        .await;
    assert!(matches!(stale, Err(Error::StaleFence { .. })), "{stale:?}");
    store.release(&id, fence).await?;
    store.delete_session(&id, Guard::Anyone).await?;
    let append = Append::new(id, fence, 1, vec![event("late")]);
    let late = store.append(append).await;
    assert!(matches!(late, Err(Error::NotFound { .. })), "{late:?}");
    Ok(())
}

/// A fork stays when its parent goes.
pub async fn forks_outlive_their_parent(Stores { store, .. }: Stores) -> Result<()> {
    let parent = new_session(&store).await?;
    let mut fork = NewSession::new("auto", "/p");
    fork.parent = Some(parent.id.clone());
    let fork = store.create_session(fork).await?;
    assert_eq!(fork.parent, Some(parent.id.clone()));
    store.delete_session(&parent.id, Guard::Anyone).await?;
    assert_eq!(store.session(&fork.id).await?.parent, None);
    Ok(())
}
