//! Tables for `redact`.

use serde_json::json;

use super::{KnownSecrets, masked_argument, masked_json, masked_text, masked_variable};

#[test]
fn variables_are_masked_by_name_or_form() {
    let table = [
        ("ANTHROPIC_API_KEY", "x", "***"),
        ("ANTHROPIC_AUTH_TOKEN", "abc", "***"),
        ("AWS_SECRET_ACCESS_KEY", "abc", "***"),
        ("DB_PASSWORD", "abc", "***"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/x.json", "***"),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-A: b", "***"),
        ("SESSION_COOKIE", "abc", "***"),
        ("my_client_secret", "abc", "***"),
        ("ANTHROPIC_API_KEY", "", ""),
        ("MAX_THINKING_TOKENS", "2000", "2000"),
        ("SSH_AUTH_SOCK", "/run/s", "/run/s"),
        ("NOTE", "sk-ant-api03-abcdefgh", "***"),
        ("NOTE", "use sk-ant-api03-abcdefgh now", "use *** now"),
        (
            "HTTP_PROXY",
            "http://user:pw@proxy:80/p",
            "http://***@proxy:80/p",
        ),
        (
            "HOOK",
            "https://h/x?token=abc&a=1",
            "https://h/x?token=***&a=1",
        ),
        (
            "HEADER",
            "Authorization: Bearer abcdef123",
            "Authorization: Bearer ***",
        ),
        ("HEADER", "basic dXNlcjpwdw==", "basic ***"),
        ("PATH", "/usr/bin:/bin", "/usr/bin:/bin"),
        ("PWD", "/srv/sk-demo", "/srv/sk-demo"),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-rs", "sdk-rs"),
    ];
    for (name, value, expected) in table {
        assert_eq!(masked_variable(name, value), expected, "{name}={value}");
    }
}

#[test]
fn json_is_masked_at_any_depth() {
    let table = [
        (
            json!({"mcpServers": {"a": {"type": "http", "url": "https://u:p@h/x",
                "headers": {"X-Anything": "v"}, "timeout": 1000}}}),
            json!({"mcpServers": {"a": {"type": "http", "url": "https://***@h/x",
                "headers": {"X-Anything": "***"}, "timeout": 1000}}}),
        ),
        (
            json!({"command": "srv", "args": ["--api-key", "abc", "--token=def", "-v", "x"],
                "env": {"A_KEY": "v", "B": "w"}}),
            json!({"command": "srv", "args": ["--api-key", "***", "--token=***", "-v", "x"],
                "env": {"A_KEY": "***", "B": "w"}}),
        ),
        (
            json!({"env": {"PIN_TOKEN": 1234}, "tokens": ["a", "b"], "ok": true}),
            json!({"env": {"PIN_TOKEN": "***"}, "tokens": ["***", "***"], "ok": true}),
        ),
        (
            json!({"properties": {"token": {"type": "string"}}}),
            json!({"properties": {"token": {"type": "string"}}}),
        ),
    ];
    for (json, expected) in table {
        assert_eq!(masked_json(&json), expected);
    }
}

#[test]
fn arguments_are_masked_inside_their_json() {
    let table = [
        (
            "--settings={\"env\":{\"A_KEY\":\"v\"}}",
            "--settings={\"env\":{\"A_KEY\":\"***\"}}",
        ),
        ("--model=sonnet", "--model=sonnet"),
        ("--api-token=abc", "--api-token=***"),
        ("--betas=a,b", "--betas=a,b"),
        ("--verbose", "--verbose"),
    ];
    for (argument, expected) in table {
        assert_eq!(masked_argument(argument), expected);
    }
}

#[test]
fn a_known_value_is_masked_wherever_it_stands() {
    let variables = [
        ("A_KEY", "correct-horse"),
        ("B_KEY", "short"),
        ("C", "correct"),
    ];
    let known = KnownSecrets::of(variables.into_iter());
    assert_eq!(
        known.masked("say correct-horse, not short or correct".to_owned()),
        "say ***, not short or correct"
    );
}

#[test]
fn text_without_secrets_is_left_alone() {
    for text in [
        "",
        "line one\nline two",
        "sk-ant is a prefix",
        "a=b:c",
        "größer als 3 €",
    ] {
        assert_eq!(masked_text(text), text);
    }
}
