//! The order in which credentials are looked for.

use secrecy::SecretString;

use super::files::{self, Finding, Held};
use super::host::settings_env;
use super::{Candidate, Rejection, Source, Sources, Verdict};
use crate::options::Auth;

const KEY_VARIABLES: [&str; 2] = ["ANTHROPIC_API_KEY", "CLAUDE_API_KEY"];

/// Every place that can hold a credential, and which one is used.
///
/// In this order: the key given, files that were named, `ANTHROPIC_API_KEY`, `CLAUDE_API_KEY`, the same two in the
/// `env` section of the user's `settings.json`, `~/.claude.json.api`, `~/.claude.json`, the
/// CLI's logins in `~/.claude/.credentials.json` and `~/.claude-oauth-credentials.json`, and
/// last an expired login that the CLI can renew.
#[derive(Debug)]
pub struct Discovery {
    candidates: Vec<Candidate>,
    found: Option<Found>,
}

#[derive(Debug)]
enum Found {
    Key(SecretString),
    Login,
}

/// No place holds a usable credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no usable credential; set ANTHROPIC_API_KEY or log in with `claude` and `/login` (looked at \
     {})", list(.candidates)
)]
#[non_exhaustive]
pub struct NoAccount {
    /// Everything that was looked at.
    pub candidates: Vec<Candidate>,
}

fn list(candidates: &[Candidate]) -> String {
    let lines: Vec<_> = candidates.iter().map(Candidate::to_string).collect();
    lines.join("; ")
}

impl Discovery {
    /// Looks at all of them.
    #[must_use]
    pub fn of(sources: &Sources) -> Self {
        let mut discovery = Self {
            candidates: Vec::new(),
            found: None,
        };
        let findings = explicit(sources)
            .into_iter()
            .chain(files::named(sources))
            .chain(variables(sources))
            .chain(settings(sources))
            .chain(files::keys(sources))
            .chain(files::logins(sources));
        for finding in findings {
            discovery.take(finding);
        }
        discovery
    }

    fn take(&mut self, finding: Finding) {
        let verdict = match finding.outcome {
            Err(reason) => reason.verdict(),
            Ok(_) if self.found.is_some() => Verdict::Usable,
            Ok(held) => {
                self.found = Some(match held {
                    Held::Key(key) => Found::Key(key),
                    Held::Login => Found::Login,
                });
                Verdict::Chosen
            }
        };
        self.candidates.push(Candidate {
            source: finding.source,
            verdict,
        });
    }

    /// Everything that was looked at, in order; no values.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The one that is used.
    #[must_use]
    pub fn chosen(&self) -> Option<&Candidate> {
        let mut candidates = self.candidates.iter();
        candidates.find(|candidate| candidate.verdict == Verdict::Chosen)
    }

    /// Returns the way to authenticate with it: a key is handed over, a login is left to the CLI.
    ///
    /// # Errors
    ///
    /// [`NoAccount`] with what is wrong with every place.
    pub fn auth(&self) -> Result<Auth, NoAccount> {
        match &self.found {
            Some(Found::Key(key)) => Ok(Auth::ApiKey(key.clone())),
            Some(Found::Login) => Ok(Auth::SubscriptionLogin),
            None => Err(NoAccount {
                candidates: self.candidates.clone(),
            }),
        }
    }
}

fn explicit(sources: &Sources) -> Option<Finding> {
    use secrecy::ExposeSecret;

    let given = sources.explicit.as_ref()?;
    Some(Finding {
        source: Source::Explicit,
        outcome: files::key(given.expose_secret()),
    })
}

fn variables(sources: &Sources) -> Vec<Finding> {
    let findings = KEY_VARIABLES.map(|name| Finding {
        source: Source::Variable { name },
        outcome: match sources.value(name) {
            None => Err(Rejection::NotSet),
            Some(value) => value
                .to_str()
                .ok_or(Rejection::Malformed)
                .and_then(files::key),
        },
    });
    findings.into()
}

/// Only what is there: most settings hold no key.
fn settings(sources: &Sources) -> Vec<Finding> {
    let Some(file) = sources.in_config("settings.json") else {
        return Vec::new();
    };
    let env = settings_env(sources);
    let set = KEY_VARIABLES.into_iter().filter_map(|name| {
        Some(Finding {
            source: Source::HostSettings {
                file: file.clone(),
                name,
            },
            outcome: files::key(env.get(name)?),
        })
    });
    set.collect()
}

#[cfg(test)]
mod tests;
