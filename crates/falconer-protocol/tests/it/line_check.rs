//! What must hold for any line whatever. Shared with the fuzz target.

use falconer_protocol::{HostLine, RawMessage, peek_kind};
use serde_json::Value;

/// Panics if a line is read wrongly.
pub(crate) fn check_line(line: &[u8]) {
    let kind = peek_kind(line);
    let parsed: Option<Value> = serde_json::from_slice(line).ok();
    let Ok(raw) = RawMessage::new(line.to_vec().into()) else {
        assert!(
            !matches!(parsed, Some(Value::Object(_))),
            "an object was refused"
        );
        return;
    };
    let decoded = raw.decode_with_notes();
    match parsed {
        Some(value @ Value::Object(_)) => {
            let decoded = decoded.expect("an object is always read");
            assert!(!decoded.repaired);
            let written = serde_json::to_value(&decoded.message).expect("written");
            assert_eq!(written, value);
            let line = HostLine::decode(line).expect("an object is always read");
            assert_eq!(serde_json::to_value(&line).expect("written"), value);
            assert!(kind.is_some() || !value["type"].is_string());
        }
        Some(_) => assert!(decoded.is_err()),
        None => assert!(decoded.is_err() || decoded.is_ok_and(|decoded| decoded.repaired)),
    }
}
