//! What is found, and how it is shown.

use falconer_protocol::from_value;
use falconer_protocol::tool::GrepOutput;
use serde_json::json;

use super::*;
use crate::tool::testing::{Bench, text};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    bench.write("b/c.rs", "fn one() {}\n\nfn six() {}\n");
    bench.write(".hidden/d.txt", "one\n");
    bench.write(".git/e.txt", "one\n");
    bench.write("ignored.txt", "one\n");
    bench.write(".ignore", "ignored.txt\n");
    bench.write("data.bin", b"\0one\n");
    bench
}

async fn content(bench: &Bench, mut input: Value) -> String {
    input["output_mode"] = json!("content");
    let outcome = bench.run(&Grep, input).await;
    let output = outcome.output.clone().unwrap();
    let output = from_value::<GrepOutput>(output).unwrap_or_else(|_| panic!("{outcome:?}"));
    output.content.unwrap()
}

#[tokio::test]
async fn lines_are_shown_as_ripgrep_shows_them() {
    let bench = bench();
    let check = async |input: Value, expect: &str| {
        assert_eq!(content(&bench, input.clone()).await, expect, "{input}");
    };
    check(
        json!({"pattern": "one"}),
        ".hidden/d.txt:1:one\na.txt:1:one\nb/c.rs:1:fn one() {}",
    )
    .await;
    check(
        json!({"pattern": "ONE", "-i": true, "path": "a.txt"}),
        "1:one",
    )
    .await;
    check(
        json!({"pattern": "one", "-n": false, "glob": "*.rs"}),
        "b/c.rs:fn one() {}",
    )
    .await;
    check(
        json!({"pattern": "one", "type": "rust"}),
        "b/c.rs:1:fn one() {}",
    )
    .await;
    check(
        json!({"pattern": "one", "glob": "!*.txt"}),
        "b/c.rs:1:fn one() {}",
    )
    .await;
    check(
        json!({"pattern": "three", "-C": 1, "path": "a.txt"}),
        "2-two\n3:three\n4-four",
    )
    .await;
    check(
        json!({"pattern": "three", "-B": 1, "path": "a.txt"}),
        "2-two\n3:three",
    )
    .await;
    check(
        json!({"pattern": "three", "-A": "1", "path": "a.txt"}),
        "3:three\n4-four",
    )
    .await;
    check(
        json!({"pattern": "one|five", "context": 1, "glob": "*.txt"}),
        // A file that `glob` names is searched although it is ignored: so does ripgrep.
        ".hidden/d.txt:1:one\n--\na.txt:1:one\na.txt-2-two\n--\na.txt-4-four\na.txt:5:five\n--\nignored.txt:1:one",
    )
    .await;
    check(
        json!({"pattern": "o|t", "-o": true, "path": "a.txt"}),
        "1:o\n2:t\n2:o\n3:t\n4:o",
    )
    .await;
    check(
        json!({"pattern": "two.three", "multiline": true, "path": "a.txt"}),
        "2:two\n3:three",
    )
    .await;
    check(
        json!({"pattern": "wo.th", "-o": true, "multiline": true, "path": "a.txt"}),
        "2:wo\n3:th",
    )
    .await;
    check(json!({"pattern": "nothing"}), "").await;
}

#[tokio::test]
async fn long_lines_and_old_encodings_are_shown_safely() {
    let bench = Bench::new();
    bench.write(
        "wide.txt",
        format!("{}\nshort w\r\ncaf\u{e9}\n", "w".repeat(600)),
    );
    bench.write("latin.txt", b"caf\xe9 w\n");
    bench.write("wide16.txt", b"\xff\xfew\0\n\0");
    let shown = content(&bench, json!({"pattern": "w"})).await;
    assert_eq!(
        shown,
        "latin.txt:1:caf\u{fffd} w\nwide.txt:1:[Omitted long matching line]\nwide.txt:2:short w\nwide16.txt:1:w"
    );
}

#[tokio::test]
async fn results_come_in_pages() {
    let bench = Bench::new();
    for at in 100..400 {
        bench.write(&format!("f{at}"), "x\ny\nx\n");
    }
    let first = bench.run(&Grep, json!({"pattern": "x"})).await;
    let output = first.output.as_ref().unwrap();
    assert_eq!(
        (&output["numFiles"], &output["totalFiles"]),
        (&json!(250), &json!(300))
    );
    assert_eq!(output["appliedLimit"], 250);
    assert!(text(&first).starts_with("Found 250 files (limit: 250)\n"));

    let page = bench
        .run(
            &Grep,
            json!({"pattern": "x", "output_mode": "content", "head_limit": 3, "offset": 3}),
        )
        .await;
    let output = page.output.as_ref().unwrap();
    assert_eq!(output["content"], "f101:3:x\nf102:1:x\nf102:3:x");
    assert_eq!(output["totalLines"], 600);
    assert_eq!(
        (&output["appliedLimit"], &output["appliedOffset"]),
        (&json!(3), &json!(3))
    );

    let counts = bench
        .run(
            &Grep,
            json!({"pattern": "x", "output_mode": "count", "head_limit": 2}),
        )
        .await;
    let output = counts.output.as_ref().unwrap();
    assert_eq!(output["content"], "f100:2\nf101:2");
    assert_eq!(
        (&output["numMatches"], &output["numFiles"]),
        (&json!(600), &json!(300))
    );

    let all = bench
        .run(&Grep, json!({"pattern": "x", "head_limit": 0}))
        .await;
    let output = all.output.as_ref().unwrap();
    assert_eq!(output["numFiles"], 300);
    assert_eq!(output.get("appliedLimit"), None);
}

#[tokio::test]
async fn files_come_newest_first() {
    let bench = Bench::new();
    for (name, seconds) in [("old", 1), ("new", 3), ("mid", 2)] {
        let path = bench.write(name, "x");
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }
    let outcome = bench.run(&Grep, json!({"pattern": "x"})).await;
    assert_eq!(text(&outcome), "Found 3 files\nnew\nmid\nold");
}

#[tokio::test]
async fn bad_input_is_explained() {
    let bench = bench();
    for (input, part) in [
        (json!({"pattern": "("}), "`pattern`"),
        (json!({"pattern": "a\\nb"}), "`multiline`"),
        (json!({"pattern": "x", "type": "nonsense"}), "`type`"),
        (json!({"pattern": "x", "glob": "["}), "`glob`"),
        (json!({"pattern": "x", "path": "gone"}), "does not exist"),
        (json!({"pattern": "x", "path": "/dev/zero"}), "/dev/zero"),
        (json!({"pattern": 5, "extra": 1}), "`extra`"),
        (
            json!({"pattern": "x", "output_mode": "bogus"}),
            "`output_mode`",
        ),
        (json!({"pattern": "x", "head_limit": -1}), "`head_limit`"),
        (json!({}), "`pattern`"),
    ] {
        let outcome = bench.run(&Grep, input).await;
        assert!(
            outcome.is_error && text(&outcome).contains(part),
            "{outcome:?}"
        );
    }
}

#[test]
fn time_limit_and_cancelling_end_a_search() {
    let bench = bench();
    let mut input = GrepInput {
        pattern: "one".to_owned(),
        ..GrepInput::default()
    };
    let outcome = grep(&input, &bench.call(), Duration::ZERO).unwrap();
    assert_eq!(outcome.output.unwrap()["timedOut"], true);
    // A pipe or an endless file is never waited for: reading stops between two reads.
    input.path = Some("a.txt".to_owned());
    let call = bench.call();
    call.cancelled.cancel();
    let outcome = grep(&input, &call, LIMIT).unwrap();
    assert_eq!(outcome.output.unwrap()["numFiles"], 0);
}

/// Small files are read in one go, larger ones piece by piece: nobody must see which.
#[tokio::test]
async fn files_of_all_sizes_are_searched_alike() {
    let bench = Bench::new();
    let line = "just a line\n";
    for size in [0, 10, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 200 << 10] {
        let filler = line.repeat(size / line.len()) + &"x".repeat(size % line.len());
        bench.write(&format!("{size:06}.txt"), format!("{filler}\nneedle\n"));
        bench.write(
            &format!("{size:06}.bin"),
            format!("{filler}\nneedle\n\0 needle\n"),
        );
        let marked = format!("\u{feff}{filler}\nneedle\n");
        bench.write(&format!("{size:06}.bom"), marked);
    }
    for pattern in ["needle", "^needle$"] {
        for (glob, expected) in [("*.txt", 6), ("*.bom", 6), ("*.bin", 0)] {
            let input = json!({"pattern": pattern, "glob": glob, "-n": false});
            let shown = content(&bench, input).await;
            let count = shown.lines().count();
            assert_eq!(count, expected, "{pattern} in {glob}: {shown}");
        }
    }
    let outcome = bench.run(&Grep, json!({"pattern": "needle"})).await;
    assert_eq!(outcome.output.unwrap()["numFiles"], 12);
}

#[tokio::test]
async fn patterns_and_lines_that_take_too_long_are_refused() {
    let bench = bench();
    bench.write("long.txt", "a".repeat(5 << 20));
    let huge = bench
        .run(&Grep, json!({"pattern": "(a{1000}){1000}"}))
        .await;
    assert!(
        text(&huge).contains("not a valid regular expression"),
        "{huge:?}"
    );
    let begun = std::time::Instant::now();
    let slow = json!({"pattern": "(a{1000}){20}b", "path": "long.txt"});
    let slow = bench.run(&Grep, slow).await;
    assert!(
        text(&slow).contains("1 files could not be searched"),
        "{slow:?}"
    );
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    let plain = bench
        .run(&Grep, json!({"pattern": "aa", "path": "long.txt"}))
        .await;
    assert!(text(&plain).contains("long.txt"), "{plain:?}");
}
