//! Which pages may use the server: its own.
//!
//! A browser says where a request comes from, in `Origin` and `Sec-Fetch-Site`. Whatever changes
//! something, and every upgrade, needs one of them to say "this server's own page", or no cookie
//! at all. This stands behind the credential, not in its place.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::guard::host::HostNames;
use crate::problem::{Code, Problem};

/// Refuses requests of other pages.
pub(crate) async fn check(
    State(names): State<Arc<HostNames>>,
    request: Request,
    next: Next,
) -> Response {
    let weight = Weight::of(&request);
    match verdict(&names, weight, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// What is at stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The page and what belongs to it; links from elsewhere lead here.
    Page,
    /// Reads data.
    Read,
    /// Changes something, or opens a channel that can.
    Change,
}

impl Weight {
    fn of(request: &Request) -> Self {
        let is_safe = matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        match () {
            () if !is_safe || is_upgrade => Self::Change,
            () if request.uri().path().starts_with("/v1/") => Self::Read,
            () => Self::Page,
        }
    }
}

fn verdict(names: &HostNames, weight: Weight, headers: &HeaderMap) -> Result<(), Problem> {
    let refuse = |detail: &str| Err(Problem::new(Code::OriginNotAllowed, detail));
    if weight == Weight::Page {
        return Ok(());
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origin = origins.next();
    if origins.next().is_some() {
        return refuse("a request has at most one Origin header");
    }
    if let Some(origin) = origin {
        let is_own = origin
            .to_str()
            .is_ok_and(|origin| names.allows_origin(origin));
        if !is_own {
            return refuse("the Origin header names another page");
        }
    }
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    match site {
        // Another port of this machine is the same site: only the same origin will do.
        Some(b"same-origin") => return Ok(()),
        Some(b"none") if weight == Weight::Read => return Ok(()),
        Some(_) => return refuse("Sec-Fetch-Site names another page"),
        None => {}
    }
    let has_cookie = headers.contains_key(header::COOKIE);
    if weight == Weight::Change && origin.is_none() && has_cookie {
        return refuse("a change with a cookie needs an Origin or Sec-Fetch-Site header");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;

    fn check(weight: Weight, given: &[(&'static str, &str)], is_allowed: bool) {
        let config = ServerConfig::new("127.0.0.1:0".parse().unwrap());
        let names = HostNames::new(&config, "127.0.0.1:4321".parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(*name, value.parse().unwrap());
        }
        let verdict = verdict(&names, weight, &headers);
        assert_eq!(verdict.is_ok(), is_allowed, "{weight:?} {given:?}");
    }

    #[test]
    fn changes_come_from_the_own_page_or_from_programs() {
        let own = ("origin", "http://127.0.0.1:4321");
        let foreign = ("origin", "http://evil.example");
        let neighbour = ("origin", "http://127.0.0.1:3000");
        let cookie = ("cookie", "falconer=x");
        let site = |value| ("sec-fetch-site", value);
        for (given, is_allowed) in [
            (vec![], true),
            (vec![own], true),
            (vec![own, cookie], true),
            (vec![cookie, site("same-origin")], true),
            (vec![cookie], false),
            (vec![foreign], false),
            (vec![neighbour, cookie], false),
            (vec![("origin", "null")], false),
            (vec![own, own], false),
            (vec![own, site("cross-site")], false),
            (vec![site("same-site"), cookie], false),
            (vec![site("none"), cookie], false),
            (vec![site("something new"), cookie], false),
        ] {
            check(Weight::Change, &given, is_allowed);
        }
    }

    #[test]
    fn data_is_not_read_by_other_pages() {
        check(Weight::Read, &[], true);
        check(Weight::Read, &[("cookie", "falconer=x")], true);
        check(Weight::Read, &[("sec-fetch-site", "none")], true);
        check(Weight::Read, &[("sec-fetch-site", "same-origin")], true);
        check(Weight::Read, &[("sec-fetch-site", "cross-site")], false);
        check(Weight::Read, &[("sec-fetch-site", "same-site")], false);
        check(Weight::Read, &[("origin", "http://evil.example")], false);
        check(Weight::Page, &[("sec-fetch-site", "cross-site")], true);
    }
}
