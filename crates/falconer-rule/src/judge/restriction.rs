//! Rules that deny or ask: one hit is enough.

use std::cell::OnceCell;
use std::rc::Rc;

use super::{Because, Case, Judgement, Outcome};
use crate::effect::Effect;
use crate::matcher::{Matcher, names_file};
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::subject::{Access, Subject};

impl Case<'_> {
    /// The first rule with this effect that is about the call.
    pub(super) fn restricted(&self, effect: Effect) -> Option<Judgement> {
        let mut rules = self.rules.that(effect);
        let (index, entry, _) = rules.find(|(_, _, matcher)| self.touches(matcher))?;
        Some(Judgement {
            effect: match effect {
                Effect::Deny => Outcome::Deny,
                Effect::Ask => Outcome::Ask,
                Effect::Allow => Outcome::Allow,
            },
            because: Because::Rule {
                effect,
                rule: entry.text.clone(),
            },
            rule: Some(index),
        })
    }

    fn touches(&self, matcher: &Matcher) -> bool {
        if matcher.is_whole_tool(self.call.tool) {
            return true;
        }
        match (matcher, self.subject) {
            (Matcher::Everything, _) => true,
            (Matcher::AnyPath { glob, below }, _) => {
                let places = self.subject.places(self.call);
                places
                    .iter()
                    .any(|place| place.names().any(|name| names_file(glob, below, name)))
            }
            (Matcher::Named { tool, name }, _) => {
                tool == self.call.tool && self.names().iter().any(|text| name.matches(text))
            }
            (Matcher::Domain { .. }, Subject::Host(host)) => matcher.matches_domain(host),
            // Nobody knows where it goes.
            (Matcher::Domain { .. }, Subject::Tool { .. }) => self.call.tool == "WebFetch",
            (_, Subject::Command { .. }) => {
                let footprint = self.footprint.as_ref();
                footprint.is_some_and(|footprint| footprint.is_met_by(matcher))
            }
            (_, Subject::Files { access, places }) => {
                let pattern = self.pattern_for(matcher, *access);
                pattern.is_some_and(|pattern| touches_one(pattern, places))
            }
            // What a server does to a file is not known.
            (Matcher::Read(pattern) | Matcher::Edit(pattern), Subject::Tool { places })
                if self.call.tool.starts_with("mcp__") =>
            {
                touches_one(pattern, places)
            }
            _ => false,
        }
    }

    /// The pattern of a rule that forbids, if it is about what is done to files here.
    fn pattern_for<'m>(&self, matcher: &'m Matcher, access: Access) -> Option<&'m PathPattern> {
        match (matcher, access) {
            (Matcher::Read(pattern), Access::Read) => Some(pattern),
            // The answer of an edit shows lines of the file.
            (Matcher::Read(pattern), Access::Write) if self.call.tool != "Write" => Some(pattern),
            (Matcher::Edit(pattern), Access::Write) => Some(pattern),
            (Matcher::PathOf(tool, pattern), _) if tool == self.call.tool => Some(pattern),
            _ => None,
        }
    }

    /// What an agent or skill is called in the input.
    pub(super) fn names(&self) -> Vec<String> {
        let keys = ["subagent_type", "skill", "command", "name"];
        let name = keys.into_iter().find_map(|key| self.call.text(key));
        let name = name.unwrap_or_default();
        let arguments = self.call.text("args");
        let with_arguments = arguments.map(|arguments| format!("{name} {arguments}"));
        with_arguments
            .into_iter()
            .chain([name.to_owned()])
            .collect()
    }

    /// Rules that only apply if a command is understood.
    pub(super) fn has_fine_restrictions(&self) -> bool {
        let mut restrictions = self
            .rules
            .that(Effect::Deny)
            .chain(self.rules.that(Effect::Ask));
        restrictions.any(|(_, _, matcher)| {
            matches!(
                matcher,
                Matcher::Command(_)
                    | Matcher::Read(_)
                    | Matcher::Edit(_)
                    | Matcher::AnyPath { .. }
                    | Matcher::Everything
            )
        })
    }

    /// Whether a rule may forbid what a command does, and nobody can tell before it runs.
    pub(super) fn might_be_forbidden(&self) -> bool {
        let (
            Some(footprint),
            Subject::Command {
                script: Ok(script), ..
            },
        ) = (&self.footprint, self.subject)
        else {
            return false;
        };
        let deny = self.rules.that(Effect::Deny);
        let mut restrictions = deny.chain(self.rules.that(Effect::Ask));
        let parts = script.parts();
        let mut words = parts.iter().flat_map(|part| part.arguments());
        let has_pattern = words.any(|word| word.glob.is_some());
        let unknown_files = OnceCell::new();
        let names_unknown =
            || *unknown_files.get_or_init(|| self.subject.names_unknown_files(self.call));
        restrictions.any(|(_, _, matcher)| match matcher {
            // Patterns are looked up on the disk for rules on paths, not for the others.
            Matcher::Read(_) | Matcher::Edit(_) if has_pattern => true,
            Matcher::Read(_) | Matcher::Edit(_) | Matcher::AnyPath { .. } if names_unknown() => {
                true
            }
            _ => footprint.may_be_met_by(matcher),
        })
    }

    /// Whether somebody wanted to have a say about commands.
    pub(super) fn has_rules_on_commands(&self) -> bool {
        let mut allowing = self.rules.that(Effect::Allow);
        let allows_some = allowing.any(|(_, _, matcher)| {
            matches!(matcher, Matcher::Command(_)) || matcher.is_whole_tool(self.call.tool)
        });
        allows_some || self.has_fine_restrictions()
    }
}

fn touches_one(pattern: &PathPattern, places: &[Rc<Place>]) -> bool {
    places.iter().any(|place| pattern.touches(place))
}
