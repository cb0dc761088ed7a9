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

/// Names that contain such a part and carry no secret.
const HARMLESS: &[&str] = &["SSH_AUTH_SOCK", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"];

/// Whether a variable, header, JSON key or flag of this name carries a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    !HARMLESS.contains(&name.as_str()) && SECRET_PARTS.iter().any(|part| name.contains(part))
}
