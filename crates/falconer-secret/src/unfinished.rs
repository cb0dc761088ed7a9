//! The place in a text where a secret may have begun that is not complete yet.
//!
//! The patterns are those of the redactor, run as an automaton: a place from which it is still
//! alive at the end of the text is one from which a secret may go on.

use std::sync::{Mutex, PoisonError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

/// An automaton for patterns, and what it has worked out so far.
#[derive(Debug)]
pub(crate) struct Unfinished {
    automaton: DFA,
    cache: Mutex<Cache>,
}

impl Unfinished {
    /// For a pattern; an error says why there cannot be one.
    pub(crate) fn new(pattern: &str, size: usize) -> Result<Self, String> {
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .skip_cache_capacity_check(true);
        let automaton = DFA::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(
                thompson::Config::new()
                    .utf8(false)
                    .nfa_size_limit(Some(size)),
            )
            .configure(config)
            .build(pattern)
            .map_err(|error| error.to_string())?;
        let cache = Mutex::new(automaton.create_cache());
        Ok(Self { automaton, cache })
    }

    /// The first place from which a secret may go on beyond the text.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = text.char_indices().map(|(place, _)| place);
        places.find(|place| self.is_alive(&mut cache, text, *place))
    }

    /// An automaton that gives up may be anywhere.
    fn is_alive(&self, cache: &mut Cache, text: &str, from: usize) -> bool {
        let input = Input::new(text).range(from..).anchored(Anchored::Yes);
        let Ok(mut state) = self.automaton.start_state_forward(cache, &input) else {
            return true;
        };
        for byte in &text.as_bytes()[from..] {
            match self.automaton.next_state(cache, state, *byte) {
                Ok(next) if next.is_dead() => return false,
                Ok(next) if next.is_quit() => return true,
                Ok(next) => state = next,
                Err(_) => return true,
            }
        }
        true
    }
}
