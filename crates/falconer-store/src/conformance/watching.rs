//! Hints about changes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Stores, claimed, events, new_session, unexpected};
use crate::{
    Change, Guard, NewRule, Result, RuleEffect, RuleScope, SessionId, SessionPatch, Store, Watcher,
};

/// More than a hint may take, on a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(30);

/// Waits until this change, or everything, is hinted at.
async fn until(watcher: &mut Watcher, wanted: &Change) -> Result<()> {
    loop {
        let change = timeout(SOON, watcher.changed()).await;
        match change.map_err(|_| unexpected(("no hint", wanted)))? {
            None => return Err(unexpected("the end")),
            Some(change) if change == *wanted || change == Change::Everything => return Ok(()),
            Some(_) => {}
        }
    }
}

/// After the last hint nothing is missing: a hint that came before its change could be read
/// would be the last one, and this would wait for ever.
pub async fn a_watcher_learns_of_what_can_be_read(Stores { store, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    let mut watcher = store.watch();
    for seq in 1..=20 {
        let appending = {
            let (store, append) = (Arc::clone(&store), events(&session, fence, seq, 1));
            tokio::spawn(async move { store.append(append).await })
        };
        while store.session(&session).await?.head < seq {
            until(&mut watcher, &Change::Session(session.clone())).await?;
        }
        appending.await.map_err(unexpected)??;
    }
    Ok(())
}

/// Changes through another way to the same data are hinted at too: sessions, rules, deletions.
pub async fn a_watcher_learns_of_what_others_do(
    Stores { store, second, .. }: Stores,
) -> Result<()> {
    let before = new_session(&second).await?.id;
    let mut watcher = store.watch();
    let made = new_session(&second).await?.id;
    until(&mut watcher, &Change::Session(made.clone())).await?;
    rename(&second, &before).await?;
    until(&mut watcher, &Change::Session(before.clone())).await?;
    // A change of its own right after must not hide it.
    rename(&second, &before).await?;
    rename(&store, &made).await?;
    until(&mut watcher, &Change::Session(before.clone())).await?;
    second
        .add_rule(NewRule::new(
            "Read",
            RuleEffect::Allow,
            RuleScope::User,
            "me",
        ))
        .await?;
    until(&mut watcher, &Change::Rules).await?;
    second.delete_session(&made, Guard::Anyone).await?;
    until(&mut watcher, &Change::Session(made)).await
}

async fn rename(store: &Arc<dyn Store>, id: &SessionId) -> Result<()> {
    let patch = SessionPatch::default().title(Some("new".to_owned()));
    store.update_session(id, patch).await.map(drop)
}

/// A watcher that does not look keeps nobody waiting and misses nothing for good.
pub async fn a_slow_watcher_is_told_to_look_at_everything(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let mut watcher = store.watch();
    let (one, one_fence) = claimed(&store).await?;
    let (two, two_fence) = claimed(&store).await?;
    for seq in 1..=3_000 {
        let appended = [
            store.append(events(&one, one_fence, seq, 1)),
            store.append(events(&two, two_fence, seq, 1)),
        ];
        for appended in futures_util::future::join_all(appended).await {
            appended?;
        }
    }
    let first = watcher.changed().await;
    assert_eq!(first, Some(Change::Everything));
    rename(&store, &one).await?;
    until(&mut watcher, &Change::Session(one)).await
}
