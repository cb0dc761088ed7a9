//! `sed` scripts that print, delete and substitute, and do nothing else.

use super::Part;
use super::grammar::{Options, options, parse};
use super::programs::take_file;
use super::read_only::{Grade, Reading};
use super::word::Word;

pub(super) const OPTIONS: Options = options(
    "nErsuz",
    "e",
    "--quiet --silent --regexp-extended --separate --unbuffered --null-data --expression= --debug \
     --posix --sandbox",
);

/// Letters of one line that are looked at.
const MOST_FILES: usize = 64;

/// What `sed` looks at, if its scripts only print.
pub(super) fn sed(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let parsed = parse(&OPTIONS, arguments)?;
    let mut scripts: Vec<&str> = parsed.values(&["e", "expression"]).collect();
    let mut files = parsed.operands.as_slice();
    if scripts.is_empty() {
        let (script, rest) = files.split_first()?;
        scripts.push(script.word.literal.as_deref()?);
        files = rest;
    }
    reading.grade = Grade::Confined;
    // Several scripts are one, with a line for each.
    is_harmless(&scripts.join("\n")).then_some(())?;
    files
        .iter()
        .try_for_each(|file| take_file(*file, false, reading))
}

/// What may be files in the scripts among the words of `sed`: the rest of a line after `r`, `w`
/// and the like, whatever they are there.
pub(crate) fn script_files(part: &Part) -> Vec<Word> {
    let name = part.name().map(|it| it.rsplit('/').next().unwrap_or(it));
    if !matches!(name, Some("sed" | "gsed")) {
        return Vec::new();
    }
    let scripts = part
        .arguments()
        .iter()
        .filter_map(|it| it.literal.as_deref());
    let lines = scripts.flat_map(str::lines);
    let files = lines.flat_map(|line| {
        let orders = line.match_indices(['r', 'R', 'w', 'W']).take(MOST_FILES);
        orders.map(|(at, _)| line[at + 1..].trim_start())
    });
    let files = files.filter(|file| !file.is_empty());
    files.map(Word::plain).collect()
}

/// Whether a script only prints, deletes and substitutes.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut rest = script.trim_start_matches(is_gap);
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        match command(rest) {
            Some(after) => rest = after.trim_start_matches(is_gap),
            None => return false,
        }
    }
    true
}

fn is_gap(letter: char) -> bool {
    matches!(letter, ';' | '\n' | ' ' | '\t')
}

/// Reads one command and returns what follows it.
fn command(text: &str) -> Option<&str> {
    let mut text = address(text)?;
    if let Some(second) = text.strip_prefix(',') {
        let second = second.trim_start_matches(' ');
        text = address(second).filter(|rest| rest.len() < second.len())?;
    }
    let text = text.trim_start_matches([' ', '!']);
    let after = match text.chars().next()? {
        'p' | 'd' | '=' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' => &text[1..],
        'q' | 'Q' => text[1..].trim_start_matches(|letter: char| letter.is_ascii_digit()),
        's' => {
            let (delimiter, rest) = delimiter(&text[1..])?;
            let rest = piece(piece(rest, delimiter)?, delimiter)?;
            rest.trim_start_matches(|letter: char| {
                letter.is_ascii_digit() || "gpIi".contains(letter)
            })
        }
        'y' => {
            let (delimiter, rest) = delimiter(&text[1..])?;
            piece(piece(rest, delimiter)?, delimiter)?
        }
        _ => return None,
    };
    (after.is_empty() || after.starts_with(is_gap)).then_some(after)
}

/// Skips a line number, `$`, `1~2`, `+3` or `/pattern/`.
fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        let rest = piece(rest, '/')?;
        return Some(rest.strip_prefix('I').unwrap_or(rest));
    }
    Some(text.trim_start_matches(|letter: char| letter.is_ascii_digit() || "~+".contains(letter)))
}

fn delimiter(text: &str) -> Option<(char, &str)> {
    let letter = text.chars().next()?;
    "/|#,:@%_!".contains(letter).then(|| (letter, &text[1..]))
}

/// Skips to the end of a pattern or replacement.
fn piece(text: &str, delimiter: char) -> Option<&str> {
    let mut rest = text;
    loop {
        let letter = rest.chars().next()?;
        let after = &rest[letter.len_utf8()..];
        rest = match letter {
            '\n' => return None,
            '\\' => {
                let escaped = after.chars().next().filter(|escaped| *escaped != '\n')?;
                &after[escaped.len_utf8()..]
            }
            _ if letter == delimiter => return Some(after),
            '[' => set(after, delimiter)?,
            _ => after,
        };
    }
}

/// Skips a set such as `[a-z]`, `[^,]` or `[[:space:]]`; others may end elsewhere than one thinks.
fn set(text: &str, delimiter: char) -> Option<&str> {
    let text = text.strip_prefix('^').unwrap_or(text);
    let (inside, after) = match text.strip_prefix("[:") {
        Some(class) => class.split_once(":]]")?,
        None => text.split_once(']')?,
    };
    let is_simple = !inside.is_empty()
        && !inside.contains(delimiter)
        && inside
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _.,;:+*/\"'=<>()-".contains(&byte));
    is_simple.then_some(after)
}
