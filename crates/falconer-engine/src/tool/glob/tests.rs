//! Which files are found, and in which order.

use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use falconer_protocol::from_value;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tool::testing::{Bench, text};

/// Writes a file that was last changed so many seconds after the beginning.
fn aged(bench: &Bench, name: &str, seconds: u64) {
    let path = bench.write(name, "x");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        .unwrap();
}

async fn names(bench: &Bench, input: Value) -> Vec<String> {
    let outcome = bench.run(&Glob, input).await;
    let output = outcome.output.clone().unwrap();
    let output = from_value::<GlobOutput>(output).unwrap_or_else(|_| panic!("{outcome:?}"));
    output.filenames
}

#[tokio::test]
async fn patterns_find_files_newest_first() {
    let bench = Bench::new();
    for (name, at) in [
        ("a.rs", 1),
        ("src/b.rs", 3),
        ("src/deep/c.rs", 2),
        (".hidden/d.rs", 5),
        ("ignored/e.rs", 4),
        (".git/f.rs", 9),
        ("g.txt", 8),
    ] {
        aged(&bench, name, at);
    }
    bench.write(".gitignore", "ignored\n");
    let check = async |pattern: &str, expect: &[&str]| {
        assert_eq!(
            names(&bench, json!({"pattern": pattern})).await,
            expect,
            "{pattern}"
        );
    };
    let all = [
        ".hidden/d.rs",
        "ignored/e.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "a.rs",
    ];
    check("**/*.rs", &all).await;
    check("*.rs", &all).await;
    check("src/*.rs", &["src/b.rs"]).await;
    check("./src/**/*.rs", &["src/b.rs", "src/deep/c.rs"]).await;
    check("{a,g}.*", &["g.txt", "a.rs"]).await;
    check("src/b.rs", &["src/b.rs"]).await;
    check("*.zzz", &[]).await;
    check("nowhere/*.rs", &[]).await;
    check(
        &format!("{}/src/*.rs", bench.directory.path().display()),
        &["src/b.rs"],
    )
    .await;
    let inside = names(&bench, json!({"pattern": "*.rs", "path": "src"})).await;
    assert_eq!(inside, ["src/b.rs", "src/deep/c.rs"]);
}

#[tokio::test]
async fn at_most_a_hundred_are_shown() {
    let bench = Bench::new();
    for at in 0..130 {
        aged(&bench, &format!("f{at}.log"), at);
    }
    let outcome = bench.run(&Glob, json!({"pattern": "*.log"})).await;
    let output = outcome.output.as_ref().unwrap();
    assert_eq!(output["filenames"][0], "f129.log");
    assert_eq!(output["filenames"][99], "f30.log");
    assert_eq!(output["numFiles"], 100);
    assert_eq!(output["totalMatches"], 130);
    assert_eq!(output["truncated"], true);
    assert!(text(&outcome).contains("100 newest of 130"));
}

#[tokio::test]
async fn bad_input_is_explained() {
    let bench = Bench::new();
    bench.write("a.txt", "x");
    for (input, part) in [
        (json!({"pattern": "*", "path": "gone"}), "does not exist"),
        (json!({"pattern": "*", "path": "a.txt"}), "Not a directory"),
        (json!({"pattern": "["}), "`pattern`"),
        (json!({"pattern": ""}), "`pattern`"),
        (json!({"path": "."}), "`pattern`"),
        (json!({"pattern": "*", "path": 1}), "`path`"),
    ] {
        let outcome = bench.run(&Glob, input).await;
        assert!(
            outcome.is_error && text(&outcome).contains(part),
            "{outcome:?}"
        );
    }
}

#[test]
fn permission_is_asked_for_where_the_walk_begins() {
    let bench = Bench::new();
    let root = |input: Value| {
        let input = Glob.parse(input.as_object().unwrap()).unwrap();
        Hunt::new(&input, &bench.workbench).root
    };
    assert_eq!(root(json!({"pattern": "/etc/*.conf"})), Path::new("/etc/"));
    assert_eq!(
        root(json!({"pattern": "../other/*"})),
        bench.path("../other/")
    );
    assert_eq!(root(json!({"pattern": "*"})), bench.path(""));
}

fn everything() -> GlobInput {
    GlobInput {
        pattern: "*".to_owned(),
        ..GlobInput::default()
    }
}

#[test]
fn time_limit_and_vanished_directories_end_a_walk() {
    let bench = Bench::new();
    bench.write("a.txt", "x");
    let outcome = find(&everything(), &bench.call(), Duration::ZERO).unwrap();
    let output = outcome.output.unwrap();
    assert_eq!(output["timedOut"], true);
    assert_eq!(output["countIsComplete"], false);

    let interrupt = Interrupt::new(CancellationToken::new(), LIMIT);
    let quarry = Quarry {
        rules: OverrideBuilder::new("/").build().unwrap(),
        hidden: Hidden::default(),
        interrupt: &interrupt,
    };
    assert_eq!(
        sweep::newest(&bench.path("gone"), &quarry, 2, MOST).total,
        0
    );
}

#[tokio::test]
async fn only_the_newest_of_many_are_kept_and_all_are_counted() {
    let bench = Bench::new();
    for number in 0..250 {
        aged(
            &bench,
            &format!("d{}/f{number:03}.txt", number % 7),
            1000 + number,
        );
    }
    let outcome = bench.run(&Glob, json!({"pattern": "**/*.txt"})).await;
    let output = outcome.output.unwrap();
    assert_eq!(output["totalMatches"], 250);
    let newest = (150..250)
        .rev()
        .map(|number| format!("d{}/f{number:03}.txt", number % 7));
    assert_eq!(output["filenames"], json!(newest.collect::<Vec<_>>()));
}

#[tokio::test]
async fn files_of_the_same_time_are_in_the_order_of_their_names() {
    let bench = Bench::new();
    for name in ["c/x.txt", "a/x.txt", "b/x.txt"] {
        aged(&bench, name, 5);
    }
    let found = names(&bench, json!({"pattern": "*.txt"})).await;
    assert_eq!(found, ["a/x.txt", "b/x.txt", "c/x.txt"]);
}

#[tokio::test]
async fn links_to_directories_are_not_entered() {
    let bench = Bench::new();
    bench.write("real/a.txt", "x");
    std::os::unix::fs::symlink(bench.path("real"), bench.path("link")).unwrap();
    std::os::unix::fs::symlink(bench.path("."), bench.path("real/up")).unwrap();
    assert_eq!(
        names(&bench, json!({"pattern": "**/*.txt"})).await,
        ["real/a.txt"]
    );
    let through = names(&bench, json!({"pattern": "*.txt", "path": "link"})).await;
    assert_eq!(through, ["link/a.txt"]);
}

#[tokio::test]
async fn names_that_are_no_unicode_are_shown_as_well_as_possible() {
    let bench = Bench::new();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(bench.directory.path().join(odd), "x").unwrap();
    assert_eq!(
        names(&bench, json!({"pattern": "*.txt"})).await,
        ["caf\u{fffd}.txt"]
    );
}
