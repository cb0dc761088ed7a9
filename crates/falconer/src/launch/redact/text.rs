//! Secrets recognised by their form, inside any text.

use super::{MASK, is_secret_name};

/// Prefixes of the keys of well-known services.
const KEY_PREFIXES: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
];

/// A shorter word with such a prefix is no key (`sk-ant`, `npm_config`).
const SHORTEST_KEY: usize = 12;

/// Words before a credential, as in `Authorization: Bearer …`.
const SCHEMES: &[&str] = &["bearer", "basic"];

/// The text with keys, credentials after `Bearer`, and credentials in URLs masked.
pub(crate) fn masked_text(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut after_scheme = false;
    for piece in pieces(text) {
        match piece {
            Piece::Gap(gap) => masked.push_str(gap),
            Piece::Word(word) if after_scheme && word.len() >= 6 => {
                masked.push_str(MASK);
                after_scheme = false;
            }
            Piece::Word(word) => {
                after_scheme = SCHEMES
                    .iter()
                    .any(|scheme| word.eq_ignore_ascii_case(scheme));
                masked.push_str(&masked_word(word));
            }
        }
    }
    masked
}

enum Piece<'a> {
    Gap(&'a str),
    Word(&'a str),
}

/// The text cut into words and what stands between them.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_gap = is_separator(first);
        let end = rest
            .find(|c| is_separator(c) != is_gap)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(if is_gap {
            Piece::Gap(piece)
        } else {
            Piece::Word(piece)
        })
    })
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '(' | ')' | '{' | '}'
        )
}

fn masked_word(word: &str) -> String {
    if let Some(start) = word.find("://") {
        return masked_url(word, start + 3);
    }
    if is_key(word) {
        return MASK.to_owned();
    }
    match word.split_once(['=', ':']) {
        Some((name, value)) if is_key(value) => {
            format!("{}{MASK}", &word[..=name.len()])
        }
        _ => word.to_owned(),
    }
}

fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST_KEY && KEY_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Masks the user part of a URL and the secret parts of its query.
fn masked_url(url: &str, host: usize) -> String {
    let (scheme, rest) = url.split_at(host);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, query)) => format!("{path}?{}", masked_query(query)),
        None => path.to_owned(),
    };
    format!("{scheme}{authority}{path}")
}

fn masked_query(query: &str) -> String {
    let parts = query.split('&').map(|part| match part.split_once('=') {
        Some((name, value)) if is_secret_name(name) || is_key(value) => format!("{name}={MASK}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("&")
}
