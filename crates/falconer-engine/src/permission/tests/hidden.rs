//! What searches must not show.

use std::path::Path;

use falconer_rule::Found;

use super::Project;

fn hidden(project: &Project, root: &str, path: &str) -> bool {
    let root = project.cwd().join(root);
    let hidden = project.permissions().hidden().below(&root);
    hidden.hides(&project.cwd().join(path), Found::File)
}

#[test]
fn what_may_not_be_read_is_not_found() {
    let project = Project::new()
        .deny("Read(./.env)")
        .deny("Read(./keys/**)")
        .ask("Read(./notes/**)");
    let table = [
        (".", ".env", true),
        (".", "keys/a.pem", true),
        ("keys", "keys/a.pem", true),
        (".", "notes/a.txt", true),
        // Somebody was asked about this directory, and permitted it.
        ("notes", "notes/a.txt", false),
        (".", "src/main.rs", false),
        ("src", "src/env", false),
    ];
    for (root, path, expected) in table {
        assert_eq!(
            hidden(&project, root, path),
            expected,
            "{path} below {root}"
        );
    }
}

#[test]
fn a_link_to_the_root_does_not_show_what_is_hidden() {
    let project = Project::new().deny("Read(./keys/**)");
    let cwd = project.cwd();
    std::fs::create_dir(cwd.join("keys")).unwrap();
    std::os::unix::fs::symlink(cwd.join("keys"), cwd.join("open")).unwrap();
    assert!(hidden(&project, "open", "open/a.pem"));
    let without_rules = Project::new().permissions().hidden();
    assert!(
        !without_rules
            .below(&cwd)
            .hides(Path::new("/a"), Found::File)
    );
}
