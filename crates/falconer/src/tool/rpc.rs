//! The bits of JSON-RPC that MCP needs.

use serde_json::{Value, json};

/// A method the server does not have.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// A call that names no tool, or an unknown one.
pub(super) const INVALID_PARAMS: i64 = -32602;

/// MCP versions whose handshake we speak, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The version to answer with: the one asked for if we speak it, else our newest.
pub(super) fn negotiate(asked: Option<&str>) -> &'static str {
    VERSIONS
        .into_iter()
        .find(|version| Some(*version) == asked)
        .unwrap_or(VERSIONS[0])
}

pub(super) fn success(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
