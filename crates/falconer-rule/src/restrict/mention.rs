//! Commands that name what a rule forbids, in words of programs nobody has to know: whatever
//! starts others (`fakeroot git push`, `tmux new 'git push'`) has it among its words.

use std::borrow::Cow;

use crate::command_pattern::CommandPattern;
use crate::shell::{self, Direction, Meaning, Part, Word};
use crate::subject::naming;

/// Programs that give another a second name.
const COPIERS: &[&str] = &["cp", "dd", "install", "ln", "mv", "rsync"];

/// The words of a command in which a forbidden one may be mentioned.
#[derive(Debug)]
pub(super) struct Mentions<'s> {
    command: &'s str,
    meanings: &'s [Meaning],
    /// All words in small letters and without quotes: most rules are about none of them.
    text: String,
    /// Nobody runs what is only shown.
    is_only_shown: bool,
}

impl<'s> Mentions<'s> {
    pub(super) fn new(command: &'s str, meanings: &'s [Meaning]) -> Self {
        let writes = |part: &Part| {
            let mut opened = part.redirects.iter();
            opened.any(|it| it.direction == Direction::Write && !shell::is_sink(&it.file))
        };
        let parts = || meanings.iter().map(|meaning| &meaning.part);
        let words = parts().flat_map(Part::arguments).map(Word::unquoted);
        let mut text = String::new();
        for word in words.chain([command]) {
            text.push_str(&bare(word).to_lowercase());
            text.push(' ');
        }
        Self {
            command,
            meanings,
            text,
            is_only_shown: meanings.iter().all(only_shows) && !parts().any(writes),
        }
    }

    /// Returns whether what a pattern forbids is mentioned where it may be run, now or later.
    pub(super) fn has(&self, pattern: &CommandPattern) -> bool {
        let meant: Vec<String> = match pattern.words() {
            Some(words) => words.map(str::to_lowercase).collect(),
            None => return false,
        };
        if !self.may_have(&meant) {
            return false;
        }
        let (shown, run): (Vec<&Meaning>, Vec<&Meaning>) = self
            .meanings
            .iter()
            .partition(|meaning| only_shows(meaning));
        if run
            .iter()
            .any(|meaning| in_arguments(&meant, &meaning.part))
        {
            return true;
        }
        if self.is_only_shown {
            return false;
        }
        let in_words = |meaning: &&Meaning| {
            let words = meaning.part.arguments().iter();
            is_run(&meant, &words.flat_map(tokens_of).collect::<Vec<_>>())
        };
        shown.iter().any(in_words)
            || self.command.contains("<<") && is_run(&meant, &tokens(self.command))
    }

    /// Returns whether the program may be in the text at all; one that cannot be searched for may be.
    fn may_have(&self, meant: &[String]) -> bool {
        meant.first().is_none_or(|program| {
            let is_plain = program.is_ascii() && !program.contains(QUOTES);
            !is_plain || self.text.contains(program.as_str())
        })
    }
}

/// Whether a part only reads and prints.
fn only_shows(meaning: &Meaning) -> bool {
    meaning.part.words.is_empty() || meaning.only_reads
}

/// Whether the program is among the words of another one, and what it is forbidden to do after it.
fn in_arguments(meant: &[String], part: &Part) -> bool {
    let Some((program, rest)) = meant.split_first() else {
        return false;
    };
    let name = part.name().unwrap_or_default();
    // `git rm` is not `rm`.
    let is_command = rest.is_empty() && crate::suggest::has_commands(name);
    let words = naming(part).into_iter().skip(usize::from(is_command));
    let words: Vec<&Word> = words.collect();
    if COPIERS.contains(&name) {
        let mut paths = words.iter().map(|word| word.unquoted().to_lowercase());
        let mut orders = words.iter().filter(|word| word.unquoted().contains(' '));
        return paths.any(|path| path.ends_with(&format!("/{program}")))
            || orders.any(|word| is_run(meant, &tokens_of(word)));
    }
    let tokens: Vec<String> = words.into_iter().flat_map(tokens_of).collect();
    // `-S'git push'`
    let is_glued = |token: &String| {
        let letters = token.strip_prefix('-').filter(|it| !it.starts_with('-'));
        letters.is_some_and(|letters| letters.ends_with(program.as_str()))
    };
    let is_program = |token: &String| token == program || is_glued(token);
    let Some(start) = tokens.iter().position(is_program) else {
        return false;
    };
    let mut after = tokens[start + 1..].iter();
    rest.iter().all(|word| after.any(|token| token == word))
}

/// Whether the words follow each other, but for options between them.
fn is_run(meant: &[String], tokens: &[String]) -> bool {
    let Some((program, rest)) = meant.split_first() else {
        return false;
    };
    let mut starts = (0..tokens.len()).filter(|start| tokens[*start] == *program);
    starts.any(|start| {
        let after = tokens[start + 1..].iter();
        let mut after = after.filter(|token| !token.starts_with('-'));
        rest.iter().all(|word| after.next() == Some(word))
    })
}

fn tokens_of(word: &Word) -> Vec<String> {
    tokens(word.unquoted())
}

const QUOTES: [char; 3] = ['\'', '"', '\\'];

/// A text without quotes, and with the lines joined that go on in the next.
fn bare(text: &str) -> Cow<'_, str> {
    if !text.contains(QUOTES) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\\\n", "").replace(QUOTES, ""))
}

/// Names in a text, without the directories they are in.
fn tokens(text: &str) -> Vec<String> {
    let text = bare(text);
    let is_name = |letter: char| letter.is_alphanumeric() || "_./+-".contains(letter);
    let names = text.split(|letter| !is_name(letter));
    let names = names.map(|name| name.rsplit('/').next().unwrap_or(name));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_lowercase)
        .collect()
}
