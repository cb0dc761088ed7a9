//! A file that must not be read is not shown, by whatever program, nor out of the repository.

use std::time::Instant;

use super::chance::Chance;
use super::corpus;
use super::grammar::Grammar;
use super::hunt::Length;
use super::jail::{Jail, Setup};
use super::judge::Judge;
use super::mutation::{minimise, mutate};
use super::scene::{HIDDEN, HIDDEN_TEXT};
use super::{length, seed};

/// Commands that would show the file, whole or in part, if they ran; `F` stands for it.
const SHOWING: &[&str] = &[
    "cat F",
    "cat ./F",
    "cat d/../F",
    "cat $PWD/F",
    "cat < F",
    "cat h*",
    "grep -r TEXT .",
    "grep -rh TEXT",
    "rg TEXT",
    "sed -n p F",
    "sed '1rF' in",
    "sort F",
    "head -c 99 F",
    "tail -n +1 F",
    "diff F in",
    "diff -r . e",
    "tar cf - .",
    "tar cf - -T list",
    "find . -name F -exec cat {} +",
    "find . -type f | xargs cat",
    "ls | xargs cat",
    "echo F | xargs cat",
    "xargs cat <<< F",
    "bash -c 'cat F'",
    "bash -c 'cat $0' F",
    "bash <<< 'cat F'",
    "echo 'cat F' | sh",
    "env -S 'cat F'",
    "x=F; cat $x",
    "for f in *; do cat $f; done",
    "while read l; do echo $l; done < F",
    "echo $(<F)",
    "mapfile x < F; echo ${x[@]}",
    "cp F /dev/stdout",
    "dd if=F",
    "awk 1 F",
    "awk 'BEGIN{while((getline l < \"F\")>0)print l}'",
    "perl -ne print F",
    "cat <(cat F)",
    "cd d; cat ../F",
    "cd d && cat ../F",
    "git show HEAD",
    "git show HEAD:F",
    "git show :F",
    "git cat-file -p HEAD:F",
    "git cat-file --batch <<< HEAD:F",
    "git log -p",
    "git log -p -- F",
    "git log --patch -1",
    "git log -S TEXT -u",
    "git diff HEAD~1",
    "git diff HEAD~1 HEAD -- .",
    "git diff HEAD~1 in .",
    "git diff-tree -p HEAD",
    "git grep TEXT",
    "git grep TEXT HEAD",
    "git grep --cached TEXT",
    "git blame F",
    "git archive HEAD",
    "git format-patch -1 --stdout",
    "git fast-export HEAD",
    "git stash show -p",
    "git -C d show HEAD",
    "git --no-pager log -p",
    "git reflog -p",
    "git whatchanged -p",
];

struct Trial {
    jail: Jail,
    judge: Judge,
}

impl Trial {
    /// Whether the command is allowed, and then shows the file.
    fn of(&mut self, command: &str) -> (bool, bool) {
        let (work, home) = (self.jail.work("plain"), self.jail.home("plain"));
        if self.judge.allows(command, &work, &home).is_none() {
            return (false, false);
        }
        self.jail.run("plain", command);
        (true, self.jail.said(HIDDEN_TEXT))
    }
}

fn showing() -> Vec<String> {
    SHOWING.iter().map(|it| it.replace('F', HIDDEN)).collect()
}

#[test]
fn a_file_that_must_not_be_read_is_not_shown() {
    let rule = format!("Read(./{HIDDEN})");
    let args = ["--allowedTools", "Bash", "--disallowedTools", &rule];
    let mut trial = Trial {
        jail: Jail::start(&Setup::default()),
        judge: Judge::Engine(args.map(str::to_owned).to_vec()),
    };
    let (grammar, mut chance) = (Grammar::new(), Chance::new(seed()));
    let seeds: Vec<String> = showing().into_iter().chain(corpus::everyday()).collect();
    let (begin, mut allowed, mut found) = (Instant::now(), 0, Vec::new());
    for made in 0.. {
        match length(800) {
            Length::Commands(most) if made >= most => break,
            Length::Time(limit) if begin.elapsed() > limit => break,
            _ => {}
        }
        let command = match seeds.get(made) {
            Some(command) => command.clone(),
            None => {
                let known = chance.pick(&seeds).clone();
                mutate(&known, &seeds, &grammar, &mut chance)
            }
        };
        let (runs, shows) = trial.of(&command);
        allowed += usize::from(runs);
        if shows {
            found.push(minimise(&command, |text| trial.of(text).1));
        }
    }
    println!("{allowed} commands executed");
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(allowed > 50, "only {allowed} commands were allowed");
}

/// If everything is allowed, most of them show it.
#[test]
fn the_watcher_sees_the_file() {
    let mut trial = Trial {
        jail: Jail::start(&Setup::default()),
        judge: Judge::Everything,
    };
    let all = showing();
    let seen = all.iter().filter(|command| trial.of(command).1).count();
    assert!(seen * 10 > all.len() * 7, "{seen} of {}", all.len());
}
