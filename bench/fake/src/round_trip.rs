//! Control requests one after the other, each timed until its answer arrives.

use std::io::{self, Write};
use std::time::Instant;

use crate::input::{Input, text_after};
use crate::report;

const COUNT: usize = 5_000;

/// Which control request is timed.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Permission,
    Hook,
    Mcp,
}

pub(crate) fn run(kind: Kind, input: &mut Input, output: &mut impl Write) -> io::Result<()> {
    if matches!(kind, Kind::Mcp) {
        greet_server(input, output)?;
    }
    let mut times = Vec::with_capacity(COUNT);
    let mut errors = 0_usize;
    for index in 0..COUNT {
        let request = request(kind, &input.initialize, index);
        let started = Instant::now();
        let Some(answer) = ask(input, output, &format!("req-{index}"), &request)? else {
            break;
        };
        times.push(started.elapsed().as_nanos());
        errors += usize::from(is_error(&answer));
    }
    times.sort_unstable();
    let at = |share: usize| {
        times
            .get(times.len() * share / 100)
            .map_or(0.0, |&nanos| nanos as f64 / 1_000.0)
    };
    let (p50, p99) = (at(50), at(99));
    report(&format!(
        r#"{{"answered":{},"errors":{errors},"p50_us":{p50:.1},"p99_us":{p99:.1}}}"#,
        times.len()
    ))
}

/// Writes a request and waits for the answer that carries its id.
fn ask(
    input: &mut Input,
    output: &mut impl Write,
    id: &str,
    request: &str,
) -> io::Result<Option<String>> {
    let line =
        format!("{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{request}}}\n");
    output.write_all(line.as_bytes())?;
    output.flush()?;
    while let Some(answer) = input.line()? {
        if text_after(&answer, "request_id") == Some(id) {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn is_error(answer: &str) -> bool {
    text_after(answer, "subtype") == Some("error")
        || answer.contains("\"error\":{")
        || answer.contains("\"isError\":true")
}

fn request(kind: Kind, initialize: &str, index: usize) -> String {
    match kind {
        Kind::Permission => format!(
            r#"{{"subtype":"can_use_tool","tool_name":"Write","display_name":"Write","input":{{"file_path":"/home/user/project/w.txt","content":"hello {index}\n"}},"description":"w.txt","permission_suggestions":[{{"type":"setMode","mode":"acceptEdits","destination":"session"}}],"tool_use_id":"toolu_{index}"}}"#
        ),
        Kind::Hook => {
            let callback = text_after(initialize, "hookCallbackIds")
                .or_else(|| text_after(initialize, "callbackIds"));
            format!(
                r#"{{"subtype":"hook_callback","callback_id":"{}","input":{{"session_id":"s","transcript_path":"/home/user/t.jsonl","cwd":"/home/user/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"true","description":"nothing"}},"tool_use_id":"toolu_{index}"}},"tool_use_id":"toolu_{index}"}}"#,
                callback.unwrap_or("hook_0")
            )
        }
        Kind::Mcp => mcp(&format!(
            r#"{{"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}}}},"jsonrpc":"2.0","id":{}}}"#,
            index + 2
        )),
    }
}

/// What a real CLI says to a server before it calls a tool.
fn greet_server(input: &mut Input, output: &mut impl Write) -> io::Result<()> {
    let messages = [
        r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.325"}},"jsonrpc":"2.0","id":0}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#,
    ];
    for (index, message) in messages.iter().enumerate() {
        ask(input, output, &format!("greet-{index}"), &mcp(message))?;
    }
    Ok(())
}

fn mcp(message: &str) -> String {
    format!(r#"{{"subtype":"mcp_message","server_name":"bench","message":{message}}}"#)
}
