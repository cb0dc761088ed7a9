//! Forms in which a secret is written: as it is, escaped, percent-encoded, in Base64, as hexadecimal
//! digits.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Shorter encodings would match by accident.
const SHORTEST_ENCODED: usize = 14;

/// Returns a pattern for each form of a secret.
pub(crate) fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![spelled(secret)];
    forms.extend((0..3).filter_map(|shift| base64(secret, shift)));
    forms.extend(hexadecimal(secret));
    forms
}

/// A pattern in which every character may be a JSON escape, at any depth, or percent-encoded.
fn spelled(secret: &str) -> String {
    let mut out = String::from("(?:");
    for letter in secret.chars() {
        let mut escaped = String::new();
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, r"\\+u(?i:{unit:04x})");
        }
        let mut percent = String::new();
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            let _ = write!(percent, "%(?:25)*(?i:{byte:02x})");
        }
        let short = match letter {
            '\n' => r"|\\+n",
            '\t' => r"|\\+t",
            '\r' => r"|\\+r",
            '"' => r#"|\\+""#,
            '/' => r"|\\+/",
            '\\' => r"|\\+",
            ' ' => r"|\+",
            _ => "",
        };
        let plain = regex::escape(letter.encode_utf8(&mut [0; 4]));
        let _ = write!(out, "(?:{plain}|{escaped}|{percent}{short})");
    }
    out.push(')');
    out
}

/// A pattern for the secret within Base64 that begins `shift` bytes before it, in either alphabet
/// and with line breaks. What depends on the bytes around it is left out.
fn base64(secret: &str, shift: usize) -> Option<String> {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(secret.as_bytes());
    let encoded = STANDARD_NO_PAD.encode(&bytes);
    let first = (shift * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    let own = encoded.get(first..last)?;
    if own.len() < SHORTEST_ENCODED {
        return None;
    }
    let mut out = String::new();
    for (index, letter) in own.chars().enumerate() {
        if index > 0 {
            out.push_str(r"(?:\r?\n|\\+r?\\*n)?");
        }
        match letter {
            '+' => out.push_str(r"(?:\+|-|%2[Bb])"),
            '/' => out.push_str(r"(?:\\*/|_|%2[Ff])"),
            plain => out.push(plain),
        }
    }
    Some(out)
}

/// A pattern for the bytes as digits, together or with a sign between them.
fn hexadecimal(secret: &str) -> Option<String> {
    if secret.len() * 2 < SHORTEST_ENCODED {
        return None;
    }
    let mut out = String::new();
    for (index, byte) in secret.bytes().enumerate() {
        if index > 0 {
            out.push_str(r"(?:[ :\n-]|\\+n|\\+x)?");
        }
        let _ = write!(out, "(?i:{byte:02x})");
    }
    Some(out)
}
