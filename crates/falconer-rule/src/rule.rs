//! A rule that has been understood, apart from the directory it will be used in.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};

use crate::command_pattern::CommandPattern;
use crate::effect::Effect;
use crate::matcher::{Matcher, matcher, understand};
use crate::path_pattern::Anchors;
use crate::place::Place;
use crate::spelling::{distance, nearest as nearest_word};
use crate::text::{RuleProblem, RuleText};

/// What a rule is about. Made by [`Rule::parse`].
#[derive(Debug, Clone)]
pub struct Rule {
    /// What people read.
    label: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Written(RuleText),
    /// Files below any directory, or tied to the root.
    Paths {
        glob: GlobMatcher,
        tied: Tied,
    },
    /// Apart from any directory.
    Fixed(Matcher),
}

/// Where a pattern for files starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tied {
    ToRoot,
    ToNothing,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{text}` {problem}; the nearest valid form is `{nearest}`")]
#[non_exhaustive]
pub struct RuleError {
    /// The text, shortened if it is long.
    pub text: String,
    /// What is wrong with it.
    pub problem: RuleProblem,
    /// A rule that could have been meant.
    pub nearest: String,
}

/// Tools of the engines, to find out what was meant.
const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ReadMcpResourceTool",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// A tool that a rule names and no engine has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{rule}` names the unknown tool `{tool}`{}", hint(.nearest))]
#[non_exhaustive]
pub struct UnknownTool {
    /// The rule.
    pub rule: String,
    /// The tool it names.
    pub tool: String,
    /// A rule with a known tool that is written almost alike.
    pub nearest: Option<String>,
}

fn hint(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    }
}

impl Rule {
    /// Reads `Tool` or `Tool(what)`.
    ///
    /// # Errors
    /// If the text is no rule, or one that could never mean anything.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let written = RuleText::parse(text).map_err(|problem| failed(text, problem))?;
        check(&written).map_err(|problem| failed(text, problem))?;
        Ok(Self {
            label: written.to_string(),
            kind: Kind::Written(written),
        })
    }

    /// Checks that the rule names a tool somebody has: one of the engines, of an MCP server, or
    /// one of `more`.
    ///
    /// A denial that fails here denies nothing and is to be refused; for a rule that allows, a
    /// warning will do.
    ///
    /// # Errors
    /// If nobody is known to have the tool.
    pub fn check_tool(&self, more: &[&str]) -> Result<(), UnknownTool> {
        let Kind::Written(written) = &self.kind else {
            return Ok(());
        };
        let tool = written.tool.as_str();
        let is_known = match tool.split_once('*') {
            Some((start, _)) => KNOWN
                .iter()
                .chain(more)
                .any(|known| known.starts_with(start)),
            None => KNOWN.contains(&tool) || more.contains(&tool),
        };
        if is_known || tool.starts_with("mcp__") {
            return Ok(());
        }
        let content = written.content.as_deref();
        let nearest = similar(tool).map(|meant| RuleText::new(meant, content).to_string());
        Err(UnknownTool {
            rule: self.label.clone(),
            tool: tool.to_owned(),
            nearest,
        })
    }

    /// All tools whose names match a glob.
    ///
    /// # Errors
    /// If the glob cannot be read; the text says why.
    pub fn tools(glob: &str) -> Result<Self, String> {
        Ok(Self::fixed(glob, Matcher::ToolGlob(compiled(glob)?)))
    }

    /// Tools of MCP servers, by a glob over `server/tool`.
    ///
    /// # Errors
    /// If the glob cannot be read; the text says why.
    pub fn mcp(glob: &str) -> Result<Self, String> {
        Ok(Self::fixed(glob, Matcher::McpGlob(compiled(glob)?)))
    }

    /// Files by a glob, whatever is done to them and by which tool.
    ///
    /// A leading slash ties it to the root. A relative glob denies and asks in every directory,
    /// and allows in every directory of the project.
    ///
    /// # Errors
    /// If the glob cannot be read; the text says why.
    pub fn paths(glob: &str) -> Result<Self, String> {
        let tied = if glob.starts_with('/') {
            Tied::ToRoot
        } else {
            Tied::ToNothing
        };
        let anywhere = if tied == Tied::ToRoot || glob.starts_with("**") {
            glob.to_owned()
        } else {
            format!("**/{}", glob.trim_start_matches("./"))
        };
        Ok(Self {
            label: glob.to_owned(),
            kind: Kind::Paths {
                glob: compiled(&anywhere)?,
                tied,
            },
        })
    }

    /// Shell commands that begin with these words.
    pub fn commands(words: &str) -> Self {
        let words: Vec<&str> = words.split_whitespace().collect();
        let words = words.join(" ");
        // Stars mean stars here: the words are no pattern.
        let pattern = CommandPattern::beginning(&words.replace('*', "\\*"));
        Self::fixed(&words, Matcher::Command(pattern))
    }

    /// The same rule under the name people know it by.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    fn fixed(label: &str, matcher: Matcher) -> Self {
        Self {
            label: label.to_owned(),
            kind: Kind::Fixed(matcher),
        }
    }

    /// What is to be compared with calls, or why the rule is of no use with this effect.
    pub(crate) fn bind(
        &self,
        effect: Effect,
        anchors: &Anchors,
    ) -> (Option<Matcher>, Option<RuleProblem>) {
        match &self.kind {
            Kind::Fixed(matcher) => (Some(matcher.clone()), None),
            Kind::Paths { glob, tied } => {
                let below = match (effect, tied) {
                    (Effect::Allow, Tied::ToNothing) => {
                        let project = Place::of(&anchors.project);
                        vec![project.spelled, project.real]
                    }
                    _ => Vec::new(),
                };
                let glob = glob.clone();
                (Some(Matcher::AnyPath { glob, below }), None)
            }
            Kind::Written(written) => {
                let (_, matcher, problem) = understand(&written.to_string(), effect, anchors);
                (matcher, problem)
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.label)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

fn compiled(glob: &str) -> Result<GlobMatcher, String> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

/// What could never mean anything, whatever the effect.
fn check(written: &RuleText) -> Result<(), RuleProblem> {
    let tool = written.tool.as_str();
    let meant = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(tool));
    if let Some(meant) = meant.filter(|meant| **meant != tool) {
        return Err(RuleProblem::Capitals(meant));
    }
    // Any directory will do: only the form of the pattern is looked at.
    let anywhere = Anchors {
        project: PathBuf::from("/"),
        home: Some(PathBuf::from("/")),
    };
    matcher(written, Effect::Deny, &anywhere)?;
    let is_path = written.content.is_some();
    match tool {
        "Write" | "NotebookEdit" | "MultiEdit" if is_path => Err(RuleProblem::OtherTool("Edit")),
        "Glob" | "Grep" | "LS" if is_path => Err(RuleProblem::OtherTool("Read")),
        _ => Ok(()),
    }
}

pub(crate) fn failed(text: &str, problem: RuleProblem) -> RuleError {
    let short: String = text.trim().chars().take(200).collect();
    RuleError {
        nearest: nearest(&short, &problem),
        text: short,
        problem,
    }
}

/// The first of what may have been meant that is a rule.
fn nearest(text: &str, problem: &RuleProblem) -> String {
    let tool = text.split('(').next().unwrap_or_default().trim();
    let candidates = [meant(text, problem), tool.to_owned()];
    let is_rule = |text: &String| RuleText::parse(text).is_ok_and(|it| check(&it).is_ok());
    let mut candidates = candidates.into_iter();
    candidates
        .find(is_rule)
        .unwrap_or_else(|| "Bash(git status)".to_owned())
}

fn meant(text: &str, problem: &RuleProblem) -> String {
    let (tool, content) = match text.split_once('(') {
        Some((tool, content)) => (tool.trim(), content.trim_end_matches(')').trim()),
        None => (text.trim_end_matches(')').trim(), ""),
    };
    let with = |tool: &str, content: &str| RuleText::new(tool, Some(content)).to_string();
    match problem {
        RuleProblem::Unclosed => with(tool, content),
        RuleProblem::Capitals(meant) | RuleProblem::OtherTool(meant) => with(meant, content),
        RuleProblem::Domain => with(tool, &format!("domain:{}", host_like(content))),
        RuleProblem::NoContent(tool) => match similar(tool) {
            Some(meant) => with(meant, content),
            None => tool.clone(),
        },
        RuleProblem::Pattern(_) => with(tool, "./src/**"),
        RuleProblem::TooLong => with("Bash", "git status"),
        RuleProblem::NoTool => named_like(tool, content),
    }
}

/// A tool out of a text that names none.
fn named_like(tool: &str, content: &str) -> String {
    let letters = tool.chars();
    let plain: String = letters
        .filter(|letter| letter.is_alphanumeric() || "_-".contains(*letter))
        .collect();
    match (plain.as_str(), content) {
        ("", "") => "Bash(git status)".to_owned(),
        ("", content) => RuleText::new("Bash", Some(content)).to_string(),
        (plain, content) => {
            let tool = similar(plain).unwrap_or(plain);
            RuleText::new(tool, Some(content)).to_string()
        }
    }
}

fn host_like(content: &str) -> String {
    let content = content.trim_start_matches("domain:").trim();
    let after = content.split_once("://").map_or(content, |(_, rest)| rest);
    let host = after
        .split(['/', ':', '?', '#', ' '])
        .next()
        .unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    match host.trim_matches(['*', '.']) {
        "" => "example.com".to_owned(),
        host => host.to_lowercase(),
    }
}

/// A tool whose name is written almost like this.
fn similar(name: &str) -> Option<&'static str> {
    let known = nearest_word(name, KNOWN)?;
    let changes = distance(&name.to_ascii_lowercase(), &known.to_ascii_lowercase());
    (changes <= 2 && changes < known.len()).then_some(known)
}
