//! Leases of sessions.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{
    LONG, Stores, all_events, at_once, claim, claimed, events, new_session, node, unexpected,
};
use crate::{
    Claim, Death, Error, Fence, Guard, InputState, LivePatch, NewInput, NewRequest, Node,
    RequestKind, RequestState, Result, SessionPatch, Timestamp,
};

/// Of fifty nodes one gets the session; who holds it may claim it again.
pub async fn only_one_of_two_claims_a_session(Stores { store, second, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let jobs = (0..50).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &store } else { &second });
        let session = session.clone();
        let job: BoxFuture<'static, _> =
            Box::pin(async move { store.claim(&session, &node(&format!("n{n}")), LONG).await });
        job
    });
    let all = at_once(jobs).await?;
    let claims: Vec<_> = all
        .iter()
        .filter(|claim| matches!(claim, Claim::Claimed(_)))
        .collect();
    assert_eq!(claims.len(), 1, "{claims:?}");
    let record = store.session(&session).await?;
    let owner = record.owner.ok_or_else(|| unexpected("nobody"))?;
    for claim in &all {
        match claim {
            Claim::Claimed(lease) => assert_eq!(lease.fence, record.fence),
            Claim::Held { owner: held, until } => {
                assert_eq!(*held, owner);
                assert!(*until > Timestamp::now());
            }
        }
    }
    let again = claim(&store, &session, owner.as_str()).await?;
    assert!(again.fence > record.fence);
    let missing = store.claim(&"none".into(), &owner, LONG).await;
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );
    Ok(())
}

/// After somebody else claimed the session nothing of the old holder is written.
pub async fn a_stale_fence_is_refused_everywhere(Stores { store, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let Claim::Claimed(old) = store.claim(&session, &node("a"), Duration::ZERO).await? else {
        return Err(unexpected("held"));
    };
    let mut append = events(&session, old.fence, 1, 1);
    append
        .requests
        .push(NewRequest::new("r", RequestKind::Plan, json!({}), "d"));
    store.append(append).await?;
    let input = store
        .insert_input(NewInput::new(session.clone(), "c", "t"))
        .await?
        .into_record();
    let new = claim(&store, &session, "b").await?;
    assert!(new.fence > old.fence);
    let before = store.session(&session).await?;

    let holder = Guard::Holder(old.fence);
    let refusals: Vec<Result<()>> = vec![
        store
            .append(events(&session, old.fence, 2, 1))
            .await
            .map(drop),
        store
            .append(events(&session, old.fence, 2, 0))
            .await
            .map(drop),
        store
            .update_live(&session, old.fence, LivePatch::default())
            .await
            .map(drop),
        store
            .move_input(&input.id, InputState::Queued, InputState::Sent, holder)
            .await
            .map(drop),
        store
            .settle_request(&"r".into(), RequestState::Expired, holder)
            .await
            .map(drop),
        store.delete_session(&session, holder).await,
        store.release(&session, old.fence).await,
        store
            .append(events(&session, Fence(new.fence.0 + 1), 2, 1))
            .await
            .map(drop),
    ];
    for (number, refusal) in refusals.iter().enumerate() {
        match refusal {
            Err(Error::StaleFence { current, .. }) => assert_eq!(*current, new.fence),
            other => return Err(unexpected((number, other))),
        }
    }
    assert_eq!(store.session(&session).await?, before);
    store.append(events(&session, new.fence, 2, 1)).await?;
    assert_eq!(all_events(&store, &session).await?.len(), 2);
    Ok(())
}

/// Ten nodes look for expired leases: each session is taken by one of them.
pub async fn an_expired_lease_is_taken_by_exactly_one(
    Stores { store, second, .. }: Stores,
) -> Result<()> {
    let mut expired = Vec::new();
    for _ in 0..10 {
        let session = new_session(&store).await?.id;
        let Claim::Claimed(_) = store.claim(&session, &node("dead"), Duration::ZERO).await? else {
            return Err(unexpected("held"));
        };
        expired.push(session);
    }
    let (live, _) = claimed(&store).await?;
    let (released, fence) = claimed(&store).await?;
    store.release(&released, fence).await?;
    let (live_fence, dead) = (store.session(&live).await?.fence, Death::Silent);
    let jobs = (0..10).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &store } else { &second });
        let job: BoxFuture<'static, _> = Box::pin(async move {
            let heir = node(&format!("n{n}"));
            let mut taken = store.take_over(&node("dead"), dead, &heir, LONG).await?;
            taken.extend(store.take_over(&node("a"), dead, &heir, LONG).await?);
            Ok(taken)
        });
        job
    });
    let mut taken: Vec<_> = at_once(jobs).await?.into_iter().flatten().collect();
    taken.sort_by(|a, b| a.session.cmp(&b.session));
    expired.sort();
    assert!(taken.iter().map(|lease| &lease.session).eq(&expired));
    for lease in &taken {
        assert!(lease.fence > Fence(1));
        store
            .append(events(&lease.session, lease.fence, 1, 1))
            .await?;
    }
    let live = store.session(&live).await?;
    assert_eq!((live.owner, live.fence), (Some(node("a")), live_fence));
    assert_eq!(store.session(&released).await?.owner, None);
    Ok(())
}

/// A node whose leases ran out while it slept goes on if nobody was there.
pub async fn a_lease_nobody_took_goes_on(Stores { store, .. }: Stores) -> Result<()> {
    let mut leases = Vec::new();
    for _ in 0..2 {
        let session = new_session(&store).await?.id;
        match store
            .claim(&session, &node("sleeper"), Duration::ZERO)
            .await?
        {
            Claim::Claimed(lease) => leases.push(lease),
            held => return Err(unexpected(held)),
        }
    }
    store
        .append(events(&leases[0].session, leases[0].fence, 1, 1))
        .await?;
    let taken = claim(&store, &leases[1].session, "other").await?;
    let kept = store.renew(&node("sleeper"), LONG).await?;
    assert_eq!(kept.len(), 1);
    assert_eq!(
        (&kept[0].session, kept[0].fence),
        (&leases[0].session, leases[0].fence)
    );
    assert!(kept[0].until > leases[0].until);
    store
        .append(events(&kept[0].session, kept[0].fence, 2, 1))
        .await?;
    store
        .append(events(&taken.session, taken.fence, 1, 1))
        .await?;
    let held = store.claim(&kept[0].session, &node("other"), LONG).await?;
    assert!(matches!(held, Claim::Held { .. }), "{held:?}");
    let nobody = store.renew(&node("nobody"), LONG).await?;
    assert_eq!(nobody, []);
    Ok(())
}

/// A process that let a session go writes no more, though its fence is still the last one.
pub async fn what_was_released_is_not_written(Stores { store, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    store.release(&session, fence).await?;
    let late = store.append(events(&session, fence, 1, 1)).await;
    assert!(matches!(late, Err(Error::StaleFence { .. })), "{late:?}");
    let twice = store.release(&session, fence).await;
    assert!(matches!(twice, Err(Error::StaleFence { .. })), "{twice:?}");
    let record = store.session(&session).await?;
    assert_eq!((record.owner, record.fence), (None, fence));
    assert!(claim(&store, &session, "b").await?.fence > fence);
    Ok(())
}

/// A node that is known to be dead loses its sessions at once.
pub async fn the_sessions_of_a_dead_node_are_taken_over(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let (first, fence) = claimed(&store).await?;
    let (second, _) = claimed(&store).await?;
    let other = new_session(&store).await?.id;
    claim(&store, &other, "c").await?;
    let owners = store.owners().await?;
    let owners: Vec<_> = owners
        .iter()
        .map(|o| (o.node.as_str(), o.sessions))
        .collect();
    assert_eq!(owners, [("a", 2), ("c", 1)]);
    let mut taken = store
        .take_over(&node("a"), Death::Known, &node("b"), LONG)
        .await?;
    taken.sort_by(|a, b| a.session.cmp(&b.session));
    let mut expected = [first.clone(), second];
    expected.sort();
    assert!(taken.iter().map(|lease| &lease.session).eq(&expected));
    let late = store.append(events(&first, fence, 1, 1)).await;
    assert!(matches!(late, Err(Error::StaleFence { .. })), "{late:?}");
    assert_eq!(store.session(&other).await?.owner, Some(node("c")));
    let again = store
        .take_over(&node("a"), Death::Known, &node("b"), LONG)
        .await?;
    assert_eq!(again, []);
    Ok(())
}

/// Others can read a node's description, until it leaves or is seen to be dead.
pub async fn a_node_says_who_it_is(Stores { store, second, .. }: Stores) -> Result<()> {
    let mut about = Node::new(node("a"), "falconer serve");
    store.join(about.clone(), LONG).await?;
    about.url = Some("http://127.0.0.1:1".to_owned());
    store.join(about.clone(), LONG).await?;
    let (session, fence) = claimed(&store).await?;
    let owners = second.owners().await?;
    assert_eq!(owners.len(), 1, "{owners:?}");
    let owner = &owners[0];
    assert_eq!((owner.about.as_ref(), owner.sessions), (Some(&about), 1));
    assert!(!owner.is_expired);
    store.leave(&node("a")).await?;
    assert_eq!(second.owners().await?.len(), 1, "it still has a session");
    store.release(&session, fence).await?;
    store.leave(&node("a")).await?;
    assert_eq!(second.owners().await?, []);

    store
        .join(Node::new(node("b"), "falconer run"), Duration::ZERO)
        .await?;
    assert!(second.owners().await?[0].is_expired);
    let about = Node::new(node("b"), "falconer run");
    store.join(about, LONG).await?;
    assert!(!second.owners().await?[0].is_expired);
    let early = second
        .take_over(&node("b"), Death::Silent, &node("c"), LONG)
        .await?;
    assert_eq!((early, second.owners().await?.len()), (Vec::new(), 1));
    second
        .take_over(&node("b"), Death::Known, &node("c"), LONG)
        .await?;
    assert_eq!(second.owners().await?, []);
    Ok(())
}

/// A message that only the holder may store leaves nothing behind when somebody else tries.
pub async fn a_message_of_a_stale_holder_leaves_nothing(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let (session, old) = claimed(&store).await?;
    let new = claim(&store, &session, "a").await?.fence;
    let mut input = NewInput::new(session.clone(), "c", "t");
    input.guard = Guard::Holder(old);
    let refused = store.insert_input(input.clone()).await;
    assert!(
        matches!(refused, Err(Error::StaleFence { .. })),
        "{refused:?}"
    );
    input.guard = Guard::Holder(new);
    assert!(
        !store.insert_input(input).await?.is_existing(),
        "the id was used up"
    );
    Ok(())
}

/// A change that is only for sessions of this node is not made to those of others.
pub async fn a_session_of_another_node_is_not_changed(Stores { store, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    let plan = |node_id: &str| {
        SessionPatch::default()
            .mode("plan")
            .unless_elsewhere(node(node_id))
    };
    let before = store.session(&session).await?;
    let refused = store.update_session(&session, plan("b")).await;
    assert!(matches!(refused, Err(Error::Held { .. })), "{refused:?}");
    assert_eq!(store.session(&session).await?, before);
    assert_eq!(
        store.update_session(&session, plan("a")).await?.mode,
        "plan"
    );
    store.release(&session, fence).await?;
    assert_eq!(
        store.update_session(&session, plan("b")).await?.mode,
        "plan"
    );
    Ok(())
}
