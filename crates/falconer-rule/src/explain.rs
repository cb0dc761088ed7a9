//! Why a call would be allowed, asked about or denied, in words for people.
//!
//! Several may have a say: the policy file of whoever runs the session, and the engine with its
//! settings and its mode. [`Explained::of`] says what comes of it, in the order in which a
//! session asks them.

use std::fmt;

use crate::judge::{Judgement, Outcome};

/// What one of those who are asked says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    /// Who: `policy file`, `engine`.
    pub who: String,
    /// What becomes of the call if nobody else has a say.
    pub outcome: Outcome,
    /// One sentence without a period.
    pub because: String,
    /// No rule of anybody else may allow it.
    pub needs_person: bool,
}

/// What becomes of a call, and what everybody said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// What becomes of it.
    pub outcome: Outcome,
    /// Whose word counted.
    pub decided_by: String,
    /// Everybody who was asked, in order.
    pub voices: Vec<Voice>,
}

impl Voice {
    /// A judgement by rules.
    pub fn of(who: impl Into<String>, judgement: &Judgement) -> Self {
        Self {
            who: who.into(),
            outcome: judgement.effect,
            because: judgement.because.to_string(),
            needs_person: false,
        }
    }
}

impl Explained {
    /// What comes of a policy and an engine.
    ///
    /// A denial counts whoever it is from. What the policy wants asked is asked, even if the
    /// engine would allow it; what it allows is allowed, even if the engine would ask, unless a
    /// person has to be asked. Where it says nothing, the engine decides.
    pub fn of(policy: Option<Voice>, engine: Voice) -> Self {
        let policy_says = policy
            .as_ref()
            .map_or(Outcome::NoMatch, |voice| voice.outcome);
        let engine_counts = match (policy_says, engine.outcome) {
            (Outcome::Deny, _) => false,
            (_, Outcome::Deny) => true,
            (Outcome::Allow, Outcome::Ask) => engine.needs_person,
            (Outcome::Ask | Outcome::Allow, _) => false,
            (Outcome::NoMatch, _) => true,
        };
        let mut voices: Vec<Voice> = policy.into_iter().collect();
        voices.push(engine);
        let decisive = if engine_counts {
            voices.last()
        } else {
            voices.first()
        };
        let (outcome, decided_by) = decisive
            .map(|voice| (voice.outcome, voice.who.clone()))
            .unwrap_or((Outcome::Ask, String::new()));
        Self {
            outcome,
            decided_by,
            voices,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Deny => "denied",
            Self::Ask => "asked",
            Self::Allow => "allowed",
            Self::NoMatch => "no rule",
        })
    }
}

impl fmt::Display for Voice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {}: {}",
            self.who, self.outcome, self.because
        )
    }
}

/// The outcome on the first line, then a line for everybody who was asked.
impl fmt::Display for Explained {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (by the {})", self.outcome, self.decided_by)?;
        for voice in &self.voices {
            write!(formatter, "\n  {voice}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Explained, Voice};
    use crate::judge::Outcome::{self, Allow, Ask, Deny, NoMatch};

    fn voice(who: &str, outcome: Outcome) -> Voice {
        Voice {
            who: who.to_owned(),
            outcome,
            because: "so".to_owned(),
            needs_person: false,
        }
    }

    #[test]
    fn what_a_person_has_to_be_asked_is_not_answered_by_a_policy() {
        let engine = Voice {
            needs_person: true,
            ..voice("engine", Ask)
        };
        let explained = Explained::of(Some(voice("policy file", Allow)), engine);
        assert_eq!(
            (explained.outcome, explained.decided_by.as_str()),
            (Ask, "engine")
        );
    }

    #[test]
    fn a_denial_counts_and_otherwise_the_policy_before_the_engine() {
        let table = [
            (Deny, Allow, Deny, "policy file"),
            (Deny, Deny, Deny, "policy file"),
            (Ask, Deny, Deny, "engine"),
            (Allow, Deny, Deny, "engine"),
            (Ask, Allow, Ask, "policy file"),
            (Ask, Ask, Ask, "policy file"),
            (Allow, Ask, Allow, "policy file"),
            (Allow, Allow, Allow, "policy file"),
            (NoMatch, Allow, Allow, "engine"),
            (NoMatch, Ask, Ask, "engine"),
            (NoMatch, Deny, Deny, "engine"),
        ];
        for (policy, engine, outcome, by) in table {
            let explained =
                Explained::of(Some(voice("policy file", policy)), voice("engine", engine));
            let found = (explained.outcome, explained.decided_by.as_str());
            assert_eq!(found, (outcome, by), "{policy:?} {engine:?}");
        }
        let alone = Explained::of(None, voice("engine", Ask));
        assert_eq!(
            alone.to_string(),
            "asked (by the engine)\n  engine: asked: so"
        );
    }
}
