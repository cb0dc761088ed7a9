//! The messages it plays, made before the first byte is written.
//!
//! Shapes are those the real CLI writes; the text is filler.

use std::io::{self, Write};

const SESSION: &str = "7118af4b-7da1-4b60-8bab-0d198b70217e";
/// Messages in a block; a block is written again and again.
const BLOCK: usize = 1_000;
/// How many mixed messages there are.
pub(crate) const MIXED: usize = 200_000;

pub(crate) const INIT: &str = concat!(
    r#"{"type":"system","subtype":"init","cwd":"/home/user/project","session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","#,
    r#""tools":["Task","Bash","Edit","Read","WebFetch","Write"],"mcp_servers":[],"model":"claude-opus-5-5","#,
    r#""permissionMode":"default","slash_commands":["compact"],"apiKeySource":"ANTHROPIC_API_KEY","#,
    r#""claude_code_version":"2.1.325","output_style":"default","agents":["general-purpose"],"skills":[],"plugins":[],"#,
    r#""uuid":"e3b45ec4-9862-45f7-a921-2f2288e4e970","fast_mode_state":"off"}"#,
    "\n"
);

/// The real one, too, does not begin with its type.
pub(crate) const RESULT: &str = concat!(
    r#"{"duration_api_ms":37,"stop_reason":"end_turn","session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","#,
    r#""total_cost_usd":0.00014,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"#,
    r#""output_tokens":5,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard"},"#,
    r#""modelUsage":{"claude-opus-5-5":{"inputTokens":10,"outputTokens":5,"cacheReadInputTokens":0,"#,
    r#""cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.00014,"contextWindow":1000000,"#,
    r#""maxOutputTokens":128000}},"permission_denials":[],"terminal_reason":"completed","is_error":false,"num_turns":1,"#,
    r#""subtype":"success","result":"done","type":"result","duration_ms":191,"uuid":"222dff67-97be-426f-a84d-5624f97296c6"}"#,
    "\n"
);

pub(crate) const IDLE: &str = concat!(
    r#"{"type":"system","subtype":"session_state_changed","state":"idle","#,
    r#""session_id":"7118af4b-7da1-4b60-8bab-0d198b70217e","uuid":"322dff67-97be-426f-a84d-5624f97296c6"}"#,
    "\n"
);

/// 80 % stream events, 12 % assistant messages, 8 % tool results.
pub(crate) fn block() -> String {
    (0..BLOCK).map(message).collect()
}

pub(crate) fn write_mixed(output: &mut impl Write) -> io::Result<()> {
    let block = block();
    for _ in 0..MIXED / BLOCK {
        output.write_all(block.as_bytes())?;
    }
    Ok(())
}

/// `count` assistant messages with `size` bytes of text each.
pub(crate) fn write_big(output: &mut impl Write, count: usize, size: usize) -> io::Result<()> {
    let line = assistant(&filler(7, size));
    for _ in 0..count {
        output.write_all(line.as_bytes())?;
    }
    Ok(())
}

pub(crate) fn message(index: usize) -> String {
    match index % 25 {
        4 | 12 | 20 => assistant(&filler(index, 60 + index % 40)),
        8 | 16 => tool_result(index),
        _ => stream_event(index),
    }
}

fn stream_event(index: usize) -> String {
    let text = filler(index, 140 + index % 90);
    format!(
        "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\
         \"text\":\"{text}\"}}}},\"session_id\":\"{SESSION}\",\"parent_tool_use_id\":null,\
         \"uuid\":\"d1f1dd7b-bf43-4d92-8082-6dcdd{index:07}\",\"api_message_id\":\"msg_mock0001\"}}\n"
    )
}

pub(crate) fn assistant(text: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"msg_mock0001\",\"type\":\"message\",\"role\":\"assistant\",\
         \"model\":\"claude-opus-5-5\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"stop_reason\":null,\
         \"stop_sequence\":null,\"usage\":{{\"input_tokens\":10,\"cache_creation_input_tokens\":0,\
         \"cache_read_input_tokens\":0,\"output_tokens\":1,\"service_tier\":\"standard\"}}}},\"parent_tool_use_id\":null,\
         \"session_id\":\"{SESSION}\",\"uuid\":\"4140f149-38d7-494a-99d3-be60f2f77626\"}}\n"
    )
}

fn tool_result(index: usize) -> String {
    let text = filler(index, 150 + index % 50);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_01A\",\
         \"type\":\"tool_result\",\"content\":\"{text}\"}}]}},\"parent_tool_use_id\":null,\"session_id\":\"{SESSION}\",\
         \"uuid\":\"d52302ea-ec00-4151-adde-da9502599408\",\"timestamp\":\"2026-11-15T19:17:17.031Z\"}}\n"
    )
}

/// Words with a line break (escaped, as in real text) now and then.
fn filler(seed: usize, length: usize) -> String {
    const WORDS: [&str; 8] = [
        "the ",
        "reader ",
        "splits ",
        "lines\\n",
        "before ",
        "anything ",
        "else ",
        "happens. ",
    ];
    let mut text = String::with_capacity(length + 16);
    let mut index = seed;
    while text.len() < length {
        text.push_str(WORDS[index % WORDS.len()]);
        index += 1 + index / 3 % 5;
    }
    text
}
