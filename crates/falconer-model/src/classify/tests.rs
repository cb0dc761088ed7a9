//! Which answer means what.

use serde_json::json;

use super::*;

type Headers<'a> = &'a [(&'a str, &'a str)];

fn failure(status: u16, headers: Headers<'_>, body: &str) -> ApiFailure {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    from_status(status, header, body.as_bytes())
}

fn api(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

#[test]
fn status_type_and_text_tell_the_kind() {
    use FailureKind::*;
    let invalid = "invalid_request_error";
    let table = [
        (
            400,
            api(invalid, "messages: field required"),
            InvalidRequest,
        ),
        (
            400,
            api(invalid, "prompt is too long: 201 tokens > 200 maximum"),
            PromptTooLong,
        ),
        (
            400,
            api(
                invalid,
                "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            ),
            PromptTooLong,
        ),
        (
            400,
            api(invalid, "Your credit balance is too low to access the API"),
            Billing,
        ),
        (
            400,
            api(invalid, "You have reached your specified API usage limits"),
            Billing,
        ),
        (
            401,
            api("authentication_error", "invalid x-api-key"),
            Authentication,
        ),
        (402, api("billing_error", "pay"), Billing),
        (403, api("permission_error", "no"), Authentication),
        (
            404,
            api("not_found_error", "model: claude-x"),
            ModelNotFound,
        ),
        (
            404,
            "<html>404 page not found</html>".into(),
            InvalidRequest,
        ),
        (408, String::new(), Timeout),
        (409, String::new(), Server),
        (
            413,
            api("request_too_large", "Request exceeds the maximum size"),
            PromptTooLong,
        ),
        (413, api(invalid, "Prompt is too long"), PromptTooLong),
        (422, String::new(), InvalidRequest),
        (
            429,
            api("rate_limit_error", "slow down, or look at billing"),
            RateLimited,
        ),
        (500, api("api_error", "oops"), Server),
        (500, api("overloaded_error", "Overloaded"), Overloaded),
        (502, "<html>bad gateway</html>".into(), Server),
        (504, api("timeout_error", "t"), Server),
        (529, String::new(), Overloaded),
        (302, String::new(), Malformed),
    ];
    for (status, body, kind) in table {
        let failure = failure(status, &[], &body);
        assert_eq!(failure.kind, kind, "{status} {body}");
        assert_eq!(failure.status, Some(status));
        assert!(!failure.message.is_empty());
    }
}

#[test]
fn an_error_event_means_the_same_as_the_status_of_its_type() {
    use FailureKind::*;
    let table = [
        ("overloaded_error", "Overloaded", Overloaded),
        ("rate_limit_error", "r", RateLimited),
        ("api_error", "a", Server),
        ("authentication_error", "a", Authentication),
        ("permission_error", "a", Authentication),
        ("billing_error", "b", Billing),
        ("not_found_error", "n", ModelNotFound),
        ("request_too_large", "r", PromptTooLong),
        ("invalid_request_error", "bad", InvalidRequest),
        ("invalid_request_error", "prompt is too long", PromptTooLong),
        ("timeout_error", "t", Timeout),
        ("news_to_us", "n", Server),
    ];
    for (error_type, message, kind) in table {
        let failure = from_event(&json!({"type": error_type, "message": message}));
        assert_eq!(failure.kind, kind, "{error_type}");
        assert_eq!(failure.error_type.as_deref(), Some(error_type));
        assert_eq!(failure.message, message);
    }
    assert_eq!(from_event(&json!(null)).kind, Server);
    assert_eq!(
        from_event(&json!({"type": "api_error"})).message,
        "api error"
    );
}

#[test]
fn headers_say_when_whether_and_which() {
    let wait = |headers: Headers<'_>| failure(429, headers, "").retry_after;
    let table: &[(Headers<'_>, Option<u64>)] = &[
        (&[], None),
        (&[("retry-after", "2")], Some(2000)),
        (&[("retry-after", " 1.5 ")], Some(1500)),
        (
            &[("retry-after-ms", "250"), ("retry-after", "9")],
            Some(250),
        ),
        (&[("retry-after", "-4")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "1e300")], None),
        (&[("retry-after", "Mon, 06 Jan 2020 10:00:00 GMT")], Some(0)),
    ];
    for (headers, millis) in table {
        assert_eq!(
            wait(headers),
            millis.map(Duration::from_millis),
            "{headers:?}"
        );
    }
    let late = wait(&[("retry-after", "Mon, 01 Jan 2125 10:00:00 GMT")]).unwrap();
    assert!(late > Duration::from_secs(3600 * 24 * 365));

    let refused = failure(
        500,
        &[("x-should-retry", "false"), ("request-id", "req_1")],
        "",
    );
    assert_eq!(refused.should_retry, Some(false));
    assert_eq!(refused.request_id.as_deref(), Some("req_1"));
    assert_eq!(
        failure(500, &[("x-should-retry", "perhaps")], "").should_retry,
        None
    );
    let inside = failure(
        500,
        &[],
        r#"{"error":{"message":"m"},"request_id":"req_2"}"#,
    );
    assert_eq!(inside.request_id.as_deref(), Some("req_2"));
}

#[test]
fn the_text_of_a_gateway_is_shown_wherever_it_is_and_not_at_any_length() {
    let table = [
        (r#"{"error": "plain"}"#, "plain"),
        (r#"{"message": "amazon"}"#, "amazon"),
        (r#"{"detail": "fastapi"}"#, "fastapi"),
        (
            "<p>\n  bad   gateway</p>",
            "the API answered with status 502: <p> bad gateway</p>",
        ),
        ("", "the API answered with status 502 and no text"),
    ];
    for (body, message) in table {
        assert_eq!(failure(502, &[], body).message, message);
    }
    let long = failure(502, &[], &"x".repeat(100_000)).message;
    assert!(long.len() < 400, "{}", long.len());
}
