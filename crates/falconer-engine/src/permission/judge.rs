//! The order in which rules, mode and defaults have their say.

use falconer_protocol::hook::HookPermissionDecision;
use falconer_protocol::permission::PermissionMode;
use std::path::PathBuf;
use std::rc::Rc;

use falconer_rule::{Call, Effect, Matcher, Place, mentioned, protected_write};
use serde_json::Value;

use super::question::{Ask, Because, Case, Question, Reader, Verdict};
use super::{Entry, Permissions, Target, suggest};

impl Permissions {
    /// Decides about a call as far as rules, mode and defaults can.
    ///
    /// Links are resolved on the disk; nothing is changed, and nobody is asked.
    pub(crate) fn judge(&self, question: &Question<'_>) -> Verdict {
        let reader = Reader::default();
        let question = &Case::new(question, &reader);
        if let Some(verdict) = self.forbidden(question) {
            return verdict;
        }
        let verdict = self.by_rules_and_mode(question);
        match verdict {
            Verdict::Ask(ask) if self.mode == PermissionMode::DontAsk => match ask.because {
                Because::Hook(_) => ask.denied(),
                _ => dont_ask(&ask),
            },
            Verdict::Ask(ask) if !question.host_can_ask => ask.denied(),
            other => other,
        }
    }

    /// Judges input that somebody has put in the place of what was asked about: a denial counts
    /// whoever wrote the call, and a protected place has not been asked about yet.
    pub(crate) fn judge_edited(&self, question: &Question<'_>) -> Option<Verdict> {
        let reader = Reader::default();
        let question = &Case::new(question, &reader);
        self.forbidden(question).or_else(|| {
            let path = self.protected(question)?;
            Some(ask(question, Because::Protected(path), Vec::new()))
        })
    }

    /// The protected place that a call may write, as far as can be told.
    fn protected(&self, question: &Case<'_>) -> Option<PathBuf> {
        match question.target {
            Target::Write(path) => {
                let place = question.place(path);
                let is_asked = self.is_protected(place) && !self.is_plan(place);
                is_asked.then(|| place.spelled.clone())
            }
            Target::Command { command, .. } => match question.script(command) {
                Ok(script) => protected_write(script, command, self.start(question), &self.guarded),
                Err(_) => mentioned(command),
            },
            Target::Mcp { .. } => {
                let named = self.named_by_server(question).into_iter();
                named
                    .into_iter()
                    .find(|place| self.is_protected(place))
                    .map(|it| it.spelled.clone())
            }
            Target::Read(_) | Target::Domain(_) | Target::User | Target::Nothing => None,
        }
    }

    /// The files in the input of a server's tool.
    fn named_by_server(&self, question: &Case<'_>) -> Vec<Rc<Place>> {
        let input = Value::Object(question.input.clone());
        let mut call = Call::new(question.tool, &input, question.cwd);
        if let Some(home) = &self.anchors.home {
            call = call.home(home);
        }
        call.subject().places(&call)
    }

    /// Hooks and rules that deny.
    fn forbidden(&self, question: &Case<'_>) -> Option<Verdict> {
        if let Some(hook) = &question.hook
            && hook.decision == HookPermissionDecision::Deny
        {
            return Some(deny(question, Because::Hook(hook.reason.clone())));
        }
        let entry = self.matching(Effect::Deny, question)?;
        Some(deny(question, because_of_denial(question, entry)))
    }

    fn by_rules_and_mode(&self, question: &Case<'_>) -> Verdict {
        if let Some(entry) = self.matching(Effect::Ask, question) {
            return ask(question, because_of(entry), Vec::new());
        }
        if *question.target == Target::User {
            return needs_user(question);
        }
        // Before hooks, modes and rules that allow: none of them speaks for these places.
        if let Some(path) = self.protected(question) {
            return ask(question, Because::Protected(path), Vec::new());
        }
        match by_hook(question) {
            Some(Verdict::Allow { .. }) if self.wants_plan(question) => {
                ask(question, Because::Mode(self.mode.clone()), Vec::new())
            }
            Some(verdict) => self.unless_hidden(question, verdict),
            None => self.by_target(question),
        }
    }

    /// Whether the plan mode has the call asked about.
    fn wants_plan(&self, question: &Case<'_>) -> bool {
        let is_planned = |ask: &Ask| ask.because == Because::Mode(PermissionMode::Plan);
        self.mode == PermissionMode::Plan
            && matches!(self.by_target(question), Verdict::Ask(ask) if is_planned(&ask))
    }

    /// Decides by mode, rules that allow, and defaults.
    fn by_target(&self, question: &Case<'_>) -> Verdict {
        match question.target {
            Target::Command { command, .. } => self.judge_command(question, command),
            Target::Read(path) => self.judge_read(question, path),
            Target::Write(path) => self.judge_write(question, path),
            Target::Domain(_) | Target::Mcp { .. } => self.judge_other(question),
            Target::Nothing => Verdict::Allow {
                reason: Because::Harmless,
            },
            Target::User => needs_user(question),
        }
    }

    /// Tools that reach out of the session: web and MCP.
    fn judge_other(&self, question: &Case<'_>) -> Verdict {
        if self.mode == PermissionMode::BypassPermissions {
            return self.allow_by_mode();
        }
        // A server that says of its own tool that it only reads is not believed.
        if self.mode == PermissionMode::Plan && !question.only_reads() {
            return ask(question, Because::Mode(self.mode.clone()), Vec::new());
        }
        if let Some(entry) = self.matching(Effect::Allow, question) {
            return Verdict::Allow {
                reason: because_of(entry),
            };
        }
        ask(question, Because::NoRule, suggest::for_other(question))
    }

    pub(super) fn allow_by_mode(&self) -> Verdict {
        Verdict::Allow {
            reason: Because::Mode(self.mode.clone()),
        }
    }

    /// The first rule of a kind that applies to a call.
    pub(super) fn matching(&self, behavior: Effect, question: &Case<'_>) -> Option<&Entry> {
        self.rules_that(behavior)
            .find(|(_, matcher)| self.applies(behavior, matcher, question))
            .map(|(entry, _)| entry)
    }

    fn applies(&self, behavior: Effect, matcher: &Matcher, question: &Case<'_>) -> bool {
        let whole = match behavior {
            Effect::Allow => matcher.allows_whole_tool(question.tool, server(question.target)),
            Effect::Deny | Effect::Ask => matcher.is_whole_tool(question.tool),
        };
        if whole {
            return true;
        }
        match (matcher, question.target) {
            (Matcher::Everything, _) => !question.only_reads(),
            (Matcher::Named { tool, name }, _) if tool == question.tool => {
                names_of(question).iter().any(|text| name.matches(text))
            }
            // Nobody knows where it goes.
            (Matcher::Domain { .. }, Target::Domain(host)) if host.is_empty() => {
                behavior != Effect::Allow
            }
            (Matcher::Domain { .. }, Target::Domain(host)) => matcher.matches_domain(host),
            (_, Target::Command { command, .. }) if behavior != Effect::Allow => {
                let home = self.anchors.home.as_deref();
                question.footprint(command, home).is_met_by(matcher)
            }
            // What a server does to a file is not known.
            (Matcher::Read(pattern) | Matcher::Edit(pattern), Target::Mcp { .. })
                if behavior != Effect::Allow =>
            {
                let places = self.named_by_server(question);
                places.iter().any(|place| pattern.touches(place))
            }
            (_, Target::Read(path)) => self.path_rule(behavior, matcher, question, path),
            (_, Target::Write(path)) => self.path_rule(behavior, matcher, question, path),
            _ => false,
        }
    }
}

fn server(target: &Target) -> Option<&str> {
    match target {
        Target::Mcp { server, .. } => Some(server),
        _ => None,
    }
}

/// What an agent or skill is called in the input.
fn names_of(question: &Case<'_>) -> Vec<String> {
    let text = |key| question.input.get(key).and_then(Value::as_str);
    let name = ["subagent_type", "skill", "command", "name"]
        .into_iter()
        .find_map(text)
        .unwrap_or_default();
    let with_arguments = text("args").map(|arguments| format!("{name} {arguments}"));
    with_arguments
        .into_iter()
        .chain([name.to_owned()])
        .collect()
}

fn by_hook(question: &Case<'_>) -> Option<Verdict> {
    let hook = question.hook.as_ref()?;
    let because = Because::Hook(hook.reason.clone());
    match hook.decision {
        HookPermissionDecision::Allow => Some(Verdict::Allow { reason: because }),
        // A word that is not known is not a yes.
        _ => {
            let mut verdict = ask(question, because, Vec::new());
            if let Verdict::Ask(ask) = &mut verdict {
                ask.reason.clone_from(&hook.reason);
                if let Some(reason) = &hook.reason {
                    ask.unanswered.clone_from(reason);
                }
            }
            Some(verdict)
        }
    }
}

fn needs_user(question: &Case<'_>) -> Verdict {
    let mut verdict = ask(question, Because::NeedsUser, Vec::new());
    if let Verdict::Ask(ask) = &mut verdict {
        ask.requires_user = true;
    }
    verdict
}

/// Commands are judged part by part, and a rule that denies one is told as such, unless it spells
/// out the whole command.
fn because_of_denial(question: &Case<'_>, entry: &Entry) -> Because {
    let in_part = match (question.target, &entry.matcher) {
        (Target::Command { command, .. }, Some(Matcher::Command(pattern))) => {
            !pattern.is_exact() || !pattern.matches(falconer_rule::shell::one_line(command))
        }
        (Target::Command { .. }, _) => true,
        _ => false,
    };
    match because_of(entry) {
        Because::Rule { rule, source, .. } if in_part => Because::PartForbidden { rule, source },
        other => other,
    }
}

pub(super) fn because_of(entry: &Entry) -> Because {
    Because::Rule {
        behavior: entry.written.behavior,
        rule: entry.written.text.clone(),
        source: entry.written.source,
    }
}

fn deny(question: &Case<'_>, reason: Because) -> Verdict {
    let message = match &reason {
        Because::Hook(Some(text)) => text.clone(),
        _ => format!(
            "{} was not run: {reason}. Do not try to get around this; find another way or tell the user",
            subject(question)
        ),
    };
    Verdict::Deny {
        message,
        reason_type: reason.reason_type(),
        reason,
    }
}

pub(super) fn ask(
    question: &Case<'_>,
    because: Because,
    suggestions: Vec<falconer_protocol::permission::PermissionUpdate>,
) -> Verdict {
    let reason_type = because.reason_type();
    let unanswered = format!(
        "{} was not run: it needs approval ({because}), and nobody can be asked in this session. \
         It has not happened; do not claim that it did",
        subject(question)
    );
    Verdict::Ask(Box::new(Ask {
        reason: reason_type.is_some().then(|| because.to_string()),
        reason_type: reason_type.clone(),
        suggestions,
        blocked_path: None,
        requires_user: false,
        because,
        unanswered,
    }))
}

/// In this mode a question is a no.
fn dont_ask(ask: &Ask) -> Verdict {
    let mode = Because::Mode(PermissionMode::DontAsk);
    Verdict::Deny {
        message: format!(
            "This call was not run: it would need approval ({}), and the permission mode dontAsk denies what is not allowed in advance",
            ask.because
        ),
        reason_type: mode.reason_type(),
        reason: mode,
    }
}

fn subject(question: &Case<'_>) -> String {
    match question.target {
        Target::Command { command, .. } => {
            let short: String = command.chars().take(200).collect();
            format!("{} with the command `{short}`", question.tool)
        }
        Target::Read(path) | Target::Write(path) => {
            format!("{} on `{}`", question.tool, path.display())
        }
        Target::Domain(host) => format!("{} on `{host}`", question.tool),
        Target::Mcp { .. } | Target::User | Target::Nothing => question.tool.to_owned(),
    }
}
