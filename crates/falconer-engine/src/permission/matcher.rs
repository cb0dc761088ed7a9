//! Rules that have been understood once, ready to be compared with calls.

use super::path_pattern::{Anchors, Capitals, PathPattern};
use super::pattern::CommandPattern;
use super::rule::{Rule, RuleProblem};
use crate::tool::Target;

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Behavior {
    Deny,
    Ask,
    Allow,
}

impl Behavior {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// What a rule is about.
#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    /// All calls of a tool.
    Tool(String),
    /// All tools whose names start like this.
    Prefix(String),
    /// All tools of an MCP server.
    Server(String),
    Command(CommandPattern),
    Read(PathPattern),
    Edit(PathPattern),
    /// Paths, but only for one tool.
    PathOf(String, PathPattern),
    /// A host name, and whether names below it count.
    Domain {
        host: String,
        below: bool,
    },
    /// An agent or a skill.
    Named {
        tool: String,
        name: CommandPattern,
    },
    /// A rule that forbids something, nobody knows what.
    Everything,
}

/// Understands a rule, or says what keeps it from being of use.
///
/// Rules that forbid or ask are never lost: what is not understood is taken as wide as it may
/// have been meant.
pub(crate) fn understand(
    text: &str,
    behavior: Behavior,
    anchors: &Anchors,
) -> (Option<Rule>, Option<Matcher>, Option<RuleProblem>) {
    match Rule::parse(text) {
        Ok(rule) => match matcher(&rule, behavior, anchors) {
            Ok(matcher) => (Some(rule), Some(matcher), None),
            Err(problem) if behavior == Behavior::Allow => (Some(rule), None, Some(problem)),
            Err(problem) => {
                let wide = Matcher::Tool(rule.tool.clone());
                (Some(rule), Some(wide), Some(problem))
            }
        },
        Err(problem) if behavior == Behavior::Allow => (None, None, Some(problem)),
        Err(problem) => {
            let tool = Rule::tool_of_broken(text);
            let wide = tool.map_or(Matcher::Everything, |tool| Matcher::Tool(tool.to_owned()));
            (None, Some(wide), Some(problem))
        }
    }
}

fn matcher(rule: &Rule, behavior: Behavior, anchors: &Anchors) -> Result<Matcher, RuleProblem> {
    let tool = rule.tool.as_str();
    let Some(content) = rule.content.as_deref() else {
        return bare(tool, behavior);
    };
    let capitals = match behavior {
        Behavior::Allow => Capitals::Matter,
        Behavior::Deny | Behavior::Ask => Capitals::Ignored,
    };
    let path = || PathPattern::new(content, anchors, capitals);
    match tool {
        "Bash" => Ok(Matcher::Command(CommandPattern::new(content))),
        "Read" => path().map(Matcher::Read),
        "Edit" => path().map(Matcher::Edit),
        "Write" | "NotebookEdit" | "MultiEdit" if behavior == Behavior::Allow => {
            Err(RuleProblem::OtherTool("Edit"))
        }
        "Glob" | "Grep" | "LS" if behavior == Behavior::Allow => {
            Err(RuleProblem::OtherTool("Read"))
        }
        "Write" | "NotebookEdit" | "MultiEdit" | "Glob" | "Grep" | "LS" => {
            path().map(|pattern| Matcher::PathOf(tool.to_owned(), pattern))
        }
        "WebFetch" => domain(content),
        "Agent" | "Task" | "Skill" => Ok(Matcher::Named {
            tool: tool.to_owned(),
            name: CommandPattern::new(content),
        }),
        _ => Err(RuleProblem::NoContent(tool.to_owned())),
    }
}

fn bare(tool: &str, behavior: Behavior) -> Result<Matcher, RuleProblem> {
    if let Some(server) = tool.strip_prefix("mcp__") {
        let server = server.strip_suffix("__*").unwrap_or(server);
        if !server.contains("__") && !server.contains('*') {
            return Ok(Matcher::Server(server.to_owned()));
        }
    }
    match tool.strip_suffix('*') {
        None if tool.contains('*') => Err(RuleProblem::NoTool),
        None => Ok(Matcher::Tool(tool.to_owned())),
        // `mcp__server__get_*` is fine; a star that allows every tool is not meant.
        Some(start) if !start.contains('*') => {
            let is_narrow = start.starts_with("mcp__") && start.len() > "mcp__".len();
            if behavior == Behavior::Allow && !is_narrow {
                return Err(RuleProblem::NoTool);
            }
            Ok(Matcher::Prefix(start.to_owned()))
        }
        Some(_) => Err(RuleProblem::NoTool),
    }
}

fn domain(content: &str) -> Result<Matcher, RuleProblem> {
    let host = content.strip_prefix("domain:").ok_or(RuleProblem::Domain)?;
    let host = host.trim().trim_end_matches('.').to_lowercase();
    let (host, below) = match host.strip_prefix("*.") {
        Some(host) => (host.to_owned(), true),
        None => (host, false),
    };
    if host.is_empty() || host.contains(['*', '/', ' ', ':', '@']) {
        return Err(RuleProblem::Domain);
    }
    Ok(Matcher::Domain { host, below })
}

impl Matcher {
    /// Whether it is about all calls of the tool, so that a denial takes the tool away.
    pub(crate) fn is_whole_tool(&self, tool: &str) -> bool {
        match self {
            Self::Tool(name) => name == tool,
            Self::Prefix(start) => tool.starts_with(start.as_str()),
            Self::Server(server) => tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
            _ => false,
        }
    }

    /// Whether it allows all calls of the tool.
    pub(crate) fn allows_whole_tool(&self, tool: &str, target: &Target) -> bool {
        let is_of_server = match (self, target) {
            // `mcp__a` must not speak for a server that is called `a__b`.
            (Self::Server(rule), Target::Mcp { server, .. }) => sanitised(server) == *rule,
            _ => true,
        };
        is_of_server && self.is_whole_tool(tool)
    }

    pub(crate) fn matches_domain(&self, name: &str) -> bool {
        let Self::Domain { host, below } = self else {
            return false;
        };
        let name = name.trim_end_matches('.').to_lowercase();
        if *below {
            return name
                .strip_suffix(host.as_str())
                .is_some_and(|rest| rest.ends_with('.') && rest.len() > 1);
        }
        name == *host
    }
}

/// The name of a server as it is in the names of its tools.
fn sanitised(server: &str) -> String {
    server
        .chars()
        .map(|letter| {
            let is_kept = letter.is_ascii_alphanumeric() || "_-".contains(letter);
            if is_kept { letter } else { '_' }
        })
        .collect()
}
