//! Rules of people that answer permissions, and why.

use std::path::{Path, PathBuf};

use falconer_rule::{Call, Effect, Outcome, Rule, judge as judge_call, suggest};
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
        parse(&new.text)?;
        Ok(self.shared.store.add_rule(new).await?)
    }

    /// Changes a rule.
    ///
    /// # Errors
    /// `BadRule`, or the store's.
    pub async fn change_rule(&self, id: &RuleId, patch: RulePatch) -> Result<RuleRecord, Error> {
        if let Some(text) = &patch.text {
            parse(text)?;
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
        let call = Call::new(&question.tool, &question.input, &cwd);
        let mut explained = judge(&rules, &call);
        explained.suggestions = suggestions(&call);
        if let Some(text) = &question.rule {
            explained.would_have = Some(self.would_have(text, &call).await?);
        }
        Ok(explained)
    }

    async fn would_have(&self, text: &str, call: &Call<'_>) -> Result<WouldHave, Error> {
        let rule = [(Effect::Allow, parse(text)?)];
        let requests = self.shared.store.requests(RequestQuery::default()).await?;
        let permissions = requests
            .iter()
            .rev()
            .filter(|request| request.kind == RequestKind::Permission)
            .take(TRIED);
        let (mut allowed, mut of) = (0, 0);
        for request in permissions {
            of += 1;
            let Ok(session) = self.shared.store.session(&request.session).await else {
                continue;
            };
            let call = call_of(request, &session);
            allowed += usize::from(judge_call(&rule, &call).effect == Outcome::Allow);
        }
        Ok(WouldHave {
            allows_this: judge_call(&rule, call).effect == Outcome::Allow,
            allowed,
            of,
        })
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

/// The call a request is about.
pub(crate) fn call_of<'a>(request: &'a RequestRecord, session: &'a SessionRecord) -> Call<'a> {
    let tool = request.tool.as_deref().unwrap_or_default();
    Call::new(tool, &request.input, Path::new(&session.cwd))
}

/// What the rules say about a call. Only `allow` and `deny` with a rule are an answer.
pub(crate) fn judge(records: &[RuleRecord], call: &Call<'_>) -> Explained {
    let mut rules = Vec::new();
    for record in records {
        match Rule::parse(&record.text) {
            Ok(rule) => rules.push((effect(record.effect), rule)),
            // It may have been meant to deny just this.
            Err(error) => return asked(format!("a person is asked because {error}")),
        }
    }
    let judged = judge_call(&rules, call);
    let because = judged.because.to_string();
    let rule = judged.rule.and_then(|at| records.get(at));
    let effect = match judged.effect {
        Outcome::Allow => RuleEffect::Allow,
        Outcome::Deny => RuleEffect::Deny,
        Outcome::Ask | Outcome::NoMatch => RuleEffect::Ask,
    };
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

fn effect(effect: RuleEffect) -> Effect {
    match effect {
        RuleEffect::Allow => Effect::Allow,
        RuleEffect::Deny => Effect::Deny,
        // Whatever else there may be one day: a person decides.
        _ => Effect::Ask,
    }
}

fn parse(text: &str) -> Result<Rule, Error> {
    Rule::parse(text).map_err(|error| Error::BadRule(error.to_string()))
}

/// Whether rules may come with the answer to a request: they have to allow what was asked.
pub(crate) fn check(
    rule: &NewRule,
    request: &RequestRecord,
    session: &SessionRecord,
) -> Result<(), Error> {
    let mut rules = Vec::new();
    for text in rule.texts() {
        rules.push((Effect::Allow, parse(text)?));
    }
    let judged = judge_call(&rules, &call_of(request, session));
    match judged.effect {
        Outcome::Allow => Ok(()),
        _ => Err(Error::BadRule(format!(
            "`{}` would not allow this: {}",
            rule.text, judged.because
        ))),
    }
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
