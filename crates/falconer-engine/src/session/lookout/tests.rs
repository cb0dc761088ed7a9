//! What is watched, and what is told of it.

use std::time::Duration;

use super::*;

fn watching(names: &[&str], paths: &[&str]) -> (tempfile::TempDir, Lookout) {
    let root = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt", "sub/a.txt", "sub/deep/y.txt"] {
        write(root.path(), name, "first");
    }
    let mut lookout = Lookout::default();
    let texts = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
    lookout.begin(root.path(), texts(names), texts(paths));
    (root, lookout)
}

fn write(root: &Path, name: &str, content: &str) {
    let file = root.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// What is told when everything has come to rest, with paths relative to the root.
fn told(lookout: &mut Lookout, root: &Path) -> Vec<String> {
    let mut told = lookout.look();
    told.extend(lookout.look());
    let line = |change: &FileChange| {
        let path = change.path.strip_prefix(root).unwrap_or(&change.path);
        format!("{} {}", change.event(), path.display())
    };
    told.iter().map(line).collect()
}

#[test]
fn files_that_are_made_changed_and_removed_are_told_once() {
    let (root, mut lookout) = watching(&["a.txt", "new.txt"], &[]);
    let root = root.path();
    assert_eq!(told(&mut lookout, root), [""; 0], "nothing happened");
    let remove = |name: &str| std::fs::remove_file(root.join(name)).unwrap();
    let replace = |name: &str| {
        write(root, "other", "another one");
        std::fs::rename(root.join("other"), root.join(name)).unwrap();
    };
    let table: [(&dyn Fn(), &str); 6] = [
        (&|| write(root, "a.txt", "second"), "change a.txt"),
        (&|| write(root, "new.txt", ""), "add new.txt"),
        (&|| remove("a.txt"), "unlink a.txt"),
        (&|| write(root, "a.txt", "again"), "add a.txt"),
        (&|| replace("new.txt"), "change new.txt"),
        (&|| write(root, "b.txt", "not watched"), ""),
    ];
    for (happens, expected) in table {
        happens();
        assert_eq!(told(&mut lookout, root).join(","), expected);
        assert_eq!(told(&mut lookout, root), [""; 0], "after {expected}");
    }
}

#[test]
fn a_file_that_is_being_written_waits() {
    let (root, mut lookout) = watching(&["a.txt"], &[]);
    for content in ["more", "and more", "and still more"] {
        write(root.path(), "a.txt", content);
        assert_eq!(lookout.look(), [], "{content}");
    }
    assert_eq!(lookout.look().len(), 1);
}

#[test]
fn names_and_paths_mean_what_they_say() {
    let table = [
        (vec!["sub/a.txt"], vec![], "change sub/a.txt"),
        (vec!["./a.txt"], vec![], "change a.txt"),
        (vec!["sub/../a.txt"], vec![], "change a.txt"),
        (vec!["*", "*.txt", ".*"], vec![], ""),
        (
            vec!["sub"],
            vec![],
            "add sub/new.txt,change sub/a.txt,change sub/deep/y.txt",
        ),
        (vec![], vec!["sub/a.txt"], "change sub/a.txt"),
        (vec!["nowhere/x.txt"], vec![], "add nowhere/x.txt"),
        (vec!["a.txt"], vec!["a.txt"], "change a.txt,change a.txt"),
    ];
    for (names, paths, expected) in table {
        let (root, mut lookout) = watching(&names, &paths);
        for name in ["a.txt", "b.txt", "sub/a.txt", "sub/deep/y.txt"] {
            write(root.path(), name, "second");
        }
        write(root.path(), "sub/new.txt", "");
        write(root.path(), "nowhere/x.txt", "");
        let mut told = told(&mut lookout, root.path());
        told.sort();
        assert_eq!(told.join(","), expected, "{names:?} {paths:?}");
    }
}

#[test]
fn another_directory_is_another_set_of_files() {
    let (root, mut lookout) = watching(&["a.txt"], &["b.txt"]);
    let root = root.path();
    lookout.move_to(&root.join("sub"), vec!["c.txt".to_owned()]);
    for name in ["a.txt", "b.txt", "c.txt", "sub/a.txt"] {
        write(root, name, "second");
    }
    let mut both = told(&mut lookout, root);
    both.sort();
    assert_eq!(both, ["add c.txt", "change sub/a.txt"]);
    write(root, "sub/a.txt", "seen before the paths change");
    lookout.set_paths(vec!["b.txt".to_owned()]);
    write(root, "b.txt", "third");
    write(root, "c.txt", "third");
    let mut both = told(&mut lookout, root);
    both.sort();
    assert_eq!(both, ["change b.txt", "change sub/a.txt"]);
}

#[test]
fn a_large_tree_is_watched_in_part() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..MAX_FILES + 200 {
        write(root.path(), &format!("{}/{number}", number % 30), "");
    }
    let mut lookout = Lookout::default();
    lookout.begin(root.path(), vec![".".to_owned()], Vec::new());
    assert_eq!(told(&mut lookout, root.path()), [""; 0]);
    let watching = lookout.watching.as_ref().unwrap();
    assert!(watching.files.len() <= MAX_FILES);
}

/// Nothing moves: nobody looks, and nothing is waited for but the system.
#[tokio::test]
async fn the_system_wakes_who_watches() {
    let (root, mut lookout) = watching(&["conf/x.txt"], &[]);
    let root = root.path();
    let limit = Duration::from_secs(30);
    for content in ["made with its directory", "changed", "changed once more"] {
        while lookout.expected().1.is_some() {
            assert_eq!(lookout.look(), [], "{content}");
        }
        write(root, "conf/x.txt", content);
        let (moved, due) = lookout.expected();
        assert_eq!(due, None, "{content}");
        tokio::time::timeout(limit, moved.notified()).await.unwrap();
        lookout.expect_look();
        assert_eq!(told(&mut lookout, root).len(), 1, "{content}");
    }
    // The same directory again: it is another one.
    while lookout.expected().1.is_some() {
        lookout.look();
    }
    std::fs::remove_dir_all(root.join("conf")).unwrap();
    std::fs::create_dir(root.join("conf")).unwrap();
    tokio::time::timeout(limit, lookout.expected().0.notified())
        .await
        .unwrap();
    lookout.expect_look();
    assert_eq!(told(&mut lookout, root), ["unlink conf/x.txt"]);
    while lookout.expected().1.is_some() {
        lookout.look();
    }
    write(root, "conf/x.txt", "in the new one");
    tokio::time::timeout(limit, lookout.expected().0.notified())
        .await
        .unwrap();
    assert_eq!(told(&mut lookout, root), ["add conf/x.txt"]);
}

#[test]
fn who_watches_nothing_waits_for_nothing() {
    let mut lookout = Lookout::default();
    lookout.expect_look();
    assert_eq!(lookout.expected().1, None);
    let (_root, mut lookout) = watching(&[], &[]);
    assert_eq!(lookout.expected().1, None);
    assert!(matches!(
        lookout.watching.as_ref().unwrap().waking,
        Waking::Off
    ));
    let (_root, mut watching) = self::watching(&["a.txt"], &[]);
    watching.close();
    assert_eq!((watching.look(), watching.expected().1), (vec![], None));
    lookout.close();
}
