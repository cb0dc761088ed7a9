//! Rules that have been understood once, ready to be compared with calls.

use std::path::{Path, PathBuf};

use globset::GlobMatcher;

use crate::command_pattern::CommandPattern;
use crate::effect::Effect;
use crate::path_pattern::{Anchors, Capitals, PathPattern};
use crate::text::{RuleProblem, RuleText};
use crate::web::web_host;

/// What a rule is about.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// All calls of a tool.
    Tool(String),
    /// All tools whose names start like this.
    Prefix(String),
    /// All tools of an MCP server.
    Server(String),
    /// Shell commands.
    Command(CommandPattern),
    /// Files that are read.
    Read(PathPattern),
    /// Files that are changed.
    Edit(PathPattern),
    /// Paths, but only for one tool.
    PathOf(String, PathPattern),
    /// A host name, and whether names below it count.
    Domain {
        /// In small letters.
        host: String,
        /// `*.host` is about names below it only.
        below: bool,
    },
    /// An agent or a skill.
    Named {
        /// The tool that starts it.
        tool: String,
        /// What it is called.
        name: CommandPattern,
    },
    /// All tools whose names match.
    ToolGlob(GlobMatcher),
    /// Tools of MCP servers, as `server/tool`.
    McpGlob(GlobMatcher),
    /// Files, whatever is done to them and by which tool.
    AnyPath {
        /// Compared with every name of a file.
        glob: GlobMatcher,
        /// Where it counts, by all names of the directory; empty means everywhere.
        below: Vec<PathBuf>,
    },
    /// A rule that forbids something, nobody knows what.
    Everything,
}

/// Understands a rule, or says what keeps it from being of use.
///
/// Rules that forbid or ask are never lost: what is not understood is taken as wide as it may
/// have been meant.
pub fn understand(
    text: &str,
    effect: Effect,
    anchors: &Anchors,
) -> (Option<RuleText>, Option<Matcher>, Option<RuleProblem>) {
    match RuleText::parse(text) {
        Ok(rule) => match matcher(&rule, effect, anchors) {
            Ok(matcher) => (Some(rule), Some(matcher), None),
            Err(problem) if effect == Effect::Allow => (Some(rule), None, Some(problem)),
            Err(problem) => {
                let wide = Matcher::Tool(rule.tool.clone());
                (Some(rule), Some(wide), Some(problem))
            }
        },
        Err(problem) if effect == Effect::Allow => (None, None, Some(problem)),
        Err(problem) => {
            let tool = RuleText::tool_of_broken(text);
            let wide = tool.map_or(Matcher::Everything, |tool| Matcher::Tool(tool.to_owned()));
            (None, Some(wide), Some(problem))
        }
    }
}

pub(crate) fn matcher(
    rule: &RuleText,
    effect: Effect,
    anchors: &Anchors,
) -> Result<Matcher, RuleProblem> {
    let tool = rule.tool.as_str();
    let Some(content) = rule.content.as_deref() else {
        return bare(tool, effect);
    };
    let capitals = match effect {
        Effect::Allow => Capitals::Matter,
        Effect::Deny | Effect::Ask => Capitals::Ignored,
    };
    let path = || PathPattern::new(content, anchors, capitals);
    match tool {
        "Bash" => Ok(Matcher::Command(CommandPattern::new(content))),
        "Read" => path().map(Matcher::Read),
        "Edit" => path().map(Matcher::Edit),
        "Write" | "NotebookEdit" | "MultiEdit" if effect == Effect::Allow => {
            Err(RuleProblem::OtherTool("Edit"))
        }
        "Glob" | "Grep" | "LS" if effect == Effect::Allow => Err(RuleProblem::OtherTool("Read")),
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

fn bare(tool: &str, effect: Effect) -> Result<Matcher, RuleProblem> {
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
            if effect == Effect::Allow && !is_narrow {
                return Err(RuleProblem::NoTool);
            }
            Ok(Matcher::Prefix(start.to_owned()))
        }
        Some(_) => Err(RuleProblem::NoTool),
    }
}

fn domain(content: &str) -> Result<Matcher, RuleProblem> {
    let host = content.strip_prefix("domain:").ok_or(RuleProblem::Domain)?;
    let host = host.trim().trim_end_matches('.');
    let (host, below) = match host.strip_prefix("*.") {
        Some(host) => (host, true),
        None => (host, false),
    };
    if host.is_empty() || host.contains(['*', '/', ' ', ':', '@', '?', '#', '%']) {
        return Err(RuleProblem::Domain);
    }
    // As it is in addresses: in small letters, and without letters that names on the net lack.
    let host = web_host(&format!("https://{host}/")).ok_or(RuleProblem::Domain)?;
    Ok(Matcher::Domain { host, below })
}

impl Matcher {
    /// Whether it is about all calls of the tool, so that a denial takes the tool away.
    ///
    /// The name of an MCP tool may be read in several ways; one that is meant is enough.
    pub fn is_whole_tool(&self, tool: &str) -> bool {
        match self {
            Self::Tool(name) => {
                // A server may be called `a__b`.
                let rest = tool.strip_prefix(name.as_str());
                let is_server = name.starts_with("mcp__");
                rest.is_some_and(|rest| rest.is_empty() || is_server && rest.starts_with("__"))
            }
            Self::Prefix(start) => tool.starts_with(start.as_str()),
            Self::ToolGlob(glob) => glob.is_match(tool),
            Self::McpGlob(glob) => mcp_names(tool)
                .iter()
                .any(|(server, tool)| glob.is_match(format!("{server}/{tool}"))),
            Self::Server(server) => tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
            _ => false,
        }
    }

    /// Whether it allows all calls of the tool; the server is the one that has the tool, if that
    /// is known apart from the name.
    ///
    /// `mcp__a` must not speak for a server that is called `a__b`: if the name of the tool can be
    /// read in several ways and the server is not known, only a rule with the whole name allows it.
    pub fn allows_whole_tool(&self, tool: &str, server: Option<&str>) -> bool {
        if let Self::Tool(name) = self {
            return name == tool;
        }
        if !tool.starts_with("mcp__") {
            return self.is_whole_tool(tool);
        }
        let mut names = mcp_names(tool);
        if let Some(server) = server {
            let known = [sanitised(server), joined(&sanitised(server))];
            names.retain(|(name, _)| known.iter().any(|known| known == name));
        }
        let [(name, rest)] = names.as_slice() else {
            return false;
        };
        match self {
            Self::Server(rule) => {
                rule == name && server.is_none_or(|server| sanitised(server) == *rule)
            }
            Self::Prefix(start) => {
                start.starts_with(&format!("mcp__{name}__")) && tool.starts_with(start.as_str())
            }
            Self::McpGlob(glob) => glob.is_match(format!("{name}/{rest}")),
            _ => self.is_whole_tool(tool),
        }
    }

    /// Whether it is about a host.
    pub fn matches_domain(&self, name: &str) -> bool {
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

/// Whether a name of a file matches, in a place where the pattern counts.
pub(crate) fn names_file(glob: &GlobMatcher, below: &[PathBuf], name: &Path) -> bool {
    let is_here = below.is_empty() || below.iter().any(|root| name.starts_with(root));
    is_here && glob.is_match(name)
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

/// The name of a server without doubled underscores, as the native engine has it in names.
fn joined(server: &str) -> String {
    let mut name = server.to_owned();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    name.trim_end_matches('_').to_owned()
}

/// Every server and tool that `mcp__server__tool` may mean.
fn mcp_names(tool: &str) -> Vec<(&str, &str)> {
    let Some(rest) = tool.strip_prefix("mcp__") else {
        return Vec::new();
    };
    let ends = (1..rest.len()).filter(|end| rest.as_bytes()[*end..].starts_with(b"__"));
    let names = ends.map(|end| (&rest[..end], &rest[end + 2..]));
    names.filter(|(_, tool)| !tool.is_empty()).collect()
}
