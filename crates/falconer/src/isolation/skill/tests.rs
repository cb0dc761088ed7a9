//! What is mounted and what is refused.

use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;

use super::{FILE_LIMIT, IsolationError, Skill, SkillProblem, checked_name, load};

fn main_file(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nbody\n")
}

fn directory(parent: &Path, folder: &str, main: &str) -> Skill {
    let path = parent.join(folder);
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("SKILL.md"), main).unwrap();
    Skill::new(path)
}

fn problem(skills: &[Skill]) -> SkillProblem {
    match load(skills) {
        Err(IsolationError::Skill { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_directory_and_a_single_file_are_mounted_whole() {
    let parent = tempfile::tempdir().unwrap();
    let one = directory(parent.path(), "x", &main_file("one", "first"));
    let deep = parent.path().join("x/scripts/deep");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("run.sh"), "true").unwrap();
    let alone = parent.path().join("alone.md");
    std::fs::write(&alone, main_file("two", "second")).unwrap();
    let loaded = load(&[one, Skill::new(alone)]).unwrap();
    let names: Vec<_> = loaded.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    let mut paths: Vec<_> = loaded[0]
        .files
        .iter()
        .map(|(path, _)| path.clone())
        .collect();
    paths.sort();
    assert_eq!(
        paths,
        [Path::new("SKILL.md"), Path::new("scripts/deep/run.sh")]
    );
    assert_eq!(loaded[1].files.len(), 1);
}

#[test]
fn links_pipes_sizes_and_doubles_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path();
    let good = main_file("good", "d");
    let linked = directory(root, "linked", &good);
    symlink("/etc/passwd", root.join("linked/data")).unwrap();
    assert!(matches!(problem(&[linked]), SkillProblem::NotAFile { .. }));

    let linked_directory = directory(root, "linked-directory", &good);
    symlink("/etc", root.join("linked-directory/data")).unwrap();
    assert!(matches!(
        problem(&[linked_directory]),
        SkillProblem::NotAFile { .. }
    ));

    symlink(root.join("linked"), root.join("itself")).unwrap();
    let itself = Skill::new(root.join("itself"));
    assert!(matches!(problem(&[itself]), SkillProblem::NotAFile { .. }));

    let large = directory(root, "large", &good);
    let content = vec![0; usize::try_from(FILE_LIMIT).unwrap() + 1];
    std::fs::write(root.join("large/data"), &content).unwrap();
    assert!(matches!(
        problem(&[large]),
        SkillProblem::FileTooLarge { .. }
    ));

    let heavy = directory(root, "heavy", &good);
    for index in 0..11 {
        let content = &content[..content.len() - 1];
        std::fs::write(root.join(format!("heavy/{index}")), content).unwrap();
    }
    assert_eq!(problem(&[heavy]), SkillProblem::TotalTooLarge);

    let deep = directory(root, "deep", &good);
    std::fs::create_dir_all(root.join("deep").join("d/".repeat(20))).unwrap();
    assert_eq!(problem(&[deep]), SkillProblem::TooDeep);

    let first = directory(root, "first", &good);
    let second = directory(root, "second", &good);
    let name = "good".to_owned();
    assert_eq!(problem(&[first, second]), SkillProblem::Duplicate { name });

    std::fs::create_dir(root.join("empty")).unwrap();
    assert_eq!(
        problem(&[Skill::new(root.join("empty"))]),
        SkillProblem::NoMainFile
    );
    let missing = Skill::new(root.join("missing"));
    assert!(matches!(
        problem(&[missing]),
        SkillProblem::Unreadable { .. }
    ));
}

#[test]
fn front_matter_decides_the_name_and_must_fit() {
    let long = "x".repeat(1025);
    let table = [
        (main_file("a", "d"), Some("a")),
        (main_file("a-1-b", "d"), Some("a-1-b")),
        (main_file("\"quoted\"", "'d'"), Some("quoted")),
        (main_file("folded", ">\n  one\n  two"), Some("folded")),
        (
            main_file(&"a".repeat(64), "d"),
            Some("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ),
        (main_file(&"a".repeat(65), "d"), None),
        (main_file("", "d"), None),
        (main_file("-a", "d"), None),
        (main_file("a-", "d"), None),
        (main_file("a--b", "d"), None),
        (main_file("A", "d"), None),
        (main_file("a_b", "d"), None),
        (main_file("../a", "d"), None),
        (main_file("a/b", "d"), None),
        (main_file("é", "d"), None),
        (main_file("a", ""), None),
        (main_file("a", &long), None),
        (main_file("a", &long[..1024]), Some("a")),
        ("name: a\ndescription: d\n".to_owned(), None),
        ("---\nname: a\ndescription: d\n".to_owned(), None),
        (String::new(), None),
    ];
    for (text, name) in table {
        let found = checked_name(text.as_bytes()).ok();
        assert_eq!(found.as_deref(), name, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_name_that_passes_can_leave_its_directory(text in any::<Vec<u8>>(), name in "\\PC{0,20}") {
        let _ = checked_name(&text);
        if let Ok(name) = checked_name(main_file(&name, "d").as_bytes()) {
            prop_assert!(!name.is_empty() && !name.contains(['/', '.', '\\', '\0']));
        }
    }
}
