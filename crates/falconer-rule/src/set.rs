//! Rules bound to a project, ready for many calls.

use crate::call::Call;
use crate::effect::Effect;
use crate::judge::{Case, Judgement};
use crate::matcher::Matcher;
use crate::path_pattern::Anchors;
use crate::rule::Rule;
use crate::text::RuleProblem;

/// Rules with what each says, bound to a project.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    pub(crate) entries: Vec<Entry>,
    useless: Vec<UselessRule>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) effect: Effect,
    pub(crate) text: String,
    /// None if it allows nothing.
    pub(crate) matcher: Option<Matcher>,
}

/// A rule that cannot be used as written. One that denies or asks counts for the whole tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UselessRule {
    /// Its place among the rules given.
    pub index: usize,
    /// Why.
    pub problem: RuleProblem,
}

impl RuleSet {
    /// Binds rules to a project.
    pub fn new(rules: &[(Effect, Rule)], anchors: &Anchors) -> Self {
        let mut set = Self::default();
        for (index, (effect, rule)) in rules.iter().enumerate() {
            let (matcher, problem) = rule.bind(*effect, anchors);
            let useless = problem.map(|problem| UselessRule { index, problem });
            set.useless.extend(useless);
            set.entries.push(Entry {
                effect: *effect,
                text: rule.to_string(),
                matcher,
            });
        }
        set
    }

    /// Rules that do not do what their writer wanted.
    pub fn useless(&self) -> &[UselessRule] {
        &self.useless
    }

    /// What becomes of a call: denials first, then questions, then allowances.
    pub fn judge(&self, call: &Call<'_>) -> Judgement {
        Case::new(self, call).judge()
    }

    pub(crate) fn that(&self, effect: Effect) -> impl Iterator<Item = (usize, &Entry, &Matcher)> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(move |(_, entry)| entry.effect == effect)
            .filter_map(|(index, entry)| Some((index, entry, entry.matcher.as_ref()?)))
    }
}
