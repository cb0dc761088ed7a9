//! Sessions in a store: the contract, the mirror, and the way there and back.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use falconer::mirror::{
    Capabilities, FlushMode, InMemorySessionStore, MaterializeOptions, Mirror, MirrorError,
    MirrorOptions, SessionKey, SessionListing, SessionStore, SessionStoreEntry, SessionStoreError,
    SessionStoreFuture, StoredSessions, SummaryEntry, conformance, import_session_to_store,
    materialize,
};
use falconer::sessions::{ForkOptions, ListOptions, SessionId, Sessions, SystemMessages};
use serde_json::{Value, json};

use crate::sessions::{copy_real, id, transcript, user};

/// A way in which a store can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Reverses,
    ForgetsOrderOfCalls,
    InventsEmptySessions,
    EmptyAppendClears,
    IgnoresSubpath,
    IgnoresProject,
    ListsSubpaths,
    ListsInSeconds,
    DeleteDoesNothing,
    DeleteKeepsSubpaths,
    DeleteOfSubpathTakesAll,
    SubkeysOfAllSessions,
    SubkeysWithMain,
    SummaryTimeFromEntries,
    SummaryCountsSubagents,
    AddsAgain,
}

/// A correct store with one fault put in.
#[derive(Debug)]
struct Faulty {
    inner: InMemorySessionStore,
    fault: Fault,
    writes: AtomicUsize,
}

impl Faulty {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn key(&self, key: &SessionKey) -> SessionKey {
        let key = if self.is(Fault::IgnoresSubpath) {
            key.main()
        } else {
            key.clone()
        };
        let mut own = key;
        if self.is(Fault::IgnoresProject) {
            own.project_key = "all".to_owned();
        }
        own
    }
}

impl SessionStore for Faulty {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()> {
        Box::pin(async move {
            let write = self.writes.fetch_add(1, Ordering::Relaxed);
            let own = self.key(key);
            if self.is(Fault::EmptyAppendClears) && entries.is_empty() {
                return self.inner.delete(&own).await;
            }
            if self.is(Fault::SummaryCountsSubagents) && key.subpath.is_some() {
                self.inner.append(&own.main(), entries).await?;
            }
            let again = entries.iter().map(|entry| {
                let mut value = entry.to_value();
                if self.is(Fault::AddsAgain) && write > 0 {
                    value["uuid"] = json!(format!("{write}"));
                }
                SessionStoreEntry::try_from(value)
            });
            let entries: Vec<SessionStoreEntry> = again.collect::<Result<_, _>>()?;
            self.inner.append(&own, &entries).await
        })
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
        Box::pin(async move {
            let mut loaded = self.inner.load(&self.key(key)).await?;
            if let Some(entries) = &mut loaded {
                match self.fault {
                    Fault::Reverses => entries.reverse(),
                    Fault::ForgetsOrderOfCalls => entries.sort_by_key(SessionStoreEntry::uuid),
                    _ => {}
                }
            }
            Ok(match self.fault {
                Fault::InventsEmptySessions => Some(loaded.unwrap_or_default()),
                _ => loaded,
            })
        })
    }

    fn list_sessions<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SessionListing>> {
        Box::pin(async move {
            let mut listed = self.inner.list_sessions(project_key).await?;
            if self.is(Fault::ListsSubpaths) {
                for key in self.inner.keys().iter().filter(|key| key.subpath.is_some()) {
                    let id = SessionId::new(format!("{}-sub", key.session_id));
                    listed.push(SessionListing::new(id, jiff::Timestamp::now()));
                }
            }
            if self.is(Fault::ListsInSeconds) {
                for listed in &mut listed {
                    let seconds = listed.modified.as_second();
                    listed.modified = jiff::Timestamp::from_millisecond(seconds).expect("in range");
                }
            }
            Ok(listed)
        })
    }

    fn list_session_summaries<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SummaryEntry>> {
        Box::pin(async move {
            let mut summaries = self.inner.list_session_summaries(project_key).await?;
            if self.is(Fault::SummaryTimeFromEntries) {
                for summary in &mut summaries {
                    summary.mtime = 1_704_067_202_000;
                }
            }
            Ok(summaries)
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, ()> {
        Box::pin(async move {
            match self.fault {
                Fault::DeleteDoesNothing => Ok(()),
                Fault::DeleteOfSubpathTakesAll => self.inner.delete(&key.main()).await,
                Fault::DeleteKeepsSubpaths => {
                    let keys = self.inner.keys();
                    let subs = keys
                        .iter()
                        .filter(|sub| sub.main() == *key && sub.subpath.is_some());
                    let mut kept = Vec::new();
                    for sub in subs {
                        kept.push((sub.clone(), self.inner.load(sub).await?.unwrap_or_default()));
                    }
                    self.inner.delete(key).await?;
                    for (sub, entries) in kept {
                        self.inner.append(&sub, &entries).await?;
                    }
                    Ok(())
                }
                _ => self.inner.delete(key).await,
            }
        })
    }

    fn list_subkeys<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            match self.fault {
                Fault::SubkeysOfAllSessions => Ok(self
                    .inner
                    .keys()
                    .into_iter()
                    .filter_map(|key| key.subpath)
                    .collect()),
                Fault::SubkeysWithMain => {
                    let mut subkeys = self.inner.list_subkeys(key).await?;
                    subkeys.push(String::new());
                    Ok(subkeys)
                }
                _ => self.inner.list_subkeys(key).await,
            }
        })
    }
}

#[tokio::test]
async fn the_store_in_memory_keeps_every_contract() {
    let report = conformance::run(|| async { Box::new(InMemorySessionStore::new()) as _ }).await;
    let report = report.expect("conformant");
    assert_eq!((report.passed.len(), report.skipped.len()), (15, 0));
}

#[tokio::test]
async fn every_fault_of_a_store_is_found() {
    use Fault::*;
    let cases = [
        (Reverses, "load returns what was appended, in order"),
        (
            ForgetsOrderOfCalls,
            "load returns what was appended, in order",
        ),
        (InventsEmptySessions, "load of an unknown key is none"),
        (EmptyAppendClears, "append of nothing changes nothing"),
        (IgnoresSubpath, "load of an unknown key is none"),
        (IgnoresProject, "projects are kept apart"),
        (ListsSubpaths, "list_sessions leaves out subpaths"),
        (
            ListsInSeconds,
            "list_sessions returns the sessions of the project",
        ),
        (DeleteDoesNothing, "delete removes the transcript"),
        (DeleteKeepsSubpaths, "delete takes the subpaths along"),
        (
            DeleteOfSubpathTakesAll,
            "delete of a subpath removes only that",
        ),
        (SubkeysOfAllSessions, "list_subkeys returns the subpaths"),
        (SubkeysWithMain, "delete takes the subpaths along"),
        (
            SummaryTimeFromEntries,
            "summaries are kept and can be folded on",
        ),
        (
            SummaryCountsSubagents,
            "subpaths are transcripts of their own",
        ),
        (AddsAgain, "appends keep the order of the calls"),
    ];
    for (fault, contract) in cases {
        let make = || async move {
            let inner = InMemorySessionStore::new();
            Box::new(Faulty {
                inner,
                fault,
                writes: AtomicUsize::new(0),
            }) as _
        };
        let broken = conformance::run(make).await.expect_err("a fault is found");
        assert_eq!(broken.contract, contract, "{fault:?}: {broken}");
    }
}

/// A store that answers as it is told and remembers what it was asked.
#[derive(Debug, Default)]
struct Scripted {
    answers: Mutex<Vec<Answer>>,
    appends: Mutex<Vec<(String, usize)>>,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Fail,
    Full,
    Hang,
}

impl Scripted {
    fn new(answers: &[Answer]) -> Arc<Self> {
        let mut answers = answers.to_vec();
        answers.reverse();
        Arc::new(Self {
            answers: Mutex::new(answers),
            appends: Mutex::default(),
        })
    }

    fn appends(&self) -> Vec<(String, usize)> {
        self.appends.lock().expect("not poisoned").clone()
    }
}

impl SessionStore for Scripted {
    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()> {
        self.appends
            .lock()
            .expect("not poisoned")
            .push((key.to_string(), entries.len()));
        let answer = self.answers.lock().expect("not poisoned").pop();
        Box::pin(async move {
            match answer {
                None => Ok(()),
                Some(Answer::Fail) => Err(SessionStoreError::failed("connection reset")),
                Some(Answer::Full) => Err(io::Error::from(io::ErrorKind::StorageFull).into()),
                Some(Answer::Hang) => std::future::pending().await,
            }
        })
    }

    fn load<'a>(
        &'a self,
        _: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
        Box::pin(async { Ok(None) })
    }
}

fn frame(file: &str, entries: usize) -> Bytes {
    let entries: Vec<Value> = (0..entries).map(|n| json!({"type": "x", "n": n})).collect();
    let frame = json!({"type": "transcript_mirror", "filePath": format!("/c/projects/{file}"), "entries": entries});
    Bytes::from(frame.to_string())
}

#[tokio::test(start_paused = true)]
async fn frames_are_batched_by_transcript_until_a_flush() {
    let store = Scripted::new(&[]);
    let mirror = Mirror::start(store.clone(), MirrorOptions::new("/c/projects"));
    mirror.push(frame("-p/s.jsonl", 2));
    mirror.push(frame("-p/s/subagents/agent-1.jsonl", 1));
    mirror.push(frame("-p/s.jsonl", 3));
    mirror.push(frame("-p/s.jsonl", 0));
    assert_eq!(mirror.flush().await.len(), 0);
    let expect = [
        ("-p/s".to_owned(), 5),
        ("-p/s/subagents/agent-1".to_owned(), 1),
    ];
    assert_eq!(store.appends(), expect);
    assert_eq!(mirror.close().await.len(), 0);
    assert_eq!(store.appends(), expect);
}

#[tokio::test(start_paused = true)]
async fn eager_frames_and_full_batches_do_not_wait_for_a_flush() {
    for (options, frames, expect) in [
        (
            MirrorOptions::new("/c/projects").flush(FlushMode::Eager),
            [1, 1, 1],
            vec![1, 1, 1],
        ),
        (
            MirrorOptions::new("/c/projects"),
            [300, 300, 1],
            vec![600, 1],
        ),
    ] {
        let store = Scripted::new(&[]);
        let mirror = Mirror::start(store.clone(), options);
        for entries in frames {
            mirror.push(frame("-p/s.jsonl", entries));
        }
        mirror.close().await;
        let lengths: Vec<usize> = store.appends().iter().map(|(_, length)| *length).collect();
        assert_eq!(lengths, expect);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_batch_is_tried_three_times_and_then_reported() {
    use Answer::*;
    for (answers, attempts, errors) in [
        (vec![Fail, Fail], 3, 0),
        (vec![Fail, Fail, Fail], 3, 1),
        (vec![Full], 1, 1),
        (vec![Hang], 1, 1),
        (vec![Fail, Hang], 2, 1),
    ] {
        let store = Scripted::new(&answers);
        let mirror = Mirror::start(store.clone(), MirrorOptions::new("/c/projects"));
        mirror.push(frame("-p/s.jsonl", 2));
        let begin = tokio::time::Instant::now();
        let reported = mirror.flush().await;
        assert_eq!(store.appends().len(), attempts, "{answers:?}");
        assert_eq!(reported.len(), errors, "{answers:?}");
        assert!(begin.elapsed() <= Duration::from_secs(62), "{answers:?}");
        if let Some(error) = reported.first() {
            let message = error.to_message("s");
            assert_eq!(message["subtype"], "mirror_error");
            assert_eq!(
                message["key"],
                json!({"projectKey": "-p", "sessionId": "s"})
            );
        }
        assert_eq!(mirror.flush().await.len(), 0, "an error is reported once");
        mirror.push(frame("-p/s.jsonl", 1));
        assert_eq!(mirror.close().await.len(), 0, "the mirror goes on");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_a_typed_error_and_losses_add_up() {
    let store = Scripted::new(&[Answer::Full, Answer::Full]);
    let options = MirrorOptions::new("/c/projects").flush(FlushMode::Eager);
    let mirror = Mirror::start(store, options);
    mirror.push(frame("-p/s.jsonl", 2));
    mirror.push(frame("-p/s.jsonl", 3));
    let errors = mirror.flush().await;
    match errors.as_slice() {
        [
            MirrorError::Append {
                entries: 5,
                source: SessionStoreError::Full { .. },
                ..
            },
        ] => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_store_loses_frames_but_never_blocks_a_push() {
    let store = Scripted::new(&[Answer::Hang]);
    let size = u32::try_from(frame("-p/s.jsonl", 1).len()).expect("small");
    let options = MirrorOptions::new("/c/projects")
        .flush(FlushMode::Eager)
        .queue_bytes(size * 3);
    let mirror = Mirror::start(store.clone(), options);
    for _ in 0..10 {
        mirror.push(frame("-p/s.jsonl", 1));
    }
    let errors = mirror.flush().await;
    let lost = errors.iter().find_map(|error| match error {
        MirrorError::Overflow {
            key: Some(key),
            frames,
            ..
        } if key.to_string() == "-p/s" => Some(*frames),
        _ => None,
    });
    assert_eq!(lost, Some(7));
    assert_eq!(store.appends().len(), 3);
    mirror.push(frame("-p/s.jsonl", 1));
    assert_eq!(mirror.close().await.len(), 0);
    assert_eq!(store.appends().len(), 4);
}

#[tokio::test]
async fn frames_that_cannot_be_mirrored_are_reported() {
    let store = Scripted::new(&[]);
    let mirror = Mirror::start(store.clone(), MirrorOptions::new("/elsewhere/projects"));
    mirror.push(frame("-p/s.jsonl", 1));
    mirror.push(Bytes::from_static(b"{\"type\":\"transcript_mirror\"}"));
    let errors = mirror.close().await;
    assert!(
        matches!(errors[0], MirrorError::OutsideProjects { .. }),
        "{errors:?}"
    );
    assert!(
        matches!(errors[1], MirrorError::BadFrame { .. }),
        "{errors:?}"
    );
    assert_eq!(store.appends(), []);
}

#[tokio::test]
async fn an_imported_session_reads_the_same_from_the_store() {
    let config = copy_real();
    let sessions = Sessions::open(config.path());
    let store = Arc::new(InMemorySessionStore::new());
    let all = sessions.list(&ListOptions::new());
    for info in &all {
        import_session_to_store(&sessions, &info.session_id, store.as_ref())
            .await
            .expect("imported");
    }
    let stored = StoredSessions::new(store.clone(), "-home-user-web-app");
    for info in &all {
        let id = &info.session_id;
        let on_disk = sessions
            .messages(id, SystemMessages::Include)
            .expect("a transcript");
        let in_store = stored
            .messages(id, SystemMessages::Include)
            .await
            .expect("a transcript");
        assert_eq!(uuids(on_disk), uuids(in_store));
        let mut in_store = stored.info(id).await.expect("loaded").expect("listed");
        in_store.last_modified = info.last_modified;
        assert_eq!(in_store.summary, info.summary);
        assert_eq!(in_store.created_at, info.created_at);
    }
    let id = SessionId::new("22222222-2222-4222-8222-222222222222");
    let agents = stored.subagents(&id).await.expect("listed");
    assert_eq!(agents, sessions.subagents(&id).expect("a session"));
    let messages = stored
        .subagent_messages(&id, &agents[0])
        .await
        .expect("a sub-agent");
    for message in messages {
        assert_eq!(
            message.expect("readable").parent_tool_use_id.as_deref(),
            Some("toolu_3_a")
        );
    }
    let listed = stored.list(&ListOptions::new()).await.expect("listed");
    assert_eq!(listed.len(), all.len());
}

#[tokio::test]
async fn a_stored_session_can_be_changed_and_forked() {
    let config = tempfile::tempdir().expect("temp dir");
    transcript(config.path(), "-p", &id(1), &[user("hello")]);
    let store = Arc::new(InMemorySessionStore::new());
    let sessions = Sessions::open(config.path());
    import_session_to_store(&sessions, &id(1), store.as_ref())
        .await
        .expect("imported");
    let stored = StoredSessions::new(store, "-p");
    stored.rename(&id(1), "title").await.expect("renamed");
    stored.tag(&id(1), "tag").await.expect("tagged");
    let info = stored.info(&id(1)).await.expect("loaded").expect("listed");
    assert_eq!(
        (info.summary.as_str(), info.tag.as_deref()),
        ("title", Some("tag"))
    );
    stored.clear_tag(&id(1)).await.expect("cleared");
    let fork = stored
        .fork(&id(1), &ForkOptions::new())
        .await
        .expect("forked");
    let info = stored.info(&fork).await.expect("loaded").expect("listed");
    assert_eq!((info.summary.as_str(), info.tag), ("title (fork)", None));
    stored.delete(&id(1)).await.expect("deleted");
    assert!(stored.info(&id(1)).await.expect_err("gone").is_not_found());
    assert_eq!(
        stored
            .newest()
            .await
            .expect("listed")
            .map(|info| info.session_id),
        Some(fork)
    );
}

#[tokio::test]
async fn a_materialised_session_is_private_complete_and_gone_afterwards() {
    let config = copy_real();
    std::fs::write(
        config.path().join(".credentials.json"),
        r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"}}"#,
    )
    .expect("written");
    let sessions = Sessions::open(config.path());
    let store = InMemorySessionStore::new();
    let id = SessionId::new("22222222-2222-4222-8222-222222222222");
    import_session_to_store(&sessions, &id, &store)
        .await
        .expect("imported");
    let key = SessionKey::new("-home-user-web-app", id.clone());
    let options = MaterializeOptions::new().seed_from(config.path());
    let materialized = materialize(&store, &key, &options)
        .await
        .expect("materialised");
    let path = materialized.config_dir().to_path_buf();
    assert_eq!(mode(&path), 0o700);
    let project = materialized.projects_dir().join("-home-user-web-app");
    assert_eq!(mode(&project.join(format!("{id}.jsonl"))), 0o600);
    let copied = Sessions::open(&path);
    let original = sessions
        .messages(&id, SystemMessages::Include)
        .expect("a transcript");
    let copy = copied
        .messages(&id, SystemMessages::Include)
        .expect("a transcript");
    assert_eq!(uuids(copy), uuids(original));
    let agents = copied.subagents(&id).expect("a session");
    let mut messages = copied
        .subagent_messages(&id, &agents[0])
        .expect("a sub-agent");
    let first = messages.next().expect("a message").expect("readable");
    assert_eq!(first.parent_tool_use_id.as_deref(), Some("toolu_3_a"));
    let credentials = std::fs::read_to_string(path.join(".credentials.json")).expect("copied");
    assert_eq!(credentials, r#"{"claudeAiOauth":{"accessToken":"a"}}"#);
    drop(materialized);
    assert!(!path.exists());
}

#[tokio::test]
async fn subpaths_that_lead_elsewhere_are_refused() {
    let store = InMemorySessionStore::new();
    let key = SessionKey::new("-p", id(1));
    let entry = SessionStoreEntry::from_json(r#"{"type":"x"}"#).expect("an object");
    store
        .append(&key, std::slice::from_ref(&entry))
        .await
        .expect("appended");
    store
        .append(&key.with_subpath("../../../evil"), &[entry])
        .await
        .expect("appended");
    let error = materialize(&store, &key, &MaterializeOptions::new())
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("subpath"), "{error}");
    let outside = SessionKey::new("../..", id(1));
    let error = materialize(&store, &outside, &MaterializeOptions::new())
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("project key"), "{error}");
    let elsewhere = SessionId::new("../x");
    let outside = SessionKey::new("-p", elsewhere.clone());
    let error = materialize(&store, &outside, &MaterializeOptions::new())
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("session id"), "{error}");
    let stored = StoredSessions::new(Arc::new(store), "-p");
    let error = stored.tag(&elsewhere, "tag").await.expect_err("refused");
    assert!(error.to_string().contains("session id"), "{error}");
    let read = stored.messages(&elsewhere, SystemMessages::Exclude).await;
    let error = read.expect_err("refused");
    assert!(error.to_string().contains("session id"), "{error}");
}

fn uuids(messages: falconer::sessions::Messages) -> Vec<String> {
    messages
        .map(|message| message.expect("readable").uuid)
        .collect()
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("there").permissions().mode() & 0o777
}
