//! Sessions on disk.

use std::fs;
use std::path::{Path, PathBuf};

use falconer::sessions::{
    ForkOptions, ListOptions, MessageKind, SessionError, SessionId, Sessions, SystemMessages,
    project_key,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the fixtures of sessions are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions")
}

/// A configuration directory with the sessions that the real CLI wrote.
pub(crate) fn copy_real() -> TempDir {
    let config = tempfile::tempdir().expect("temp dir");
    copy(&fixtures().join("real"), config.path());
    config
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let target = to.join(path.file_name().expect("named"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

pub(crate) fn id(number: u64) -> SessionId {
    SessionId::new(format!("aaaaaaaa-0000-4000-8000-{number:012}"))
}

pub(crate) fn user(text: &str) -> Value {
    json!({"type": "user", "uuid": uuid::Uuid::new_v4().to_string(), "parentUuid": null, "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p", "gitBranch": "main",
        "message": {"role": "user", "content": text}})
}

/// Writes a transcript and returns its path.
pub(crate) fn transcript(
    config_dir: &Path,
    project: &str,
    id: &SessionId,
    lines: &[Value],
) -> PathBuf {
    let directory = config_dir.join("projects").join(project);
    fs::create_dir_all(&directory).expect("created");
    let path = directory.join(format!("{id}.jsonl"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).expect("written");
    path
}

fn texts(sessions: &Sessions, id: &SessionId) -> Vec<String> {
    let messages = sessions
        .messages(id, SystemMessages::Exclude)
        .expect("a transcript");
    let content = messages.map(|message| {
        let message = message.expect("readable").message.expect("spoken");
        let message: Value = serde_json::from_str(message.get()).expect("JSON");
        message["content"].as_str().unwrap_or("(blocks)").to_owned()
    });
    content.collect()
}

#[test]
fn an_id_that_leads_elsewhere_is_refused_by_everything() {
    let config = tempfile::tempdir().expect("temp dir");
    fs::create_dir_all(config.path().join("projects/-p")).expect("created");
    let outside = config.path().join("projects/outside.jsonl");
    fs::write(&outside, format!("{}\n", user("hello"))).expect("written");
    let sessions = Sessions::open(config.path());
    let id = SessionId::new("../outside");
    let outcomes = [
        sessions.info(&id).err(),
        sessions.cost(&id).err(),
        sessions.messages(&id, SystemMessages::Exclude).err(),
        sessions.subagents(&id).err(),
        sessions.subagent_messages(&id, "a").err(),
        sessions.fork(&id, &ForkOptions::new()).err(),
        sessions.rename(&id, "title").err(),
        sessions.tag(&id, "tag").err(),
        sessions.clear_tag(&id).err(),
        sessions.archive(&id).err(),
        sessions.unarchive(&id).err(),
        sessions.delete(&id).err(),
    ];
    for outcome in outcomes {
        let is_refused = matches!(outcome, Some(SessionError::InvalidId { .. }));
        assert!(is_refused, "{outcome:?}");
    }
    assert!(outside.exists());
}

#[test]
fn a_session_that_is_not_there_names_the_places_searched() {
    let config = tempfile::tempdir().expect("temp dir");
    transcript(config.path(), "-one", &id(1), &[user("x")]);
    let sessions = Sessions::open(config.path());
    let error = sessions
        .messages(&id(2), SystemMessages::Exclude)
        .expect_err("not there");
    assert!(error.is_not_found());
    assert!(error.to_string().contains("-one"), "{error}");
    let scoped = sessions.of_directory("/no/such");
    let error = scoped.info(&id(1)).expect_err("not in that directory");
    assert!(error.to_string().contains("-no-such"), "{error}");
}

#[test]
fn damaged_lines_are_passed_over_and_counted() {
    let config = tempfile::tempdir().expect("temp dir");
    let first = user("one");
    let mut second = user("two");
    second["parentUuid"] = first["uuid"].clone();
    let path = transcript(config.path(), "-p", &id(1), &[]);
    let text =
        format!("{first}\nnot json\n{{\"type\":\"user\",\"uu\n\n{second}\n[1]\n{{\"type\":\"us");
    fs::write(path, text).expect("written");
    let sessions = Sessions::open(config.path());
    let messages = sessions
        .messages(&id(1), SystemMessages::Exclude)
        .expect("a transcript");
    assert_eq!(messages.skipped_lines().damaged, 4);
    assert_eq!(messages.len(), 2);
    assert_eq!(texts(&sessions, &id(1)), ["one", "two"]);
}

#[test]
fn a_title_written_behind_a_cut_line_is_not_lost() {
    let config = tempfile::tempdir().expect("temp dir");
    let path = transcript(config.path(), "-p", &id(1), &[user("one")]);
    let cut = format!(
        "{}{{\"type\":\"us",
        fs::read_to_string(&path).expect("readable")
    );
    fs::write(&path, cut).expect("written");
    let sessions = Sessions::open(config.path());
    sessions.rename(&id(1), "title").expect("renamed");
    let info = sessions.info(&id(1)).expect("readable").expect("listed");
    assert_eq!(info.custom_title.as_deref(), Some("title"));
}

#[test]
fn links_do_not_lead_out_of_the_projects_directory() {
    let outside = tempfile::tempdir().expect("temp dir");
    let secret = transcript(outside.path(), "-secret", &id(1), &[user("secret")]);
    let config = tempfile::tempdir().expect("temp dir");
    let inside = transcript(config.path(), "-p", &id(2), &[user("inside")]);
    let project = config.path().join("projects/-p");
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, project.join(name)).expect("linked");
    };
    link(&secret, &format!("{}.jsonl", id(1)));
    link(&inside, &format!("{}.jsonl", id(3)));
    link(secret.parent().expect("a directory"), "../-linked");
    std::os::unix::fs::symlink(outside.path(), project.join(id(2).as_str())).expect("linked");
    let sessions = Sessions::open(config.path());
    let listed: Vec<String> = sessions
        .list(&ListOptions::new())
        .iter()
        .map(|info| info.summary.clone())
        .collect();
    assert_eq!(listed, ["inside", "inside"]);
    assert!(
        sessions
            .rename(&id(1), "x")
            .expect_err("outside")
            .is_not_found()
    );
    assert!(
        !fs::read_to_string(&secret)
            .expect("readable")
            .contains("custom-title")
    );
    assert_eq!(
        sessions.subagents(&id(2)).expect("a session"),
        Vec::<String>::new()
    );
    sessions.delete(&id(2)).expect("deleted");
    assert!(secret.exists());
}

#[test]
fn deleting_takes_the_subagents_along() {
    let config = copy_real();
    let sessions = Sessions::open(config.path());
    let id = SessionId::new("22222222-2222-4222-8222-222222222222");
    assert_eq!(sessions.subagents(&id).expect("a session").len(), 1);
    sessions.delete(&id).expect("deleted");
    assert!(sessions.info(&id).expect_err("gone").is_not_found());
    assert!(
        !config
            .path()
            .join("projects/-home-user-web-app")
            .join(id.as_str())
            .exists()
    );
}

#[test]
fn a_failed_fork_leaves_nothing_behind() {
    let config = tempfile::tempdir().expect("temp dir");
    transcript(
        config.path(),
        "-p",
        &id(1),
        &[json!({"type": "mode", "mode": "x"})],
    );
    let sessions = Sessions::open(config.path());
    let error = sessions
        .fork(&id(1), &ForkOptions::new())
        .expect_err("nothing to fork");
    assert!(
        matches!(error, SessionError::NothingToFork { .. }),
        "{error}"
    );
    let error = sessions
        .fork(&id(1), &ForkOptions::new().up_to("nope"))
        .expect_err("no message");
    assert!(
        matches!(error, SessionError::MessageNotFound { .. }),
        "{error}"
    );
    let files = fs::read_dir(config.path().join("projects/-p"))
        .expect("readable")
        .count();
    assert_eq!(files, 1);
}

#[test]
fn messages_kept_by_a_compaction_follow_its_summary() {
    let config = copy_real();
    let sessions = Sessions::open(config.path());
    let id = SessionId::new("33333333-3333-4333-8333-333333333333");
    let messages = sessions
        .messages(&id, SystemMessages::Include)
        .expect("a transcript");
    let messages: Vec<_> = messages.map(|message| message.expect("readable")).collect();
    assert_eq!(messages[0].kind, MessageKind::System);
    assert_eq!(messages[0].subtype.as_deref(), Some("compact_boundary"));
    assert!(messages[1].is_compact_summary);
    assert_eq!(messages[2].kind, MessageKind::Assistant);
}

#[test]
fn skipping_messages_goes_on_at_the_right_one() {
    let config = copy_real();
    let sessions = Sessions::open(config.path());
    let id = SessionId::new("11111111-1111-4111-8111-111111111111");
    let all = || {
        sessions
            .messages(&id, SystemMessages::Exclude)
            .expect("a transcript")
    };
    let uuids = |messages: &mut dyn Iterator<Item = _>| -> Vec<String> {
        messages
            .map(|message: Result<falconer::sessions::SessionMessage, _>| {
                message.expect("readable").uuid
            })
            .collect()
    };
    let whole = uuids(&mut all());
    assert_eq!(whole.len(), 9);
    assert_eq!(uuids(&mut all().skip(3).take(2)), whole[3..5]);
}

#[test]
fn the_newest_session_of_a_directory_is_the_one_to_continue() {
    let config = tempfile::tempdir().expect("temp dir");
    let directory = config.path().join("work");
    for (number, seconds) in [(1, 100), (2, 300), (3, 200)] {
        let path = transcript(
            config.path(),
            &project_key(&directory),
            &id(number),
            &[user("x")],
        );
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options()
            .append(true)
            .open(path)
            .expect("opened")
            .set_modified(time)
            .expect("set");
    }
    transcript(config.path(), "-other", &id(4), &[user("x")]);
    let sessions = Sessions::open(config.path()).of_directory(&directory);
    assert_eq!(sessions.newest().map(|info| info.session_id), Some(id(2)));
}

#[test]
fn sessions_of_a_missing_directory_are_none() {
    let sessions = Sessions::open("/no/such/config");
    assert_eq!(sessions.list(&ListOptions::new()), Vec::new());
    assert_eq!(sessions.newest(), None);
}
