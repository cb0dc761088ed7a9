//! Rules of the store that deny or ask, for calls that nobody would be asked about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_rule::{Effect, Outcome, Rule};
use falconer_session::Restrictions;
use falconer_store::{RuleEffect, RuleRecord, SessionId, Store};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::rules::{Matter, covering, effect, off_the_workers};

/// The rules of the store that deny or ask in a session, for calls that its engine would allow by
/// itself. The question they lead to is answered like every other.
#[derive(Debug)]
pub(crate) struct Denials {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) session: SessionId,
}

impl Restrictions for Denials {
    fn asks<'r>(
        &'r self,
        tool: &'r str,
        input: &'r Value,
        cwd: Option<&'r Path>,
    ) -> BoxFuture<'r, Result<Option<String>, String>> {
        Box::pin(async move {
            let failed = |error: &dyn std::fmt::Display| {
                format!("the rules of the server could not be asked: {error}")
            };
            let session = self.store.session(&self.session).await;
            let session = session.map_err(|error| failed(&error))?;
            let records = self.store.rules(covering(&session)).await;
            let mut records = records.map_err(|error| failed(&error))?;
            records.retain(|record| record.effect != RuleEffect::Allow);
            if records.is_empty() {
                return Ok(None);
            }
            let project = PathBuf::from(&session.cwd);
            let matter = Matter {
                tool: tool.to_owned(),
                input: input.clone(),
                cwd: cwd.map_or_else(|| project.clone(), Path::to_owned),
                project,
            };
            let judged = off_the_workers(move || restriction(&records, &matter)).await;
            judged.map_err(|error| failed(&error))
        })
    }
}

/// Why rules that deny or ask want a call asked about.
fn restriction(records: &[RuleRecord], matter: &Matter) -> Option<String> {
    let rules = records.iter().map(|record| {
        let rule = Rule::parse(&record.text).map_err(|error| error.to_string())?;
        Ok((effect(record.effect), rule))
    });
    let rules: Vec<(Effect, Rule)> = match rules.collect::<Result<_, String>>() {
        Ok(rules) => rules,
        // It may have been meant to deny just this.
        Err(error) => return Some(error),
    };
    let judged = matter.judge(&rules);
    match judged.effect {
        Outcome::Deny | Outcome::Ask => Some(format!("rule of the server: {}", judged.because)),
        Outcome::Allow | Outcome::NoMatch => None,
    }
}
