//! One-time codes a browser trades for its cookie.
//!
//! They live in memory only: a restart forgets them, and nobody finds one in the database.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use falconer_store::Scope;

use crate::auth::secret::Secret;
use crate::error::Error;

/// More are not open at a time; the oldest goes.
const MOST: usize = 32;

/// The codes that can still be used.
#[derive(Debug)]
pub(crate) struct Codes {
    life: Duration,
    open: Mutex<Vec<Open>>,
}

#[derive(Debug)]
struct Open {
    hash: String,
    until: Instant,
    grant: Grant,
}

/// What a code is traded for.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) name: String,
    pub(crate) scopes: Vec<Scope>,
}

impl Codes {
    pub(crate) fn new(life: Duration) -> Self {
        Self {
            life,
            open: Mutex::default(),
        }
    }

    /// A new code.
    pub(crate) fn make(&self, grant: Grant, now: Instant) -> Result<Secret, Error> {
        let code = Secret::code()?;
        let mut open = self
            .open
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        open.retain(|code| now < code.until);
        if open.len() >= MOST {
            open.remove(0);
        }
        open.push(Open {
            hash: code.hash().as_str().to_owned(),
            until: now + self.life,
            grant,
        });
        Ok(code)
    }

    /// Uses a code up.
    pub(crate) fn take(&self, code: &Secret, now: Instant) -> Option<Grant> {
        let hash = code.hash();
        let mut open = self
            .open
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        let index = open.iter().position(|open| hash.is(&open.hash))?;
        let open = open.remove(index);
        (now < open.until).then_some(open.grant)
    }

    pub(crate) fn life(&self) -> Duration {
        self.life
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant {
            name: "browser".to_owned(),
            scopes: vec![Scope::Read],
        }
    }

    #[test]
    fn a_code_works_once_and_not_for_long() {
        let codes = Codes::new(Duration::from_secs(60));
        let now = Instant::now();
        let code = codes.make(grant(), now).unwrap();
        assert!(codes.take(&code, now).is_some());
        assert!(codes.take(&code, now).is_none());

        let late = codes.make(grant(), now).unwrap();
        assert!(codes.take(&late, now + Duration::from_secs(60)).is_none());
        assert!(codes.take(&Secret::code().unwrap(), now).is_none());
    }

    #[test]
    fn the_oldest_code_goes_when_there_are_too_many() {
        let codes = Codes::new(Duration::from_secs(60));
        let now = Instant::now();
        let first = codes.make(grant(), now).unwrap();
        for _ in 0..MOST {
            codes.make(grant(), now).unwrap();
        }
        assert!(codes.take(&first, now).is_none());
    }
}
