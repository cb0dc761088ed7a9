//! Edits and writes: what changes, what stays, what is refused.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use falconer_protocol::from_value;
use falconer_protocol::tool::{EditOutput, WriteOutput};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tool::Tool;
use crate::tool::read::Read;
use crate::tool::testing::{Bench, text};
use crate::tool::write::Write;

fn decoded(bytes: &[u8]) -> Text {
    Text::decode(bytes).unwrap()
}

#[test]
fn texts_are_replaced_once_or_everywhere() {
    use Occurrences::{All, One};
    let check = |file: &[u8], old: &str, new: &str, wanted, expect: Result<&[u8], &str>| {
        let file = decoded(file);
        match (edit(&file, old, new, wanted), expect) {
            (Ok(edited), Ok(expect)) => assert_eq!(file.encode(&edited.text), expect),
            (Err(reason), Err(part)) => assert!(reason.to_string().contains(part), "{reason}"),
            (got, expect) => panic!("{got:?} instead of {expect:?}"),
        }
    };
    check(b"foo bar\n", "foo", "baz", One, Ok(b"baz bar\n"));
    check(b"foo foo\n", "foo", "baz", One, Err("occurs 2 times"));
    check(b"foo foo\n", "foo", "baz", All, Ok(b"baz baz\n"));
    check(b"foo\n", "zzz", "baz", All, Err("not in the file"));
    check(b"foo\n", "", "baz", One, Err("already exists"));
    check(b"", "", "baz\n", One, Ok(b"baz\n"));
    check(
        b"a\r\nb\r\nc\r\n",
        "b\nc",
        "B\nC\nD",
        One,
        Ok(b"a\r\nB\r\nC\r\nD\r\n"),
    );
    check(b"a\r\nb\r\n", "a\r\nb", "x\r\ny", One, Ok(b"x\r\ny\r\n"));
    check(b"a\r\nb\nc\n", "a\nb", "x\ny", One, Ok(b"x\r\ny\nc\n"));
    check(b"a\r\nb\nc\n", "b\nc", "x\ny", One, Ok(b"a\r\nx\ny\n"));
    check(b"\xef\xbb\xbfa\n", "a", "b", One, Ok(b"\xef\xbb\xbfb\n"));
    check(b"\xff\xfeh\0i\0", "hi", "ho", One, Ok(b"\xff\xfeh\0o\0"));
    check(
        "“q”\n".as_bytes(),
        "\"q\"",
        "\"r\"",
        One,
        Ok("“r”\n".as_bytes()),
    );
    check(
        "“q” “q”\n".as_bytes(),
        "\"q\"",
        "\"r\"",
        One,
        Err("occurs 2 times"),
    );
}

proptest! {
    #[test]
    fn only_the_matched_text_changes(
        before in "[a-c\r\n]{0,20}", after in "[a-c\r\n]{0,20}", new in "[a-z]{1,5}",
    ) {
        let bytes = format!("{before}XYZ{after}").into_bytes();
        let file = decoded(&bytes);
        let edited = edit(&file, "XYZ", &new, Occurrences::One).unwrap();
        let expect = format!("{before}{new}{after}").into_bytes();
        prop_assert_eq!(file.encode(&edited.text), expect);
    }

    #[test]
    fn nothing_panics(file in ".{0,30}", old in ".{0,6}", new in ".{0,6}") {
        if let Ok(file) = Text::decode(file.as_bytes()) {
            let _ = edit(&file, &old, &new, Occurrences::All);
        }
    }
}

#[tokio::test]
async fn edit_keeps_the_mode_and_tells_the_patch() {
    let bench = Bench::new();
    let path = bench.write("run.sh", "echo a\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    bench.run(&Read, json!({"file_path": path})).await;
    let outcome = bench
        .run(
            &Edit,
            json!({"file_path": path, "old_string": "a", "new_string": "b"}),
        )
        .await;
    assert!(!outcome.is_error, "{outcome:?}");
    assert_eq!(bench.text("run.sh"), "echo b\n");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
    let output = outcome.output.unwrap();
    assert_eq!(
        output,
        json!({"filePath": path, "oldString": "a", "newString": "b", "originalFile": "echo a\n",
               "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-echo a", "+echo b"]}],
               "userModified": false, "replaceAll": false})
    );
    from_value::<EditOutput>(output).unwrap();
    // Our own change does not make the file stale.
    let again = bench
        .run(
            &Edit,
            json!({"file_path": path, "old_string": "b", "new_string": "c"}),
        )
        .await;
    assert!(!again.is_error, "{again:?}");
}

#[tokio::test]
async fn file_changed_since_it_was_read_is_refused() {
    let bench = Bench::new();
    let path = bench.write("a.txt", "one\n");
    bench.run(&Read, json!({"file_path": path})).await;
    bench.write("a.txt", "one and more\n");
    for (tool, input) in [
        (
            Arc::new(Edit) as Arc<dyn Tool>,
            json!({"file_path": path, "old_string": "one", "new_string": "two"}),
        ),
        (
            Arc::new(Write),
            json!({"file_path": path, "content": "two"}),
        ),
    ] {
        let outcome = bench.run_any(tool, input).await;
        assert!(
            text(&outcome).contains("changed on disk after it was read"),
            "{outcome:?}"
        );
        assert_eq!(bench.text("a.txt"), "one and more\n");
    }
    // The same content again is not a change.
    bench.run(&Read, json!({"file_path": path})).await;
    std::fs::remove_file(&path).unwrap();
    bench.write("a.txt", "one and more\n");
    let outcome = bench
        .run(
            &Edit,
            json!({"file_path": path, "old_string": "one", "new_string": "two"}),
        )
        .await;
    assert!(!outcome.is_error, "{outcome:?}");
    std::fs::remove_file(&path).unwrap();
    let gone = bench
        .run(&Write, json!({"file_path": path, "content": "x"}))
        .await;
    assert!(text(&gone).contains("changed on disk"), "{gone:?}");
}

#[tokio::test]
async fn unread_file_is_edited_unless_strict() {
    let input = |path| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let bench = Bench::new();
    let path = bench.write("a.txt", "a");
    let outcome = bench.run(&Edit, input(path)).await;
    assert_eq!(outcome.output.unwrap()["contentNotInModelContext"], true);
    assert_eq!(bench.text("a.txt"), "b");

    let strict = Bench::strict();
    let path = strict.write("a.txt", "a");
    for outcome in [
        strict.run(&Edit, input(path.clone())).await,
        strict
            .run(&Write, json!({"file_path": path, "content": "b"}))
            .await,
    ] {
        assert!(text(&outcome).contains("has not been read"), "{outcome:?}");
    }
    assert_eq!(strict.text("a.txt"), "a");
    let new = strict
        .run(&Write, json!({"file_path": "new.txt", "content": "b"}))
        .await;
    assert!(!new.is_error, "{new:?}");
}

#[tokio::test]
async fn what_must_not_be_changed_stays() {
    let outside = Bench::new();
    let secret = outside.write("secret.txt", "a");
    let bench = Bench::new();
    std::os::unix::fs::symlink(&secret, bench.path("link.txt")).unwrap();
    std::os::unix::fs::symlink(bench.path("nowhere"), bench.path("dangling")).unwrap();
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.write("latin.txt", b"caf\xe9");
    bench.write("prog.bin", b"a\0b");
    bench.write("nb.ipynb", "a");
    bench.write("file", "a");
    let check = async |tool: Arc<dyn Tool>, path: &str, part: &str| {
        let input = match tool.name() {
            "Edit" => json!({"file_path": path, "old_string": "a", "new_string": "b"}),
            _ => json!({"file_path": path, "content": "b"}),
        };
        let outcome = bench.run_any(tool, input).await;
        assert!(outcome.is_error, "{path}: {outcome:?}");
        assert!(
            text(&outcome).contains(part),
            "{part} is not in {}",
            text(&outcome)
        );
    };
    for tool in [Arc::new(Edit) as Arc<dyn Tool>, Arc::new(Write)] {
        let check = async |path, part| check(Arc::clone(&tool), path, part).await;
        check("link.txt", "secret.txt").await;
        check("dangling", "symbolic link").await;
        check("sub", "is a directory").await;
        check("latin.txt", "not valid UTF-8").await;
        check("prog.bin", "binary").await;
        check("/dev/null", "a device").await;
    }
    check(Arc::new(Edit), "nb.ipynb", "NotebookEdit").await;
    check(Arc::new(Edit), "missing.txt", "does not exist").await;
    check(Arc::new(Write), "file/below.txt", "Failed to write").await;
    assert_eq!(outside.text("secret.txt"), "a");
    assert!(!bench.path("nowhere").exists());
    assert_eq!(bench.bytes("prog.bin"), b"a\0b");
    let same = json!({"file_path": "file", "old_string": "a", "new_string": "a"});
    let same = bench.run(&Edit, same).await;
    assert!(text(&same).contains("the same"), "{same:?}");
}

#[tokio::test]
async fn write_creates_and_replaces() {
    let bench = Bench::new();
    let created = bench
        .run(
            &Write,
            json!({"file_path": "deep/er/x.txt", "content": "x"}),
        )
        .await;
    assert_eq!(
        created.output.unwrap(),
        json!({"type": "create", "filePath": "deep/er/x.txt", "content": "x", "structuredPatch": [],
               "originalFile": null, "userModified": false})
    );
    assert_eq!(bench.text("deep/er/x.txt"), "x");
    bench.write("crlf.txt", b"\xef\xbb\xbfa\r\nb\r\n");
    let updated = bench
        .run(
            &Write,
            json!({"file_path": "crlf.txt", "content": "a\nc\n"}),
        )
        .await;
    assert_eq!(bench.bytes("crlf.txt"), b"\xef\xbb\xbfa\r\nc\r\n");
    let output = updated.output.unwrap();
    assert_eq!(output["type"], "update");
    assert_eq!(
        output["structuredPatch"][0]["lines"],
        json!([" a", "-b", "+c"])
    );
    from_value::<WriteOutput>(output).unwrap();
    let edited = bench
        .run(
            &Edit,
            json!({"file_path": "new.txt", "old_string": "", "new_string": "hello\n"}),
        )
        .await;
    assert_eq!(edited.output.unwrap()["originalFile"], "");
    assert_eq!(bench.text("new.txt"), "hello\n");
}
