//! Somebody whose credential was recognised.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use falconer_hub::SessionIsolation;
use falconer_store::{Scope, TokenHash, TokenRecord};

use crate::problem::{Code, Problem};

/// Modes in which an agent asks at least as much as in `default`.
const CAREFUL_MODES: [&str; 3] = ["default", "plan", "dontAsk"];

/// Somebody whose credential was recognised.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    pub(crate) token: TokenRecord,
    pub(crate) by: Carrier,
}

/// How the credential came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Header,
    Cookie,
}

impl Principal {
    /// As it stands in the audit log.
    pub(crate) fn who(&self) -> String {
        format!("token:{}", self.token.id)
    }

    /// As people read it.
    pub(crate) fn name(&self) -> &str {
        &self.token.name
    }

    pub(crate) fn hash(&self) -> &TokenHash {
        &self.token.hash
    }

    pub(crate) fn need(&self, scope: Scope) -> Result<(), Problem> {
        if self.token.allows(scope) {
            Ok(())
        } else {
            let text = format!("this needs the scope `{scope}`");
            Err(Problem::new(Code::MissingScope, text))
        }
    }

    /// A mode that asks less approves in advance: it takes the right to approve.
    pub(crate) fn need_mode(&self, mode: &str) -> Result<(), Problem> {
        if CAREFUL_MODES.contains(&mode) {
            Ok(())
        } else {
            self.need(Scope::Approve)
        }
    }

    /// So does an isolation that lets something run unasked because it is confined.
    pub(crate) fn need_isolation(&self, isolation: &SessionIsolation) -> Result<(), Problem> {
        if isolation.asks_less() {
            self.need(Scope::Approve)
        } else {
            Ok(())
        }
    }

    /// Nobody gives away what he has not.
    pub(crate) fn need_all(&self, scopes: &[Scope]) -> Result<(), Problem> {
        scopes.iter().try_for_each(|scope| self.need(*scope))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Problem::new(Code::Unauthenticated, "nobody was recognised"))
    }
}
