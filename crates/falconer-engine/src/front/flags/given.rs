//! One flag as it was given, and what its values can be read as.

use std::ffi::OsString;
use std::path::PathBuf;

use super::table::Flag;

/// A flag with what was given to it.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) flag: &'static Flag,
    /// One for most flags, several for lists, perhaps none for optional values.
    pub(super) values: Vec<OsString>,
}

/// Why a command line cannot be honoured. Shown as `error: …`, exit code 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FlagProblem {
    #[error("option '{flag}' argument missing")]
    Missing { flag: String },
    #[error("option '{flag}' takes no argument, but was given '{value}'")]
    Unexpected { flag: String, value: String },
    #[error("option '{flag}' argument '{value}' is invalid. {wanted}")]
    Invalid {
        flag: String,
        value: String,
        wanted: String,
    },
    #[error("argument '{argument}' is not valid Unicode")]
    NotUnicode { argument: String },
    #[error("option '{flag}' is not supported by falconer-claude: {reason}")]
    Unsupported { flag: String, reason: &'static str },
}

impl Given {
    /// The last value, as it is.
    pub(super) fn raw(self) -> Result<OsString, FlagProblem> {
        let flag = self.flag;
        self.values
            .into_iter()
            .next_back()
            .ok_or_else(|| FlagProblem::Missing { flag: flag.usage() })
    }

    pub(super) fn path(self) -> Result<PathBuf, FlagProblem> {
        self.raw().map(PathBuf::from)
    }

    pub(super) fn paths(self) -> Vec<PathBuf> {
        self.values.into_iter().map(PathBuf::from).collect()
    }

    pub(super) fn text(self) -> Result<String, FlagProblem> {
        into_text(self.raw()?)
    }

    /// The value of a flag that may stand alone.
    pub(super) fn optional_text(self) -> Result<Option<String>, FlagProblem> {
        if self.values.is_empty() {
            Ok(None)
        } else {
            self.text().map(Some)
        }
    }

    /// One of these words; `read` says which.
    pub(super) fn choice<T: Copy>(self, choices: &[(&str, T)]) -> Result<T, FlagProblem> {
        let flag = self.flag;
        let value = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == value);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            let wanted = format!("Allowed choices are {}.", names.join(", "));
            flag.refuse(value, wanted)
        })
    }

    /// A number that is not negative; fractions are cut off, as the official CLI does.
    pub(super) fn count(self) -> Result<u64, FlagProblem> {
        let flag = self.flag;
        let value = self.text()?;
        let number: Option<f64> = value.trim().parse().ok();
        match number {
            Some(number) if number.is_finite() && number >= 0.0 => Ok(whole(number)),
            _ => Err(flag.refuse(value, "must be a number".to_owned())),
        }
    }

    /// A number of something; below one there is no limit.
    pub(super) fn limit(self) -> Result<u64, FlagProblem> {
        let flag = self.flag;
        let value = self.text()?;
        match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(whole(number.max(0.0))),
            _ => Err(flag.refuse(value, "must be a number".to_owned())),
        }
    }

    /// A whole number above zero.
    pub(super) fn positive_count(self) -> Result<u64, FlagProblem> {
        let flag = self.flag;
        let value = self.text()?;
        match value.trim().parse() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(flag.refuse(value, "must be a positive integer".to_owned())),
        }
    }

    /// An amount above zero.
    pub(super) fn positive_amount(self) -> Result<f64, FlagProblem> {
        let flag = self.flag;
        let value = self.text()?;
        match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
            _ => Err(flag.refuse(value, "must be a number greater than 0".to_owned())),
        }
    }

    /// A list in which commas and blanks separate, except inside parentheses.
    pub(super) fn rules(self) -> Result<Vec<String>, FlagProblem> {
        let mut rules = Vec::new();
        for value in self.values {
            split_rules(&into_text(value)?, &mut rules);
        }
        Ok(rules)
    }

    /// A list in which commas separate.
    pub(super) fn names(self) -> Result<Vec<String>, FlagProblem> {
        let mut names = Vec::new();
        for value in self.values {
            let text = into_text(value)?;
            let parts = text.split(',').map(str::trim);
            names.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
        Ok(names)
    }
}

impl Flag {
    pub(super) fn refuse(&self, value: String, wanted: String) -> FlagProblem {
        FlagProblem::Invalid {
            flag: self.usage(),
            value,
            wanted,
        }
    }
}

pub(super) fn into_text(value: OsString) -> Result<String, FlagProblem> {
    value
        .into_string()
        .map_err(|value| FlagProblem::NotUnicode {
            argument: value.to_string_lossy().into_owned(),
        })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be finite and not negative; the cast saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Rules may hold commas and blanks in their parentheses: `Bash(git log:*), Edit`.
fn split_rules(text: &str, rules: &mut Vec<String>) {
    let mut depth = 0_usize;
    let mut rule = String::new();
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' | '\n' | '\t' if depth == 0 => {
                push_rule(&mut rule, rules);
                continue;
            }
            _ => {}
        }
        rule.push(character);
    }
    push_rule(&mut rule, rules);
}

fn push_rule(rule: &mut String, rules: &mut Vec<String>) {
    if !rule.is_empty() {
        rules.push(std::mem::take(rule));
    }
}
