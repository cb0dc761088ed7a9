//! What commands are taken for.

use super::{is_read_only, parts};

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
        ("[[ -f $(a) ]] && b", &["[", "a", "b"]),
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
        "echo \\ #; rm x",
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

#[test]
fn harmless_commands_are_known() {
    for command in [
        "ls",
        "ls -la src",
        "cat a b",
        "head -n 5 a",
        "tail -20 a",
        "wc -l a",
        "pwd",
        "echo hi",
        "echo $HOME \"$x\"",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "git --no-pager show",
        "git branch",
        "git branch -a",
        "git rev-parse HEAD",
        "git log -p -- src",
        "find . -name '*.rs'",
        "find src -type f -newer a",
        "grep -rn foo src",
        "grep -e foo -- a",
        "rg foo",
        "rg -n foo src",
        "sed -n '1,20p' a",
        "sed -n 5p a",
        "sed 's/a/b/g' a",
        "date",
        "date +%s",
        "sleep 1",
        "true",
        "false",
        "cat a | grep b | wc -l",
        "ls && pwd; date",
        "cat < a",
        "ls 2>/dev/null",
        "ls > /dev/null 2>&1",
        "for f in a b; do cat a; done",
        "if true; then ls; fi",
        "timeout 5 ls",
        "nice -n 5 cat a",
        "RUST_LOG=debug ls",
        "env LANG=C sort a",
        "command ls",
        "time ls",
        "echo $(git status)",
        "uniq a",
        "stat a",
        "cd src && ls",
        "[ -f a ] && cat a",
        "cat src/*.rs",
        "cat <<EOF\nhi\nEOF\n",
        "nohup ls",
        "diff a b",
        "git stash list",
        "git config --get user.name",
        "md5sum a",
        "cut -d: -f1 a",
        "sort -u a",
    ] {
        assert!(is_read_only(command), "{command} was taken for harmful");
    }
}

#[test]
fn harmful_commands_are_not_taken_for_harmless() {
    for command in [
        "",
        "touch a",
        "rm a",
        "ls > a",
        "echo a >> b",
        "ls; rm a",
        "ls $(rm a)",
        "echo `rm a`",
        "git commit -m x",
        "git log --output=x",
        "git log --outp x",
        "git -c core.pager=x log",
        "git diff --ext-diff",
        "git diff --no-index a b",
        "git branch x",
        "git branch -D x",
        "git tag x",
        "git stash",
        "git config a b",
        "git remote add a b",
        "git grep -O foo",
        "git reflog expire --all",
        "git -C .. status",
        "git show --textconv x",
        "cd a && git status",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprintf x y",
        "find . -ok rm",
        "find $x",
        "sed -i s/a/b/ x",
        "sed 's/a/b/w x' y",
        "sed 's/a/b/e' y",
        "sed -n 'w x' y",
        "sed -n 1p -i y",
        "sed -f x y",
        "sed 1e y",
        "sort -o a b",
        "sort --outp=a b",
        "sort -uo a b",
        "sort --compress-program=x a",
        "uniq a b",
        "date -s 1",
        "date --set=1",
        "rg --pre x y",
        "rg --pre=x y",
        "rg -z x",
        "tree -o x",
        "cat a | sh",
        "cat a | tee b",
        "xargs rm",
        "ls | xargs rm",
        "LD_PRELOAD=x ls",
        "PATH=. ls",
        "env -S 'rm x'",
        "env -i ls",
        "env PATH=. ls",
        "sudo ls",
        "eval ls",
        "source a",
        ". a",
        "exec ls",
        "printf -v 'a[$(rm x)]' y",
        "echo $(<a > b)",
        "f() { rm a; }; ls",
        "x=1",
        "export X=1",
        "unset x",
        "read x",
        "trap 'rm x' EXIT",
        "ls & rm x",
        "awk 'BEGIN{system(\"rm x\")}'",
        "python -c 1",
        "less a",
        "man ls",
        "vim a",
        "curl x",
        "wget x",
        "ssh x",
        "kill 1",
        "exit 4",
        "file -C -m x",
        "cd",
        "cd -",
        "cd $x",
        "cat $x",
        "date -f x",
        "grep -f x y",
        "timeout 5 rm x",
        "nice rm x",
        "cat <<EOF\n$(rm x)\nEOF\n",
        "[[ -n $(rm x) ]]",
        "ls -l >&x",
        "echo hi 2>x",
        "git log -O/etc/x",
        "git status --porcelain; git push",
        "wc --files0-from=x",
        "test -v 'a[$(x)]'",
        "hostname x",
        "ls \"$(rm x)\"",
        "diff <(rm x) y",
        "case x in *) rm y;; esac",
        "while rm x; do ls; done",
    ] {
        assert!(!is_read_only(command), "{command} was taken for harmless");
    }
}
