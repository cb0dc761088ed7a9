//! Small changes to commands, and how to make a command smaller.

use super::chance::Chance;
use super::grammar::{Grammar, SOUP, word};

/// Returns a changed command.
pub(super) fn mutate(
    command: &str,
    others: &[String],
    grammar: &Grammar,
    chance: &mut Chance,
) -> String {
    let mut changed = command.to_owned();
    for _ in 0..=chance.below(3) {
        changed = once(&changed, others, grammar, chance);
    }
    changed
}

fn once(command: &str, others: &[String], grammar: &Grammar, chance: &mut Chance) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let at = chance.below(words.len());
    match chance.below(12) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, word(chance)),
        2 => words[at] = word(chance),
        3 => {
            let other = chance.below(words.len());
            words.swap(at, other);
        }
        4 => words.insert(at, words[at].clone()),
        5 => words[at] = format!("\"{}\"", words[at]),
        6 => words[at] = format!("'{}'", words[at]),
        7..9 => {
            let option = grammar
                .option_for(chance, command)
                .unwrap_or_else(|| word(chance));
            words.insert(at + 1, option);
        }
        9 => {
            let other = chance.pick(others).clone();
            let operator = chance.pick(&[" ", ";", "|", "&&", "\n", " || ", " & "]);
            return format!("{command}{operator}{other}");
        }
        _ => {
            let piece = *chance.pick(SOUP);
            return inserted(command, piece, chance);
        }
    }
    words.join(" ")
}

fn inserted(command: &str, piece: &str, chance: &mut Chance) -> String {
    let at = command.floor_char_boundary(chance.below(command.len() + 1));
    let (before, after) = command.split_at(at);
    format!("{before}{piece}{after}")
}

/// The most questions that making a command smaller may cost.
const PATIENCE: usize = 250;

/// Deletes words, then characters, as long as the command still `hits`.
pub(super) fn minimise(command: &str, mut hits: impl FnMut(&str) -> bool) -> String {
    let mut smallest = command.to_owned();
    let mut asked = 0;
    for split in [words as fn(&str) -> Vec<String>, characters] {
        let mut size = split(&smallest).len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            loop {
                let mut pieces = split(&smallest);
                if at >= pieces.len() || asked > PATIENCE {
                    break;
                }
                let end = (at + size).min(pieces.len());
                pieces.drain(at..end);
                let smaller = pieces.concat();
                asked += 1;
                if !smaller.trim().is_empty() && hits(&smaller) {
                    smallest = smaller;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
    }
    smallest
}

fn words(text: &str) -> Vec<String> {
    text.split_inclusive([' ', '\n', ';', '|', '&'])
        .map(str::to_owned)
        .collect()
}

fn characters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

#[test]
fn what_does_not_matter_is_deleted() {
    let smallest = minimise("ls -l; echo a b \"c $ $(touch PWNED)\" | wc", |it| {
        it.contains("$ $(t")
    });
    assert_eq!(smallest, "$ $(t");
}
