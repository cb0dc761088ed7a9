//! Rules that allow: all of the call has to be covered.

use serde_json::Value;

use super::{Because, Case, Judgement, Outcome, PartAllowed};
use crate::effect::Effect;
use crate::location::{Location, Where};
use crate::matcher::{Matcher, names_file};
use crate::place::Place;
use crate::set::Entry;
use crate::shell::{self, Direction, Part, Redirect, Script};
use crate::subject::{Access, Subject};

impl Case<'_> {
    /// The rules that allow the call, if they allow all of it.
    pub(super) fn allowed(&self) -> Option<Judgement> {
        let judgement = match self.subject {
            Subject::Command { text, script } => self
                .first(|case, matcher| case.allows_tool(matcher))
                .or_else(|| self.spelled_out(text))
                .or_else(|| self.command_allowed(script.as_ref().ok()?)),
            _ => self.first(|case, matcher| case.covers(matcher)),
        }?;
        let leaves_sandbox = self.call.input.get("dangerouslyDisableSandbox");
        if leaves_sandbox.is_some_and(|value| *value != Value::Bool(false)) {
            return Some(Judgement {
                effect: Outcome::Ask,
                because: Because::Unsandboxed,
                rule: None,
            });
        }
        Some(judgement)
    }

    fn first(&self, test: impl Fn(&Self, &Matcher) -> bool) -> Option<Judgement> {
        let mut rules = self.rules.that(Effect::Allow);
        let (index, entry, _) = rules.find(|(_, _, matcher)| test(self, matcher))?;
        Some(allowed_by(index, entry))
    }

    fn allows_tool(&self, matcher: &Matcher) -> bool {
        matcher.allows_whole_tool(self.call.tool, self.call.server)
    }

    fn covers(&self, matcher: &Matcher) -> bool {
        if self.allows_tool(matcher) {
            return true;
        }
        match (matcher, self.subject) {
            (Matcher::Named { tool, name }, _) => {
                tool == self.call.tool && self.names().iter().any(|text| name.matches(text))
            }
            (Matcher::Domain { .. }, Subject::Host(host)) => matcher.matches_domain(host),
            (_, Subject::Files { access, places }) => places
                .iter()
                .all(|place| covers_file(matcher, *access, place)),
            (Matcher::AnyPath { .. }, Subject::Tool { places }) => {
                !places.is_empty()
                    && places
                        .iter()
                        .all(|place| covers_file(matcher, Access::Write, place))
            }
            _ => false,
        }
    }

    /// A rule that spells out exactly this text, whatever it contains.
    fn spelled_out(&self, command: &str) -> Option<Judgement> {
        let line = shell::one_line(command);
        if self.call.tool != "Bash" {
            return None;
        }
        self.first(|_, matcher| {
            matches!(matcher, Matcher::Command(pattern) if pattern.is_exact() && pattern.matches(line))
        })
    }

    /// Several rules may allow a plain command together, a part each.
    fn command_allowed(&self, script: &Script) -> Option<Judgement> {
        let parts = script.parts();
        if self.call.tool != "Bash" || script.plain().is_err() || parts.is_empty() {
            return None;
        }
        let mut location = self.start.clone();
        let mut allowed = Vec::new();
        for part in parts {
            allowed.extend(self.part_allowed(part, &location)?);
            location.follow(part);
        }
        let rule = allowed.first().map(|part| part.index);
        Some(Judgement {
            effect: Outcome::Allow,
            because: Because::EveryPart(allowed),
            rule,
        })
    }

    /// The rules that allow a part; none are needed for files that keep nothing.
    fn part_allowed(&self, part: &Part, location: &Location) -> Option<Vec<PartAllowed>> {
        if part.words.is_empty() && !part.redirects.is_empty() && part.assignments.is_empty() {
            let redirects = part.redirects.iter();
            let rules = redirects.map(|redirect| self.redirect_allowed(redirect, location));
            return rules
                .collect::<Option<Vec<_>>>()
                .map(|rules| rules.into_iter().flatten().collect());
        }
        let mut rules = self.rules.that(Effect::Allow);
        let (index, entry, _) = rules.find(
            |(_, _, matcher)| matches!(matcher, Matcher::Command(pattern) if pattern.allows(part)),
        )?;
        Some(vec![part_by(part.text(), index, entry)])
    }

    fn redirect_allowed(
        &self,
        redirect: &Redirect,
        location: &Location,
    ) -> Option<Option<PartAllowed>> {
        let access = match redirect.direction {
            Direction::Read => Access::Read,
            Direction::Write if shell::is_sink(&redirect.file) => return Some(None),
            Direction::Write => Access::Write,
        };
        let Where::At(places) = location.places(&redirect.file) else {
            return None;
        };
        redirect.file.literal.as_ref()?;
        let mut rules = self.rules.that(Effect::Allow);
        let (index, entry, _) = rules.find(|(_, _, matcher)| {
            places
                .iter()
                .all(|place| covers_file(matcher, access, place))
        })?;
        Some(Some(part_by(redirect.file.text.clone(), index, entry)))
    }

    /// The first part that keeps a command from being allowed, to name it.
    pub(super) fn part_without_rule(&self, script: &Script) -> Option<Because> {
        if let Err(why) = script.plain() {
            return Some(Because::NotPlain(why));
        }
        let parts = script.parts();
        let mut location = self.start.clone();
        for part in parts {
            if self.part_allowed(part, &location).is_none() {
                let text = match part.redirects.first() {
                    Some(redirect) if part.words.is_empty() => redirect.file.text.clone(),
                    _ => part.text(),
                };
                return Some(Because::Part(text)).filter(|_| part.opaque.is_none());
            }
            location.follow(part);
        }
        None
    }
}

fn covers_file(matcher: &Matcher, access: Access, place: &Place) -> bool {
    match (matcher, access) {
        (Matcher::Read(pattern), Access::Read) | (Matcher::Edit(pattern), Access::Write) => {
            pattern.covers(place)
        }
        (Matcher::AnyPath { glob, below }, _) => {
            let mut names = place.names();
            place.is_clear && names.all(|name| names_file(glob, below, name))
        }
        _ => false,
    }
}

fn allowed_by(index: usize, entry: &Entry) -> Judgement {
    Judgement {
        effect: Outcome::Allow,
        because: Because::Rule {
            effect: Effect::Allow,
            rule: entry.text.clone(),
        },
        rule: Some(index),
    }
}

fn part_by(part: String, index: usize, entry: &Entry) -> PartAllowed {
    PartAllowed {
        part,
        rule: entry.text.clone(),
        index,
    }
}
