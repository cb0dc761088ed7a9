//! Names that give a secret away.

/// Parts of names, in capitals; variables, headers and JSON keys alike.
const SECRET_PARTS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "AUTH",
    "CREDENTIAL",
    "COOKIE",
    "HEADERS",
    "PRIVATE",
    "SIGNATURE",
    "WEBHOOK",
    "DATABASE_URL",
];

/// Last words of names whose value is a secret beyond doubt.
const SECRET_ENDS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "HEADERS",
    "COOKIE",
];

/// Names that contain such a part and carry no secret.
const HARMLESS: &[&str] = &["SSH_AUTH_SOCK", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"];

/// Returns whether a variable, header, JSON key or flag of this name may carry a secret.
///
/// For showing values: it rather hides one too many.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    !HARMLESS.contains(&name.as_str()) && SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Returns whether the last word of the name says that the value is a secret.
///
/// For searching texts for values: `GIT_AUTHOR_NAME` and `MAX_TOKENS` are none.
pub(crate) fn ends_like_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    SECRET_ENDS.iter().any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for name in [
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "x-api-key",
            "authKey",
            "OPENAI_APIKEY",
        ] {
            assert!(ends_like_a_secret(name) && is_secret_name(name), "{name}");
        }
        for name in [
            "GIT_AUTHOR_NAME",
            "MAX_THINKING_TOKENS",
            "KEYBOARD",
            "PATH",
            "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
        ] {
            assert!(!ends_like_a_secret(name), "{name}");
        }
    }
}
