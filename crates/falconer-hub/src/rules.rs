//! Rules of people that answer permissions, and why.

use std::path::PathBuf;

use falconer_rule::{
    Anchors, Call, Effect, Judgement, Outcome, Rule, RuleSet, flaw, protected_by, suggest,
};
use falconer_store::{
    NewRule as NewRecord, RequestKind, RequestQuery, RequestRecord, RuleEffect, RuleId, RulePatch,
    RuleQuery, RuleRecord, RuleScope, SessionId, SessionRecord, Store,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::hub::Hub;
use crate::verdict::{NewRule, RuleReach};

/// How many of the last requests a new rule is tried on.
const TRIED: usize = 100;

/// A call to be explained.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Where it would run; that of the session if not said.
    pub cwd: Option<PathBuf>,
    /// The session that would make it.
    pub session: Option<SessionId>,
    /// A rule that may be made: what would it have allowed?
    pub rule: Option<String>,
}

impl Question {
    /// About a call of any session.
    pub fn new(tool: impl Into<String>, input: Value) -> Self {
        Self {
            tool: tool.into(),
            input,
            cwd: None,
            session: None,
            rule: None,
        }
    }
}

/// What the rules say about a call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Explained {
    /// `allow`, `deny` or `ask`.
    pub effect: RuleEffect,
    /// For people.
    pub because: String,
    /// The rule that decides, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Rules that would allow it, from narrow to wide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggested>,
    /// What the rule asked about would have done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_have: Option<WouldHave>,
}

/// Rules that would allow a call; a compound command may need one for each part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Suggested {
    /// `exact`, `prefix` or `tool`.
    pub width: String,
    /// The rules.
    pub rules: Vec<String>,
}

/// What a rule would have done with the last requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WouldHave {
    /// Whether it allows the call asked about.
    pub allows_this: bool,
    /// How many it would have allowed.
    pub allowed: usize,
    /// Of how many.
    pub of: usize,
}

impl Hub {
    /// Makes a rule.
    ///
    /// # Errors
    /// `BadRule`, or the store's.
    pub async fn add_rule(&self, new: NewRecord) -> Result<RuleRecord, Error> {
        check_text(&new.text, new.effect)?;
        Ok(self.shared.store.add_rule(new).await?)
    }

    /// Changes a rule.
    ///
    /// # Errors
    /// `BadRule`, or the store's.
    pub async fn change_rule(&self, id: &RuleId, patch: RulePatch) -> Result<RuleRecord, Error> {
        if patch.text.is_some() || patch.effect.is_some() {
            let before = self.shared.store.rules(RuleQuery::All).await?;
            let before = before.iter().find(|rule| rule.id == *id);
            let text = patch.text.as_deref().or(before.map(|rule| &*rule.text));
            let effect = patch.effect.or(before.map(|rule| rule.effect));
            // A rule that is not there is the store's to tell.
            if let Some(text) = text {
                check_text(text, effect.unwrap_or(RuleEffect::Deny))?;
            }
        }
        Ok(self.shared.store.update_rule(id, patch).await?)
    }

    /// What the rules say about a call, and what would allow it.
    ///
    /// # Errors
    /// `BadRule`, or the store's.
    pub async fn explain(&self, question: &Question) -> Result<Explained, Error> {
        let store = &self.shared.store;
        let session = match &question.session {
            Some(id) => Some(store.session(id).await?),
            None => None,
        };
        let cwd = match (&question.cwd, &session) {
            (Some(cwd), _) => cwd.clone(),
            (None, Some(session)) => PathBuf::from(&session.cwd),
            (None, None) => PathBuf::from("/"),
        };
        let rules = match &session {
            Some(session) => store.rules(covering(session)).await?,
            None => store.rules(RuleQuery::All).await?,
        };
        let project = session.as_ref().map(|it| PathBuf::from(&it.cwd));
        let matter = Matter {
            tool: question.tool.clone(),
            input: question.input.clone(),
            project: project.unwrap_or_else(|| cwd.clone()),
            cwd,
        };
        let judged = matter.clone();
        let mut explained = off_the_workers(move || {
            let mut explained = judge(&rules, &judged);
            explained.suggestions = suggestions(&judged.call());
            explained
        })
        .await?;
        if let Some(text) = &question.rule {
            explained.would_have = Some(self.would_have(text, matter).await?);
        }
        Ok(explained)
    }

    async fn would_have(&self, text: &str, matter: Matter) -> Result<WouldHave, Error> {
        let rule = [(Effect::Allow, parse(text)?)];
        let requests = self.shared.store.requests(RequestQuery::default()).await?;
        let permissions = requests
            .iter()
            .rev()
            .filter(|request| request.kind == RequestKind::Permission)
            .take(TRIED);
        let mut before = Vec::new();
        for request in permissions {
            let session = self.shared.store.session(&request.session).await;
            before.push(
                session
                    .ok()
                    .map(|session| Matter::of(request, &session, None)),
            );
        }
        off_the_workers(move || {
            let allows = |matter: &Matter| {
                let judged = matter.judge(&rule);
                judged.effect == Outcome::Allow && matter.protected().is_none()
            };
            WouldHave {
                allows_this: allows(&matter),
                allowed: before.iter().flatten().filter(|it| allows(it)).count(),
                of: before.len(),
            }
        })
        .await
    }
}

fn suggestions(call: &Call<'_>) -> Vec<Suggested> {
    let width = |width| match width {
        falconer_rule::Width::Exact => "exact",
        falconer_rule::Width::Prefix => "prefix",
        _ => "tool",
    };
    let suggested = suggest(call).into_iter().map(|suggestion| Suggested {
        width: width(suggestion.width).to_owned(),
        rules: suggestion.rules,
    });
    suggested.collect()
}

/// The rules that hold in a session.
pub(crate) fn covering(session: &SessionRecord) -> RuleQuery {
    RuleQuery::Covering {
        session: session.id.clone(),
        cwd: session.cwd.clone(),
    }
}

/// A call to be judged away from the async workers.
#[derive(Debug, Clone)]
pub(crate) struct Matter {
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// Where it would start.
    pub(crate) cwd: PathBuf,
    /// Where the paths of rules start.
    pub(crate) project: PathBuf,
}

impl Matter {
    /// The call that a request is about, starting in the directory of the shell if it is known.
    pub(crate) fn of(
        request: &RequestRecord,
        session: &SessionRecord,
        shell: Option<PathBuf>,
    ) -> Self {
        let project = PathBuf::from(&session.cwd);
        Self {
            tool: request.tool.clone().unwrap_or_default(),
            input: request.input.clone(),
            cwd: shell.unwrap_or_else(|| project.clone()),
            project,
        }
    }

    fn call(&self) -> Call<'_> {
        Call::new(&self.tool, &self.input, &self.cwd)
    }

    pub(crate) fn judge(&self, rules: &[(Effect, Rule)]) -> Judgement {
        let anchors = Anchors {
            project: self.project.clone(),
            home: None,
        };
        RuleSet::new(rules, &anchors).judge(&self.call())
    }

    /// The protected place that the call may write.
    pub(crate) fn protected(&self) -> Option<PathBuf> {
        protected_by(&self.call())
    }
}

/// Runs a judgement where it may take its time: a long command must not hold up the server.
pub(crate) async fn off_the_workers<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let working = tokio::task::spawn_blocking(work);
    let cut_off = |error| Error::Invalid(format!("the call could not be judged: {error}"));
    working.await.map_err(cut_off)
}

/// What the rules say about a call. Only `allow` and `deny` with a rule are an answer.
pub(crate) fn judge(records: &[RuleRecord], matter: &Matter) -> Explained {
    let mut rules = Vec::new();
    for record in records {
        match Rule::parse(&record.text) {
            Ok(rule) => rules.push((effect(record.effect), rule)),
            // It may have been meant to deny just this.
            Err(error) => return asked(format!("a person is asked because {error}")),
        }
    }
    let judged = matter.judge(&rules);
    let because = judged.because.to_string();
    let rule = judged.rule.and_then(|at| records.get(at));
    let effect = match judged.effect {
        Outcome::Allow => RuleEffect::Allow,
        Outcome::Deny => RuleEffect::Deny,
        Outcome::Ask | Outcome::NoMatch => RuleEffect::Ask,
    };
    if effect == RuleEffect::Allow
        && let Some(path) = matter.protected()
    {
        let path = path.display();
        return asked(format!("`{path}` is protected, whatever rules allow"));
    }
    Explained {
        effect,
        rule: rule.map(|rule| rule.id.clone()),
        ..asked(because)
    }
}

fn asked(because: String) -> Explained {
    Explained {
        effect: RuleEffect::Ask,
        because,
        rule: None,
        suggestions: Vec::new(),
        would_have: None,
    }
}

pub(crate) fn effect(effect: RuleEffect) -> Effect {
    match effect {
        RuleEffect::Allow => Effect::Allow,
        RuleEffect::Deny => Effect::Deny,
        // Whatever else there may be one day: a person decides.
        _ => Effect::Ask,
    }
}

/// A rule has to be one; a denial or a question has to be about a tool that exists.
fn check_text(text: &str, effect: RuleEffect) -> Result<(), Error> {
    parse(text)?;
    match flaw(text) {
        Some(why) if effect != RuleEffect::Allow => Err(Error::BadRule(why)),
        Some(why) => {
            tracing::warn!(rule = text, why, "a rule allows nothing");
            Ok(())
        }
        None => Ok(()),
    }
}

fn parse(text: &str) -> Result<Rule, Error> {
    Rule::parse(text).map_err(|error| Error::BadRule(error.to_string()))
}

/// Whether rules may come with the answer to a request: they have to allow what was asked.
pub(crate) async fn check(rule: &NewRule, matter: Matter) -> Result<(), Error> {
    let mut rules = Vec::new();
    for text in rule.texts() {
        rules.push((Effect::Allow, parse(text)?));
    }
    let judged = off_the_workers(move || matter.judge(&rules)).await?;
    match judged.effect {
        Outcome::Allow => Ok(()),
        _ => Err(Error::BadRule(format!(
            "`{}` would not allow this: {}",
            rule.text, judged.because
        ))),
    }
}

/// Whether input may run that came with an answer: no rule may deny it, and a protected place
/// has to have been asked about.
pub(crate) async fn check_edit(
    records: Vec<RuleRecord>,
    asked: Matter,
    input: Value,
) -> Result<(), Error> {
    let checked = off_the_workers(move || {
        let edited = Matter {
            input,
            ..asked.clone()
        };
        let judged = judge(&records, &edited);
        if judged.effect == RuleEffect::Deny {
            return Err(judged.because);
        }
        match edited.protected() {
            Some(path) if asked.protected().as_ref() != Some(&path) => Err(format!(
                "`{}` is protected and was not asked about",
                path.display()
            )),
            _ => Ok(()),
        }
    });
    let refused = |why| Error::WrongAnswer(format!("the edited input is refused: {why}"));
    checked.await?.map_err(refused)
}

/// Keeps the rules that came with an answer.
pub(crate) async fn add(
    store: &dyn Store,
    request: &RequestRecord,
    rule: &NewRule,
    by: &str,
) -> Result<(), Error> {
    let session = store.session(&request.session).await?;
    let scope = match rule.scope {
        RuleReach::Session => RuleScope::Session { id: session.id },
        RuleReach::Project => RuleScope::Project { path: session.cwd },
        RuleReach::User => RuleScope::User,
    };
    for text in rule.texts() {
        let new = NewRecord::new(text, RuleEffect::Allow, scope.clone(), by);
        store.add_rule(new).await?;
    }
    Ok(())
}
