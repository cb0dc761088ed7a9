//! What becomes of a call by rules alone.
//!
//! Denials come first, then what is to be asked, then what is allowed. To deny or to ask, one
//! hit is enough: one part of a command, one of the names of a file. To allow, all of it has to
//! be covered.

mod allow;
mod restriction;

use std::fmt;

use crate::call::Call;
use crate::effect::Effect;
use crate::location::Location;
use crate::path_pattern::Anchors;
use crate::restrict::Footprint;
use crate::rule::Rule;
use crate::set::RuleSet;
use crate::shell::{self, NotPlain};
use crate::subject::Subject;

/// What becomes of a call by rules alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is not made.
    Deny,
    /// A person decides.
    Ask,
    /// It is made.
    Allow,
    /// No rule is about it; whoever asks decides.
    NoMatch,
}

impl Outcome {
    /// What the rules say, if they say something.
    pub fn effect(self) -> Option<Effect> {
        match self {
            Self::Deny => Some(Effect::Deny),
            Self::Ask => Some(Effect::Ask),
            Self::Allow => Some(Effect::Allow),
            Self::NoMatch => None,
        }
    }
}

/// What becomes of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// What becomes of it.
    pub effect: Outcome,
    /// Why; its text is one sentence for people.
    pub because: Because,
    /// The rule that decided, by its place among those given; the first if there are several.
    pub rule: Option<usize>,
}

/// Why a call is judged as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Because {
    /// One rule decided.
    Rule {
        /// What it says.
        effect: Effect,
        /// The rule.
        rule: String,
    },
    /// Every part of a command is allowed, by these rules.
    EveryPart(Vec<PartAllowed>),
    /// A command that nobody can judge.
    NotUnderstood(String),
    /// A part of a command that no rule allows.
    Part(String),
    /// A command that rules for its parts cannot allow.
    NotPlain(NotPlain),
    /// A command that asks to run outside the sandbox.
    Unsandboxed,
    /// No rule is about the tool or what it is given.
    NoRule {
        /// The tool.
        tool: String,
    },
}

/// A part of a command and the rule that allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartAllowed {
    /// The part.
    pub part: String,
    /// The rule.
    pub rule: String,
    /// Its place among the rules.
    pub index: usize,
}

/// Judges a call by rules whose paths start in the directory of the call.
///
/// For many calls, make a [`RuleSet`] once.
pub fn judge(rules: &[(Effect, Rule)], call: &Call<'_>) -> Judgement {
    let anchors = Anchors {
        project: call.cwd.to_owned(),
        home: call.home.map(ToOwned::to_owned),
    };
    RuleSet::new(rules, &anchors).judge(call)
}

/// A call while it is judged: what many rules look at is found out once.
#[derive(Debug)]
pub(crate) struct Case<'c> {
    rules: &'c RuleSet,
    call: &'c Call<'c>,
    subject: &'c Subject,
    /// Where a command starts.
    start: Location,
    /// Of a command.
    footprint: Option<Footprint<'c>>,
}

impl<'c> Case<'c> {
    pub(crate) fn new(rules: &'c RuleSet, call: &'c Call<'c>) -> Self {
        let subject = call.subject();
        let footprint = match subject {
            Subject::Command { text, script } => {
                Some(Footprint::new(text, script.as_ref(), call.start()))
            }
            _ => None,
        };
        Self {
            rules,
            call,
            subject,
            start: call.start(),
            footprint,
        }
    }

    pub(crate) fn judge(&self) -> Judgement {
        self.restricted(Effect::Deny)
            .or_else(|| self.restricted(Effect::Ask))
            .or_else(|| self.not_understood())
            .unwrap_or_else(|| {
                let judged = self.allowed().unwrap_or_else(|| self.no_match());
                self.if_nothing_is_hidden(judged)
            })
    }

    /// A command that cannot be compared with the rules there are.
    fn not_understood(&self) -> Option<Judgement> {
        let Subject::Command { script, .. } = self.subject else {
            return None;
        };
        let why = match script {
            Err(error) if self.has_rules_on_commands() => error.to_string(),
            Ok(script) if self.has_fine_restrictions() => {
                let mut parts = script.parts().iter();
                parts
                    .find_map(|part| shell::stripped(part).opaque)?
                    .to_owned()
            }
            Ok(_) | Err(_) => return None,
        };
        Some(Judgement {
            effect: Outcome::Ask,
            because: Because::NotUnderstood(why),
            rule: None,
        })
    }

    /// What is allowed here, or by others because no rule is about it, may still be what a rule
    /// forbids, when nobody can tell.
    fn if_nothing_is_hidden(&self, judged: Judgement) -> Judgement {
        if judged.effect == Outcome::Ask || !self.might_be_forbidden() {
            return judged;
        }
        Judgement {
            effect: Outcome::Ask,
            because: Because::unknown_files(),
            rule: None,
        }
    }

    fn no_match(&self) -> Judgement {
        let because = match self.subject {
            Subject::Command {
                script: Ok(script), ..
            } => self.part_without_rule(script),
            _ => None,
        };
        Judgement {
            effect: Outcome::NoMatch,
            because: because.unwrap_or_else(|| Because::NoRule {
                tool: self.call.tool.to_owned(),
            }),
            rule: None,
        }
    }
}

impl Because {
    /// A command that names a file or a program by a variable, or the like.
    pub fn unknown_files() -> Self {
        Self::NotUnderstood("what it runs or reads is only known when it runs".to_owned())
    }
}

impl fmt::Display for Because {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { effect, rule } => {
                let word = match effect {
                    Effect::Deny => "denied",
                    Effect::Ask => "to be asked",
                    Effect::Allow => "allowed",
                };
                write!(formatter, "it is {word} by the rule `{rule}`")
            }
            Self::EveryPart(parts) => {
                formatter.write_str("every part is allowed: ")?;
                for (index, allowed) in parts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(
                        formatter,
                        "{comma}`{}` by the rule `{}`",
                        allowed.part, allowed.rule
                    )?;
                }
                Ok(())
            }
            Self::NotUnderstood(why) => write!(formatter, "the command cannot be judged: {why}"),
            Self::NotPlain(why) => write!(
                formatter,
                "rules for its parts do not apply to the command: {why}"
            ),
            Self::Part(part) => write!(formatter, "no rule is about `{part}`"),
            Self::Unsandboxed => formatter.write_str("it asks to run outside the sandbox"),
            Self::NoRule { tool } => write!(formatter, "no rule is about this call of `{tool}`"),
        }
    }
}
