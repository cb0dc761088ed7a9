//! Secrets are taken out here, and only here, before anything is streamed, stored or logged.
//!
//! Two ways: by value, for the secrets that are known, also where a character is written as a
//! JSON escape, and by pattern, for what looks like one.

mod masked_writer;
mod pieces;
mod unfinished;

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use falconer_event::Event;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::error::Error;

pub use masked_writer::MaskedWriter;
pub(crate) use pieces::Pieces;
use unfinished::Unfinished;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are no secrets, and would take words out of ordinary texts.
const SHORTEST: usize = 6;

/// How many bytes the search for the known ones may take.
const LARGEST: usize = 256 << 20;

/// What secrets look like.
const PATTERNS: [&str; 12] = [
    r"sk-ant-[A-Za-z0-9_\-]{3,}",
    r"sk-[A-Za-z0-9_\-]{20,}",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/\-]{8,}=*",
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    r"(?i)aws_(?:secret_access_key|session_token)\W{1,5}[A-Za-z0-9/+=]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bxox[abeprs]-[A-Za-z0-9\-]{10,}",
    r"\bAIza[A-Za-z0-9_\-]{30,}",
    r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}",
    r"\b\d{8,10}:AA[A-Za-z0-9_\-]{30,}",
    r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
];

static LOOKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| RegexBuilder::new(&PATTERNS.join("|")).build().ok());

static LOOKS_UNFINISHED: LazyLock<Option<Unfinished>> =
    LazyLock::new(|| Unfinished::new(&PATTERNS.join("|"), LARGEST).ok());

/// Takes secrets out of texts, values and events. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Option<Regex>,
    unfinished: Option<Arc<Unfinished>>,
}

impl Redactor {
    /// Knows these secrets, besides what looks like one. Values of fewer than six characters
    /// are passed over.
    ///
    /// # Errors
    /// [`Error::Secrets`] if there are more than can be looked for; nothing may run then.
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, Error> {
        Self::within(LARGEST, secrets)
    }

    fn within(
        size: usize,
        secrets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, Error> {
        let mut secrets: Vec<String> = (secrets.into_iter())
            .map(|secret| secret.as_ref().to_owned())
            .filter(|secret| secret.chars().count() >= SHORTEST)
            .collect();
        // The longest first: one may be the beginning of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let parts: Vec<String> = secrets.iter().map(|secret| spelled(secret)).collect();
        if parts.is_empty() {
            return Ok(Self::default());
        }
        let pattern = parts.join("|");
        let known = RegexBuilder::new(&pattern).size_limit(size).build();
        let known = known.map_err(Error::Secrets)?;
        let unfinished = Unfinished::new(&pattern, size)
            .map_err(|error| Error::Secrets(regex::Error::Syntax(error)))?;
        Ok(Self {
            known: Some(known),
            unfinished: Some(Arc::new(unfinished)),
        })
    }

    /// How much of a text that goes on can be shown: up to where a secret may have begun that
    /// is not complete yet.
    fn safe_length(&self, text: &str) -> usize {
        let automata = self
            .unfinished
            .as_deref()
            .into_iter()
            .chain(LOOKS_UNFINISHED.as_ref());
        let begun = automata.filter_map(|automaton| automaton.find(text)).min();
        let Some(mut end) = begun else {
            return text.len();
        };
        // What begins inside a complete secret must not cut it in two.
        for regex in self.known.iter().chain(LOOKS.as_ref()) {
            for found in regex.find_iter(text) {
                if found.start() < end && end < found.end() {
                    end = found.start();
                }
            }
        }
        end
    }

    /// A text without secrets; `None` if there were none.
    pub fn text(&self, text: &str) -> Option<String> {
        let mut out: Option<String> = None;
        for regex in self.known.iter().chain(LOOKS.as_ref()) {
            let before = out.as_deref().unwrap_or(text);
            if let std::borrow::Cow::Owned(changed) = regex.replace_all(before, REDACTED) {
                out = Some(changed);
            }
        }
        out
    }

    /// A value without secrets, in keys as well; `false` if there were none.
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

    /// An event without secrets.
    ///
    /// # Errors
    /// The event itself if it cannot be read any more afterwards: a secret was in a place where
    /// only certain words may be.
    pub fn event(&self, mut event: Event) -> Result<Event, Box<Event>> {
        self.images(&mut event);
        let Ok(mut value) = serde_json::to_value(&event) else {
            return Err(Box::new(event));
        };
        match self.value(&mut value) {
            true => match serde_json::from_value::<Event>(value) {
                Ok(mut clean) => {
                    // Bytes are in no JSON.
                    for (image, had) in clean.body.images_mut().iter_mut().zip(event.body.images())
                    {
                        image.data.clone_from(&had.data);
                    }
                    Ok(clean)
                }
                Err(_) => Err(Box::new(event)),
            },
            false => Ok(event),
        }
    }

    /// A secret cannot be cut out of an image: one that has it in its bytes, say in a comment, is
    /// told without them. What can be seen in it is not looked at.
    fn images(&self, event: &mut Event) {
        for image in event.body.images_mut() {
            let has_secret = |data: &falconer_event::ImageData| {
                self.text(&String::from_utf8_lossy(data)).is_some()
            };
            if image.data.as_ref().is_some_and(has_secret) {
                image.data = None;
            }
        }
    }
}

/// A pattern for a secret in which every character may be escaped, as often as it likes.
fn spelled(secret: &str) -> String {
    let mut out = String::from("(?:");
    for letter in secret.chars() {
        let mut units = [0; 2];
        let mut escaped = String::new();
        for unit in letter.encode_utf16(&mut units) {
            let _ = write!(escaped, r"\\+u(?i:{unit:04x})");
        }
        let short = match letter {
            '\n' => r"|\\+n",
            '\t' => r"|\\+t",
            '\r' => r"|\\+r",
            '"' => r#"|\\+""#,
            '/' => r"|\\+/",
            '\\' => r"|\\+",
            _ => "",
        };
        let plain = regex::escape(letter.encode_utf8(&mut [0; 4]));
        let _ = write!(out, "(?:{plain}|{escaped}{short})");
    }
    out.push(')');
    out
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The pattern holds the secrets.
        f.debug_struct("Redactor")
            .field("knows", &self.known.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_looks_like_a_secret_is_taken_out() {
        assert!(LOOKS.is_some() && LOOKS_UNFINISHED.is_some());
        let secrets = [
            "sk-ant-api03-abc_DEF-123",
            "sk-abcdefghijklmnopqrstuvwxyz",
            "Bearer abcdefgh.ijkl",
            "AKIAIOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "github_pat_abcdefghijklmnopqrstuvwxyz",
            "xoxb-1234567890-abc",
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
            "123456789:AAabcdefghijklmnopqrstuvwxyz01234567",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nMIIE cut off",
        ];
        for secret in secrets {
            let clean = Redactor::default().text(&format!("before {secret}"));
            assert_eq!(clean.as_deref(), Some("before [redacted]"), "{secret}");
        }
        for plain in [
            "a task-list",
            "sk-short",
            "bearer of news",
            "src/sk-ant.rs",
            "AKIA",
        ] {
            assert_eq!(Redactor::default().text(plain), None, "{plain}");
        }
    }

    /// An event of a call that returned this.
    fn returned(content: &Value) -> Event {
        let line = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content}]}});
        let message = serde_json::from_value(line).unwrap();
        let run = falconer_event::Run::default();
        let mut drafts = falconer_event::Normaliser::new(run).message(&message);
        let draft = drafts.pop().unwrap();
        falconer_event::Sequence::new("s").stamp(&"r".into(), "t", draft)
    }

    #[test]
    fn an_image_with_a_secret_in_its_bytes_is_told_without_them() {
        let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": data}});
        // `GIF89a`, and `GIF89a password` with a byte that is no text before it.
        let (plain, secret) = (image("R0lGODlh"), image("R0lGODlh/yBwYXNzd29yZA=="));
        let redactor = Redactor::new(["password"]).unwrap();
        let text = json!({"type": "text", "text": "the password"});
        let event = redactor
            .event(returned(&json!([plain, secret, text])))
            .unwrap();
        let data = event
            .body
            .images()
            .iter()
            .map(|image| image.data.as_deref());
        assert_eq!(data.collect::<Vec<_>>(), [Some(&b"GIF89a"[..]), None]);
        let json = serde_json::to_string(&event).unwrap();
        assert!(json.contains("the [redacted]"), "{json}");
    }

    /// A text as JSON writes it, with some characters escaped that need not be.
    fn escaped(text: &str, which: &[bool]) -> String {
        let mut out = String::new();
        for (index, letter) in text.chars().enumerate() {
            match which.get(index % which.len().max(1)) {
                Some(true) => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04X}");
                    }
                }
                _ => {
                    let plain = serde_json::to_string(&letter.to_string()).unwrap();
                    out.push_str(&plain[1..plain.len() - 1]);
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn a_known_secret_never_survives(
            secret in "[A-Za-z0-9/+\"\\\\ü\n-]{6,24}",
            around in "[a-z \"{}\\\\]{0,20}",
            which in proptest::collection::vec(any::<bool>(), 1..8),
        ) {
            let redactor = Redactor::new([&secret]).unwrap();
            let once = escaped(&secret, &which);
            let twice = serde_json::to_string(&json!({"a": once})).unwrap();
            let texts = [secret.clone(), once.clone(), escaped(&once, &[false]), twice];
            for text in texts {
                let mut value = json!({"k": [format!("{around}{text}{around}")], (text.clone()): 1});
                redactor.value(&mut value);
                let written = value.to_string();
                prop_assert!(!written.contains(&text), "{text} in {written}");
                prop_assert!(!written.contains(&secret), "{secret} in {written}");
            }
        }
    }

    #[test]
    fn more_secrets_than_can_be_looked_for_are_refused() {
        let secrets = ["a secret that takes more than a few bytes"];
        assert!(matches!(
            Redactor::within(100, secrets),
            Err(Error::Secrets(_))
        ));
        assert!(Redactor::within(LARGEST, secrets).is_ok());
    }
}
