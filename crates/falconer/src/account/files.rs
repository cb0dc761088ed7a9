//! The files in which keys and logins are kept.

use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::document::{self, FileProblem};
use super::{Rejection, Source, Sources};

/// Fields that hold a key, in the order in which they are looked at.
const KEY_FIELDS: &[&str] = &["primaryApiKey", "apiKey", "anthropicApiKey", "customApiKey"];

const KEY_PREFIX: &str = "sk-ant-";

/// More than any key.
const LONGEST_KEY: usize = 4096;

/// The content of a place.
pub(super) struct Finding {
    pub(super) source: Source,
    pub(super) outcome: Result<Held, Rejection>,
}

/// Something that could be used.
pub(super) enum Held {
    Key(SecretString),
    /// A login, which stays where it is.
    Login,
}

/// Checks a text that is said to be a key.
pub(super) fn key(text: &str) -> Result<Held, Rejection> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Rejection::NotSet);
    }
    if !text.starts_with(KEY_PREFIX) {
        return Err(Rejection::WrongPrefix);
    }
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if !printable || text.len() > LONGEST_KEY || text.len() == KEY_PREFIX.len() {
        return Err(Rejection::Malformed);
    }
    Ok(Held::Key(text.into()))
}

/// The keys in the files that somebody named, in order.
pub(super) fn named(sources: &Sources) -> Vec<Finding> {
    let files = sources.files.iter();
    files.flat_map(|file| keys_in(file)).collect()
}

/// The keys in the configuration files, in order.
pub(super) fn keys(sources: &Sources) -> Vec<Finding> {
    let files = [".claude.json.api", ".claude.json"];
    let files = files.iter().filter_map(|name| sources.in_home(name));
    files.flat_map(|file| keys_in(&file)).collect()
}

fn keys_in(file: &Path) -> Vec<Finding> {
    let useless = |reason: Rejection| {
        vec![Finding {
            source: Source::File {
                file: file.to_owned(),
                field: None,
            },
            outcome: Err(reason),
        }]
    };
    let fields = match document::object(file) {
        Ok(fields) => fields,
        Err(problem) => return useless(Rejection::File { problem }),
    };
    let present = KEY_FIELDS.iter().filter_map(|field| {
        let value = fields.get(*field).filter(|value| !value.is_null())?;
        Some(Finding {
            source: Source::File {
                file: file.to_owned(),
                field: Some(field),
            },
            outcome: value.as_str().ok_or(Rejection::Malformed).and_then(key),
        })
    });
    let present: Vec<_> = present.collect();
    if present.is_empty() {
        return useless(Rejection::NoKey);
    }
    present
}

/// Logins of the CLI, in order, and what the CLI may still make of them.
pub(super) fn logins(sources: &Sources) -> Vec<Finding> {
    let files = [
        sources.in_config(".credentials.json"),
        sources.in_home(".claude-oauth-credentials.json"),
    ];
    let files: Vec<_> = files.into_iter().flatten().collect();
    if files.is_empty() {
        return Vec::new();
    }
    let mut renewable = Err(Rejection::NotSet);
    let mut findings = Vec::new();
    for file in files {
        let login = login(&file);
        if login.as_ref().is_ok_and(can_be_renewed) {
            renewable = Ok(Held::Login);
        }
        findings.push(Finding {
            outcome: login.and_then(|login| unexpired(&login, sources.now)),
            source: Source::Login { file },
        });
    }
    findings.push(Finding {
        source: Source::CliLogin,
        outcome: renewable,
    });
    findings
}

fn login(file: &Path) -> Result<Map<String, Value>, Rejection> {
    let mut fields = document::object(file).map_err(|problem| match problem {
        FileProblem::NotFound => Rejection::NotSet,
        problem => Rejection::File { problem },
    })?;
    let has_token = |login: &Map<String, Value>| {
        let token = login.get("accessToken").and_then(Value::as_str);
        token.is_some_and(|token| !token.trim().is_empty())
    };
    match fields.remove("claudeAiOauth") {
        Some(Value::Object(login)) if has_token(&login) => Ok(login),
        Some(_) => Err(Rejection::Malformed),
        None => Err(Rejection::NoKey),
    }
}

fn can_be_renewed(login: &Map<String, Value>) -> bool {
    let token = login.get("refreshToken").and_then(Value::as_str);
    token.is_some_and(|token| !token.trim().is_empty())
}

/// A login whose token is still good. A token that says no expiry has none.
fn unexpired(login: &Map<String, Value>, now: SystemTime) -> Result<Held, Rejection> {
    let expiry = match login.get("expiresAt") {
        None | Some(Value::Null) => return Ok(Held::Login),
        Some(Value::String(text)) => text.trim().parse::<Timestamp>().ok(),
        Some(value) => value
            .as_i64()
            .and_then(|millis| Timestamp::from_millisecond(millis).ok()),
    };
    let expiry = expiry.ok_or(Rejection::UnknownExpiry)?;
    // A clock that cannot be expressed is treated as past every expiry.
    let now = Timestamp::try_from(now).unwrap_or(Timestamp::MAX);
    if expiry <= now {
        let at = expiry.to_string();
        return Err(Rejection::Expired { at });
    }
    Ok(Held::Login)
}
