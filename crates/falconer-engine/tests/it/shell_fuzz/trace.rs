//! The programs that a command executed, from the tracer's record.

/// Returns the words of every program that was executed, but for the shell of the jail.
pub(super) fn programs(trace: &str) -> Vec<Vec<String>> {
    // Of a call that another process interrupts, the result comes later; take it for a success.
    let started = trace.lines().filter(|line| !line.contains(") = -1 "));
    started.filter_map(words).skip(1).collect()
}

/// The list of words in `… execve("/bin/ls", ["ls", "-l"], …) = 0`.
fn words(line: &str) -> Option<Vec<String>> {
    let (_, list) = line.split_once("\", [")?;
    let mut words = Vec::new();
    let mut rest = list;
    while let Some(text) = rest.strip_prefix('"') {
        let (word, after) = literal(text)?;
        words.push(word);
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    rest.starts_with(']').then_some(words)
}

/// A string of C up to its closing quote, and what follows.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => {
                return Some((
                    String::from_utf8_lossy(&bytes).into_owned(),
                    &text[at + 1..],
                ));
            }
            b'\\' => bytes.push(escaped(text, &mut rest)?),
            other => bytes.push(other),
        }
    }
    None
}

fn escaped(text: &str, rest: &mut impl Iterator<Item = (usize, u8)>) -> Option<u8> {
    let (at, kind) = rest.next()?;
    Some(match kind {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'0'..=b'7' => {
            let digits = text.as_bytes()[at..].iter().take(3);
            let digits = digits
                .take_while(|byte| (b'0'..=b'7').contains(byte))
                .count();
            for _ in 1..digits {
                rest.next();
            }
            u8::from_str_radix(&text[at..at + digits], 8).ok()?
        }
        other => other,
    })
}

/// The command that would execute exactly these words.
pub(super) fn spelled(words: &[String]) -> String {
    let plain = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./=:,@%+-".contains(c);
        if word.chars().all(is_plain) && !word.is_empty() {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(plain).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_are_read_as_they_were_given() {
    let trace = concat!(
        "7 execve(\"/bin/bash\", [\"bash\", \"-c\", \"x\"], [\"A=b\"]) = 0\n",
        "8 execve(\"/bin/no\", [\"no\"], []) = -1 ENOENT (No such file or directory)\n",
        "8 execve(\"/bin/a\", [\"a\", \"it's \\\"b\\\"\\n\\303\\251\", \"\"], [\"A=b\"]) = 0\n",
    );
    let words = ["a", "it's \"b\"\né", ""].map(str::to_owned);
    assert_eq!(programs(trace), [words.to_vec()]);
    assert_eq!(spelled(&words), "a 'it'\\''s \"b\"\né' ''");
}
