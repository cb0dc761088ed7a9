//! One odd line between two assistant messages; `BENCH_ODD` says which.

use std::io::{self, Write};

use crate::input::{Input, text_after};
use crate::payload::assistant;
use crate::report;

pub(crate) fn run(input: &mut Input, output: &mut impl Write) -> io::Result<()> {
    let name = std::env::var("BENCH_ODD").unwrap_or_default();
    output.write_all(assistant("before").as_bytes())?;
    output.write_all(&line(&name)?)?;
    output.write_all(b"\n")?;
    output.flush()?;
    output.write_all(assistant("after").as_bytes())?;
    output.flush()?;
    if name == "unknown_control" {
        // The result would end the conversation, and with it the chance to answer.
        wait_for_answer(input)?;
    }
    Ok(())
}

/// Notes whether the request that nobody knows is answered within half a second.
fn wait_for_answer(input: &mut Input) -> io::Result<()> {
    let (tx, rx) = std::sync::mpsc::channel();
    let mut own = std::mem::replace(input, Input::new());
    std::thread::spawn(move || {
        while let Ok(Some(line)) = own.line() {
            if text_after(&line, "request_id") == Some("odd-1") && tx.send(()).is_err() {
                return;
            }
        }
    });
    let answered = rx
        .recv_timeout(std::time::Duration::from_millis(500))
        .is_ok();
    report(&format!(r#"{{"answered":{answered}}}"#))
}

fn line(name: &str) -> io::Result<Vec<u8>> {
    let text = match name {
        "unknown_type" => r#"{"type":"brand_new","payload":{"a":1},"uuid":"u","session_id":"s"}"#.to_owned(),
        "unknown_system" => r#"{"type":"system","subtype":"brand_new","session_id":"s","uuid":"u"}"#.to_owned(),
        "system_status" => r#"{"type":"system","subtype":"status","status":"compacting","session_id":"s","uuid":"u"}"#.to_owned(),
        "unknown_block" => with_block(r#"{"type":"brand_new","x":1}"#),
        "server_tool" => with_block(r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}"#),
        "redacted" => with_block(r#"{"type":"redacted_thinking","data":"abc="}"#),
        "unknown_event" => event(r#"{"type":"brand_new","x":1}"#),
        "unknown_delta" => event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"brand_new","x":1}}"#),
        "rate_limit" => r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1763240400,"rateLimitType":"five_hour"},"uuid":"4140f149-38d7-494a-99d3-be60f2f77626","session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e"}"#.to_owned(),
        "tool_progress" => r#"{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":2.5,"uuid":"4140f149-38d7-494a-99d3-be60f2f77626","session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e"}"#.to_owned(),
        "keep_alive" => r#"{"type":"keep_alive"}"#.to_owned(),
        "user_string" => r#"{"type":"user","message":{"role":"user","content":"just text"},"parent_tool_use_id":null,"session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","uuid":"4140f149-38d7-494a-99d3-be60f2f77626"}"#.to_owned(),
        "user_image" => r#"{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},"parent_tool_use_id":null,"session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","uuid":"4140f149-38d7-494a-99d3-be60f2f77626"}"#.to_owned(),
        "blank" => String::new(),
        "garbage" => "Warning: something that is not JSON".to_owned(),
        "bad_utf8" => return Ok(bad_utf8()),
        "lone_surrogate" => assistant("a lone \\ud83d surrogate").trim_end().to_owned(),
        "cancel" => r#"{"type":"control_cancel_request","request_id":"nobody-asked"}"#.to_owned(),
        "unknown_result" => r#"{"type":"control_response","response":{"subtype":"success","request_id":"nobody-asked","response":{}}}"#.to_owned(),
        "unknown_control" => r#"{"type":"control_request","request_id":"odd-1","request":{"subtype":"brand_new","x":1}}"#.to_owned(),
        other => return Err(io::Error::other(format!("unknown BENCH_ODD `{other}`"))),
    };
    Ok(text.into_bytes())
}

fn with_block(block: &str) -> String {
    assistant("TEXT")
        .trim_end()
        .replace(r#"{"type":"text","text":"TEXT"}"#, block)
}

fn event(event: &str) -> String {
    format!(
        r#"{{"type":"stream_event","event":{event},"session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","parent_tool_use_id":null,"uuid":"4140f149-38d7-494a-99d3-be60f2f77626"}}"#
    )
}

fn bad_utf8() -> Vec<u8> {
    let mut bytes = assistant("bad X byte").trim_end().as_bytes().to_vec();
    if let Some(place) = bytes.windows(5).position(|window| window == b"bad X") {
        bytes[place + 4] = 0xff;
    }
    bytes
}
