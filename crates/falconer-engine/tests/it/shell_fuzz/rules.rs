//! Rules allow what they say: every program that bash executes for an allowed command is allowed.

use std::collections::VecDeque;
use std::time::Instant;

use super::chance::Chance;
use super::corpus;
use super::grammar::Grammar;
use super::hunt::Length;
use super::jail::{Jail, Setup};
use super::judge::Judge;
use super::mutation::{minimise, mutate};
use super::{length, seed, trace};

/// Rules that a set is drawn from.
const RULES: &[&str] = &[
    "Bash(ls:*)",
    "Bash(cat:*)",
    "Bash(echo:*)",
    "Bash(find:*)",
    "Bash(sort:*)",
    "Bash(sed:*)",
    "Bash(grep:*)",
    "Bash(git log:*)",
    "Bash(git diff *)",
    "Bash(git:*)",
    "Bash(git status)",
    "Bash(head *)",
    "Bash(wc -l *)",
    "Bash(printf:*)",
    "Bash(touch)",
    "Bash(mkdir out)",
    "Bash(true)",
    "Bash(test:*)",
    "Bash(uniq *)",
    "Bash(tar:*)",
];

/// Commands that fit the rules above, to be changed.
const FITTING: &[&str] = &[
    "touch",
    "mkdir out",
    "git status",
    "find . -name in",
    "git log -1",
    "git diff --stat",
    "sed -n 1p in",
    "sort in",
    "tar tf in",
    "wc -l in",
    "printf '%s' a",
    "test -f in && echo yes",
    "ls; touch",
    "git status | head -1",
];

/// Commands that reach a denied program in a roundabout way.
const EVADING: &[&str] = &[
    "env -vS'touch PWNED'",
    "bash -c 'tou$()ch PWNED'",
    "x='a[$(touch PWNED)]'; y[x]=1",
    "printf 'touch\\0PWNED' | xargs -0 env",
    "echo touch | xargs -I% % PWNED",
    "/bin/touch PWNED",
    "busybox touch PWNED",
    "perl -e 'system(\"tou\".\"ch PWNED\")'",
    "bash --norc -c 'touch PWNED'",
    "find . -name in -exec touch PWNED ';'",
];

/// Programs that execute nothing else, so that what was executed is the shell's doing.
const HARMLESS: &[&str] = &[
    "ls", "cat", "grep", "head", "tail", "wc", "sort", "uniq", "true", "cp", "tee",
];

/// Why a trace is wrong: a program that the rules do not allow.
type Complaint = fn(&Judge, &Jail, &[Vec<String>]) -> Option<String>;

struct Trial {
    jail: Jail,
    judge: Judge,
    complaint: Complaint,
}

impl Trial {
    /// Whether the command is allowed, and what is wrong with what it then executes.
    fn of(&mut self, command: &str) -> (bool, Option<String>) {
        let (work, home) = (self.jail.work("plain"), self.jail.home("plain"));
        if self.judge.allows(command, &work, &home).is_none() {
            return (false, None);
        }
        self.jail.run("plain", command);
        let programs = trace::programs(&self.jail.trace());
        (true, (self.complaint)(&self.judge, &self.jail, &programs))
    }

    fn minimal(&mut self, command: &str) -> String {
        minimise(command, |text| self.of(text).1.is_some())
    }
}

/// A program that a set of rules does not allow by itself.
fn not_allowed(judge: &Judge, jail: &Jail, programs: &[Vec<String>]) -> Option<String> {
    let (work, home) = (jail.work("plain"), jail.home("plain"));
    let own = |words: &&Vec<String>| {
        let is_script = words.get(1).is_some_and(|file| file.starts_with("/usr/"));
        // Git executes itself and the editor that the engine sets; scripts have an interpreter.
        words[0] == "git"
            || words[0].contains("/git-core/")
            || words[0] == "/usr/bin/true"
            || is_script
    };
    let mut others = programs
        .iter()
        .filter(|words| !own(words))
        .map(|words| trace::spelled(words));
    others.find(|command| judge.allows(command, &work, &home).is_none())
}

/// A program that a rule denies, started by the shell itself.
fn denied(_: &Judge, _: &Jail, programs: &[Vec<String>]) -> Option<String> {
    let is = |words: &Vec<String>, name: &str| words[0].rsplit('/').next() == Some(name);
    let harmless = |words: &Vec<String>| HARMLESS.iter().any(|name| is(words, name));
    let found = programs.iter().find(|words| is(words, "touch"))?;
    let only = programs
        .iter()
        .all(|words| is(words, "touch") || harmless(words));
    only.then(|| trace::spelled(found))
}

fn hunt(judges: &[Judge], complaint: Complaint, length: Length) -> (usize, Vec<String>) {
    let grammar = Grammar::new();
    let setup = Setup {
        traced: true,
        ..Setup::default()
    };
    let (mut found, mut runs) = (Vec::new(), 0);
    for (number, judge) in judges.iter().enumerate() {
        let mut chance = Chance::new(seed() + number as u64);
        let hostile = corpus::hostile().into_iter().map(|seed| seed.command);
        let fitting = FITTING.iter().map(|&command| command.to_owned());
        let evading = EVADING.iter().map(|&command| command.to_owned());
        let seeds: Vec<String> = hostile.chain(fitting.clone()).chain(evading).collect();
        let mut pool: VecDeque<String> = fitting.chain(corpus::everyday()).collect();
        let mut trial = Trial {
            jail: Jail::start(&setup),
            judge: judge.clone(),
            complaint,
        };
        let begin = Instant::now();
        for made in 0.. {
            match length {
                Length::Commands(most) if made >= most / judges.len() => break,
                Length::Time(limit) if begin.elapsed() > limit / judges.len() as u32 => break,
                _ => {}
            }
            let known = if chance.one_in(2) {
                pool[chance.below(pool.len())].clone()
            } else {
                chance.pick(&seeds).clone()
            };
            // Where a moved shell is, the trace does not tell.
            let command = mutate(&known, &seeds, &grammar, &mut chance);
            if command.contains("cd ") || command.contains("pushd") {
                continue;
            }
            let (allowed, wrong) = trial.of(&command);
            if let Some(wrong) = wrong {
                let minimal = trial.minimal(&command);
                found.push(format!("{minimal:?} executes {wrong:?} under {judge:?}"));
            } else if allowed {
                pool.push_back(command);
            }
        }
        runs += trial.jail.runs;
    }
    (runs, found)
}

#[test]
fn what_a_rule_allows_runs_nothing_else() {
    let mut chance = Chance::new(seed());
    let mut draw = || {
        let rules: Vec<&str> = (0..5).map(|_| *chance.pick(RULES)).collect();
        Judge::rules(&rules)
    };
    let judges: Vec<Judge> = (0..4).map(|_| draw()).collect();
    let (runs, found) = hunt(&judges, not_allowed, length(1_000));
    println!("{runs} commands executed");
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(runs > 50, "only {runs} commands were allowed");
}

#[test]
fn what_a_rule_denies_is_not_run_by_the_shell() {
    let args = [
        "--allowedTools",
        "Bash",
        "--disallowedTools",
        "Bash(touch:*)",
    ];
    let judge = Judge::Engine(args.map(str::to_owned).to_vec());
    let (runs, found) = hunt(&[judge], denied, length(600));
    println!("{runs} commands executed");
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(runs > 50, "only {runs} commands were allowed");
}
