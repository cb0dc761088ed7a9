//! What is asked about a call, and the answers.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use falconer_protocol::Object;
use falconer_protocol::hook::HookPermissionDecision;
use falconer_protocol::permission::{DecisionReasonType, PermissionMode, PermissionUpdate};
use falconer_rule::shell::{self, Script, Unparsable};
use falconer_rule::{Effect, Footprint, Location, Place};

use super::{RuleSource, Target};

/// A call that wants to be made.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    pub(crate) tool: &'a str,
    pub(crate) target: &'a Target,
    pub(crate) input: &'a Object,
    /// What the tool says of itself; counts for nothing if it is a command or of a server.
    pub(crate) read_only: bool,
    /// What the hooks said, merged.
    pub(crate) hook: Option<HookDecision>,
    /// Whether there is somebody to ask. If not, what would be asked is denied.
    pub(crate) host_can_ask: bool,
    /// Where a shell command would run now.
    pub(crate) cwd: &'a Path,
}

/// A command of a question, read when somebody first looks at it.
#[derive(Debug, Default)]
pub(super) struct Reader {
    script: OnceCell<Result<Script, Unparsable>>,
}

/// A question while it is judged: what many rules look at is found out once.
#[derive(Debug)]
pub(super) struct Case<'q> {
    question: &'q Question<'q>,
    reader: &'q Reader,
    place: OnceCell<Place>,
    start: OnceCell<Location>,
    footprint: OnceCell<Footprint<'q>>,
}

impl<'q> Case<'q> {
    pub(super) fn new(question: &'q Question<'q>, reader: &'q Reader) -> Self {
        Self {
            question,
            reader,
            place: OnceCell::new(),
            start: OnceCell::new(),
            footprint: OnceCell::new(),
        }
    }

    /// The place of the path that the call is about.
    pub(super) fn place(&self, path: &Path) -> &Place {
        self.place.get_or_init(|| Place::of(path))
    }

    /// Whether the call changes nothing, as far as we know ourselves.
    pub(super) fn only_reads(&self) -> bool {
        match self.target {
            Target::Command { command, .. } => {
                let script = self.script(command);
                script.is_ok_and(|script| script.reads_only().is_some())
            }
            Target::Mcp { .. } => false,
            _ => self.read_only,
        }
    }

    /// Where the shell is before the command; what is looked up from there is kept.
    pub(super) fn start(&self, home: Option<&Path>) -> Location {
        let start = self.start.get_or_init(|| Location::new(self.cwd, home));
        start.clone()
    }

    /// The command that the call is about, read once.
    pub(super) fn script(&self, command: &str) -> Result<&'q Script, &'q Unparsable> {
        let script = self.reader.script.get_or_init(|| shell::read(command));
        script.as_ref()
    }

    /// What rules that deny or ask are compared with.
    pub(super) fn footprint(&self, command: &'q str, home: Option<&Path>) -> &Footprint<'q> {
        self.footprint
            .get_or_init(|| Footprint::new(command, self.script(command), self.start(home)))
    }
}

impl<'q> Deref for Case<'q> {
    type Target = Question<'q>;

    fn deref(&self) -> &Question<'q> {
        self.question
    }
}

/// The word of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookDecision {
    pub(crate) decision: HookPermissionDecision,
    pub(crate) reason: Option<String>,
}

/// What may happen to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Allow {
        reason: Because,
    },
    Deny {
        /// For the model.
        message: String,
        reason_type: Option<DecisionReasonType>,
        reason: Because,
    },
    Ask(Box<Ask>),
}

/// A question for the host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) reason_type: Option<DecisionReasonType>,
    /// For the host; not every question has one.
    pub(crate) reason: Option<String>,
    pub(crate) suggestions: Vec<PermissionUpdate>,
    pub(crate) blocked_path: Option<String>,
    /// The answer is the user's own words or choice.
    pub(crate) requires_user: bool,
    /// The rule that led to the question.
    pub(crate) because: Because,
    /// What the model reads when nobody can be asked.
    pub(crate) unanswered: String,
}

/// What decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Because {
    Hook(Option<String>),
    Rule {
        behavior: Effect,
        rule: String,
        source: RuleSource,
    },
    /// A rule that denies a part of a command.
    PartForbidden {
        rule: String,
        source: RuleSource,
    },
    Mode(PermissionMode),
    /// Several rules, or rules and the default: every part of a command may run.
    EveryPart(Vec<String>),
    Protected(PathBuf),
    /// A path that is not in the working directories.
    Outside(PathBuf),
    /// A path in them, that is only read.
    ReadInside,
    ReadOnlyCommand,
    /// A command that writes this file.
    Writes(PathBuf),
    NeedsUser,
    /// Nothing that could do harm.
    Harmless,
    /// The command could not be taken apart, or a part of it not be understood.
    NotUnderstood(String),
    /// A rule or a check may forbid it, but that is only known when it runs.
    MayBeForbidden(String),
    /// A part of a command that nothing allows.
    Part(String),
    NoRule,
}

impl Because {
    /// Where the rule is written that decided, if it was one.
    pub(crate) fn source(&self) -> Option<RuleSource> {
        match self {
            Self::Rule { source, .. } | Self::PartForbidden { source, .. } => Some(*source),
            _ => None,
        }
    }

    /// Whether a question may only be answered by a person, not by a rule of the host.
    pub(crate) fn needs_person(&self) -> bool {
        match self {
            Self::Hook(_)
            | Self::Rule { .. }
            | Self::PartForbidden { .. }
            | Self::Mode(_)
            | Self::Protected(_)
            | Self::NeedsUser
            | Self::MayBeForbidden(_) => true,
            Self::EveryPart(_)
            | Self::Outside(_)
            | Self::ReadInside
            | Self::ReadOnlyCommand
            | Self::Writes(_)
            | Self::Harmless
            | Self::NotUnderstood(_)
            | Self::Part(_)
            | Self::NoRule => false,
        }
    }

    pub(super) fn reason_type(&self) -> Option<DecisionReasonType> {
        match self {
            Self::Hook(_) => Some(DecisionReasonType::Hook),
            Self::Rule { .. } => Some(DecisionReasonType::Rule),
            Self::Mode(_) => Some(DecisionReasonType::Mode),
            Self::EveryPart(_) | Self::PartForbidden { .. } => {
                Some(DecisionReasonType::SubcommandResults)
            }
            Self::Protected(_) => Some(DecisionReasonType::SafetyCheck),
            Self::Outside(_) => Some(DecisionReasonType::WorkingDir),
            Self::Part(_) | Self::NotUnderstood(_) | Self::MayBeForbidden(_) => {
                Some(DecisionReasonType::Unclassified)
            }
            Self::ReadInside
            | Self::ReadOnlyCommand
            | Self::Writes(_)
            | Self::NeedsUser
            | Self::Harmless
            | Self::NoRule => None,
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(Some(reason)) => write!(formatter, "a hook decided: {reason}"),
            Self::Hook(None) => formatter.write_str("a hook decided"),
            Self::Rule {
                behavior,
                rule,
                source,
            } => write!(
                formatter,
                "the {} rule `{rule}` in {} applies",
                behavior.key(),
                source.words()
            ),
            Self::PartForbidden { rule, source } => write!(
                formatter,
                "the deny rule `{rule}` in {} applies",
                source.words()
            ),
            Self::Mode(mode) => write!(formatter, "the permission mode is {}", mode.as_str()),
            Self::EveryPart(parts) => {
                write!(formatter, "every part may run: {}", parts.join("; "))
            }
            Self::Protected(path) => {
                write!(formatter, "`{}` is protected in every mode", path.display())
            }
            Self::Outside(path) => write!(
                formatter,
                "`{}` is outside the working directories",
                path.display()
            ),
            Self::ReadInside => formatter.write_str("it only reads in a working directory"),
            Self::ReadOnlyCommand => formatter.write_str("the command only reads"),
            Self::Writes(path) => {
                write!(formatter, "the command writes `{}`", path.display())
            }
            Self::NeedsUser => formatter.write_str("only the user can answer this"),
            Self::Harmless => formatter.write_str("the tool touches nothing outside the session"),
            Self::NotUnderstood(why) | Self::MayBeForbidden(why) => {
                write!(formatter, "the command cannot be judged: {why}")
            }
            Self::Part(part) => write!(formatter, "no rule allows `{part}`"),
            Self::NoRule => formatter.write_str("no rule allows it"),
        }
    }
}

impl Ask {
    /// Nobody can be asked: the question becomes a denial.
    pub(crate) fn denied(self) -> Verdict {
        Verdict::Deny {
            message: self.unanswered,
            reason_type: self.reason_type,
            reason: self.because,
        }
    }
}
