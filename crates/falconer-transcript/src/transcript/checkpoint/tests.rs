//! Files there and back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

struct Desk {
    project: TempDir,
    history: TempDir,
    checkpoints: Checkpoints,
}

impl Desk {
    fn new() -> Self {
        let history = tempfile::tempdir().expect("temp dir");
        Self {
            project: tempfile::tempdir().expect("temp dir"),
            checkpoints: Checkpoints::on(history.path().join("session")),
            history,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.project.path())
            .expect("there")
            .join(name)
    }

    /// Writes as a tool does.
    fn write(&self, prompt: &str, name: &str, text: &str) {
        self.keep(prompt, name);
        fs::write(self.path(name), text).expect("written");
    }

    fn keep(&self, prompt: &str, name: &str) {
        self.checkpoints
            .before_change(&prompt.into(), &self.path(name), &self.path(name))
            .expect("kept");
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn rewind(&self, prompt: &str) -> RewindResponse {
        self.checkpoints
            .rewind(&prompt.into(), Rewind::Restore)
            .expect("known")
    }

    fn preview(&self, prompt: &str) -> (Vec<String>, u64, u64) {
        let response = self.checkpoints.rewind(&prompt.into(), Rewind::Preview);
        let response = response.expect("known");
        assert!(response.can_rewind && response.skipped_links.is_none());
        (
            response.files_changed.expect("told"),
            response.insertions.expect("told"),
            response.deletions.expect("told"),
        )
    }
}

#[test]
fn files_go_back_to_how_they_were_when_a_prompt_began() {
    let desk = Desk::new();
    fs::write(desk.path("a"), "one\n").expect("written");
    desk.write("p1", "a", "two\n");
    desk.write("p1", "new", "x\ny\n");
    desk.checkpoints.begin(&"p2".into()).expect("begun");
    desk.write("p3", "a", "three\n");
    desk.write("p3", "a", "four\n");
    desk.keep("p3", "new");
    fs::remove_file(desk.path("new")).expect("removed");

    let name = |name: &str| desk.path(name).to_string_lossy().into_owned();
    assert_eq!(desk.preview("p1"), (vec![name("a")], 1, 1));
    assert_eq!(desk.preview("p2"), (vec![name("a"), name("new")], 3, 1));
    assert_eq!(
        desk.read("a").as_deref(),
        Some("four\n"),
        "a preview changes nothing"
    );

    let response = desk.rewind("p2");
    assert!(response.can_rewind && response.error.is_none());
    assert_eq!(
        (response.skipped_links, response.files_changed),
        (Some(0), None)
    );
    assert_eq!(desk.read("a").as_deref(), Some("two\n"));
    assert_eq!(
        desk.read("new").as_deref(),
        Some("x\ny\n"),
        "a removed file is back"
    );
    assert_eq!(desk.preview("p2"), (vec![], 0, 0));

    // What is changed after going back can be undone as well.
    desk.write("p4", "a", "five\n");
    desk.rewind("p4");
    assert_eq!(desk.read("a").as_deref(), Some("two\n"));
    desk.write("p4", "a", "six\n");
    desk.rewind("p4");
    assert_eq!(desk.read("a").as_deref(), Some("two\n"));
    desk.rewind("p1");
    assert_eq!(
        (desk.read("a").as_deref(), desk.read("new")),
        (Some("one\n"), None)
    );
}

#[test]
fn checkpoints_survive_a_new_process_and_are_passed_to_forks() {
    let desk = Desk::new();
    desk.write("p1", "a", "one");
    desk.write("p2", "a", "two");
    let fork = Checkpoints::on(desk.history.path().join("fork"));
    fork.inherit(&desk.history.path().join("session"))
        .expect("inherited");
    let again = Checkpoints::on(desk.history.path().join("session"));
    for checkpoints in [fork, again] {
        fs::write(desk.path("a"), "two").expect("written");
        checkpoints
            .rewind(&"p2".into(), Rewind::Restore)
            .expect("known");
        assert_eq!(desk.read("a").as_deref(), Some("one"));
    }
}

#[test]
fn permissions_and_bytes_are_kept() {
    let desk = Desk::new();
    let bytes = [0, 255, 13, 10, 200];
    fs::write(desk.path("script"), bytes).expect("written");
    fs::set_permissions(desk.path("script"), fs::Permissions::from_mode(0o751)).expect("set");
    desk.keep("p", "script");
    fs::remove_file(desk.path("script")).expect("removed");
    fs::write(desk.path("script"), "text").expect("written");
    desk.rewind("p");
    assert_eq!(fs::read(desk.path("script")).expect("there"), bytes);
    let mode = fs::metadata(desk.path("script"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o751);
    let kept = fs::metadata(desk.history.path().join("session")).expect("there");
    assert_eq!(kept.permissions().mode() & 0o777, 0o700);
    let left: Vec<_> = fs::read_dir(desk.project.path()).expect("there").collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[test]
fn links_are_left_alone_and_counted() {
    let desk = Desk::new();
    let outside = tempfile::tempdir().expect("temp dir");
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").expect("written");
    // A link from the start; a file that became one; a file that got a second name;
    // a directory that became one.
    symlink(&secret, desk.path("link")).expect("linked");
    fs::create_dir(desk.path("dir")).expect("created");
    for name in ["file", "twice", "dir/inner"] {
        fs::write(desk.path(name), "before").expect("written");
    }
    for name in ["link", "file", "twice", "dir/inner"] {
        desk.keep("p", name);
    }
    fs::remove_file(desk.path("file")).expect("removed");
    symlink(&secret, desk.path("file")).expect("linked");
    fs::write(desk.path("twice"), "after").expect("written");
    fs::hard_link(desk.path("twice"), outside.path().join("other")).expect("linked");
    fs::remove_dir_all(desk.path("dir")).expect("removed");
    symlink(outside.path(), desk.path("dir")).expect("linked");
    fs::write(outside.path().join("inner"), "theirs").expect("written");
    let response = desk.rewind("p");
    assert_eq!(
        (response.can_rewind, response.skipped_links),
        (true, Some(4))
    );
    assert_eq!(fs::read_to_string(&secret).expect("there"), "secret");
    assert_eq!(
        fs::read_to_string(outside.path().join("inner")).expect("there"),
        "theirs"
    );
    assert_eq!(desk.read("twice").as_deref(), Some("after"));
}

#[test]
fn a_directory_that_vanished_is_made_again() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("deep/er")).expect("created");
    fs::write(desk.path("deep/er/file"), "before").expect("written");
    desk.keep("p", "deep/er/file");
    desk.keep("p", "not/there/yet");
    fs::remove_dir_all(desk.path("deep")).expect("removed");
    fs::create_dir_all(desk.path("not/there")).expect("created");
    fs::write(desk.path("not/there/yet"), "new").expect("written");
    let response = desk.rewind("p");
    assert_eq!(
        (response.can_rewind, response.skipped_links),
        (true, Some(0))
    );
    assert_eq!(desk.read("deep/er/file").as_deref(), Some("before"));
    assert_eq!(desk.read("not/there/yet"), None);
}

#[test]
fn a_damaged_copy_is_not_put_back() {
    let desk = Desk::new();
    fs::write(desk.path("a"), "before").expect("written");
    desk.write("p", "a", "after");
    let session = desk.history.path().join("session");
    let journal = session.join(journal::FILE);
    for copy in fs::read_dir(&session).expect("there").flatten() {
        if copy.path() != journal {
            fs::write(copy.path(), "something else").expect("written");
        }
    }
    let response = desk.rewind("p");
    assert!(!response.can_rewind);
    assert!(response.error.expect("told").contains("damaged"));
    assert_eq!(desk.read("a").as_deref(), Some("after"));
}

#[test]
fn a_journal_that_was_cut_costs_one_record() {
    let desk = Desk::new();
    desk.write("p1", "a", "one");
    let journal = desk.history.path().join("session").join(journal::FILE);
    let mut text = fs::read_to_string(&journal).expect("there");
    text.push_str("{\"file\":{\"path\":\"/x\"");
    fs::write(&journal, text).expect("written");
    desk.write("p2", "a", "two");
    desk.rewind("p2");
    assert_eq!(desk.read("a").as_deref(), Some("one"));
}

#[test]
fn without_the_switch_or_the_prompt_the_answer_is_what_the_sdks_know() {
    let desk = Desk::new();
    let text = |checkpoints: &Checkpoints| {
        let error = checkpoints.rewind(&"unknown".into(), Rewind::Restore);
        error.expect_err("nothing to go back to").to_string()
    };
    assert_eq!(
        text(&desk.checkpoints),
        "No file checkpoint found for this message."
    );
    let directory = desk.history.path().join("off");
    let off = Checkpoints::open(&Environment::default(), directory.clone());
    off.before_change(&"p".into(), &desk.path("a"), &desk.path("a"))
        .expect("nothing to do");
    assert_eq!(text(&off), "File rewinding is not enabled.");
    assert!(!directory.exists());
    let on = Environment::new([(SWITCH.into(), "true".into())]);
    let on = Checkpoints::open(&on, directory);
    on.before_change(&"p".into(), &desk.path("a"), &desk.path("a"))
        .expect("kept");
    assert!(on.rewind(&"p".into(), Rewind::Preview).is_ok());
}
