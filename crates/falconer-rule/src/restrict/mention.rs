//! Commands that name what a rule forbids, in words of programs nobody has to know: whatever
//! starts others (`fakeroot git push`, `tmux new 'git push'`) has it among its words.

use crate::command_pattern::CommandPattern;
use crate::shell::{self, Direction, Part, Word};
use crate::subject::naming;

/// Programs that give another a second name.
const COPIERS: &[&str] = &["cp", "dd", "install", "ln", "mv", "rsync"];

/// Whether a command mentions what a pattern forbids where it may be run, now or later.
pub(super) fn mentions(pattern: &CommandPattern, command: &str, parts: &[Part]) -> bool {
    let meant: Vec<String> = match pattern.words() {
        Some(words) => words.map(str::to_lowercase).collect(),
        None => return false,
    };
    let is_named = |part: &Part| in_arguments(&meant, part);
    if parts.iter().any(|part| !only_shows(part) && is_named(part)) {
        return true;
    }
    let writes = |part: &Part| {
        let mut opened = part.redirects.iter();
        opened.any(|it| it.direction == Direction::Write && !shell::is_sink(&it.file))
    };
    // Nobody runs what is only shown.
    if parts.iter().all(only_shows) && !parts.iter().any(writes) {
        return false;
    }
    let in_words = |part: &Part| {
        let tokens: Vec<String> = part.arguments().iter().flat_map(tokens_of).collect();
        is_run(&meant, &tokens)
    };
    let mut shown = parts.iter().filter(|part| only_shows(part));
    shown.any(in_words) || command.contains("<<") && is_run(&meant, &tokens(command))
}

/// Whether a part only reads and prints.
fn only_shows(part: &Part) -> bool {
    part.words.is_empty() || shell::reads_only(part).is_some()
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

/// Names in a text, without the directories they are in.
fn tokens(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", "").replace(['\'', '"', '\\'], "");
    let is_name = |letter: char| letter.is_alphanumeric() || "_./+-".contains(letter);
    let names = text.split(|letter| !is_name(letter));
    let names = names.map(|name| name.rsplit('/').next().unwrap_or(name));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_lowercase)
        .collect()
}
