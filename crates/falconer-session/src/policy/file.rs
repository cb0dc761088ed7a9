//! Reading the policy file.

use globset::GlobBuilder;
use toml::{Table, Value};

use super::{About, Effect, Policy, Rule, Sensitive};

/// What is wrong with a policy file. No rule of such a file counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is no TOML.
    #[error("failed to read the policy: {0}")]
    Toml(String),
    /// A key that means nothing.
    #[error("unknown key `{key}` in the policy; the nearest one is `{nearest}`")]
    UnknownKey {
        /// The key with its section.
        key: String,
        /// What was perhaps meant.
        nearest: String,
    },
    /// A value of the wrong kind.
    #[error("`{key}` in the policy has to be {expected}")]
    WrongValue {
        /// The key with its section.
        key: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// A pattern that cannot be read.
    #[error("failed to read the pattern `{pattern}` of `{key}` in the policy: {problem}")]
    Pattern {
        /// The key with its section.
        key: String,
        /// The pattern.
        pattern: String,
        /// Why not.
        problem: String,
    },
}

const TOP: [&str; 4] = ["allow", "ask", "deny", "sensitive_paths"];
const SECTION: [&str; 4] = ["tools", "mcp", "paths", "commands"];

impl std::str::FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| PolicyError::Toml(error.message().to_owned()))?;
        let mut policy = Self::default();
        for (key, value) in &table {
            match key.as_str() {
                "allow" => policy.section(key, value, Effect::Allow)?,
                "ask" => policy.section(key, value, Effect::Ask)?,
                "deny" => policy.section(key, value, Effect::Deny)?,
                "sensitive_paths" => policy.sensitive = sensitive(value)?,
                other => return Err(unknown(other, "", &TOP)),
            }
        }
        Ok(policy)
    }
}

impl Policy {
    fn section(&mut self, name: &str, value: &Value, effect: Effect) -> Result<(), PolicyError> {
        let table = value.as_table().ok_or_else(|| wrong(name, "a table"))?;
        for (key, patterns) in table {
            let full = format!("{name}.{key}");
            if !SECTION.contains(&key.as_str()) {
                return Err(unknown(key, name, &SECTION));
            }
            let patterns = patterns
                .as_array()
                .ok_or_else(|| wrong(&full, "a list of texts"))?;
            for pattern in patterns {
                let pattern = pattern
                    .as_str()
                    .ok_or_else(|| wrong(&full, "a list of texts"))?;
                let about = about(&full, key, pattern)?;
                let text = format!("`{full} = \"{pattern}\"`");
                self.rules.push(Rule {
                    effect,
                    text,
                    about,
                });
            }
        }
        Ok(())
    }
}

fn about(full: &str, key: &str, pattern: &str) -> Result<About, PolicyError> {
    let failed = |problem: String| PolicyError::Pattern {
        key: full.to_owned(),
        pattern: pattern.to_owned(),
        problem,
    };
    if pattern.trim().is_empty() {
        return Err(failed("it is empty".to_owned()));
    }
    let glob = |text: &str| {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        glob.map(|glob| glob.compile_matcher())
            .map_err(|error| failed(error.kind().to_string()))
    };
    Ok(match key {
        "tools" => About::Tool(glob(pattern)?),
        "mcp" => About::Mcp(glob(pattern)?),
        "commands" => About::Command(pattern.to_owned()),
        _ => About::Path(glob(&anywhere(pattern))?),
    })
}

/// A relative pattern counts in every directory; a leading slash ties it to the root.
fn anywhere(pattern: &str) -> String {
    match pattern.starts_with('/') || pattern.starts_with("**") {
        true => pattern.to_owned(),
        false => format!("**/{}", pattern.trim_start_matches("./")),
    }
}

fn sensitive(value: &Value) -> Result<Sensitive, PolicyError> {
    match value.as_str() {
        Some("deny") => Ok(Sensitive::Deny),
        Some("ask") => Ok(Sensitive::Ask),
        Some("allow") => Ok(Sensitive::Allow),
        _ => Err(wrong("sensitive_paths", "\"deny\", \"ask\" or \"allow\"")),
    }
}

fn wrong(key: &str, expected: &'static str) -> PolicyError {
    PolicyError::WrongValue {
        key: key.to_owned(),
        expected,
    }
}

fn unknown(key: &str, section: &str, known: &[&str]) -> PolicyError {
    let full = |key: &str| match section {
        "" => key.to_owned(),
        section => format!("{section}.{key}"),
    };
    let nearest = known.iter().min_by_key(|other| distance(key, other));
    PolicyError::UnknownKey {
        key: full(key),
        nearest: full(nearest.copied().unwrap_or_default()),
    }
}

/// How many letters have to be changed, added or taken out.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
