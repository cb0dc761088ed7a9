//! Tables and properties of the redactor.

use std::fmt::Write as _;

use base64::Engine as _;

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
        "flc_0123456789-abcdefghij_ABCDEFGHIJ0123456789ab",
        "flx_0123456789-abcdefghij_ABCDEFGHIJ0123456789ab",
        "sk_live_0123456789abcdef",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "glpat-0123456789abcdefghij",
        "npm_0123456789abcdefghijklmnopqrstuvwxyz",
        "hf_0123456789abcdefghijklmnopqrstuv",
        "xapp-1-A012-345",
        "ya29.0123456789abcdefghij",
        "https://user:password@",
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
        "https://localhost:4780/v1?a=b@c",
        "https://example.org/@scope/package",
        "falc_x and flc_short",
    ] {
        assert_eq!(Redactor::default().text(plain), None, "{plain}");
    }
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
        // White space around a secret is no part of it, and what is left may be too short.
        prop_assume!(secret.trim().chars().count() >= SHORTEST);
        let redactor = Redactor::new([&secret]);
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
fn a_known_secret_is_found_in_other_forms() {
    let secret = "corporate+Sup3r/Secret Key-99";
    let redactor = Redactor::new([secret]);
    let long = "0123456789".repeat(12);
    redactor.learn([&long]);
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let wrapped = STANDARD.encode(format!("a{long}b"));
    let wrapped = format!("{}\n{}", &wrapped[..76], &wrapped[76..]);
    let texts = [
        format!("x{}", STANDARD.encode(secret)),
        STANDARD.encode(format!("a{secret}")),
        STANDARD.encode(format!("user:ab:{secret} and more")),
        URL_SAFE.encode(format!("a?{secret}")),
        "corporate%2BSup3r%2fSecret%20Key-99".to_owned(),
        "corporate%2BSup3r/Secret+Key-99".to_owned(),
        "corporate%252BSup3r%252fSecret%2520Key-99".to_owned(),
        r"corporate\u002bSup3r\/Secret Key-99".to_owned(),
        wrapped,
    ];
    for text in texts {
        assert!(redactor.text(&text).is_some(), "{text}");
    }
    for plain in ["corporate", "Q29ycG9yYXRl", "0123456789"] {
        assert_eq!(redactor.text(plain), None, "{plain}");
    }
}

#[test]
fn variables_teach_their_secrets() {
    let table = [
        ("ANTHROPIC_API_KEY", "key-01", "key-01"),
        ("FALCONER_TOKEN", "a-token", "a-token"),
        (
            "ANTHROPIC_CUSTOM_HEADERS",
            "X-A: plain-one\nX-B: Bearer other-two",
            "other-two",
        ),
        (
            "ANTHROPIC_CUSTOM_HEADERS",
            "X-A: plain-one\nX-B: Bearer other-two",
            "plain-one",
        ),
        ("HTTPS_PROXY", "http://me:hunter22@proxy:80", "hunter22"),
        (
            "ANTHROPIC_BASE_URL",
            "https://token-in-user@host/x",
            "token-in-user",
        ),
        (
            "AWS_SECRET_ACCESS_KEY",
            "wJalrXUtnFEMIK7MDENGbPx",
            "wJalrXUtnFEMIK7MDENGbPx",
        ),
        ("DEPLOY_TOKEN", "0123456789abcdef", "0123456789abcdef"),
    ];
    for (name, value, secret) in table {
        let redactor = Redactor::default();
        redactor.learn_variables([(OsStr::new(name), OsStr::new(value))]);
        let text = redactor.text(&format!("<{secret}>"));
        assert_eq!(text.as_deref(), Some("<[redacted]>"), "{name}");
    }
    for (name, value) in [
        ("DB_PASSWORD", "postgres"),
        ("GIT_AUTHOR_NAME", "Somebody Who Is Long"),
        ("SSH_KEY", "/home/somebody/.ssh/id_ed25519"),
        ("ANTHROPIC_MODEL", "claude-sonnet-4-5"),
    ] {
        let redactor = Redactor::default();
        redactor.learn_variables([(OsStr::new(name), OsStr::new(value))]);
        assert_eq!(redactor.text(value), None, "{name}");
    }
}

#[test]
fn given_values_and_documents_teach_their_secrets() {
    let redactor = Redactor::default();
    redactor.learn_given("Authorization", "Token abc-def-ghi");
    redactor.learn_given("X-Custom", "planted-value-0123");
    redactor.learn_given("Accept", "application/json");
    redactor.learn_document(&json!({"claudeAiOauth": {"accessToken": "oauth-0123456789-ab"}}));
    for secret in ["abc-def-ghi", "planted-value-0123", "oauth-0123456789-ab"] {
        assert_eq!(redactor.text(secret).as_deref(), Some(REDACTED), "{secret}");
    }
    assert_eq!(redactor.text("application/json"), None);
}

#[test]
fn what_one_learns_all_clones_know() {
    let one = Redactor::default();
    let other = one.clone();
    assert_eq!(other.text("a later-secret"), None);
    one.learn(["later-secret"]);
    assert_eq!(
        other.text("a later-secret").as_deref(),
        Some("a [redacted]")
    );
    assert_eq!(other.safe_length("a later-se"), 2);
    assert_eq!(Redactor::default().text("a later-secret"), None);
}

#[test]
fn very_long_secrets_are_found_piece_by_piece() {
    let secret: String = (0..3000).map(|number| format!("{number:x}.")).collect();
    let redactor = Redactor::new([&secret]);
    let clean = redactor.text(&format!("a {secret} b")).unwrap();
    assert!(clean.len() < 100, "{clean}");
}

#[test]
fn a_secret_is_taken_out_as_digits_too() {
    let secret = "canary-VALUE-42+x/y";
    let redactor = Redactor::new([secret]);
    let digits: Vec<String> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    for separator in ["", " ", ":", "-", "\n", "\\n", "\\x"] {
        let lower = digits.join(separator);
        for text in [
            lower.clone(),
            digits.join(separator).replace('a', "A"),
            format!("<{lower}>"),
        ] {
            let shown = redactor.clean(text.clone());
            assert!(shown.contains(REDACTED), "{text:?} became {shown:?}");
            assert!(!shown.contains(&digits[3..8].join(separator)), "{shown:?}");
        }
    }
}

#[test]
fn a_secret_in_base64_is_found_across_lines() {
    let redactor = Redactor::new(["canary-VALUE-0123456789"]);
    let encoded = "Y2FuYXJ5LVZBTFVFLTAxMjM0NTY3ODk=";
    for line in ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n"] {
        let text = format!("{}{line}{}", &encoded[..10], &encoded[10..]);
        let shown = redactor.clean(text.clone());
        assert!(shown.starts_with(REDACTED), "{text:?} became {shown:?}");
    }
}
