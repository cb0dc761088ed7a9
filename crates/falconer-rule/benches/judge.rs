//! Measures how long commands take to be judged: 50 µs to read an ordinary one, 5 ms for any, are
//! the goals. Fails at several times as much, so that a busy machine does not.
//!
//! The least processor time of several rounds counts, so that a busy machine changes little.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use falconer_rule::{Anchors, Call, Effect, Rule, RuleSet, protected_by, shell};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

const ORDINARY: &str = "git log --oneline -20 -- src/main.rs && grep -rn 'fn main' src | head -5 \
     && find . -name '*.rs' -not -path './target/*' | wc -l && sort -u data.csv | head -3 && \
     ls -la crates/falconer-rule/src/shell/";

const RULES: &[(Effect, &str)] = &[
    (Effect::Allow, "Bash(git:*)"),
    (Effect::Allow, "Bash(npm run test:*)"),
    (Effect::Allow, "Bash(cargo build)"),
    (Effect::Allow, "Read(src/**)"),
    (Effect::Ask, "Bash(git push:*)"),
    (Effect::Deny, "Bash(rm:*)"),
    (Effect::Deny, "Bash(curl:*)"),
    (Effect::Deny, "Read(.env)"),
    (Effect::Deny, "Read(secrets/**)"),
    (Effect::Deny, "Edit(.git/**)"),
];

/// Beginnings of long commands.
const STARTS: &[&str] = &["", "cat ", "git -C a ", "env ", "sh -c ", "$x "];

/// What long commands are made of.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a ", "a|", "${", "<<A ", "a;", "a&&", "$(", "(", "{", "[[ ", "`", "\"$", "'", "\\", "a=b ", "if ", "a\n",
    "<<'A'\n", "case ", "((", "<(", "a>b ", "!", "* ", "\u{e4}", "xargs ", "env ", "#", "sh -c ", "{a,",
    "find -exec ", "for a in ", "$((", "~/ ", "a[", "|&", ";;", "<<< ", "rm ", "git ", "./a ", "../", "$HOME ",
    "'a' ", "\"a\" ", "\\a ", "cat .env;", "cd a;", "sh -c 'a' ", "sudo ", "a >b;", "a\\\n", "aaaaaaa", "-a ", "/",
    "'a b' ", "-C a ", "a=~ ", "a:b@c ", "'sh -c a' ",
];

const LENGTHS: &[usize] = &[256, 512, 1024, 2048, 4096, 8 * 1024, 64 * 1024 - 64];

#[expect(clippy::print_stdout, reason = "it is a report")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut rules = Vec::new();
    for (effect, text) in RULES {
        rules.push((*effect, Rule::parse(text)?));
    }
    let directory = Path::new("/srv/project");
    let anchors = Anchors {
        project: directory.to_owned(),
        home: None,
    };
    let rules = RuleSet::new(&rules, &anchors);
    let read = |rounds: usize, command: &str| {
        least(rounds, || {
            if let Ok(script) = shell::read(command) {
                std::hint::black_box(script.reads_only());
            }
        })
    };
    let judged = |rounds: usize, command: &str| {
        let input = json!({ "command": command });
        least(rounds, || {
            // A call that was judged before has been read already.
            let call = Call::new("Bash", &input, directory);
            std::hint::black_box((rules.judge(&call), protected_by(&call)));
        })
    };
    let (ordinary, by_rules) = (read(500, ORDINARY), judged(500, ORDINARY));
    println!(
        "{} bytes: read {ordinary:?}, judged by {} rules and the protected places {by_rules:?}",
        ORDINARY.len(),
        RULES.len(),
    );
    let (most, command) = long_commands()
        .map(|command| (read(3, &command).max(judged(3, &command)), command))
        .max()
        .unwrap_or_default();
    let start: String = command.chars().take(20).collect();
    println!(
        "the slowest long command, {start:?}… with {} bytes: {most:?}",
        command.len()
    );
    let is_slow = ordinary > Duration::from_micros(200) || by_rules > Duration::from_micros(280);
    if is_slow || most > Duration::from_millis(25) {
        return Err("judging a command takes several times as long as it should".into());
    }
    Ok(())
}

fn long_commands() -> impl Iterator<Item = String> {
    let of = |(start, piece): (&str, &str), length: usize| {
        let mut command = format!("{start}{}", piece.repeat(length / piece.len()));
        // What is cut off in the middle is refused at once.
        if command.ends_with(['|', '&']) {
            command.push('a');
        }
        command
    };
    let pairs = STARTS
        .iter()
        .flat_map(|start| PIECES.iter().map(move |piece| (*start, *piece)));
    pairs.flat_map(move |pair| LENGTHS.iter().map(move |length| of(pair, *length)))
}

/// Returns the least processor time that some work takes.
fn least(rounds: usize, mut work: impl FnMut()) -> Duration {
    let measured = (0..rounds).map(|_| {
        let before = processor_time();
        work();
        processor_time() - before
    });
    measured.min().unwrap_or_default()
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}
