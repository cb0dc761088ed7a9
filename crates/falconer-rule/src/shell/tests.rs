//! What commands are taken for.

mod everyday;
mod hostile;
mod limits;
mod words;

use super::parts;

fn texts(command: &str) -> Vec<String> {
    let parts = parts(command).expect("parsable");
    parts.iter().map(super::Part::text).collect()
}

#[test]
fn commands_are_split_wherever_a_command_can_be() {
    let table: &[(&str, &[&str])] = &[
        ("ls -la", &["ls -la"]),
        ("a && b || c; d", &["a", "b", "c", "d"]),
        ("a | b |& c", &["a", "b", "c"]),
        ("a\nb", &["a", "b"]),
        ("(a; b)", &["a", "b"]),
        ("{ a; b; }", &["a", "b"]),
        ("a & b", &["a", "b"]),
        ("echo $(a $(b))", &["echo $(a $(b))", "a $(b)", "b"]),
        ("echo `a`", &["echo `a`", "a"]),
        ("echo \"x $(a) y\"", &["echo \"x $(a) y\"", "a"]),
        ("diff <(a) <(b)", &["diff <(a) <(b)", "a", "b"]),
        (
            "if a; then b; elif c; then d; else e; fi",
            &["a", "b", "c", "d", "e"],
        ),
        ("while a; do b; done", &["a", "b"]),
        ("until a; do b; done", &["a", "b"]),
        ("for x in 1 2; do a $x; done", &["a $x"]),
        ("for x in $(a); do b; done", &["a", "b"]),
        ("case x in y) a;; *) b;; esac", &["a", "b"]),
        ("f() { a; }; f", &["a", "f"]),
        ("! a", &["a"]),
        ("cat <<EOF\n$(a)\nEOF\n", &["cat", "a"]),
        ("cat <<'EOF'\n$(a)\nEOF\n", &["cat"]),
        ("cat <<EOF | b\nx\nEOF\n", &["cat", "b"]),
        ("cat <<EOF && b\nx\nEOF\nc", &["cat", "b", "c"]),
        ("a <<< \"$(b)\"", &["a", "b"]),
        ("a \\\n  b", &["a b"]),
        ("'gi'\"t\" status", &["git status"]),
        ("FOO=1 a b", &["FOO=1 a b"]),
        ("FOO=$(a) b", &["FOO=$(a) b", "a"]),
        ("a # b; c", &["a"]),
        ("echo \\ #; rm x", &["echo \\ #", "rm x"]),
        ("[[ -f $(a) ]] && b", &["", "a", "b"]),
    ];
    for (command, expected) in table {
        assert_eq!(texts(command), *expected, "{command}");
    }
}

#[test]
fn files_the_shell_opens_are_found() {
    use super::Direction::{Read, Write};
    let table: &[(&str, &[(super::Direction, &str)])] = &[
        ("a > x", &[(Write, "x")]),
        ("a >> x 2>&1", &[(Write, "x")]),
        ("a &> x", &[(Write, "x")]),
        ("a >| x", &[(Write, "x")]),
        ("a >&x", &[(Write, "x")]),
        ("a 2>/dev/null < y", &[(Write, "/dev/null"), (Read, "y")]),
        ("a 2>&1 >&-", &[]),
        ("{ a; b; } > x", &[(Write, "x")]),
        ("for i in 1; do a; done > x", &[(Write, "x")]),
        ("if a; then b > x; fi", &[(Write, "x")]),
        ("> x", &[(Write, "x")]),
        ("a <> x", &[(Write, "x")]),
        ("cat <<EOF > x\nhi\nEOF\n", &[(Write, "x")]),
        ("echo $(a > x)", &[(Write, "x")]),
        ("exec 3>x", &[(Write, "x")]),
    ];
    for (command, expected) in table {
        let Ok(parts) = parts(command) else {
            // Not understood is asked about, which is as good.
            assert!(command.contains("<>"), "{command} is not understood");
            continue;
        };
        let found: Vec<_> = parts
            .iter()
            .flat_map(|part| &part.redirects)
            .map(|redirect| (redirect.direction, redirect.file.unquoted()))
            .collect();
        assert_eq!(found, *expected, "{command}");
    }
}

#[test]
fn what_is_not_understood_is_said_to_be_so() {
    for command in [
        "echo 'open",
        "echo $(",
        "if a",
        "a && ",
        "echo \u{0}",
        "echo a\r\nrm b",
        "ls\u{a0}-la",
        "echo \u{202e}x",
        "cat <<EOF\nno end",
        "((",
    ] {
        let is_fine =
            parts(command).is_ok_and(|parts| parts.iter().all(|part| part.opaque.is_none()));
        assert!(!is_fine, "{command:?} was taken for clear");
    }
    assert!(parts(&"a;".repeat(40_000)).is_err());
    assert!(parts(&"$(".repeat(5_000)).is_err());
    assert!(parts(&format!("{}a{}", "(".repeat(500), ")".repeat(500))).is_err());
}

#[test]
fn programs_only_known_when_they_run_are_opaque() {
    for command in [
        "$cmd x",
        "\"$cmd\" x",
        "$(a) x",
        "`a` x",
        "${a} x",
        "/bin/r? x",
        "{rm,-rf,x}",
        "$'rm' x",
        "env $x y",
        "timeout 5 $x",
        "a${b}c",
        "coproc x",
        "echo ${x@P}",
        "echo ${x:=$y}",
        "echo $((x))",
        "((x++))",
        "for PATH in a; do ls; done",
        "[[ $x -eq 1 ]]",
        "test() { ls; }; for http_proxy in x; do ls; done",
    ] {
        let parts = parts(command).unwrap_or_default();
        let opaque = parts.is_empty()
            || parts
                .iter()
                .any(|part| super::stripped(part).opaque.is_some());
        assert!(opaque, "{command} was taken for clear: {parts:?}");
    }
}
