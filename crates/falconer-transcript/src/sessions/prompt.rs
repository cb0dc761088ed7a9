//! The first thing a person really asked in a session.
//!
//! Entries the CLI writes on its own (command output, notifications, interruptions) look
//! like user messages too; the rules for skipping them follow the official SDK.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scan::{contains, decode, has_true, lines};
use crate::text::Text;

/// How many UTF-16 units of a prompt are kept.
const LONGEST: usize = 200;

/// What has been seen of a session's first prompt so far.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct FirstPrompt {
    pub(crate) prompt: Option<String>,
    /// The first slash command, used if there is no prompt.
    pub(crate) command: Option<String>,
}

impl FirstPrompt {
    pub(crate) fn into_text(self) -> Option<String> {
        self.prompt.or(self.command).filter(|text| !text.is_empty())
    }

    /// Looks at one more text; `true` once the prompt is found.
    pub(crate) fn consider(&mut self, text: &str) -> bool {
        let flat = text.replace('\n', " ");
        let flat = trim(&flat);
        if flat.is_empty() {
            return false;
        }
        if let Some(command) = between(flat, "<command-name>", "</command-name>") {
            if self.command.as_deref().unwrap_or_default().is_empty() {
                self.command = Some(command.to_owned());
            }
            return false;
        }
        if let Some(shell) = between(flat, "<bash-input>", "</bash-input>") {
            self.prompt = Some(format!("! {}", trim(shell)));
            return true;
        }
        if is_automatic(flat) {
            return false;
        }
        self.prompt = Some(shorten(flat));
        true
    }
}

/// The first prompt in the head of a transcript.
pub(crate) fn first_prompt(head: &[u8]) -> Option<String> {
    let mut first = FirstPrompt::default();
    for line in lines(head) {
        if !may_be_prompt(line) {
            continue;
        }
        let Some(entry) = decode::<UserEntry<'_>>(line) else {
            continue;
        };
        if entry.texts().iter().any(|text| first.consider(text)) {
            break;
        }
    }
    first.into_text()
}

/// A cheap look before decoding.
pub(crate) fn may_be_prompt(line: &[u8]) -> bool {
    (contains(line, r#""type":"user""#) || contains(line, r#""type": "user""#))
        && !contains(line, r#""tool_result""#)
        && !has_true(line, "isMeta")
        && !has_true(line, "isCompactSummary")
}

/// As much of an entry as is needed for its text.
#[derive(Deserialize)]
pub(crate) struct UserEntry<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) timestamp: Text<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
}

impl UserEntry<'_> {
    pub(crate) fn is_user(&self) -> bool {
        self.kind.as_deref() == Some("user")
    }

    /// The texts of the message, if this is a user's.
    pub(crate) fn texts(&self) -> Vec<String> {
        let message = self.message.filter(|_| self.is_user());
        message.map(|raw| texts_of(raw.get())).unwrap_or_default()
    }
}

/// The texts of a message: its content, or the text blocks of its content.
fn texts_of(message: &str) -> Vec<String> {
    let Ok(message) = serde_json::from_str::<Message<'_>>(message) else {
        return Vec::new();
    };
    let content = message.content.get();
    if content.starts_with('"') {
        return serde_json::from_str(content).into_iter().collect();
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    blocks
        .iter()
        .filter_map(|raw| serde_json::from_str::<Block<'_>>(raw.get()).ok())
        .filter(|block| block.kind.as_deref() == Some("text"))
        .filter_map(|block| block.text.into_string())
        .collect()
}

/// What the CLI writes on its own begins with a lower-case tag or tells of an interruption.
fn is_automatic(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix("[Request interrupted by user") {
        return rest.contains(']');
    }
    let Some(tag) = text.strip_prefix('<') else {
        return false;
    };
    let name = tag
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(tag.len());
    tag.starts_with(|c: char| c.is_ascii_lowercase())
        && tag[name..].starts_with(|c: char| c == '>' || is_blank(c))
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    let end = text[start..].find(close)?;
    Some(&text[start..start + end])
}

/// Cuts after 200 UTF-16 units, never inside a character.
fn shorten(text: &str) -> String {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > LONGEST {
            return format!("{}…", trim(&text[..at]));
        }
    }
    text.to_owned()
}

/// Removes the blanks at both ends that scripts count as such.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn is_blank(c: char) -> bool {
    match c {
        '\u{feff}' => true,
        '\u{85}' | '\u{1c}'..='\u{1f}' => false,
        c => c.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_wrote_counts_as_the_prompt() {
        let skipped = [
            "<div>x",
            " <a b>x",
            "<a_b> z",
            "<local-command-stdout>x",
            "[Request interrupted by user for tool use]",
            "\u{feff} \u{a0}",
        ];
        for text in skipped {
            assert!(!FirstPrompt::default().consider(text), "{text:?} counted");
        }
        let kept = [
            "<Div>x", "<3 you", "</x> y", "<a:b>", "<div", "< div>", "a <b>",
        ];
        for text in kept {
            let mut first = FirstPrompt::default();
            assert!(first.consider(text), "{text:?} was skipped");
            assert_eq!(first.into_text().as_deref(), Some(text));
        }
    }

    #[test]
    fn a_slash_command_stands_in_until_there_is_a_prompt() {
        let mut first = FirstPrompt::default();
        assert!(!first.consider("<command-name>/a</command-name>"));
        assert!(!first.consider("<command-name>/b</command-name>"));
        assert_eq!(first.clone().into_text().as_deref(), Some("/a"));
        assert!(first.consider("<bash-input> ls </bash-input>"));
        assert_eq!(first.into_text().as_deref(), Some("! ls"));
    }

    #[test]
    fn long_prompts_are_cut_between_characters() {
        assert_eq!(shorten(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(shorten(&"x".repeat(201)), format!("{}…", "x".repeat(200)));
        assert_eq!(shorten(&"😀".repeat(101)), format!("{}…", "😀".repeat(100)));
        let spaced = format!("{}  tail", "a".repeat(199));
        assert_eq!(shorten(&spaced), format!("{}…", "a".repeat(199)));
    }
}
