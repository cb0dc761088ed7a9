//! A rule as it is written: `Tool` or `Tool(what)`.

use std::fmt;

use falconer_protocol::permission::PermissionRule;

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Rule {
    pub(crate) tool: String,
    pub(crate) content: Option<String>,
}

/// Why a text is no rule, or why a rule means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RuleProblem {
    #[error("names no tool; write `Tool` or `Tool(what)`")]
    NoTool,
    #[error("has a parenthesis that is not closed")]
    Unclosed,
    #[error("is longer than {MAX_RULE} bytes")]
    TooLong,
    #[error("has a path pattern that cannot be used: {0}")]
    Pattern(String),
    #[error("needs `domain:` and a host name in the parentheses")]
    Domain,
    #[error("has parentheses, which the tool `{0}` does not know")]
    NoContent(String),
    #[error("allows nothing: write `{0}(…)` for paths")]
    OtherTool(&'static str),
}

const MAX_RULE: usize = 8 * 1024;

impl Rule {
    pub(crate) fn parse(text: &str) -> Result<Self, RuleProblem> {
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
    pub(crate) fn new(tool: &str, content: Option<&str>) -> Self {
        let content = content.filter(|content| !matches!(content.trim(), "" | "*"));
        Self {
            tool: tool.to_owned(),
            content: content.map(str::to_owned),
        }
    }

    /// The tool a broken rule was meant for.
    pub(super) fn tool_of_broken(text: &str) -> Option<&str> {
        let tool = text.split('(').next().unwrap_or_default().trim();
        is_tool_name(tool).then_some(tool)
    }

    pub(crate) fn to_wire(&self) -> PermissionRule {
        PermissionRule {
            tool_name: self.tool.clone(),
            rule_content: self.content.clone(),
            ..PermissionRule::default()
        }
    }

    /// A rule of the host, as text.
    pub(crate) fn text_of_wire(rule: &PermissionRule) -> String {
        match &rule.rule_content {
            Some(content) => format!("{}({content})", rule.tool_name),
            None => rule.tool_name.clone(),
        }
    }
}

fn is_tool_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_-.:*".contains(letter))
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(formatter, "{}({content})", self.tool),
            None => formatter.write_str(&self.tool),
        }
    }
}
