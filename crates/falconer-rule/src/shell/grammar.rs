//! The options a program is known to have, and its words taken apart by them.
//!
//! An option that is not listed is unknown, and long options are not abbreviated: what cannot be
//! read here is not a command that only reads.

use super::word::Word;

/// The options of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Letters that stand alone.
    pub(super) short: &'static str,
    /// Letters that take a value, glued to them or in the next word.
    pub(super) valued: &'static str,
    /// Letters that may have a value glued to them.
    pub(super) glued: &'static str,
    /// Letters that take the next word, while more letters may follow in the same word.
    pub(super) apart: &'static str,
    /// Long options, with `=` if they take a value, `?` if one may be glued to them, and `*` if
    /// the next word is taken as one where there is a next.
    pub(super) long: &'static str,
    pub(super) numbers: Numbers,
}

/// Whether `-5` is an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    AreOptions,
    AreNot,
}

/// The options that have a form of their own for a program.
pub(super) const fn options(
    short: &'static str,
    valued: &'static str,
    long: &'static str,
) -> Options {
    Options {
        short,
        valued,
        glued: "",
        apart: "",
        long,
        numbers: Numbers::AreNot,
    }
}

impl Options {
    pub(super) const fn with_numbers(mut self) -> Self {
        self.numbers = Numbers::AreOptions;
        self
    }

    pub(super) const fn glued(mut self, letters: &'static str) -> Self {
        self.glued = letters;
        self
    }

    pub(super) const fn apart(mut self, letters: &'static str) -> Self {
        self.apart = letters;
        self
    }
}

/// The words of a command, told apart.
#[derive(Debug, Default)]
pub(super) struct Parsed<'w> {
    /// Options without their dashes, each with its value.
    pub(super) options: Vec<(String, Option<String>)>,
    /// Words that were taken as values of the options before them. A program that knows the
    /// option in another form takes them for operands.
    pub(super) separate: Vec<&'w Word>,
    pub(super) operands: Vec<Operand<'w>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Operand<'w> {
    pub(super) word: &'w Word,
    /// It follows `--`, so it is an operand whatever it begins with.
    pub(super) is_after_dashes: bool,
}

impl Parsed<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        let mut options = self.options.iter();
        options.any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn values<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = &'p str> {
        let options = self.options.iter();
        options
            .filter(move |(name, _)| names.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_deref())
    }
}

/// Takes the words of a command apart; none if a word is an unknown option.
pub(super) fn parse<'w>(options: &Options, arguments: &'w [Word]) -> Option<Parsed<'w>> {
    unknown_option(options, arguments).ok()
}

/// Takes the words apart, or returns the first that is not known.
pub(super) fn unknown_option<'w>(
    options: &Options,
    arguments: &'w [Word],
) -> Result<Parsed<'w>, &'w Word> {
    let mut parsed = Parsed::default();
    let mut rest = arguments.iter();
    let mut is_after_dashes = false;
    while let Some(word) = rest.next() {
        let text = word.literal.as_deref().or(word.glob.as_deref());
        let text = text.ok_or(word)?;
        if is_after_dashes || text == "-" || !text.starts_with('-') {
            parsed.operands.push(Operand {
                word,
                is_after_dashes,
            });
            continue;
        }
        // A pattern may be the value of an option, but not choose the option.
        if word.literal.is_none() && !names_option(text) {
            return Err(word);
        }
        if text == "--" {
            is_after_dashes = true;
            continue;
        }
        let separate = &mut parsed.separate;
        let mut next = |option: &str| {
            let Some(value) = rest.next() else {
                return Ok(None);
            };
            let literal = value.literal.as_deref();
            let literal = literal.filter(|literal| may_be_separate(option, literal));
            separate.push(value);
            Ok(Some(literal.ok_or(Unclear)?.to_owned()))
        };
        let found = match text.strip_prefix("--") {
            Some(long) => options.long(long, &mut next).map(|option| vec![option]),
            None => options.cluster(&text[1..], &mut next),
        };
        parsed.options.extend(found.ok_or(word)?);
    }
    Ok(parsed)
}

/// `--include=*.rs`
fn names_option(pattern: &str) -> bool {
    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    fixed.starts_with("--") && fixed.contains('=')
}

/// Whether a word of its own can only be the value of the option before it. One that looks like
/// an option would be one, for a program that knows the option before it in another form.
fn may_be_separate(option: &str, value: &str) -> bool {
    let is_option = value
        .strip_prefix('-')
        .is_some_and(|rest| !rest.bytes().all(|byte| byte.is_ascii_digit()));
    // Every program that has these takes the next word, whatever it is.
    !is_option || matches!(option, "e" | "regexp" | "sort")
}

type Found = (String, Option<String>);
/// The next word, if there is one, as the value of an option.
type Next<'n> = dyn FnMut(&str) -> Result<Option<String>, Unclear> + 'n;
/// The next word may be something else than a value.
struct Unclear;

impl Options {
    fn long(&self, written: &str, next: &mut Next<'_>) -> Option<Found> {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (written, None),
        };
        let known = self.long.split_whitespace().find_map(|known| {
            let rest = known.strip_prefix("--")?.strip_prefix(name)?;
            matches!(rest, "" | "=" | "?" | "*").then_some(rest)
        })?;
        let value = match (known, value) {
            ("", Some(_)) => return None,
            ("=", None) => Some(next(name).ok()??),
            ("*", None) => next(name).ok()?,
            (_, value) => value,
        };
        Some((name.to_owned(), value))
    }

    fn cluster(&self, letters: &str, next: &mut Next<'_>) -> Option<Vec<Found>> {
        let is_number = letters.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && self.numbers == Numbers::AreOptions {
            return Some(vec![("0".to_owned(), Some(letters.to_owned()))]);
        }
        let mut found = Vec::new();
        for (index, letter) in letters.char_indices() {
            let rest = &letters[index + letter.len_utf8()..];
            let glued = (!rest.is_empty()).then(|| rest.to_owned());
            if self.valued.contains(letter) {
                let name = letter.to_string();
                let value = match glued {
                    Some(glued) => glued,
                    None => next(&name).ok()??,
                };
                found.push((name, Some(value)));
                return Some(found);
            }
            if self.apart.contains(letter) {
                let name = letter.to_string();
                let is_number = |rest: &String| rest.bytes().all(|byte| byte.is_ascii_digit());
                if let Some(number) = glued.filter(is_number) {
                    found.push((name, Some(number)));
                    return Some(found);
                }
                let value = next(&name).ok()??;
                found.push((name, Some(value)));
                continue;
            }
            if self.glued.contains(letter) {
                found.push((letter.to_string(), glued));
                return Some(found);
            }
            if !self.short.contains(letter) {
                return None;
            }
            found.push((letter.to_string(), None));
        }
        Some(found)
    }
}
