//! Judging file tools.

use std::path::Path;

use falconer_protocol::permission::PermissionMode;
use falconer_rule::{Effect, Matcher, Place};

use super::judge::{ask, because_of};
use super::question::{Because, Case, Verdict};
use super::{Permissions, Target, suggest};

impl Permissions {
    /// Whether a rule on paths applies to a file tool.
    pub(super) fn path_rule(
        &self,
        behavior: Effect,
        matcher: &Matcher,
        question: &Case<'_>,
        path: &Path,
    ) -> bool {
        let pattern = match (matcher, question.target) {
            (Matcher::Read(pattern), Target::Read(_)) => pattern,
            // The answer of an edit shows lines of the file.
            (Matcher::Read(pattern), Target::Write(_))
                if behavior != Effect::Allow && question.tool != "Write" =>
            {
                pattern
            }
            (Matcher::Edit(pattern), Target::Write(_)) => pattern,
            (Matcher::PathOf(tool, pattern), _) if tool == question.tool => pattern,
            _ => return false,
        };
        match behavior {
            Effect::Allow => pattern.covers(question.place(path)),
            Effect::Deny | Effect::Ask => pattern.touches(question.place(path)),
        }
    }

    pub(super) fn judge_read(&self, question: &Case<'_>, path: &Path) -> Verdict {
        if self.mode == PermissionMode::BypassPermissions {
            return self.allow_by_mode();
        }
        if let Some(entry) = self.matching(Effect::Allow, question) {
            return Verdict::Allow {
                reason: because_of(entry),
            };
        }
        let place = question.place(path);
        if self.directories.may_read(place) {
            return Verdict::Allow {
                reason: Because::ReadInside,
            };
        }
        let suggestions = suggest::for_read(place);
        ask(
            question,
            Because::Outside(place.spelled.clone()),
            suggestions,
        )
    }

    pub(super) fn judge_write(&self, question: &Case<'_>, path: &Path) -> Verdict {
        let place = question.place(path);
        if self.is_plan(place) {
            return self.allow_by_mode();
        }
        if self.mode == PermissionMode::BypassPermissions {
            return self.allow_by_mode();
        }
        if self.mode == PermissionMode::Plan {
            return ask(question, Because::Mode(self.mode.clone()), Vec::new());
        }
        let is_inside = self.directories.contain(place);
        if self.mode == PermissionMode::AcceptEdits && is_inside {
            return self.allow_by_mode();
        }
        if let Some(entry) = self.matching(Effect::Allow, question) {
            return Verdict::Allow {
                reason: because_of(entry),
            };
        }
        let suggestions = suggest::for_write(place, is_inside, &self.mode);
        let because = if is_inside {
            Because::NoRule
        } else {
            Because::Outside(place.spelled.clone())
        };
        ask(question, because, suggestions)
    }

    /// Whether this is the one file that plan mode may write, and the mode is on.
    pub(super) fn is_plan(&self, place: &Place) -> bool {
        self.mode == PermissionMode::Plan && self.plan_file.as_ref() == Some(place)
    }

    /// Whether the shell or a known program may write a file without a question.
    pub(super) fn may_write(&self, place: &Place) -> bool {
        let by_mode = self.mode == PermissionMode::AcceptEdits && self.directories.contain(place);
        let by_rule = || {
            self.rules_that(Effect::Allow).any(
                |(_, matcher)| matches!(matcher, Matcher::Edit(pattern) if pattern.covers(place)),
            )
        };
        !self.is_protected(place) && !has_other_names(place) && (by_mode || by_rule())
    }

    pub(super) fn may_read(&self, place: &Place) -> bool {
        let by_rule = || {
            self.rules_that(Effect::Allow).any(
                |(_, matcher)| matches!(matcher, Matcher::Read(pattern) if pattern.covers(place)),
            )
        };
        self.directories.may_read(place) || by_rule()
    }
}

/// Whether a file has hard links: a shell that writes it writes a file of another name, too.
fn has_other_names(place: &Place) -> bool {
    use std::os::unix::fs::MetadataExt;
    let metadata = place.real.symlink_metadata();
    metadata.is_ok_and(|it| it.is_file() && it.nlink() > 1)
}
