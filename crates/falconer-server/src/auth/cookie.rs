//! The page's cookie: not readable by scripts, not sent from other sites.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::auth::secret::Secret;

const NAME: &str = "falconer";

/// Whether the cookie may travel in clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Encrypted,
    Loopback,
}

/// The token in the cookie. Nothing if there are two: one of them was planted.
pub(crate) fn read(headers: &HeaderMap) -> Option<Secret> {
    let mut found = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == NAME);
    let (_, value) = found.next()?;
    match found.next() {
        Some(_) => None,
        None => Secret::parse(value),
    }
}

/// Sets it for so long.
pub(crate) fn set(token: &Secret, life: Duration, transport: Transport) -> Option<HeaderValue> {
    write(token.reveal(), life.as_secs(), transport)
}

/// Takes it away.
pub(crate) fn clear(transport: Transport) -> Option<HeaderValue> {
    write("", 0, transport)
}

fn write(value: &str, seconds: u64, transport: Transport) -> Option<HeaderValue> {
    let secure = match transport {
        Transport::Encrypted => "; Secure",
        Transport::Loopback => "",
    };
    let text =
        format!("{NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_second_cookie_is_not_read() {
        for (cookies, is_read) in [
            ("falconer=flc_abc", true),
            ("a=b; falconer=flc_abc; c=d", true),
            ("falconer=flc_abc; falconer=flc_def", false),
            ("Falconer=flc_abc", false),
            ("falconer=abc", false),
            ("falconer", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, cookies.parse().unwrap());
            assert_eq!(read(&headers).is_some(), is_read, "{cookies}");
        }
    }

    #[test]
    fn scripts_and_other_sites_do_not_get_it() {
        let token = Secret::token().unwrap();
        let life = Duration::from_secs(60);
        let cookie = set(&token, life, Transport::Encrypted).unwrap();
        let text = cookie.to_str().unwrap();
        for attribute in [
            "HttpOnly",
            "SameSite=Strict",
            "Path=/",
            "Max-Age=60",
            "Secure",
        ] {
            assert!(text.contains(attribute), "{attribute} in {text}");
        }
        let plain = set(&token, life, Transport::Loopback).unwrap();
        assert!(!plain.to_str().unwrap().contains("Secure"));
    }
}
