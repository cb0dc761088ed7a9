//! The words of a command line, one after the other.

use std::ffi::OsString;

use lexopt::Arg;

use super::given::{FlagProblem, Given, into_text};
use super::table::{Arity, Effect, Flag};
use super::{Flags, Show, name};

/// The words that are no flags.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    text: OsString,
    /// The unknown flag right before it, whose value it may be.
    behind: Option<String>,
}

/// Reads all arguments into `flags` and returns the words left over.
pub(super) fn read(
    args: impl IntoIterator<Item = OsString>,
    flags: &mut Flags,
) -> Result<Words, FlagProblem> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut words = Words::default();
    let mut unknown = None;
    while let Some(argument) = parser.next().map_err(unexpected)? {
        let (flag, spelled) = match argument {
            Arg::Value(text) => {
                let behind = unknown.take();
                words.words.push(Word { text, behind });
                continue;
            }
            Arg::Long(long) => (Flag::long(&name::canonical(long)), format!("--{long}")),
            Arg::Short(short) => (Flag::short(short), format!("-{short}")),
        };
        unknown = match flag {
            Some(flag) => {
                apply(flag, &mut parser, flags)?;
                None
            }
            None => ignore(spelled, &mut parser, flags),
        };
        if flags.show.is_some() {
            break;
        }
    }
    Ok(words)
}

/// Takes the values of a known flag and does what it says.
fn apply(
    flag: &'static Flag,
    parser: &mut lexopt::Parser,
    flags: &mut Flags,
) -> Result<(), FlagProblem> {
    let values = values(flag, parser)?;
    match &flag.effect {
        Effect::Set(set) => set(flags, Given { flag, values }),
        Effect::Show(show) => {
            flags.show = Some::<Show>(*show);
            Ok(())
        }
        Effect::Nothing => Ok(()),
        Effect::Warn(consequence) => {
            flags.ignored(flag, consequence);
            Ok(())
        }
        Effect::Refuse(reason) => Err(FlagProblem::Unsupported {
            flag: flag.usage(),
            reason,
        }),
    }
}

fn values(flag: &'static Flag, parser: &mut lexopt::Parser) -> Result<Vec<OsString>, FlagProblem> {
    let missing = |_| FlagProblem::Missing { flag: flag.usage() };
    match flag.arity {
        // A value behind `=` is an error of the next step, so that `-pc` is `-p -c`.
        Arity::Switch => Ok(Vec::new()),
        // Even if it begins with a dash.
        Arity::Value(_) => Ok(vec![parser.value().map_err(missing)?]),
        Arity::Optional(_) => Ok(optional_value(parser).into_iter().collect()),
        Arity::Many(_) => Ok(parser.values().map_err(missing)?.collect()),
    }
}

/// The value behind `=`, or the next word unless it looks like a flag.
fn optional_value(parser: &mut lexopt::Parser) -> Option<OsString> {
    if let Some(value) = parser.optional_value() {
        return Some(value);
    }
    let mut rest = parser.try_raw_args()?;
    rest.next_if(|next| !next.as_encoded_bytes().starts_with(b"-"))
}

/// Passes over an unknown flag; returns it if the next word may be its value.
fn ignore(spelled: String, parser: &mut lexopt::Parser, flags: &mut Flags) -> Option<String> {
    let has_value = parser.optional_value().is_some();
    flags
        .warnings
        .push(format!("unknown option '{spelled}' is ignored"));
    (!has_value).then_some(spelled)
}

fn unexpected(error: lexopt::Error) -> FlagProblem {
    match error {
        lexopt::Error::UnexpectedValue { option, value } => FlagProblem::Unexpected {
            flag: option,
            value: value.to_string_lossy().into_owned(),
        },
        other => FlagProblem::NotUnicode {
            argument: other.to_string(),
        },
    }
}

impl Words {
    /// The prompt: the first word that is not the value of an unknown flag. More words are
    /// ignored, as the official CLI does.
    pub(super) fn into_prompt(
        self,
        warnings: &mut Vec<String>,
    ) -> Result<Option<String>, FlagProblem> {
        let free = self.words.iter().position(|word| word.behind.is_none());
        let chosen = free.or(self.words.len().checked_sub(1));
        for word in self.words.iter().take(chosen.unwrap_or(0)) {
            if let Some(flag) = &word.behind {
                let text = word.text.to_string_lossy();
                warnings.push(format!("'{text}' is taken as the value of '{flag}'"));
            }
        }
        let prompt = chosen.and_then(|index| self.words.into_iter().nth(index));
        prompt.map(|word| into_text(word.text)).transpose()
    }
}
