//! Changes are JSON and say so.
//!
//! A form of any page can send `text/plain` anywhere without asking first. It cannot send
//! `application/json`, nor a header of our own.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::{Code, Problem};

/// The name of an attachment; a header no form can send.
pub(crate) const NAME_HEADER: &str = "x-falconer-name";
/// The one path whose body is not JSON.
pub(crate) const ATTACHMENTS: &str = "/v1/attachments";

/// Refuses changes that are not JSON.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::TRANSFER_ENCODING) {
        return ambiguous();
    }
    match verdict(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Refuses a body whose length is not said by `Content-Length`, and closes the connection.
///
/// A proxy that reads the other header when both are there takes the rest of the body for a
/// request of somebody else. HTTP below us has left `Content-Length` out by now, so that both
/// cannot be told from `Transfer-Encoding` alone: neither is taken.
fn ambiguous() -> Response {
    let text = "the length of a body is said by Content-Length, not by Transfer-Encoding";
    let problem = Problem::new(Code::InvalidJson, text).hint("send the body in one piece");
    let mut response = problem.into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

fn verdict(method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    if !matches!(
        *method,
        Method::POST | Method::PUT | Method::PATCH | Method::DELETE
    ) {
        return Ok(());
    }
    if path == ATTACHMENTS {
        return if headers.contains_key(NAME_HEADER) {
            Ok(())
        } else {
            Err(Problem::new(
                Code::UnsupportedMediaType,
                "an attachment needs the header X-Falconer-Name",
            )
            .hint("send the file's name in the header X-Falconer-Name"))
        };
    }
    match headers.get(header::CONTENT_TYPE) {
        Some(kind) if is_json(kind.as_bytes()) => Ok(()),
        Some(_) => Err(Problem::new(
            Code::UnsupportedMediaType,
            "the content type of a change must be application/json",
        )),
        None if has_body(headers) => Err(Problem::new(
            Code::UnsupportedMediaType,
            "a change with a body must say that it is application/json",
        )),
        None => Ok(()),
    }
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    length.is_some_and(|length| length.as_bytes() != b"0")
}

fn is_json(kind: &[u8]) -> bool {
    let name = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_page_changes_nothing() {
        for (kind, is_allowed) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("text/plain; application/json", false),
            ("application/x-www-form-urlencoded", false),
            ("multipart/form-data; boundary=x", false),
            ("application/json-patch+json", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            for method in [Method::POST, Method::PATCH, Method::DELETE] {
                let verdict = verdict(&method, "/v1/sessions", &headers);
                assert_eq!(verdict.is_ok(), is_allowed, "{method} {kind:?}");
            }
        }
    }

    #[test]
    fn an_empty_change_needs_no_type_but_a_body_does() {
        let mut headers = HeaderMap::new();
        assert!(verdict(&Method::POST, "/v1/logout", &headers).is_ok());
        headers.insert(header::CONTENT_LENGTH, "0".parse().unwrap());
        assert!(verdict(&Method::POST, "/v1/logout", &headers).is_ok());
        headers.insert(header::CONTENT_LENGTH, "2".parse().unwrap());
        assert!(verdict(&Method::POST, "/v1/logout", &headers).is_err());
    }

    #[test]
    fn an_attachment_needs_its_name() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
        assert!(verdict(&Method::POST, ATTACHMENTS, &headers).is_err());
        headers.insert(NAME_HEADER, "a.txt".parse().unwrap());
        assert!(verdict(&Method::POST, ATTACHMENTS, &headers).is_ok());
    }
}
