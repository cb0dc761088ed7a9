//! What may be mounted, and what never.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Mount, MountAccess, MountAllowlist, MountError};

/// A host with two listed directories, one of them writable.
fn host() -> (tempfile::TempDir, PathBuf, MountAllowlist) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in [
        "work/project/src",
        "work/my.ssh.notes",
        "work/secrets-of-rust",
        "work/private",
        "work/customers/raw",
        "work/customers/clean",
        "work/.ssh/keys",
        "work/.SSH2",
        "work/a/.Aws/x",
        "work/conf/.config/gcloud",
        "work/gcloud",
        "docs/manual",
        "other",
        "work-other",
        "lists",
    ] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("work/.env"), "x").unwrap();
    std::fs::write(root.join("work/notes.txt"), "x").unwrap();
    symlink(root.join("other"), root.join("work/out")).unwrap();
    symlink("project", root.join("work/inner")).unwrap();
    symlink(".ssh", root.join("work/harmless")).unwrap();
    symlink(root.join("work/project"), root.join("other/in")).unwrap();
    symlink("loop", root.join("work/loop")).unwrap();
    symlink(root.join("work"), root.join("alias")).unwrap();
    let list = serde_json::json!({
        "roots": [
            {"path": root.join("alias"), "writable": true},
            {"path": root.join("docs")},
            {"path": root.join("lists")},
            {"path": "/does/not/exist"},
        ],
        "blocked": ["private", "customers/raw"],
    });
    let file = root.join("lists/mounts.json");
    std::fs::write(&file, list.to_string()).unwrap();
    let list = MountAllowlist::read(&file).unwrap();
    (directory, root, list)
}

fn kind(result: &Result<Vec<Mount>, MountError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(MountError::Unlisted { .. }) => "unlisted",
        Err(MountError::Blocked { .. }) => "blocked",
        Err(MountError::ReadOnly { .. }) => "read-only",
        Err(MountError::ListInside { .. }) => "list inside",
        Err(MountError::Unresolved { .. }) => "unresolved",
        Err(MountError::Target { .. }) => "target",
        Err(MountError::File { .. } | MountError::List { .. }) => "list",
    }
}

#[test]
fn only_what_is_listed_is_mounted_after_links_are_resolved() {
    let (_directory, root, list) = host();
    let table = [
        ("work", "ok"),
        ("work/project", "ok"),
        ("work/project/src", "ok"),
        ("work/project/../project", "ok"),
        ("work/./project/.", "ok"),
        ("work/inner", "ok"),
        ("work/inner/src", "ok"),
        ("work/notes.txt", "ok"),
        ("docs", "ok"),
        ("docs/manual", "ok"),
        ("docs/../work/project", "ok"),
        ("other/in", "ok"),
        ("alias/project", "ok"),
        // Names are compared whole.
        ("work/my.ssh.notes", "ok"),
        ("work/secrets-of-rust", "ok"),
        ("work/.SSH2", "ok"),
        ("work/customers", "ok"),
        ("work/customers/clean", "ok"),
        ("work/gcloud", "ok"),
        ("other", "unlisted"),
        ("work-other", "unlisted"),
        ("work/..", "unlisted"),
        ("work/../other", "unlisted"),
        ("work/out", "unlisted"),
        ("work/project/../../other", "unlisted"),
        ("", "unlisted"),
        ("/", "unlisted"),
        ("/etc", "unlisted"),
        ("/proc/self", "unlisted"),
        ("work/.ssh", "blocked"),
        ("work/.ssh/keys", "blocked"),
        ("work/harmless", "blocked"),
        ("work/harmless/keys", "blocked"),
        ("work/a/.Aws", "blocked"),
        ("work/a/.Aws/x", "blocked"),
        ("work/.env", "blocked"),
        ("work/conf/.config/gcloud", "blocked"),
        ("work/private", "blocked"),
        ("work/customers/raw", "blocked"),
        ("work/private/../project", "blocked"),
        ("lists", "list inside"),
        ("lists/mounts.json", "list inside"),
        ("work/loop", "unresolved"),
        ("work/missing", "unresolved"),
        ("docs/manual/../..//missing", "unresolved"),
    ];
    assert!(table.len() >= 30);
    for (path, expected) in table {
        let result = list.check(&[Mount::new(root.join(path), "/mnt")]);
        assert_eq!(kind(&result), expected, "{path}: {result:?}");
        if let Ok(mounts) = result {
            let real = root.join(path).canonicalize().unwrap();
            assert_eq!(mounts[0].source, real, "{path}");
        }
    }
}

#[test]
fn a_mount_is_read_only_unless_both_sides_say_otherwise() {
    let (_directory, root, list) = host();
    let work = || Mount::new(root.join("work/project"), "/mnt/a");
    let docs = || Mount::new(root.join("docs"), "/mnt/b");
    let checked = list.check(&[work(), docs()]).unwrap();
    assert!(
        checked
            .iter()
            .all(|mount| mount.access == MountAccess::ReadOnly)
    );
    assert!(
        checked[0]
            .argument()
            .unwrap()
            .ends_with(",target=/mnt/a,readonly")
    );
    let checked = list.check(&[work().writable()]).unwrap();
    assert_eq!(checked[0].access, MountAccess::ReadWrite);
    assert!(checked[0].argument().unwrap().ends_with(",target=/mnt/a"));
    assert_eq!(kind(&list.check(&[work(), docs().writable()])), "read-only");
}

#[test]
fn places_in_the_container_are_plain_and_apart() {
    let (_directory, root, list) = host();
    let at = |targets: &[&str]| {
        let mounts: Vec<Mount> = targets
            .iter()
            .map(|target| Mount::new(root.join("docs"), target))
            .collect();
        kind(&list.check(&mounts))
    };
    assert_eq!(at(&["/a", "/b", "/ab"]), "ok");
    for targets in [
        &["a"][..],
        &["/"],
        &["/a/../b"],
        &["../a"],
        &[""],
        &["/a", "/a"],
        &["/a", "/a/b"],
        &["/a/b", "/a"],
    ] {
        assert_eq!(at(targets), "target", "{targets:?}");
    }
    for target in ["/a,readonly=false", "/a\"b", "/a\nb"] {
        let mount = Mount::new("/srv", target);
        assert!(matches!(mount.argument(), Err(MountError::Target { .. })));
    }
}

#[test]
fn a_list_that_cannot_be_read_lets_nothing_be_mounted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("list.json");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        MountAllowlist::read(&file).map_err(|error| error.to_string())
    };
    let empty = read("{}").unwrap();
    let nothing = empty.check(&[Mount::new("/etc", "/mnt")]);
    assert_eq!(kind(&nothing), "unlisted");
    for (text, expected) in [
        ("", "not a JSON object"),
        ("[]", "not a JSON object"),
        (r#"{"root": []}"#, "`root` means nothing here"),
        (r#"{"roots": 1}"#, "`roots` has to be a list"),
        (r#"{"roots": ["/srv"]}"#, "has to be an object"),
        (r#"{"roots": [{"path": "srv"}]}"#, "has to be absolute"),
        (r#"{"roots": [{"path": "/"}]}"#, "not the root of the disk"),
        (
            r#"{"roots": [{"path": "/srv", "writable": "yes"}]}"#,
            "true or false",
        ),
        (
            r#"{"roots": [{"path": "/srv", "write": true}]}"#,
            "`write` means nothing",
        ),
        (r#"{"blocked": [""]}"#, "has to be a name"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let missing = MountAllowlist::read(Path::new("/does/not/exist"));
    assert!(matches!(missing, Err(MountError::File { .. })));
}
