//! Rules, tokens, audit, blobs, and the end.

use std::time::Duration;

use serde_json::json;

use super::{Stores, all_events, claimed, events, new_session, unexpected};
use crate::{
    Attachment, AuditId, BlobHash, Error, Guard, MAX_BLOB_BYTES, NewAudit, NewBlob, NewInput,
    NewRule, NewToken, Result, RuleEffect, RulePatch, RuleQuery, RuleScope, Scope, SessionQuery,
    Timestamp, TokenHash,
};

/// A rule is there as it was made, counts its uses, changes, and is gone when removed.
pub async fn rules_are_kept_counted_changed_and_removed(
    Stores { store, .. }: Stores,
) -> Result<()> {
    let scope = RuleScope::Project {
        path: "/p".to_owned(),
    };
    let new = NewRule::new("Bash(git status:*)", RuleEffect::Allow, scope.clone(), "me");
    let rule = store.add_rule(new).await?;
    assert_eq!(
        (rule.text.as_str(), rule.effect),
        ("Bash(git status:*)", RuleEffect::Allow)
    );
    assert_eq!((&rule.scope, rule.used, rule.last_used), (&scope, 0, None));
    for used in 1..=3 {
        let rule = store.use_rule(&rule.id).await?;
        assert_eq!(rule.used, used);
        assert!(rule.last_used.is_some());
    }
    let patch = RulePatch {
        effect: Some(RuleEffect::Ask),
        ..RulePatch::default()
    };
    store.update_rule(&rule.id, patch).await?;
    let patch = RulePatch {
        scope: Some(RuleScope::User),
        text: Some("Read".to_owned()),
        ..RulePatch::default()
    };
    let changed = store.update_rule(&rule.id, patch).await?;
    assert_eq!(
        (changed.effect, changed.text.as_str()),
        (RuleEffect::Ask, "Read")
    );
    assert_eq!((&changed.scope, changed.used), (&RuleScope::User, 3));
    assert_eq!(store.rules(RuleQuery::All).await?, [changed]);
    store.remove_rule(&rule.id).await?;
    assert_eq!(store.rules(RuleQuery::All).await?, []);
    let nowhere = RuleScope::Session { id: "none".into() };
    let missing: Vec<Result<()>> = vec![
        store.remove_rule(&rule.id).await,
        store.use_rule(&rule.id).await.map(drop),
        store
            .update_rule(&rule.id, RulePatch::default())
            .await
            .map(drop),
        store
            .add_rule(NewRule::new("x", RuleEffect::Deny, nowhere, "me"))
            .await
            .map(drop),
    ];
    for missing in missing {
        assert!(
            matches!(missing, Err(Error::NotFound { .. })),
            "{missing:?}"
        );
    }
    Ok(())
}

/// A project covers what is below it, by whole names.
pub async fn rules_hold_where_they_say(Stores { store, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let other = new_session(&store).await?.id;
    let scopes = [
        ("user", RuleScope::User),
        (
            "session",
            RuleScope::Session {
                id: session.clone(),
            },
        ),
        ("other", RuleScope::Session { id: other }),
        (
            "project",
            RuleScope::Project {
                path: "/home/me/project".to_owned(),
            },
        ),
        (
            "parent",
            RuleScope::Project {
                path: "/home/me".to_owned(),
            },
        ),
        (
            "similar",
            RuleScope::Project {
                path: "/home/me/proj".to_owned(),
            },
        ),
    ];
    for (text, scope) in scopes {
        store
            .add_rule(NewRule::new(text, RuleEffect::Deny, scope, "me"))
            .await?;
    }
    for (cwd, expected) in [
        (
            "/home/me/project/src",
            vec!["user", "session", "project", "parent"],
        ),
        (
            "/home/me/project",
            vec!["user", "session", "project", "parent"],
        ),
        ("/home/me", vec!["user", "session", "parent"]),
        ("/home", vec!["user", "session"]),
    ] {
        let query = RuleQuery::Covering {
            session: session.clone(),
            cwd: cwd.to_owned(),
        };
        let rules = store.rules(query).await?;
        let texts: Vec<_> = rules.iter().map(|rule| rule.text.as_str()).collect();
        assert_eq!(texts, expected, "{cwd}");
    }
    Ok(())
}

/// The secret is nowhere; a revoked token is good for nothing.
pub async fn tokens_are_found_by_hash_only(Stores { store, .. }: Stores) -> Result<()> {
    let hash = TokenHash::of("flc_secret");
    let new = NewToken::new("laptop", hash.clone(), vec![Scope::Read, Scope::Approve]);
    let token = store.add_token(new.clone()).await?;
    assert_eq!(store.token(&hash).await?, Some(token.clone()));
    assert_eq!(store.token(&TokenHash::of("flc_other")).await?, None);
    assert!(token.allows(Scope::Approve) && !token.allows(Scope::Admin));
    let shown = serde_json::to_string(&token).map_err(unexpected)?;
    assert!(!shown.contains(hash.as_str()) && !format!("{token:?}").contains(hash.as_str()));
    let twice = store.add_token(new).await;
    assert!(matches!(twice, Err(Error::Conflict { .. })), "{twice:?}");

    store.touch_token(&token.id).await?;
    let used = store.token(&hash).await?.and_then(|token| token.last_used);
    assert!(used.is_some());
    store.touch_token(&token.id).await?;
    let again = store.token(&hash).await?.and_then(|token| token.last_used);
    assert_eq!(used, again, "uses close together are one");

    let revoked = store.revoke_token(&token.id).await?;
    assert!(!revoked.allows(Scope::Read));
    assert_eq!(store.revoke_token(&token.id).await?, revoked);
    assert_eq!(store.tokens().await?, [revoked]);
    let missing = store.revoke_token(&"none".into()).await;
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );
    let missing = store.touch_token(&"none".into()).await;
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );
    Ok(())
}

/// Later records have higher numbers, and all are read, in pages.
pub async fn the_audit_only_grows(Stores { store, .. }: Stores) -> Result<()> {
    let mut ids = vec![AuditId(0)];
    for n in 1..=25 {
        let new = NewAudit::new("token:1", "request.answer").detail(json!({"n": n}));
        ids.push(store.audit(new).await?);
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let mut seen = 0;
    loop {
        let page = store.audit_log(ids[seen], 10).await?;
        for record in &page.records {
            seen += 1;
            assert_eq!(
                (record.id, &record.detail),
                (ids[seen], &json!({"n": seen}))
            );
        }
        assert_eq!(
            (page.records.len(), page.more),
            if seen < 25 { (10, true) } else { (5, false) }
        );
        if !page.more {
            break;
        }
    }
    assert!(store.audit_log(ids[25], 10).await?.records.is_empty());
    Ok(())
}

/// The same bytes under two names are two blobs and one content.
pub async fn equal_bytes_are_kept_once(Stores { store, .. }: Stores) -> Result<()> {
    let bytes: Vec<u8> = (0..=255).collect();
    let first = store
        .put_blob(NewBlob::new("text/plain", bytes.clone()).name("a"))
        .await?;
    let second = store
        .put_blob(NewBlob::new("image/png", bytes.clone()).name("b"))
        .await?;
    assert_eq!(first.hash, second.hash);
    assert_eq!((first.size, second.media_type.as_str()), (256, "image/png"));
    assert_eq!(store.blob(&first.id).await?, first);
    assert_eq!(store.blob(&second.id).await?, second);
    assert_eq!(store.blob_bytes(&first.hash).await?, bytes);
    let missing = store.blob_bytes(&BlobHash::of(b"never")).await;
    assert!(
        matches!(missing, Err(Error::NotFound { .. })),
        "{missing:?}"
    );
    let large = store
        .put_blob(NewBlob::new("x/y", vec![0; MAX_BLOB_BYTES + 1]))
        .await;
    assert!(matches!(large, Err(Error::TooLarge { .. })), "{large:?}");
    Ok(())
}

/// Blobs that a session or a message uses stay; the rest goes when it is old.
pub async fn blobs_nobody_uses_are_swept(Stores { store, .. }: Stores) -> Result<()> {
    let session = new_session(&store).await?.id;
    let own = NewBlob::new("text/plain", b"own".to_vec()).session(session.clone());
    let own = store.put_blob(own).await?;
    let sent = store
        .put_blob(NewBlob::new("text/plain", b"sent".to_vec()))
        .await?;
    let loose = store
        .put_blob(NewBlob::new("text/plain", b"loose".to_vec()))
        .await?;
    let mut input = NewInput::new(session.clone(), "c", "t");
    input
        .attachments
        .push(Attachment::new(sent.id.clone(), "n", "text/plain", 4));
    store.insert_input(input).await?;
    let past = Timestamp::now().minus(Duration::from_secs(3_600));
    assert_eq!(store.sweep_blobs(past).await?, 0);
    let soon = Timestamp::now().plus(Duration::from_secs(3_600));
    assert_eq!(store.sweep_blobs(soon).await?, 1);
    assert!(matches!(
        store.blob(&loose.id).await,
        Err(Error::NotFound { .. })
    ));
    assert!(matches!(
        store.blob_bytes(&loose.hash).await,
        Err(Error::NotFound { .. })
    ));
    assert_eq!(store.blob_bytes(&sent.hash).await?, b"sent");
    store.delete_session(&session, Guard::Anyone).await?;
    for hash in [&own.hash, &sent.hash] {
        let gone = store.blob_bytes(hash).await;
        assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");
    }
    Ok(())
}

/// Two ways to the same data: what one has acknowledged the other reads at once.
pub async fn what_one_writes_the_other_reads(Stores { store, second, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    let mut first = 1;
    for round in 0..20 {
        let (writer, reader) = if round % 2 == 0 {
            (&store, &second)
        } else {
            (&second, &store)
        };
        first = 1 + writer.append(events(&session, fence, first, 2)).await?;
        assert_eq!(reader.session(&session).await?.head, first - 1);
        assert_eq!(all_events(reader, &session).await?.len() as u64, first - 1);
    }
    let counts = second.counts().await?;
    assert_eq!(counts.sessions.iter().map(|(_, n)| n).sum::<u64>(), 1);
    second.ping().await
}

/// After the end everything is refused, and what was acknowledged is in the other.
pub async fn a_closed_store_says_so(Stores { store, second, .. }: Stores) -> Result<()> {
    let (session, fence) = claimed(&store).await?;
    let mut watcher = second.watch();
    let shared = std::sync::Arc::ptr_eq(&store, &second);
    second.close().await?;
    second.close().await?;
    // Hints from before the end may still come.
    while watcher.changed().await.is_some() {}
    let refusals: Vec<Result<()>> = vec![
        second.append(events(&session, fence, 1, 1)).await.map(drop),
        second.session(&session).await.map(drop),
        second.sessions(SessionQuery::default()).await.map(drop),
        second.ping().await,
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::Closed)), "{refusal:?}");
    }
    assert_eq!(second.watch().changed().await, None);
    if !shared {
        store.append(events(&session, fence, 1, 1)).await?;
    }
    Ok(())
}
