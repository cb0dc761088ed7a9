//! Judging shell commands, part by part.

use std::path::PathBuf;

use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use falconer_rule::shell::{self, Direction, Part};
use falconer_rule::{Effect, Location, Matcher, Place, Where, may_touch_unknown};

use super::judge::{ask, because_of};
use super::protected::{is_protected, mentions_protected};
use super::question::{Because, Case, Verdict};
use super::{Permissions, suggest};

impl Permissions {
    /// What is allowed may still name a file that a rule forbids, when nobody can tell.
    pub(super) fn judge_command(&self, question: &Case<'_>, command: &str) -> Verdict {
        match self.judge_known(question, command) {
            Verdict::Allow { .. } if self.may_touch_forbidden(question, command) => {
                let why = "a file it names is only known when it runs, and a rule forbids some";
                ask(question, Because::NotUnderstood(why.to_owned()), Vec::new())
            }
            verdict => verdict,
        }
    }

    fn may_touch_forbidden(&self, question: &Case<'_>, command: &str) -> bool {
        let Ok(parts) = question.parts(command) else {
            return false;
        };
        let location = || Location::new(question.cwd, self.anchors.home.as_deref());
        let mut restrictions = self
            .rules_that(Effect::Deny)
            .chain(self.rules_that(Effect::Ask));
        restrictions.any(|(_, matcher)| may_touch_unknown(matcher, parts, location()))
    }

    fn judge_known(&self, question: &Case<'_>, command: &str) -> Verdict {
        let all = self.allows_everything(question);
        let parts = match question.parts(command) {
            Ok(parts) => parts,
            Err(error) => return self.judge_unparsable(question, command, all, error),
        };
        let mut location = Location::new(question.cwd, self.anchors.home.as_deref());
        if let Some(path) = protected_write(parts, command, &mut location.clone()) {
            return ask(question, Because::Protected(path), Vec::new());
        }
        let findings: Vec<Result<String, Refusal>> = parts
            .iter()
            .map(|part| self.judge_part(part, &mut location))
            .collect();
        let reads = self.only_reads(parts, &findings);
        if self.mode == PermissionMode::Plan && !reads {
            return ask(question, Because::Mode(self.mode.clone()), Vec::new());
        }
        let opaque = parts.iter().find_map(|part| shell::stripped(part).opaque);
        if let Some(reason) = all {
            return match opaque {
                Some(why) if self.has_fine_restrictions() => {
                    ask(question, Because::NotUnderstood(why.to_owned()), Vec::new())
                }
                _ => Verdict::Allow { reason },
            };
        }
        if opaque.is_none()
            && let Some(reason) = self.spelled_out(command)
        {
            return Verdict::Allow { reason };
        }
        let mut verdict = all_or_none(question, command, parts, findings);
        if let Verdict::Ask(ask) = &mut verdict {
            ask.suggestions.retain(|it| !self.is_in_force(it));
        }
        verdict
    }

    /// Whether a change of the mode would change nothing.
    fn is_in_force(&self, update: &PermissionUpdate) -> bool {
        matches!(update, PermissionUpdate::SetMode(it) if it.mode == self.mode)
    }

    /// Whether everything may run, so that parts do not matter.
    fn allows_everything(&self, question: &Case<'_>) -> Option<Because> {
        if self.mode == PermissionMode::BypassPermissions {
            return Some(Because::Mode(self.mode.clone()));
        }
        self.matching(Effect::Allow, question).map(because_of)
    }

    fn judge_unparsable(
        &self,
        question: &Case<'_>,
        command: &str,
        all: Option<Because>,
        error: &shell::Unparsable,
    ) -> Verdict {
        let is_checkable = self.has_fine_restrictions() || mentions_protected(command);
        match all {
            Some(reason) if !is_checkable && self.mode != PermissionMode::Plan => {
                Verdict::Allow { reason }
            }
            _ => ask(
                question,
                Because::NotUnderstood(error.to_string()),
                Vec::new(),
            ),
        }
    }

    /// Rules that only apply if the command is understood.
    fn has_fine_restrictions(&self) -> bool {
        let mut restrictions = self
            .rules_that(Effect::Deny)
            .chain(self.rules_that(Effect::Ask));
        restrictions.any(|(_, matcher)| {
            matches!(
                matcher,
                Matcher::Command(_) | Matcher::Read(_) | Matcher::Edit(_) | Matcher::Everything
            )
        })
    }

    /// A rule that spells out exactly this command, however many parts it has.
    fn spelled_out(&self, command: &str) -> Option<Because> {
        let line = shell::one_line(command);
        self.rules_that(Effect::Allow)
            .find(|(_, matcher)| {
                matches!(matcher, Matcher::Command(pattern) if pattern.is_exact() && pattern.matches(line))
            })
            .map(|(entry, _)| because_of(entry))
    }

    fn only_reads(&self, parts: &[Part], findings: &[Result<String, Refusal>]) -> bool {
        !shell::moves_and_asks_git(parts)
            && findings.iter().all(Result::is_ok)
            && parts.iter().all(|part| shell::reads_only(part).is_some())
    }

    /// Why a part may run, or what stands against it.
    fn judge_part(&self, part: &Part, location: &mut Location) -> Result<String, Refusal> {
        let verdict = self.judge_here(part, location);
        location.follow(part);
        verdict
    }

    fn judge_here(&self, part: &Part, location: &Location) -> Result<String, Refusal> {
        let bare = shell::stripped(part);
        if let Some(why) = bare.opaque {
            return Err(Refusal::NotUnderstood(why.to_owned()));
        }
        if bare.words.is_empty() && !bare.redirects.is_empty() {
            return self.judge_redirects(&bare, location);
        }
        if let Some(rule) = self.allowing_rule(part) {
            return Ok(format!("`{}` by the rule `{rule}`", bare.text()));
        }
        if let Some(reading) = shell::reads_only(part) {
            self.check_reading(part, &reading, location)?;
            return Ok(READS.to_owned());
        }
        let Some(work) = shell::file_work(part) else {
            return Err(Refusal::Part(bare.text()));
        };
        self.check_work(&bare, &work, location)
    }

    fn check_work(
        &self,
        bare: &Part,
        work: &shell::FileWork,
        location: &Location,
    ) -> Result<String, Refusal> {
        let accepts = self.mode == PermissionMode::AcceptEdits;
        let known = |word| location.places(word);
        let may_write = |place: &Place| self.may_write(place);
        let writes = work.writes.iter().all(|word| known(word).all(may_write));
        let reads = work
            .reads
            .iter()
            .all(|word| known(word).all(|place| self.may_read(place)));
        if accepts && work.is_plain && writes && reads {
            return Ok(format!("`{}` by the mode acceptEdits", bare.text()));
        }
        let first = work
            .writes
            .iter()
            .filter_map(|word| known(word).first())
            .find(|place| !self.may_write(place) || !accepts);
        Err(first.map_or_else(
            || Refusal::Part(bare.text()),
            |place| Refusal::Writes(place.spelled),
        ))
    }

    fn judge_redirects(&self, part: &Part, location: &Location) -> Result<String, Refusal> {
        for redirect in &part.redirects {
            let places = location.places(&redirect.file);
            let is_fine = match redirect.direction {
                Direction::Write => {
                    shell::is_sink(&redirect.file) || places.all(|place| self.may_write(place))
                }
                Direction::Read => places.all(|place| self.may_read(place)),
            };
            if is_fine {
                continue;
            }
            return Err(match (places.first(), redirect.direction) {
                (Some(place), Direction::Write) => Refusal::Writes(place.spelled),
                (Some(place), Direction::Read) => Refusal::Outside(place.spelled),
                (None, _) => {
                    Refusal::NotUnderstood("a file it opens is only known when it runs".to_owned())
                }
            });
        }
        Ok(READS.to_owned())
    }

    fn allowing_rule(&self, part: &Part) -> Option<&str> {
        self.rules_that(Effect::Allow)
            .find(
                |(_, matcher)| matches!(matcher, Matcher::Command(pattern) if pattern.allows(part)),
            )
            .map(|(entry, _)| entry.written.text.as_str())
    }

    fn check_reading(
        &self,
        part: &Part,
        reading: &shell::Reading,
        location: &Location,
    ) -> Result<(), Refusal> {
        let is_hidden = self.hides_something();
        if is_hidden && shell::reads_trees(part) {
            let why = "it may read files that a rule hides".to_owned();
            return Err(Refusal::NotUnderstood(why));
        }
        for word in reading.files.iter().chain(&reading.moves_to) {
            let places = location.places(word);
            if is_hidden && word.glob.is_some() {
                let why = "a pattern may name files that a rule hides".to_owned();
                return Err(Refusal::NotUnderstood(why));
            }
            match places {
                Where::Unknown => {
                    let why = "a file it reads is only known when it runs".to_owned();
                    return Err(Refusal::NotUnderstood(why));
                }
                Where::At(places) => {
                    let outside = places.into_iter().find(|place| !self.may_read(place));
                    if let Some(place) = outside {
                        return Err(Refusal::Outside(place.spelled));
                    }
                }
            }
        }
        Ok(())
    }

    fn hides_something(&self) -> bool {
        let mut restrictions = self
            .rules_that(Effect::Deny)
            .chain(self.rules_that(Effect::Ask));
        restrictions.any(|(_, matcher)| matches!(matcher, Matcher::Read(_)))
    }
}

/// A command runs if every part may.
fn all_or_none(
    question: &Case<'_>,
    command: &str,
    parts: &[Part],
    findings: Vec<Result<String, Refusal>>,
) -> Verdict {
    let collected: Result<Vec<String>, Refusal> = findings.into_iter().collect();
    match collected {
        Ok(_) if parts.is_empty() => {
            let nothing = "it contains no command".to_owned();
            ask(question, Because::NotUnderstood(nothing), Vec::new())
        }
        Ok(_) if shell::moves_and_asks_git(parts) => {
            let why = "git in another directory may run what is configured there".to_owned();
            let suggestions = suggest::for_command(command, parts, None);
            ask(question, Because::NotUnderstood(why), suggestions)
        }
        Ok(reasons) => Verdict::Allow {
            reason: summary(reasons),
        },
        Err(refusal) => refusal.into_verdict(question, command, parts),
    }
}

const READS: &str = "it only reads";

fn summary(mut reasons: Vec<String>) -> Because {
    reasons.retain(|reason| reason != READS);
    reasons.dedup();
    if reasons.is_empty() {
        return Because::ReadOnlyCommand;
    }
    Because::EveryPart(reasons)
}

/// What stands against a part.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    NotUnderstood(String),
    Part(String),
    Writes(PathBuf),
    Outside(PathBuf),
}

impl Refusal {
    fn into_verdict(self, question: &Case<'_>, command: &str, parts: &[Part]) -> Verdict {
        let (because, blocked) = match self {
            Self::NotUnderstood(why) => (Because::NotUnderstood(why), None),
            Self::Part(part) => (Because::Part(part), None),
            Self::Writes(path) => (Because::Writes(path.clone()), Some(path)),
            Self::Outside(path) => (Because::Outside(path.clone()), Some(path)),
        };
        let suggestions = match &because {
            Because::Outside(path) => suggest::for_read(&Place::of(path)),
            _ => suggest::for_command(command, parts, blocked.as_deref()),
        };
        let mut verdict = ask(question, because, suggestions);
        if let Verdict::Ask(ask) = &mut verdict {
            ask.blocked_path = blocked.map(|path| path.to_string_lossy().into_owned());
        }
        verdict
    }
}

/// A protected file that the command writes, as far as can be told.
fn protected_write(parts: &[Part], command: &str, location: &mut Location) -> Option<PathBuf> {
    for part in parts {
        let work = shell::file_work(part).unwrap_or_default();
        let redirects = part.redirects.iter();
        let written = redirects
            .filter(|redirect| {
                redirect.direction == Direction::Write && !shell::is_sink(&redirect.file)
            })
            .map(|redirect| &redirect.file)
            .chain(&work.writes);
        for word in written {
            match location.places(word) {
                Where::At(places) => {
                    if let Some(place) = places.into_iter().find(is_protected) {
                        return Some(place.spelled);
                    }
                }
                Where::Unknown if mentions_protected(command) => {
                    return Some(PathBuf::from(&word.text));
                }
                Where::Unknown => {}
            }
        }
        location.follow(part);
    }
    None
}
