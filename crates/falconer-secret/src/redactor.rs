//! Takes secrets out of texts and values.
//!
//! By value, for the secrets that are known, also where they are escaped or encoded, and by
//! pattern, for what looks like one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::form::forms;
use crate::key::is_key;
use crate::name::{ends_like_a_secret, is_secret_name};
use crate::unfinished::Unfinished;

/// The text that stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are not searched for: they would take words out of ordinary texts.
const SHORTEST: usize = 6;

/// Variables of other programs: a shorter value may be a word, such as a password for tests.
const SHORTEST_OF_OTHERS: usize = 16;

/// Longer values are searched for in pieces of this many characters.
const LONGEST: usize = 4096;

/// Bytes that the search for known secrets may take.
const LARGEST: usize = 256 << 20;

/// Patterns of well-known secrets, our own tokens and login codes first. Classes are of ASCII: those
/// of Unicode make the search several times larger and slower.
const PATTERNS: [&str; 21] = [
    r"fl[cx]_[A-Za-z0-9_\-]{30,}",
    r"sk-ant-[A-Za-z0-9_\-]{3,}",
    r"sk-[A-Za-z0-9_\-]{20,}",
    r"(?-u:\b)[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?i)(?-u:\b)bearer[ \t\r\n]+[A-Za-z0-9._~+/\-]{8,}=*",
    r"(?i)(?-u:\b)authorization[^A-Za-z0-9]{1,5}basic[ \t\r\n]+[A-Za-z0-9+/]{8,}=*",
    r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)",
    r"(?i)aws_(?:secret_access_key|session_token)[^A-Za-z0-9]{1,5}[A-Za-z0-9/+=]{16,}",
    r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{20,}",
    r"(?-u:\b)github_pat_[A-Za-z0-9_]{20,}",
    r"(?-u:\b)glpat-[A-Za-z0-9_\-]{20,}",
    r"(?-u:\b)npm_[A-Za-z0-9]{36,}",
    r"(?-u:\b)hf_[A-Za-z0-9]{30,}",
    r"(?-u:\b)xox[abeprs]-[A-Za-z0-9\-]{10,}",
    r"(?-u:\b)xapp-[A-Za-z0-9\-]{10,}",
    r"(?-u:\b)AIza[A-Za-z0-9_\-]{30,}",
    r"(?-u:\b)ya29\.[A-Za-z0-9_\-]{20,}",
    r"(?-u:\b)eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}",
    r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,}",
    r"(?:https?|wss?|postgres(?:ql)?|mysql|rediss?|mongodb|amqps?|ftp)://[^ \t\r\n/:@]{0,256}:[^ \t\r\n/@]{3,256}@",
    r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
];

static LOOKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| RegexBuilder::new(&PATTERNS.join("|")).build().ok());

static LOOKS_UNFINISHED: LazyLock<Option<Unfinished>> =
    LazyLock::new(|| Unfinished::new(&PATTERNS.join("|"), LARGEST).ok());

/// Takes secrets out of texts, values and events.
///
/// Clones are cheap and share what they know: a value that one of them learns, all of them take
/// out from then on.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Arc<Known>>>,
}

/// The values that are known, and what finds them, made when it is first needed.
#[derive(Default)]
struct Known {
    values: BTreeSet<String>,
    search: OnceLock<Search>,
    unfinished: OnceLock<Option<Unfinished>>,
}

enum Search {
    Nothing,
    Values(Regex),
    /// There are more than can be searched for: no text is safe to show.
    Impossible,
}

impl Redactor {
    /// Knows these secrets, besides what looks like one. White space around them is ignored, and
    /// values of fewer than six characters are passed over.
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
    }

    /// Takes these values out from now on.
    pub fn learn(&self, secrets: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut values = BTreeSet::new();
        for secret in secrets {
            let secret = secret.as_ref().trim();
            if secret.chars().count() >= SHORTEST {
                values.extend(in_pieces(secret));
            }
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if values.is_subset(&known.values) {
            return;
        }
        values.extend(known.values.iter().cloned());
        *known = Arc::new(Known {
            values,
            ..Known::default()
        });
    }

    /// Learns the secrets in variables: keys, headers, the user part of addresses.
    pub fn learn_variables<'a>(&self, variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) {
        let secrets = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        self.learn(secrets.flat_map(|(name, value)| secrets_of(name, value)));
    }

    /// Learns a value that somebody gave to a server or a program: a header, a variable, an
    /// address. Plain words such as `application/json` are passed over.
    pub fn learn_given(&self, name: &str, value: &str) {
        let bare = header_values(value);
        let is_secret = is_secret_name(name) || looks_random(value);
        let whole = is_secret.then(|| value.to_owned());
        let bare = is_secret.then_some(bare).into_iter().flatten();
        self.learn(user_of_address(value).into_iter().chain(whole).chain(bare));
    }

    /// Learns the texts in a document of credentials whose names end like a secret.
    pub fn learn_document(&self, document: &Value) {
        match document {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) => self.learn(secrets_of(name, text)),
                        other => self.learn_document(other),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn_document(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn known(&self) -> Arc<Known> {
        let known = self.known.read();
        Arc::clone(&known.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns how much of a text that goes on can be shown: up to where a secret may have begun
    /// that is not complete yet.
    pub fn safe_length(&self, text: &str) -> usize {
        let known = self.known();
        let unfinished = match known.unfinished() {
            Ok(automaton) => automaton,
            Err(()) => return 0,
        };
        let automata = unfinished.into_iter().chain(LOOKS_UNFINISHED.as_ref());
        let begun = automata.filter_map(|automaton| automaton.find(text)).min();
        let Some(mut end) = begun else {
            return text.len();
        };
        // What begins inside a complete secret must not cut it in two.
        for regex in known.search().regex().into_iter().chain(LOOKS.as_ref()) {
            for found in regex.find_iter(text) {
                if found.start() < end && end < found.end() {
                    end = found.start();
                }
            }
        }
        end
    }

    /// Returns a text without secrets, or `None` if there were none.
    pub fn text(&self, text: &str) -> Option<String> {
        let known = self.known();
        if matches!(known.search(), Search::Impossible) {
            return Some(REDACTED.to_owned());
        }
        let mut out: Option<String> = None;
        for regex in known.search().regex().into_iter().chain(LOOKS.as_ref()) {
            let before = out.as_deref().unwrap_or(text);
            if let std::borrow::Cow::Owned(changed) = regex.replace_all(before, REDACTED) {
                out = Some(changed);
            }
        }
        out
    }

    /// Returns a text without secrets.
    pub fn clean(&self, text: String) -> String {
        self.text(&text).unwrap_or(text)
    }

    /// Takes secrets out of a value, keys as well. Returns `false` if there were none.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Some(clean) => {
                    *text = clean;
                    true
                }
                None => false,
            },
            Value::Array(values) => values
                .iter_mut()
                .fold(false, |any, value| self.value(value) | any),
            Value::Object(fields) => {
                let mut any = false;
                let mut clean = serde_json::Map::new();
                for (name, mut value) in std::mem::take(fields) {
                    any |= self.value(&mut value);
                    let renamed = self.text(&name);
                    any |= renamed.is_some();
                    clean.insert(renamed.unwrap_or(name), value);
                }
                *fields = clean;
                any
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

impl Known {
    fn pattern(&self) -> String {
        // The longest first: one may be the beginning of another.
        let mut values: Vec<&String> = self.values.iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let forms: Vec<String> = values.into_iter().flat_map(|value| forms(value)).collect();
        forms.join("|")
    }

    fn search(&self) -> &Search {
        self.search.get_or_init(|| {
            if self.values.is_empty() {
                return Search::Nothing;
            }
            let regex = RegexBuilder::new(&self.pattern())
                .size_limit(LARGEST)
                .build();
            regex.map_or(Search::Impossible, Search::Values)
        })
    }

    /// The automaton for secrets that are not complete; an error if there should be one and is
    /// none.
    fn unfinished(&self) -> Result<Option<&Unfinished>, ()> {
        if self.values.is_empty() {
            return Ok(None);
        }
        let made = self
            .unfinished
            .get_or_init(|| Unfinished::new(&self.pattern(), LARGEST).ok());
        made.as_ref().map(Some).ok_or(())
    }
}

impl Search {
    fn regex(&self) -> Option<&Regex> {
        match self {
            Self::Values(regex) => Some(regex),
            Self::Nothing | Self::Impossible => None,
        }
    }
}

/// Cuts a very long value into pieces of about the same length, each of which is found alone.
fn in_pieces(secret: &str) -> Vec<String> {
    let letters: Vec<char> = secret.chars().collect();
    let pieces = letters.len().div_ceil(LONGEST).max(1);
    let size = letters.len().div_ceil(pieces).max(1);
    letters
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// The secrets in one variable.
fn secrets_of(name: &str, value: &str) -> Vec<String> {
    let upper = name.to_ascii_uppercase();
    if upper.ends_with("HEADERS") {
        return header_values(value);
    }
    let mut found = user_of_address(value);
    let own = is_key(OsStr::new(name), OsStr::new(value)) && !upper.ends_with("_URL");
    let long = value.len() >= SHORTEST_OF_OTHERS
        && !value.starts_with('/')
        && !value.contains(char::is_whitespace);
    if own || ends_like_a_secret(name) && long {
        found.push(value.to_owned());
    }
    found
}

/// Long, in one piece, with letters and digits, and neither a path nor a media type.
fn looks_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= SHORTEST_OF_OTHERS
        && !value.contains('/')
        && !value.contains(char::is_whitespace)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// `Name: value` lines; a scheme such as `Bearer` is no part of the secret.
fn header_values(headers: &str) -> Vec<String> {
    let values = headers.lines().map(|line| {
        let (_, value) = line.split_once(':').unwrap_or(("", line));
        let value = value.trim();
        let (_, bare) = value.split_once(' ').unwrap_or(("", value));
        bare.trim().to_owned()
    });
    values.collect()
}

/// The password of `scheme://user:password@host`, and user and password as they are sent.
fn user_of_address(value: &str) -> Vec<String> {
    let Some((_, rest)) = value.split_once("://") else {
        return Vec::new();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else {
        return Vec::new();
    };
    let password = user
        .split_once(':')
        .map(|(_, password)| password.to_owned());
    password.into_iter().chain([user.to_owned()]).collect()
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("knows", &self.known().values.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
