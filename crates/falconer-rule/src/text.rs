//! A rule as it is written: `Tool` or `Tool(what)`.

use std::fmt;

/// A rule as it is written. Whether it means something is found out by [`crate::Rule::parse`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleText {
    /// The name of the tool, perhaps with a star.
    pub tool: String,
    /// What is in the parentheses.
    pub content: Option<String>,
}

/// Why a text is no rule, or why a rule means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// There is no name, or one with a star where none may be.
    #[error("names no tool; write `Tool` or `Tool(what)`")]
    NoTool,
    /// It ends before its parenthesis does.
    #[error("has a parenthesis that is not closed")]
    Unclosed,
    /// Nobody writes such a rule.
    #[error("is longer than {MAX_RULE} bytes")]
    TooLong,
    /// The syntax of paths is that of `.gitignore`.
    #[error("has a path pattern that cannot be used: {0}")]
    Pattern(String),
    /// Web pages are named by their host.
    #[error("needs `domain:` and a host name in the parentheses")]
    Domain,
    /// The tool has nothing a rule could name.
    #[error("has parentheses, which the tool `{0}` does not know")]
    NoContent(String),
    /// Names of tools are compared letter by letter.
    #[error("is written with other capitals than the tool `{0}`")]
    Capitals(&'static str),
    /// Paths are allowed for reading or for editing, not for one tool.
    #[error("allows nothing: write `{0}(…)` for paths")]
    OtherTool(&'static str),
}

const MAX_RULE: usize = 8 * 1024;

impl RuleText {
    /// Splits `Tool(what)`.
    pub fn parse(text: &str) -> Result<Self, RuleProblem> {
        let text = text.trim();
        if text.len() > MAX_RULE {
            return Err(RuleProblem::TooLong);
        }
        let (tool, content) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let content = rest.strip_suffix(')').ok_or(RuleProblem::Unclosed)?;
                (tool, Some(content))
            }
        };
        if !is_tool_name(tool) {
            return Err(RuleProblem::NoTool);
        }
        Ok(Self::new(tool, content))
    }

    /// `Tool()` and `Tool(*)` are `Tool`.
    pub fn new(tool: &str, content: Option<&str>) -> Self {
        let content = content.filter(|content| !matches!(content.trim(), "" | "*"));
        Self {
            tool: tool.to_owned(),
            content: content.map(str::to_owned),
        }
    }

    /// The tool a broken rule was meant for.
    pub(crate) fn tool_of_broken(text: &str) -> Option<&str> {
        let tool = text.split('(').next().unwrap_or_default().trim();
        is_tool_name(tool).then_some(tool)
    }
}

fn is_tool_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_-.:*".contains(letter))
}

impl fmt::Display for RuleText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(formatter, "{}({content})", self.tool),
            None => formatter.write_str(&self.tool),
        }
    }
}
