//! The order, the verdicts, and that no value is ever shown.

use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use secrecy::ExposeSecret;

use super::{Discovery, Sources};
use crate::account::{FileProblem, Rejection, Source, Verdict};
use crate::options::Auth;

/// 2025-01-01T00:00:00Z.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_735_689_600)
}

fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn key_of(discovery: &Discovery) -> String {
    match discovery.auth() {
        Ok(Auth::ApiKey(key)) => key.expose_secret().to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn the_first_place_in_the_order_wins_and_the_others_are_usable() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| write(home.path(), name, text);
    write(
        ".claude/settings.json",
        r#"{"env": {"ANTHROPIC_API_KEY": "sk-ant-4", "CLAUDE_API_KEY": "sk-ant-5"}}"#,
    );
    let fields = |first: usize| {
        format!(
            r#"{{"customApiKey": "sk-ant-{}", "anthropicApiKey": "sk-ant-{}",
                "apiKey": "sk-ant-{}", "primaryApiKey": "sk-ant-{}"}}"#,
            first + 3,
            first + 2,
            first + 1,
            first
        )
    };
    write(".claude.json.api", &fields(6));
    write(".claude.json", &fields(10));
    let login = r#"{"claudeAiOauth": {"accessToken": "oauth-secret", "refreshToken": "again"}}"#;
    write(".claude/.credentials.json", login);
    write(".claude-oauth-credentials.json", login);
    let sources = Sources::new()
        .now(now())
        .home(home.path())
        .explicit("sk-ant-1")
        .variable("ANTHROPIC_API_KEY", "sk-ant-2")
        .variable("CLAUDE_API_KEY", "sk-ant-3");
    let all = Discovery::of(&sources);
    assert_eq!(key_of(&all), "sk-ant-1");
    let verdicts: Vec<_> = all.candidates().iter().map(|c| c.verdict.clone()).collect();
    assert_eq!(verdicts.len(), 16);
    assert_eq!(verdicts[0], Verdict::Chosen);
    assert!(
        verdicts[1..].iter().all(|v| *v == Verdict::Usable),
        "{verdicts:?}"
    );

    let without_environment = Sources::new().now(now()).home(home.path());
    assert_eq!(key_of(&Discovery::of(&without_environment)), "sk-ant-4");
    for (file, next) in [
        (".claude/settings.json", "sk-ant-6"),
        (".claude.json.api", "sk-ant-10"),
        (".claude.json", "Ok(SubscriptionLogin)"),
        (".claude/.credentials.json", "Ok(SubscriptionLogin)"),
    ] {
        std::fs::remove_file(home.path().join(file)).unwrap();
        assert_eq!(key_of(&Discovery::of(&without_environment)), next, "{file}");
    }
    std::fs::remove_file(home.path().join(".claude-oauth-credentials.json")).unwrap();
    let none = Discovery::of(&without_environment).auth().unwrap_err();
    assert!(
        none.to_string()
            .contains("variable ANTHROPIC_API_KEY: not set"),
        "{none}"
    );
}

#[test]
fn what_cannot_be_used_is_rejected_with_its_source_and_a_reason() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| write(home.path(), name, text);
    write(
        ".claude.json.api",
        r#"{"apiKey": "sk-other", "customApiKey": 7}"#,
    );
    write(".claude.json", "{\"primaryApiKey\": \"sk-ant-cut");
    write(
        ".claude/.credentials.json",
        r#"{"claudeAiOauth": {"accessToken": "t", "expiresAt": "2024-01-01T00:00:00Z"}}"#,
    );
    write(
        ".claude-oauth-credentials.json",
        r#"{"claudeAiOauth": {"accessToken": "t", "expiresAt": true}}"#,
    );
    let sources = Sources::new()
        .now(now())
        .home(home.path())
        .variable("ANTHROPIC_API_KEY", "sk-ant-two words")
        .variable("CLAUDE_API_KEY", "sk-ant-");
    let file = |name: &str| home.path().join(name);
    let key_in = |name, field| Source::File {
        file: file(name),
        field,
    };
    let login = |name| Source::Login { file: file(name) };
    let problem = FileProblem::NotAnObject;
    let at = "2024-01-01T00:00:00Z".to_owned();
    let expected = [
        (
            Source::Variable {
                name: "ANTHROPIC_API_KEY",
            },
            Rejection::Malformed,
        ),
        (
            Source::Variable {
                name: "CLAUDE_API_KEY",
            },
            Rejection::Malformed,
        ),
        (
            key_in(".claude.json.api", Some("apiKey")),
            Rejection::WrongPrefix,
        ),
        (
            key_in(".claude.json.api", Some("customApiKey")),
            Rejection::Malformed,
        ),
        (key_in(".claude.json", None), Rejection::File { problem }),
        (
            login(".claude/.credentials.json"),
            Rejection::Expired { at },
        ),
        (
            login(".claude-oauth-credentials.json"),
            Rejection::UnknownExpiry,
        ),
        (Source::CliLogin, Rejection::NotSet),
    ];
    let discovery = Discovery::of(&sources);
    let found: Vec<_> = discovery.candidates().to_vec();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (candidate, (source, reason)) in found.into_iter().zip(expected) {
        assert_eq!(candidate.source, source);
        assert_eq!(candidate.verdict, Verdict::Rejected { reason });
    }
    assert!(discovery.chosen().is_none());
}

#[test]
fn an_expired_login_is_rejected_but_left_to_the_cli_if_it_can_be_renewed() {
    let expired = 1_735_689_600_000_i64;
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/.credentials.json");
    let table = [
        (expired, r#""r""#, Some(Source::CliLogin)),
        (expired, r#""""#, None),
        (expired + 1, "null", Some(Source::Login { file })),
    ];
    for (expires_at, refresh, chosen) in table {
        let text = format!(
            r#"{{"claudeAiOauth": {{"accessToken": "t", "refreshToken": {refresh},
                "expiresAt": {expires_at}}}}}"#
        );
        write(home.path(), ".claude/.credentials.json", &text);
        let sources = Sources::new().now(now()).home(home.path());
        let discovery = Discovery::of(&sources);
        let source = discovery.chosen().map(|candidate| candidate.source.clone());
        assert_eq!(source, chosen);
    }
}

#[test]
fn a_configuration_directory_of_the_environment_is_looked_at() {
    let home = tempfile::tempdir().unwrap();
    write(
        home.path(),
        "other/settings.json",
        r#"{"env": {"CLAUDE_API_KEY": "sk-ant-o"}}"#,
    );
    let sources = Sources::new()
        .home(home.path())
        .variable("CLAUDE_CONFIG_DIR", home.path().join("other"));
    assert_eq!(key_of(&Discovery::of(&sources)), "sk-ant-o");
}

proptest! {
    /// Whatever is in the files, it is never shown, and nothing panics.
    #[test]
    fn no_value_is_ever_shown(secret in "[a-zA-Z0-9]{24,60}", good in any::<bool>(),
        shape in 0_u8..6, raw in any::<Vec<u8>>()) {
        let home = tempfile::tempdir().unwrap();
        let key = if good { format!("sk-ant-{secret}") } else { secret.clone() };
        let text = match shape {
            0 => format!(r#"{{"apiKey": "{key}"}}"#),
            1 => format!(r#"{{"apiKey": ["{key}"]}}"#),
            2 => format!(r#"{{"apiKey": "{key}"#),
            3 => format!(r#"{{"{key}": {{}}}}"#),
            4 => key.clone(),
            _ => format!(r#"{{"env": {{"ANTHROPIC_API_KEY": "{key}"}},
                "claudeAiOauth": {{"accessToken": "{key}", "expiresAt": "{key}"}}}}"#),
        };
        for name in [".claude.json.api", ".claude/settings.json", ".claude/.credentials.json"] {
            write(home.path(), name, &text);
        }
        std::fs::write(home.path().join(".claude.json"), raw).unwrap();
        let sources = Sources::new().home(home.path()).explicit(key.clone())
            .variable("ANTHROPIC_API_KEY", &key);
        let discovery = Discovery::of(&sources);
        let mut shown = format!("{sources:?} {discovery:?} {:?}", discovery.auth());
        shown += &serde_json::to_string(discovery.candidates()).unwrap();
        for candidate in discovery.candidates() {
            shown += &candidate.to_string();
        }
        if let Err(none) = discovery.auth() {
            shown += &none.to_string();
        }
        prop_assert!(!shown.contains(&secret), "{shown}");
    }
}
