//! Which subjects a matcher is about.

use regex::Regex;

/// A matcher, ready to be asked.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Everything,
    /// One of these names: `Bash`, `Edit|Write`.
    Names(Vec<String>),
    /// Anywhere in the subject, as the CLI does it.
    Expression(Regex),
    /// A regular expression that cannot be read.
    Nothing,
}

impl Pattern {
    /// Reads a matcher; fails with a text if it is no regular expression.
    pub(super) fn read(matcher: Option<&str>) -> Result<Self, String> {
        let matcher = matcher.unwrap_or_default().trim();
        if matcher.is_empty() || matcher == "*" {
            return Ok(Self::Everything);
        }
        if matcher.chars().all(is_plain) {
            let names = matcher.split('|').map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.collect()));
        }
        match Regex::new(matcher) {
            Ok(expression) => Ok(Self::Expression(expression)),
            Err(error) => Err(format!("cannot read hook matcher `{matcher}`: {error}")),
        }
    }

    /// Whether it is about this subject. Events without one concern every matcher.
    pub(super) fn matches(&self, subject: Option<&str>) -> bool {
        let Some(subject) = subject else {
            return !matches!(self, Self::Nothing);
        };
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Expression(expression) => expression.is_match(subject),
            Self::Nothing => false,
        }
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '|' | ' ')
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn matchers_choose_as_documented() {
        let cases: &[(Option<&str>, &str, bool)] = &[
            (None, "Bash", true),
            (Some(""), "Bash", true),
            (Some("*"), "Bash", true),
            (Some("Bash"), "Bash", true),
            (Some("Bash"), "BashOutput", false),
            (Some("bash"), "Bash", false),
            (Some("Edit|Write"), "Write", true),
            (Some("Edit | Write"), "Write", true),
            (Some("Edit|Write"), "NotebookEdit", false),
            (Some("mcp__.*__read.*"), "mcp__files__read_file", true),
            (Some("mcp__.*__read.*"), "mcp__files__write_file", false),
            (Some("^Note.*"), "NotebookEdit", true),
            (Some(".*"), "anything", true),
            (Some("mcp__my-server__add"), "mcp__my-server__add", true),
        ];
        for (matcher, subject, expected) in cases {
            let pattern = Pattern::read(*matcher).unwrap();
            assert_eq!(
                pattern.matches(Some(subject)),
                *expected,
                "{matcher:?} {subject}"
            );
            assert!(pattern.matches(None), "{matcher:?} without a subject");
        }
    }

    #[test]
    fn a_broken_expression_is_named() {
        let error = Pattern::read(Some("a(b")).unwrap_err();
        assert!(
            error.starts_with("cannot read hook matcher `a(b`"),
            "{error}"
        );
    }
}
