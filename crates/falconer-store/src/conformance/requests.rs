//! Permissions and questions.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Stores, at_once, claimed, events, unexpected};
use crate::{
    Decided, DecisionRecord, Error, Fence, Guard, NewRequest, RequestId, RequestKind, RequestQuery,
    RequestState, Result, SessionId, Store, Timestamp,
};

/// A session with an open request.
async fn asked(store: &Arc<dyn Store>, id: &str) -> Result<(SessionId, Fence, RequestId)> {
    let (session, fence) = claimed(store).await?;
    let mut append = events(&session, fence, 1, 1);
    append.requests.push(NewRequest::new(
        id,
        RequestKind::Permission,
        json!({"command": "ls"}),
        "digest",
    ));
    store.append(append).await?;
    Ok((session, fence, id.into()))
}

fn allow(by: impl Into<String>) -> DecisionRecord {
    DecisionRecord::new(json!({"type": "allow"}), by)
}

/// Fifty people answer at the same instant: one wins, all others learn who it was.
pub async fn exactly_one_of_fifty_deciders_wins(
    Stores { store, second, .. }: Stores,
) -> Result<()> {
    let (session, _, id) = asked(&store, "r").await?;
    let deciders = (0..50).map(|n| {
        let store = Arc::clone(if n % 2 == 0 { &store } else { &second });
        let id = id.clone();
        let decision = DecisionRecord::new(
            json!({"type": if n % 2 == 0 { "allow" } else { "deny" }}),
            format!("user-{n}"),
        );
        let job: BoxFuture<'static, _> =
            Box::pin(async move { store.decide(&id, "digest", decision).await });
        job
    });
    let mut winners = Vec::new();
    let mut losers = Vec::new();
    for decided in at_once(deciders).await? {
        match decided {
            Decided::Won(record) => winners.push(record),
            Decided::Lost(record) => losers.push(record),
            other => return Err(unexpected(other)),
        }
    }
    assert_eq!((winners.len(), losers.len()), (1, 49));
    assert_eq!(winners[0].state, RequestState::Answered);
    assert!(winners[0].decision.is_some());
    assert!(
        losers
            .iter()
            .all(|record| record.decision == winners[0].decision)
    );
    assert_eq!(store.request(&id).await?, winners[0]);
    assert_eq!(store.session(&session).await?.pending, 0);
    Ok(())
}

/// Another digest, another request: nothing is decided.
pub async fn an_answer_to_something_else_does_not_count(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let (_, _, id) = asked(&store, "r").await?;
    let changed = store.decide(&id, "other", allow("me")).await?;
    assert!(matches!(changed, Decided::Changed(ref r) if r.state == RequestState::Pending));
    let missing = store.decide(&"none".into(), "digest", allow("me")).await?;
    assert_eq!(missing, Decided::NotFound);
    let record = store.request(&id).await?;
    assert_eq!(
        (record.state, record.decision),
        (RequestState::Pending, None)
    );
    assert_eq!(store.requests(RequestQuery::pending()).await?.len(), 1);
    Ok(())
}

/// Nobody answers what expired or was withdrawn.
pub async fn an_answer_that_comes_too_late_does_not_count(
    Stores { store, .. }: Stores,
) -> Result<()> {
    for (id, end) in [("e", RequestState::Expired), ("w", RequestState::Withdrawn)] {
        let (_, fence, id) = asked(&store, id).await?;
        assert!(
            store
                .settle_request(&id, end, Guard::Holder(fence))
                .await?
                .is_yes()
        );
        let late = store.decide(&id, "digest", allow("me")).await?;
        assert!(
            matches!(late, Decided::Gone(ref r) if r.state == end),
            "{late:?}"
        );
        assert_eq!(store.request(&id).await?.decision, None);
        let again = store
            .settle_request(&id, RequestState::Delivered, Guard::Anyone)
            .await?;
        assert!(!again.is_yes());
    }
    Ok(())
}

/// Pending → answered → delivered, or to an end; never back, and only by the holder.
pub async fn a_decision_is_delivered_or_expires(Stores { store, .. }: Stores) -> Result<()> {
    let (session, fence, id) = asked(&store, "r").await?;
    let early = store
        .settle_request(&id, RequestState::Delivered, Guard::Anyone)
        .await?;
    assert!(!early.is_yes(), "nothing was answered");
    for state in [RequestState::Pending, RequestState::Answered] {
        let refused = store.settle_request(&id, state, Guard::Anyone).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let mut decision = allow("me");
    decision.edited = Some(json!({"command": "ls -l"}));
    decision.rule = Some("Bash(ls:*)".to_owned());
    decision.message = Some("go".to_owned());
    let Decided::Won(won) = store.decide(&id, "digest", decision.clone()).await? else {
        return Err(unexpected("a lost decision"));
    };
    assert_eq!(won.decision, Some(decision));
    let stale = Guard::Holder(Fence(fence.0 + 1));
    let refused = store
        .settle_request(&id, RequestState::Delivered, stale)
        .await;
    assert!(
        matches!(refused, Err(Error::StaleFence { .. })),
        "{refused:?}"
    );
    let delivered = store
        .settle_request(&id, RequestState::Delivered, Guard::Holder(fence))
        .await?;
    assert!(delivered.is_yes());
    let expired = store
        .settle_request(&id, RequestState::Expired, Guard::Holder(fence))
        .await?;
    assert!(!expired.is_yes());

    let (_, fence, id) = asked(&store, "s").await?;
    assert!(matches!(
        store.decide(&id, "digest", allow("me")).await?,
        Decided::Won(_)
    ));
    let expired = store
        .settle_request(&id, RequestState::Expired, Guard::Holder(fence))
        .await?;
    assert!(
        expired.is_yes(),
        "the agent was gone before the answer reached it"
    );
    assert!(
        expired.into_record().decision.is_some(),
        "the answer is kept"
    );

    let of_one = RequestQuery::default().session(session);
    assert_eq!(store.requests(of_one.clone()).await?.len(), 1);
    let delivered = of_one.clone().states([RequestState::Delivered]);
    assert_eq!(store.requests(delivered).await?.len(), 1);
    assert_eq!(
        store
            .requests(of_one.states([RequestState::Expired]))
            .await?
            .len(),
        0
    );
    Ok(())
}

/// An answer of a policy comes with the events; one that was given by somebody is not replaced.
pub async fn an_answer_told_by_events_is_kept(Stores { store, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    let mut append = events(&session, fence, 1, 2);
    let mut new = NewRequest::new("p", RequestKind::Permission, json!({}), "d");
    new.tool = Some("Bash".to_owned());
    new.expires_at = Some(Timestamp::now());
    new.suggestions = vec![json!({"rule": 1})];
    append.requests.push(new);
    append.answers.push(("p".into(), allow("policy")));
    append.settled.push(("p".into(), RequestState::Delivered));
    store.append(append).await?;
    let record = store.request(&"p".into()).await?;
    assert_eq!(record.state, RequestState::Delivered);
    assert_eq!(
        record.decision.map(|decision| decision.by).as_deref(),
        Some("policy")
    );
    assert_eq!(
        (record.tool.as_deref(), record.suggestions.len()),
        (Some("Bash"), 1)
    );

    let (session, fence, id) = asked(&store, "r").await?;
    let mut early = events(&session, fence, 2, 1);
    early.settled.push((id.clone(), RequestState::Delivered));
    let refused = store.append(early).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    assert!(matches!(
        store.decide(&id, "digest", allow("me")).await?,
        Decided::Won(_)
    ));
    let mut append = events(&session, fence, 2, 1);
    append.answers.push((id.clone(), allow("policy")));
    append.settled.push((id.clone(), RequestState::Delivered));
    store.append(append).await?;
    let record = store.request(&id).await?;
    assert_eq!(
        record.decision.map(|decision| decision.by).as_deref(),
        Some("me")
    );
    Ok(())
}
