//! A test that every session store has to pass.
//!
//! The contracts are those of the official SDKs' suite, and one more: an entry that a store
//! already has is not added again.

use std::fmt;
use std::future::Future;

use falconer_protocol::SessionId;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use super::contract::{Capabilities, SessionStore};
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use super::summary::{SummaryEntry, fold_session_summary};
use crate::store_error::SessionStoreError;

/// The findings about a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The contracts it keeps.
    pub passed: Vec<&'static str>,
    /// The contracts about things it says it cannot do.
    pub skipped: Vec<&'static str>,
}

/// A contract that a store breaks.
#[derive(Debug, thiserror::Error)]
#[error("the session store breaks the contract `{contract}`: {reason}")]
#[non_exhaustive]
pub struct Broken {
    /// The contract.
    pub contract: &'static str,
    /// Expectation and observation.
    pub reason: String,
}

/// Checks all contracts that the store's [`Capabilities`] promise.
///
/// `make_store` makes an empty store; it is called once for each contract and once more.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use falconer::mirror::{InMemorySessionStore, conformance};
///
/// let make_store = || async { Box::new(InMemorySessionStore::new()) as _ };
/// let report = conformance::run(make_store).await?;
/// assert_eq!(report.passed.len(), 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn run<F, Fut>(make_store: F) -> Result<Report, Broken>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Box<dyn SessionStore>>,
{
    let can = make_store().await.capabilities();
    let mut report = Report::default();
    for contract in CONTRACTS {
        if !(contract.applies)(can) {
            report.skipped.push(contract.name);
            continue;
        }
        let store = make_store().await;
        let kept = (contract.check)(store.as_ref()).await;
        kept.map_err(|Reason(reason)| Broken {
            contract: contract.name,
            reason,
        })?;
        report.passed.push(contract.name);
    }
    Ok(report)
}

struct Contract {
    name: &'static str,
    applies: fn(Capabilities) -> bool,
    check: for<'a> fn(&'a dyn SessionStore) -> Check<'a>,
}

type Check<'a> = BoxFuture<'a, Result<(), Reason>>;

/// The reason a check failed.
struct Reason(String);

impl From<SessionStoreError> for Reason {
    fn from(error: SessionStoreError) -> Self {
        Self(error.to_string())
    }
}

const ALWAYS: fn(Capabilities) -> bool = |_| true;
const LISTS: fn(Capabilities) -> bool = |can| can.list_sessions;
const SUMS_UP: fn(Capabilities) -> bool = |can| can.list_session_summaries;
const DELETES: fn(Capabilities) -> bool = |can| can.delete;
const LISTS_SUBKEYS: fn(Capabilities) -> bool = |can| can.list_subkeys;
const RECOGNISES: fn(Capabilities) -> bool = |can| can.idempotent;

#[rustfmt::skip]
const CONTRACTS: &[Contract] = &[
    Contract { name: "load returns what was appended, in order", applies: ALWAYS, check: in_order },
    Contract { name: "load of an unknown key is none", applies: ALWAYS, check: unknown_key },
    Contract { name: "appends keep the order of the calls", applies: ALWAYS, check: order_of_calls },
    Contract { name: "append of nothing changes nothing", applies: ALWAYS, check: append_nothing },
    Contract { name: "subpaths are transcripts of their own", applies: ALWAYS, check: subpaths },
    Contract { name: "projects are kept apart", applies: ALWAYS, check: projects },
    Contract { name: "list_sessions returns the sessions of the project", applies: LISTS, check: listed },
    Contract { name: "list_sessions leaves out subpaths", applies: LISTS, check: listed_without_subpaths },
    Contract { name: "delete removes the transcript", applies: DELETES, check: deleted },
    Contract { name: "delete takes the subpaths along", applies: DELETES, check: deleted_with_subpaths },
    Contract { name: "delete of a subpath removes only that", applies: DELETES, check: deleted_subpath },
    Contract { name: "list_subkeys returns the subpaths", applies: LISTS_SUBKEYS, check: subkeys },
    Contract { name: "list_subkeys leaves out the main transcript", applies: LISTS_SUBKEYS, check: subkeys_without_main },
    Contract { name: "summaries are kept and can be folded on", applies: SUMS_UP, check: summaries },
    Contract { name: "an entry that is there is not added again", applies: RECOGNISES, check: once_only },
];

fn in_order(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let both = entries([r#"{"uuid": "b", "n": 1}"#, r#"{"uuid": "a", "n": 2}"#])?;
        let key = key("proj", "sess");
        store.append(&key, &both).await?;
        same("load", store.load(&key).await?, Some(both))
    })
}

fn unknown_key(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        same("load", store.load(&key("proj", "nope")).await?, None)?;
        let known = key("proj", "sess");
        store
            .append(&known, &entries([r#"{"uuid": "x"}"#])?)
            .await?;
        same(
            "load of an unknown subpath",
            store.load(&known.with_subpath("nope")).await?,
            None,
        )
    })
}

fn order_of_calls(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let key = key("proj", "sess");
        let all = entries(["z", "a", "m", "b"].map(|uuid| format!(r#"{{"uuid":"{uuid}"}}"#)))?;
        store.append(&key, &all[..1]).await?;
        store.append(&key, &all[1..3]).await?;
        store.append(&key, &all[3..]).await?;
        same("load", store.load(&key).await?, Some(all))
    })
}

fn append_nothing(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let key = key("proj", "sess");
        let one = entries([r#"{"uuid": "a"}"#])?;
        store.append(&key, &one).await?;
        store.append(&key, &[]).await?;
        same("load", store.load(&key).await?, Some(one))
    })
}

fn subpaths(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "sess");
        let sub = main.with_subpath("subagents/agent-1");
        let (of_main, of_sub) = (
            entries([r#"{"uuid": "m"}"#])?,
            entries([r#"{"uuid": "s"}"#])?,
        );
        store.append(&main, &of_main).await?;
        store.append(&sub, &of_sub).await?;
        same(
            "load of the main transcript",
            store.load(&main).await?,
            Some(of_main),
        )?;
        same("load of the subpath", store.load(&sub).await?, Some(of_sub))
    })
}

fn projects(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        for project in ["A", "B"] {
            let entry = entries([format!(r#"{{"from":"{project}"}}"#)])?;
            store.append(&key(project, "s1"), &entry).await?;
        }
        for project in ["A", "B"] {
            let expect = entries([format!(r#"{{"from":"{project}"}}"#)])?;
            same("load", store.load(&key(project, "s1")).await?, Some(expect))?;
            if store.capabilities().list_sessions {
                same(
                    "number of sessions",
                    store.list_sessions(project).await?.len(),
                    1,
                )?;
            }
        }
        Ok(())
    })
}

fn listed(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        for (project, session) in [("proj", "a"), ("proj", "b"), ("other", "c")] {
            add(store, &key(project, session)).await?;
        }
        same(
            "sessions",
            session_ids(store, "proj").await?,
            vec!["a".to_owned(), "b".to_owned()],
        )?;
        for listed in store.list_sessions("proj").await? {
            recent("modified", listed.modified)?;
        }
        same(
            "sessions of no project",
            session_ids(store, "never").await?,
            Vec::new(),
        )
    })
}

fn listed_without_subpaths(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "main");
        add(store, &main).await?;
        add(store, &main.with_subpath("subagents/agent-1")).await?;
        same(
            "sessions",
            session_ids(store, "proj").await?,
            vec!["main".to_owned()],
        )
    })
}

fn deleted(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        store.delete(&key("proj", "never-written")).await?;
        let key = key("proj", "sess");
        add(store, &key).await?;
        store.delete(&key).await?;
        same("load", store.load(&key).await?, None)
    })
}

fn deleted_with_subpaths(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "sess");
        let subs = ["subagents/agent-1", "subagents/agent-2"].map(|sub| main.with_subpath(sub));
        let others = [key("proj", "sess2"), key("other-proj", "sess")];
        for key in subs.iter().chain(&others).chain([&main]) {
            add(store, key).await?;
        }
        store.delete(&main).await?;
        for gone in subs.iter().chain([&main]) {
            same("load of what was deleted", store.load(gone).await?, None)?;
        }
        for kept in &others {
            let length = store.load(kept).await?.map(|entries| entries.len());
            same("load of another session", length, Some(1))?;
        }
        if store.capabilities().list_subkeys {
            same("subkeys", store.list_subkeys(&main).await?, Vec::new())?;
        }
        if store.capabilities().list_sessions {
            same(
                "sessions",
                session_ids(store, "proj").await?,
                vec!["sess2".to_owned()],
            )?;
        }
        Ok(())
    })
}

fn deleted_subpath(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "sess");
        let [gone, kept] =
            ["subagents/agent-1", "subagents/agent-2"].map(|sub| main.with_subpath(sub));
        for key in [&main, &gone, &kept] {
            add(store, key).await?;
        }
        store.delete(&gone).await?;
        same("load of what was deleted", store.load(&gone).await?, None)?;
        for kept in [&main, &kept] {
            let length = store.load(kept).await?.map(|entries| entries.len());
            same("load of another transcript", length, Some(1))?;
        }
        if store.capabilities().list_subkeys {
            let expect = vec!["subagents/agent-2".to_owned()];
            same("subkeys", store.list_subkeys(&main).await?, expect)?;
        }
        Ok(())
    })
}

fn subkeys(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "sess");
        let expect = vec![
            "subagents/agent-1".to_owned(),
            "subagents/agent-2".to_owned(),
        ];
        add(store, &main).await?;
        for subpath in &expect {
            add(store, &main.with_subpath(subpath)).await?;
        }
        add(
            store,
            &key("proj", "other-sess").with_subpath("subagents/agent-x"),
        )
        .await?;
        let mut found = store.list_subkeys(&main).await?;
        found.sort();
        same("subkeys", found, expect)
    })
}

fn subkeys_without_main(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let main = key("proj", "sess");
        add(store, &main).await?;
        same("subkeys", store.list_subkeys(&main).await?, Vec::new())?;
        let never = key("proj", "never-appended");
        same(
            "subkeys of no session",
            store.list_subkeys(&never).await?,
            Vec::new(),
        )
    })
}

fn summaries(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let key_of = |project| key(project, "summ-sess");
        let key = key_of("proj");
        let first = entries([
            r#"{"timestamp": "2024-01-01T00:00:00.000Z", "customTitle": "first"}"#,
            r#"{"timestamp": "2024-01-01T00:00:01.000Z"}"#,
        ])?;
        let second =
            entries([r#"{"timestamp": "2024-01-01T00:00:02.000Z", "customTitle": "second"}"#])?;
        store.append(&key, &first).await?;
        store.append(&key, &second).await?;
        add(store, &key_of("other")).await?;
        let summary = only_summary(store).await?;
        same(
            "summary of session",
            summary.session_id.as_str(),
            "summ-sess",
        )?;
        recent("mtime", summary.modified())?;
        let title = summary.data.get("customTitle").cloned();
        same("title in the summary", title, Some(Value::from("second")))?;
        fresh_by_the_same_clock(store, &summary).await?;
        let folded = fold_session_summary(Some(&summary), &key, &second);
        same("mtime after folding on", folded.mtime, summary.mtime)?;
        let of_agent = entries([r#"{"customTitle": "sub-agent"}"#])?;
        store
            .append(&key.with_subpath("subagents/agent-1"), &of_agent)
            .await?;
        let after = only_summary(store).await?;
        same("summary after a sub-agent wrote", after.data, summary.data)?;
        same(
            "summaries of no project",
            store.list_session_summaries("never").await?,
            Vec::new(),
        )?;
        if store.capabilities().delete {
            store.delete(&key).await?;
            let left = store.list_session_summaries("proj").await?;
            same("summaries after deleting", left, Vec::new())?;
        }
        Ok(())
    })
}

fn once_only(store: &dyn SessionStore) -> Check<'_> {
    Box::pin(async move {
        let key = key("proj", "sess");
        let two = entries([r#"{"uuid": "a"}"#, r#"{"uuid": "b"}"#])?;
        let without = entries([r#"{"tag": "x"}"#])?;
        store.append(&key, &two).await?;
        store.append(&key, &two).await?;
        store.append(&key, &without).await?;
        store.append(&key, &without).await?;
        let expect = [two, without.clone(), without].concat();
        same("load", store.load(&key).await?, Some(expect))
    })
}

async fn only_summary(store: &dyn SessionStore) -> Result<SummaryEntry, Reason> {
    let mut all = store.list_session_summaries("proj").await?;
    same("number of summaries", all.len(), 1)?;
    Ok(all.remove(0))
}

/// A summary that looks older than its session would be computed again for every list.
async fn fresh_by_the_same_clock(
    store: &dyn SessionStore,
    summary: &SummaryEntry,
) -> Result<(), Reason> {
    if !store.capabilities().list_sessions {
        return Ok(());
    }
    let listing = store.list_sessions("proj").await?;
    let written = listing
        .iter()
        .find(|listed| listed.session_id == summary.session_id);
    match written {
        Some(listed) if summary.modified() < listed.modified => Err(Reason(format!(
            "the summary is from {}, older than its session from {}",
            summary.modified(),
            listed.modified
        ))),
        Some(_) => Ok(()),
        None => Err(Reason("the session of a summary is not listed".to_owned())),
    }
}

fn key(project: &str, session: &str) -> SessionKey {
    SessionKey::new(project, SessionId::new(session))
}

fn entries<const N: usize>(
    fields: [impl Into<String>; N],
) -> Result<Vec<SessionStoreEntry>, Reason> {
    let typed = fields.into_iter().map(|fields| {
        let fields: String = fields.into();
        let rest = fields.trim_start_matches('{');
        Ok(SessionStoreEntry::from_json(format!(
            r#"{{"type":"x",{rest}"#
        ))?)
    });
    typed.collect()
}

async fn add(store: &dyn SessionStore, key: &SessionKey) -> Result<(), Reason> {
    Ok(store.append(key, &entries([r#"{"n": 1}"#])?).await?)
}

async fn session_ids(store: &dyn SessionStore, project: &str) -> Result<Vec<String>, Reason> {
    let listing = store.list_sessions(project).await?;
    let mut ids: Vec<String> = listing
        .iter()
        .map(|listed| listed.session_id.to_string())
        .collect();
    ids.sort();
    Ok(ids)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "expected values are written in place"
)]
fn same<T: PartialEq + fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Reason> {
    if found == expected {
        return Ok(());
    }
    Err(Reason(format!(
        "{what} should be {expected:?}, but is {found:?}"
    )))
}

/// Times are those of the write, not of the entries and not in seconds.
fn recent(what: &str, time: Timestamp) -> Result<(), Reason> {
    if time.as_millisecond() > 1_000_000_000_000 {
        return Ok(());
    }
    Err(Reason(format!(
        "{what} is {time}, which is not the time of the write"
    )))
}
