//! Judging shell commands, part by part.

use std::path::PathBuf;

use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use falconer_rule::shell::{self, Direction, Grade, Part, Script};
use falconer_rule::{Effect, Location, Matcher, Place, Where, writes_unknown};

use super::judge::{ask, because_of};
use super::question::{Because, Case, Verdict};
use super::{Locks, Permissions, Target, repository, suggest};

impl Permissions {
    /// What is allowed may still name a file that a rule forbids, when nobody can tell.
    pub(super) fn judge_command<'q>(&self, question: &Case<'q>, command: &'q str) -> Verdict {
        match self.judge_known(question, command) {
            Verdict::Allow { .. } if self.may_touch_forbidden(question, command) => {
                let why = "a file it names is only known when it runs, and a rule forbids some";
                ask(
                    question,
                    Because::MayBeForbidden(why.to_owned()),
                    Vec::new(),
                )
            }
            verdict => verdict,
        }
    }

    /// What a hook allows is still asked about if a rule may forbid it.
    pub(super) fn unless_hidden(&self, question: &Case<'_>, verdict: Verdict) -> Verdict {
        let (Target::Command { command, .. }, Verdict::Allow { .. }) = (question.target, &verdict)
        else {
            return verdict;
        };
        let is_opaque = |part: &Part| shell::stripped(part).opaque.is_some();
        let script = question.script(command);
        let is_hidden =
            script.is_ok_and(|script| script.parts().iter().any(is_opaque)) || script.is_err();
        if is_hidden && self.has_fine_restrictions() || self.may_touch_forbidden(question, command)
        {
            let why = "what it runs or reads is only known when it runs, and a rule forbids some";
            return ask(
                question,
                Because::MayBeForbidden(why.to_owned()),
                Vec::new(),
            );
        }
        verdict
    }

    fn may_touch_forbidden<'q>(&self, question: &Case<'q>, command: &'q str) -> bool {
        if question.script(command).is_err() {
            return false;
        }
        let footprint = question.footprint(command, self.anchors.home.as_deref());
        let mut restrictions = self
            .rules_that(Effect::Deny)
            .chain(self.rules_that(Effect::Ask));
        restrictions.any(|(_, matcher)| footprint.may_be_met_by(matcher))
    }

    /// Where the shell is before the command.
    pub(super) fn start(&self, question: &Case<'_>) -> Location {
        question.start(self.anchors.home.as_deref())
    }

    fn judge_known(&self, question: &Case<'_>, command: &str) -> Verdict {
        let all = self.allows_everything(question);
        let script = match question.script(command) {
            Ok(script) => script,
            Err(error) => return self.judge_unparsable(question, all, error),
        };
        let reading = self.judge_reading(question, script);
        let is_planning = self.mode == PermissionMode::Plan;
        match (&reading, all) {
            (Err(_), _) if is_planning => {
                return ask(question, Because::Mode(self.mode.clone()), Vec::new());
            }
            (_, Some(reason)) if !is_planning => {
                return self.unless_unknown(question, script, reason);
            }
            (Ok(()), _) => {
                return Verdict::Allow {
                    reason: Because::ReadOnlyCommand,
                };
            }
            (Err(_), _) => {}
        }
        let is_opaque = |part: &Part| shell::stripped(part).opaque.is_some();
        if !script.parts().iter().any(is_opaque)
            && let Some(reason) = self.spelled_out(command)
        {
            return Verdict::Allow { reason };
        }
        let judged = self.judge_parts(question, script);
        // A command that would only read is told why it may not.
        let reason = match (judged, reading) {
            (Ok(reasons), _) => {
                return Verdict::Allow {
                    reason: Because::EveryPart(reasons),
                };
            }
            (Err(_), Err(Some(why))) => why,
            (Err(refusal), _) => refusal,
        };
        let mut verdict = reason.into_verdict(question, command);
        if let Verdict::Ask(ask) = &mut verdict {
            ask.suggestions.retain(|it| !self.is_in_force(it));
        }
        verdict
    }

    /// Whether the command is one that only reads, in places where it may. The error says what
    /// stands against it, if it would only read.
    fn judge_reading(&self, question: &Case<'_>, script: &Script) -> Result<(), Option<Refusal>> {
        let grade = script.reads_only().ok_or(None)?;
        let refused = |why: &str| Err(Some(Refusal::NotUnderstood(why.to_owned())));
        if grade > Grade::Smallest && self.locks == Locks::JudgementOnly {
            return refused("it only reads, but cannot be confined on this machine");
        }
        if script.uses_git() {
            if !self.directories.are_working(question.cwd) {
                return refused("git in another directory may run what is configured there");
            }
            if let Some(why) = repository::danger(question.cwd) {
                return refused(why);
            }
        }
        let mut location = self.start(question);
        for part in script.parts() {
            let reading = shell::reads_only(part).ok_or(None)?;
            self.check_reading(part, &reading, &location)?;
            location.follow(part);
        }
        Ok(())
    }

    /// A rule or a mode allows everything, but not what must stay closed.
    fn unless_unknown(&self, question: &Case<'_>, script: &Script, reason: Because) -> Verdict {
        let parts = script.parts();
        let opaque = parts.iter().find_map(|part| shell::stripped(part).opaque);
        let is_bypassed = self.mode == PermissionMode::BypassPermissions;
        let why = match opaque {
            Some(why) if self.has_fine_restrictions() => why,
            _ if !is_bypassed && writes_unknown(parts, self.start(question)) => {
                "a file it writes is only known when it runs, and some are protected"
            }
            _ => return Verdict::Allow { reason },
        };
        ask(
            question,
            Because::MayBeForbidden(why.to_owned()),
            Vec::new(),
        )
    }

    /// Why every part may run, or what stands against the first that may not.
    fn judge_parts(&self, question: &Case<'_>, script: &Script) -> Result<Vec<String>, Refusal> {
        if script.parts().is_empty() {
            return Err(Refusal::NotUnderstood("it contains no command".to_owned()));
        }
        script
            .plain()
            .map_err(|why| Refusal::NotUnderstood(why.to_string()))?;
        let mut walk = Walk {
            location: self.start(question),
            before: Files::Untouched,
            now: Files::Untouched,
        };
        let mut reasons = Vec::new();
        for part in script.parts() {
            reasons.extend(self.judge_part(part, &mut walk)?);
        }
        reasons.dedup();
        Ok(reasons)
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
        all: Option<Because>,
        error: &shell::Unparsable,
    ) -> Verdict {
        // Among so many words nobody has looked for protected places.
        let is_large = matches!(
            error,
            shell::Unparsable::TooLong | shell::Unparsable::TooComplex
        );
        let is_free = self.mode != PermissionMode::Plan && !self.has_fine_restrictions();
        match all {
            Some(reason) if is_free && !is_large => Verdict::Allow { reason },
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

    /// Why a part may run, if that needs to be said. What follows a part that writes may not be
    /// allowed by its path: the path may lead elsewhere by then.
    fn judge_part(&self, part: &Part, walk: &mut Walk) -> Result<Option<String>, Refusal> {
        let bare = shell::stripped(part);
        if let Some(why) = bare.opaque {
            return Err(Refusal::NotUnderstood(why.to_owned()));
        }
        if bare.words.is_empty() && !bare.redirects.is_empty() {
            return self.judge_redirects(&bare, walk);
        }
        walk.before = walk.now;
        if let Some(rule) = self.allowing_rule(part) {
            walk.now = Files::Touched;
            walk.location.follow(part);
            return Ok(Some(format!("`{}` by the rule `{rule}`", bare.text())));
        }
        if let Some(reading) = shell::reads_only(part) {
            // The whole is not confined, so that only the smallest set may run in it.
            if reading.grade > Grade::Smallest || bare.name() == Some("git") {
                return Err(Refusal::Part(bare.text()));
            }
            let names_files = !reading.files.is_empty() || reading.moves_to.is_some();
            if names_files {
                walk.check()?;
            }
            self.check_reading(part, &reading, &walk.location)
                .map_err(|refusal| refusal.unwrap_or_else(|| Refusal::Part(bare.text())))?;
            walk.location.follow(part);
            return Ok(None);
        }
        let Some(work) = shell::file_work(part) else {
            return Err(Refusal::Part(bare.text()));
        };
        let reason = self.check_work(&bare, &work, &walk.location)?;
        walk.check()?;
        walk.now = Files::Touched;
        Ok(Some(reason))
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
            .filter_map(|word| known(word).first().cloned())
            .find(|place| !self.may_write(place) || !accepts)
            .map(|place| place.spelled);
        Err(first.map_or_else(|| Refusal::Part(bare.text()), Refusal::Writes))
    }

    fn judge_redirects(&self, part: &Part, walk: &mut Walk) -> Result<Option<String>, Refusal> {
        let mut reason = None;
        for redirect in &part.redirects {
            if redirect.direction == Direction::Write && shell::is_sink(&redirect.file) {
                continue;
            }
            let places = walk.location.places(&redirect.file);
            let is_fine = match redirect.direction {
                Direction::Write => places.all(|place| self.may_write(place)),
                Direction::Read => places.all(|place| self.may_read(place)),
            };
            if is_fine {
                // The shell opens it before the program runs that it belongs to.
                walk.check()?;
                if redirect.direction == Direction::Write {
                    walk.now = Files::Touched;
                    reason = Some(format!("`{}` may be written", redirect.file.text));
                }
                continue;
            }
            return Err(match (places.first(), redirect.direction) {
                (Some(place), Direction::Write) => Refusal::Writes(place.spelled.clone()),
                (Some(place), Direction::Read) => Refusal::Outside(place.spelled.clone()),
                (None, _) => {
                    Refusal::NotUnderstood("a file it opens is only known when it runs".to_owned())
                }
            });
        }
        Ok(reason)
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
    ) -> Result<(), Option<Refusal>> {
        let is_hidden = self.hides_something();
        let not_understood = |why: &str| Err(Some(Refusal::NotUnderstood(why.to_owned())));
        if is_hidden && shell::reads_trees(part) {
            return not_understood("it may read files that a rule hides");
        }
        let bare = shell::stripped(part);
        for name in part.name().into_iter().chain(bare.name()) {
            let home = self.anchors.home.as_deref();
            if let Some(why) = self.programs.danger(name, &self.directories, home) {
                return not_understood(why);
            }
        }
        for word in reading.files.iter().chain(&reading.moves_to) {
            if is_hidden && word.glob.is_some() {
                return not_understood("a pattern may name files that a rule hides");
            }
            let Where::At(places) = location.places(word) else {
                return not_understood("a file it reads is only known when it runs");
            };
            if reading.follows_links && places.iter().any(|place| place.is_dir) {
                return not_understood("it follows links in directories");
            }
            let mut places = places.iter();
            if let Some(place) = places.find(|place| !self.may_read(place)) {
                return Err(Some(Refusal::Outside(place.spelled.clone())));
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

/// Where a command is by now, and what it has done.
struct Walk {
    location: Location,
    /// Before the program that the next files are opened for.
    before: Files,
    now: Files,
}

/// Whether paths still lead where they led before the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Untouched,
    Touched,
}

impl Walk {
    /// Returns an error if the part, or a file that the shell opens for it, may not be allowed by
    /// its path.
    fn check(&self) -> Result<(), Refusal> {
        match self.before {
            Files::Untouched => Ok(()),
            Files::Touched => {
                let why = "a part before it writes, so that its paths may lead elsewhere by then";
                Err(Refusal::NotUnderstood(why.to_owned()))
            }
        }
    }
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
    fn into_verdict(self, question: &Case<'_>, command: &str) -> Verdict {
        let (because, blocked) = match self {
            Self::NotUnderstood(why) => (Because::NotUnderstood(why), None),
            Self::Part(part) => (Because::Part(part), None),
            Self::Writes(path) => (Because::Writes(path.clone()), Some(path)),
            Self::Outside(path) => (Because::Outside(path.clone()), Some(path)),
        };
        let suggestions = match &because {
            Because::Outside(path) => suggest::for_read(&Place::of(path)),
            _ => suggest::for_command(command, question.cwd, blocked.as_deref()),
        };
        let mut verdict = ask(question, because, suggestions);
        if let Verdict::Ask(ask) = &mut verdict {
            ask.blocked_path = blocked.map(|path| path.to_string_lossy().into_owned());
        }
        verdict
    }
}
