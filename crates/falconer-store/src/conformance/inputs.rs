//! Messages of users.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Stores, at_once, claimed, new_session, unexpected};
use crate::{
    Attachment, Delivery, Error, Guard, InputQuery, InputState, Inserted, Moved, NewBlob, NewInput,
    Result,
};

/// The second time it is the first one, also after it moved on.
pub async fn a_message_sent_twice_is_one(Stores { store, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let blob = store
        .put_blob(NewBlob::new("image/png", vec![1, 2, 3]).name("a.png"))
        .await?;
    let mut new = NewInput::new(session.clone(), "client-1", "do it");
    new.delivery = Delivery::Steer;
    new.by = Some("token:1".to_owned());
    new.attachments = vec![Attachment::new(blob.id, "a.png", "image/png", 3)];
    let Inserted::New(first) = store.insert_input(new.clone()).await? else {
        return Err(unexpected("an existing message"));
    };
    assert_eq!(
        (&first.id, &first.session, &first.text),
        (&new.id, &session, &new.text)
    );
    assert_eq!(
        (first.state, first.delivery),
        (InputState::Queued, Delivery::Steer)
    );
    assert_eq!((&first.by, &first.attachments), (&new.by, &new.attachments));
    let moved = store.move_input(
        &first.id,
        InputState::Queued,
        InputState::Sent,
        Guard::Anyone,
    );
    let moved = moved.await?.into_record();
    // A client that tries again knows neither the id nor, perhaps, its old token.
    new.id = "another".into();
    new.by = None;
    match store.insert_input(new).await? {
        Inserted::Existing(again) => assert_eq!(again, moved),
        other => return Err(unexpected(other)),
    }
    // In another session it is another message.
    let other = new_session(&store).await?.id;
    let elsewhere = store
        .insert_input(NewInput::new(other, "client-1", "else"))
        .await?;
    assert!(!elsewhere.is_existing());
    assert_eq!(
        store.inputs(&session, InputQuery::default()).await?,
        [moved]
    );
    Ok(())
}

/// The same message from fifty connections at once: one is new, all get the same.
pub async fn fifty_copies_of_a_message_are_one(Stores { store, second, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let copies = (0..50).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &store } else { &second });
        let new = NewInput::new(session.clone(), "c", "text");
        let job: BoxFuture<'static, _> = Box::pin(async move { store.insert_input(new).await });
        job
    });
    let all = at_once(copies).await?;
    assert_eq!(
        all.iter()
            .filter(|inserted| !inserted.is_existing())
            .count(),
        1
    );
    let id = &all[0].record().id;
    assert!(all.iter().all(|inserted| inserted.record().id == *id));
    assert_eq!(
        store.inputs(&session, InputQuery::default()).await?.len(),
        1
    );
    Ok(())
}

/// Other text, attachments or delivery under the same name are refused; so is a name that is
/// taken elsewhere.
pub async fn the_same_name_with_other_content_is_a_conflict(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let session = new_session(&store).await?.id;
    let new = NewInput::new(session.clone(), "c", "text");
    store.insert_input(new.clone()).await?;
    let mut text = new.clone();
    text.text = "other".to_owned();
    let mut delivery = new.clone();
    delivery.delivery = Delivery::Interrupt;
    let mut attachments = new.clone();
    let blob = store.put_blob(NewBlob::new("text/plain", vec![])).await?;
    attachments
        .attachments
        .push(Attachment::new(blob.id, "n", "t", 0));
    let mut id = new.clone();
    id.client_msg_id = "d".to_owned();
    for (what, new) in [
        ("text", text),
        ("delivery", delivery),
        ("attachments", attachments),
        ("id", id),
    ] {
        let refused = store.insert_input(new).await;
        assert!(
            matches!(refused, Err(Error::Conflict { .. })),
            "{what}: {refused:?}"
        );
    }
    let mut missing = NewInput::new(session.clone(), "e", "text");
    missing
        .attachments
        .push(Attachment::new("nothing".into(), "n", "t", 0));
    let refused = store.insert_input(missing).await;
    assert!(
        matches!(refused, Err(Error::NotFound { .. })),
        "{refused:?}"
    );
    let nowhere = store
        .insert_input(NewInput::new("nowhere".into(), "e", "text"))
        .await;
    assert!(
        matches!(nowhere, Err(Error::NotFound { .. })),
        "{nowhere:?}"
    );
    assert_eq!(
        store.inputs(&session, InputQuery::default()).await?.len(),
        1
    );
    Ok(())
}

/// Twenty-five take it back while twenty-five send it: one of them does.
pub async fn exactly_one_of_fifty_takes_a_message_back(
    Stores { store, second, .. }: Stores,
) -> Result<()> {
    let session = new_session(&store).await?.id;
    let id = store
        .insert_input(NewInput::new(session, "c", "text"))
        .await?
        .into_record()
        .id;
    let jobs = (0..50).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &store } else { &second });
        let id = id.clone();
        let to = if n % 2 == 0 {
            InputState::Sent
        } else {
            InputState::Cancelled
        };
        let job: BoxFuture<'static, _> = Box::pin(async move {
            store
                .move_input(&id, InputState::Queued, to, Guard::Anyone)
                .await
        });
        job
    });
    let all = at_once(jobs).await?;
    assert_eq!(all.iter().filter(|moved| moved.is_yes()).count(), 1);
    let now = store.input(&id).await?;
    for moved in all {
        assert_eq!(moved.into_record().state, now.state);
    }
    Ok(())
}

/// No way leads back, and the guard is respected.
pub async fn a_message_goes_forward_only(Stores { store, .. }: Stores) -> Result<()> {
    use InputState::{Cancelled, Done, Interrupted, Queued, Sent};
    let (session, fence) = claimed(&store).await?;
    let id = store
        .insert_input(NewInput::new(session.clone(), "c", "text"))
        .await?
        .into_record()
        .id;
    for (from, to) in [
        (Sent, Queued),
        (Done, Sent),
        (Queued, Done),
        (Cancelled, Sent),
    ] {
        let refused = store.move_input(&id, from, to, Guard::Anyone).await;
        assert!(
            matches!(refused, Err(Error::Invalid(_))),
            "{from} {to}: {refused:?}"
        );
    }
    let stale = Guard::Holder(crate::Fence(fence.0 + 1));
    let refused = store.move_input(&id, Queued, Sent, stale).await;
    assert!(
        matches!(refused, Err(Error::StaleFence { .. })),
        "{refused:?}"
    );
    assert!(
        store
            .move_input(&id, Queued, Sent, Guard::Holder(fence))
            .await?
            .is_yes()
    );
    let late = store
        .move_input(&id, Queued, Cancelled, Guard::Anyone)
        .await?;
    assert!(
        matches!(late, Moved::No(ref record) if record.state == Sent),
        "{late:?}"
    );
    assert!(
        store
            .move_input(&id, Sent, Interrupted, Guard::Anyone)
            .await?
            .is_yes()
    );
    let missing = store
        .move_input(&"none".into(), Queued, Sent, Guard::Anyone)
        .await;
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );

    let query = InputQuery::states([Queued, Interrupted]);
    assert_eq!(store.inputs(&session, query).await?.len(), 1);
    let query = InputQuery::states([Queued]);
    assert_eq!(store.inputs(&session, query).await?.len(), 0);
    Ok(())
}
