//! Reading the policy file.

use falconer_rule::{Effect, Rule, flaw, nearest};
use toml::{Table, Value};

use super::{Policy, Sensitive};

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
const SECTION: [&str; 5] = ["tools", "mcp", "paths", "commands", "rules"];

impl std::str::FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| PolicyError::Toml(error.message().to_owned()))?;
        let mut policy = Self::without_rules();
        for (key, value) in &table {
            match key.as_str() {
                "allow" => policy.section(key, value, Effect::Allow)?,
                "ask" => policy.section(key, value, Effect::Ask)?,
                "deny" => policy.section(key, value, Effect::Deny)?,
                "sensitive_paths" => policy.sensitive = sensitive(value)?,
                other => return Err(unknown(other, "", &TOP)),
            }
        }
        policy.bind();
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
                let label = format!("{full} = \"{pattern}\"");
                self.check_tool(&full, key, pattern, effect)?;
                let rule = rule(&full, key, pattern)?.labelled(label);
                self.rules.push((effect, rule));
            }
        }
        Ok(())
    }
}

impl Policy {
    /// A denial or question for an unknown tool guards nothing, so that it is an error; a rule
    /// that allows one is only pointed out.
    fn check_tool(
        &mut self,
        full: &str,
        key: &str,
        pattern: &str,
        effect: Effect,
    ) -> Result<(), PolicyError> {
        let problem = match key {
            "rules" => flaw(pattern),
            "tools" if !pattern.contains(['*', '?', '[', '{']) => flaw(pattern),
            _ => None,
        };
        match (problem, effect) {
            (None, _) => Ok(()),
            (Some(problem), Effect::Allow) => {
                let warning = format!("`{pattern}` of `{full}` allows nothing: {problem}");
                self.warnings.push(warning);
                Ok(())
            }
            (Some(problem), Effect::Deny | Effect::Ask) => Err(PolicyError::Pattern {
                key: full.to_owned(),
                pattern: pattern.to_owned(),
                problem,
            }),
        }
    }
}

fn rule(full: &str, key: &str, pattern: &str) -> Result<Rule, PolicyError> {
    let failed = |problem: String| PolicyError::Pattern {
        key: full.to_owned(),
        pattern: pattern.to_owned(),
        problem,
    };
    if pattern.trim().is_empty() {
        return Err(failed("it is empty".to_owned()));
    }
    match key {
        "tools" => Rule::tools(pattern).map_err(failed),
        "mcp" => Rule::mcp(pattern).map_err(failed),
        "commands" => Ok(Rule::commands(pattern)),
        "rules" => Rule::parse(pattern).map_err(|error| failed(error.to_string())),
        _ => Rule::paths(pattern).map_err(failed),
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
    PolicyError::UnknownKey {
        key: full(key),
        nearest: full(nearest(key, known).unwrap_or_default()),
    }
}
