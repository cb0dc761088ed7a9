//! Prompts that are sent again, and prompts that are shown again.

use falconer_testkit::scenario::{Scenario, any, hold, status, text, tool_use};
use serde_json::json;

use super::Case;

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";
const THIRD: &str = "33333333-3333-4333-8333-333333333333";
const SESSION: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

/// The same with and without `--replay-user-messages`, and with the state announced.
fn shown_or_not(case: impl Fn() -> Case) {
    super::all_same([
        case(),
        case().args(["--replay-user-messages"]),
        case()
            .args(["--replay-user-messages"])
            .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
    ]);
}

/// The model takes its time for the first prompt.
fn held() -> Case {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(text("two"))
            .turn(text("three"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
}

#[test]
fn prompts_that_share_a_turn() {
    shown_or_not(|| {
        held()
            .say_as(SECOND, "second")
            .say_as(THIRD, "third")
            .until_all("command_lifecycle", 4)
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn prompts_of_any_content_that_share_a_turn() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}});
    let blocks = json!([{"type": "text", "text": "look"}, image]);
    shown_or_not(move || {
        held()
            .say_as(SECOND, "second")
            .send(&json!({"type": "user", "message": {"role": "user", "content": blocks}}))
            .say("fourth")
            .say_as(THIRD, "third")
            .until_all("command_lifecycle", 4)
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn prompts_without_a_name_that_share_a_turn() {
    shown_or_not(|| {
        held()
            .say("second")
            .say("third")
            .control("all are heard", json!({"subtype": "mcp_status"}))
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn a_named_prompt_before_one_without_a_name() {
    shown_or_not(|| {
        held()
            .say_as(SECOND, "second")
            .say("third")
            .control("all are heard", json!({"subtype": "mcp_status"}))
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn prompts_that_join_a_running_turn() {
    shown_or_not(|| {
        Case::bidi(|_| {
            Scenario::new()
                .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
                .turn(text("all"))
        })
        .args(["--allowedTools=Bash"])
        .hello(json!({}))
        .say_as(FIRST, "first")
        .until_file("started")
        .say_as(SECOND, "second")
        .say_as(THIRD, "third")
        .until_all("command_lifecycle", 4)
        .touch("go")
        .until("result")
        .eof()
    });
}

#[test]
fn an_answered_prompt_again() {
    shown_or_not(|| {
        Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
            .hello(json!({}))
            .say_as(FIRST, "first")
            .until("result")
            .say_as(FIRST, "first")
            .say_as(SECOND, "second")
            .until("result")
            .eof()
    });
}

#[test]
fn a_running_prompt_again() {
    shown_or_not(|| {
        held()
            .say_as(FIRST, "first, again")
            .say_as(SECOND, "second")
            .until_all("command_lifecycle", 3)
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn a_waiting_prompt_again() {
    shown_or_not(|| {
        held()
            .say_as(SECOND, "second")
            .say_as(SECOND, "second")
            .until_all("command_lifecycle", 3)
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn a_prompt_again_that_was_taken_back() {
    shown_or_not(|| {
        held()
            .say_as(SECOND, "second")
            .until_all("command_lifecycle", 3)
            .control(
                "back",
                json!({"subtype": "cancel_async_message", "message_uuid": SECOND}),
            )
            .say_as(SECOND, "second")
            .say_as(THIRD, "third")
            .until_all("command_lifecycle", 2)
            .release("later")
            .until_all("result", 2)
            .eof()
    });
}

#[test]
fn a_prompt_again_after_a_resume() {
    shown_or_not(|| {
        let first = Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
            .args([format!("--session-id={SESSION}").as_str()])
            .hello(json!({}))
            .say_as(FIRST, "first")
            .until("result")
            .eof();
        Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
            .args([format!("--resume={SESSION}").as_str()])
            .hello(json!({}))
            .say_as(FIRST, "first")
            .say_as(FIRST, "first, once more")
            .say_as(SECOND, "second")
            .until("result")
            .eof()
            .after(first)
    });
}

/// A prompt that is shown again, and the failures of the model after it.
fn shown(scenario: impl Fn(&std::path::Path) -> Scenario + Send + Sync + 'static) -> Case {
    Case::bidi(scenario)
        .args(["--replay-user-messages"])
        .hello(json!({}))
        .say_as(FIRST, "first")
}

#[test]
fn a_shown_prompt_while_the_server_recovers() {
    shown(|_| {
        Scenario::new()
            .turn(status(500))
            .turn(status(529))
            .turn(text("at last"))
    })
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_shown_prompt_that_is_never_answered() {
    shown(|_| Scenario::new().on(any()).always().reply(status(403)))
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_shown_prompt_that_is_interrupted_before_a_word() {
    shown(|_| Scenario::new().turn(hold("never").text("one")))
        .requests(1)
        .control("stop", json!({"subtype": "interrupt"}))
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_shown_prompt_that_is_only_kept() {
    Case::bidi(|_| Scenario::new().turn(text("one")))
        .args(["--replay-user-messages"])
        .hello(json!({}))
        .send(&json!({"type": "user", "message": {"role": "user", "content": "note"}, "shouldQuery": false, "uuid": FIRST}))
        .until("result")
        .say_as(SECOND, "go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_shown_prompt_that_is_answered_with_a_tool() {
    shown(|_| {
        Scenario::new()
            .turn(text("I look").tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .args(["--allowedTools=Bash", "--include-partial-messages"])
    .until("result")
    .eof()
    .same();
}

/// Both names of a shared turn, to go back to.
#[test]
fn files_are_taken_back_to_a_shared_turn() {
    let back_to = |case: Case, id: &str, uuid: &str| {
        let request = json!({"subtype": "rewind_files", "user_message_id": uuid, "dry_run": true});
        case.control(id, request)
    };
    let case = Case::bidi(|project| {
        let path = project.join("note.txt");
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(tool_use(
                "Write",
                json!({"file_path": path, "content": "new"}),
            ))
            .turn(text("written"))
    })
    .args(["--permission-mode=acceptEdits"])
    .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .say_as(THIRD, "third")
    .until_all("command_lifecycle", 4)
    .release("later")
    .until("result")
    .until("result");
    let case = back_to(case, "first", FIRST);
    let case = back_to(case, "second", SECOND);
    back_to(case, "third", THIRD).eof().same();
}

/// Prompts are shown, and the state is told.
fn talkative(case: Case) -> Case {
    case.args(["--replay-user-messages"])
        .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
}

#[test]
fn an_urgent_prompt_is_shown() {
    talkative(held())
        .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
        .until_all("result", 2)
        .eof()
        .same();
}

#[test]
fn a_kept_prompt_waits_and_is_shown() {
    talkative(held())
        .send(&json!({"type": "user", "message": {"role": "user", "content": "note"}, "shouldQuery": false, "uuid": SECOND}))
        .say_as(THIRD, "third")
        .until_all("command_lifecycle", 4)
        .release("later")
        .until_all("result", 3)
        .eof()
        .same();
}

#[test]
fn a_command_waits_and_is_shown() {
    talkative(held())
        .say_as(SECOND, "/cost")
        .say_as(THIRD, "third")
        .until_all("command_lifecycle", 4)
        .release("later")
        .until_all("result", 3)
        .eof()
        .same();
}

#[test]
fn an_interrupt_with_prompts_that_wait() {
    talkative(held())
        .say_as(SECOND, "second")
        .until_all("command_lifecycle", 3)
        .control("stop", json!({"subtype": "interrupt"}))
        .until_all("result", 2)
        .eof()
        .same();
}

#[test]
fn the_input_ends_while_prompts_wait() {
    talkative(held())
        .say_as(SECOND, "second")
        .until_all("command_lifecycle", 3)
        .eof()
        .release("later")
        .same();
}

#[test]
fn turns_run_out_after_a_shown_prompt() {
    let case = Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "d"}),
            ))
            .turn(text("one"))
    })
    .args([
        "--replay-user-messages",
        "--max-turns=1",
        "--allowedTools=Bash",
    ])
    .hello(json!({}))
    .say_as(FIRST, "first")
    .until("result")
    .say_as(SECOND, "second")
    .until("result")
    .eof();
    talkative(case).same();
}
