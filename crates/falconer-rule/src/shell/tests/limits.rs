//! Reading takes little time, whatever the command.

use std::time::{Duration, Instant};

use super::super::read;

/// Debug builds on a busy machine; the release figures are a hundredth of it.
const GENEROUS: Duration = Duration::from_secs(2);

#[test]
fn no_command_takes_long() {
    let most = 64 * 1024;
    for piece in [
        "a|",
        "${",
        "<<A ",
        "a;",
        "a&&",
        "$(",
        "(",
        "{",
        "[[ ",
        "`",
        "\"$",
        "'",
        "\\",
        "a=b ",
        "if ",
        "a\n",
        "<<'A'\n",
        "case ",
        "((",
        "<(",
        "a>b ",
        "!",
        "* ",
        "\u{e4}",
        "xargs ",
        "env ",
        "#",
        "sh -c ",
        "{a,",
        "find -exec ",
        "for a in ",
        "$((",
        "~/ ",
        "a[",
        "|&",
        ";;",
        "<<< ",
    ] {
        for length in [most / 16, most / 8, most] {
            let command = piece.repeat(length / piece.len());
            let started = Instant::now();
            let script = read(&command);
            if let Ok(script) = &script {
                script.reads_only();
            }
            let took = started.elapsed();
            assert!(took < GENEROUS, "{piece:?} x {length}: {took:?}");
        }
    }
    assert!(read(&"a".repeat(most + 1)).is_err());
}

#[test]
fn long_plain_commands_are_taken_apart_but_not_allowed() {
    let command = format!("cat <<'E'\n{}\nE", "x\n".repeat(10_000));
    let script = read(&command).unwrap();
    assert_eq!(script.parts().len(), 1);
    assert!(script.plain().is_err() && script.reads_only().is_none());
}

#[test]
fn an_ordinary_command_takes_microseconds() {
    let command = "git log --oneline -20 -- src/main.rs && grep -rn 'fn main' src | head -5 && \
                   find . -name '*.rs' -not -path './target/*' | wc -l && sort -u data.csv | head -3";
    read(command).unwrap();
    let started = Instant::now();
    for _ in 0..100 {
        assert!(read(command).unwrap().reads_only().is_some());
    }
    let each = started.elapsed() / 100;
    assert!(each < Duration::from_millis(20), "{each:?}");
}
