//! Commands: how they end, what becomes of their output, the background.

use falconer_testkit::scenario::{MessageReply, Scenario, hold, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::tools::{bash, free};

/// A command that lives until there is a file.
const WAITS: &str = "touch started; until [ -e go ]; do sleep 0.05; done; echo tick";

fn call(input: Value) -> MessageReply {
    tool_use("Bash", input)
}

/// A conversation in which commands are allowed.
fn allowed(turns: impl Fn() -> Vec<MessageReply> + Send + Sync + 'static) -> Case {
    Case::bidi(move |_| turns().into_iter().fold(Scenario::new(), Scenario::turn))
        .args(["--allowedTools=Bash,TaskStop,TaskOutput"])
        .hello(json!({}))
        .say("go")
}

fn in_background() -> MessageReply {
    call(json!({"command": WAITS, "description": "ticks", "run_in_background": true}))
}

#[test]
fn ends_by_signals_and_codes() {
    free(|_| {
        let calls = [
            "sh -c 'kill -SEGV $$'",
            "exit 255",
            "grep nothing /dev/null",
            "diff a.txt b.txt",
        ];
        let calls = calls.into_iter();
        calls
            .map(|it| call(json!({"command": it, "description": "end"})))
            .collect()
    })
    .file("a.txt", "one\n")
    .file("b.txt", "two\n")
    .same();
}

/// The official engine tells 144 and 1, codes of its own shell around the command.
#[test]
fn a_shell_that_is_killed_has_the_code_of_the_signal() {
    for (signal, told) in [("TERM", "Exit code 143"), ("KILL", "Exit code 137")] {
        let command = format!("kill -{signal} $$");
        free(move |_| vec![call(json!({"command": command, "description": "end"}))])
            .ours("user", "/message/content/0/content", json!(told))
            .same();
    }
}

#[test]
fn output_is_told_as_it_is() {
    free(|_| {
        let calls = [
            "printf 'no end of line'",
            "printf '\\n\\n  spaces  \\n\\n'",
            "echo out; echo err >&2; exit 1",
            "cd sub && pwd",
            "pwd",
            "export X=1; echo $X",
            "echo [$X]",
        ];
        let calls = calls.into_iter();
        calls
            .map(|it| call(json!({"command": it, "description": "say"})))
            .collect()
    })
    .file("sub/a.txt", "")
    .with_results()
    .same();
}

#[test]
fn long_output() {
    // The official engine keeps the beginning, ours the beginning and the end.
    bash("i=0; while [ $i -lt 5000 ]; do echo line number $i; i=$((i+1)); done")
        .apart("user", "/tool_use_result/stdout")
        .same();
}

#[test]
fn a_command_over_its_time_goes_to_the_background() {
    allowed(|| {
        vec![
            call(json!({"command": WAITS, "description": "ticks", "timeout": 1000})),
            text("waiting"),
            text("noted"),
        ]
    })
    .until("result")
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_command_is_sent_to_the_background_by_the_host() {
    allowed(|| {
        vec![
            call(json!({"command": WAITS, "description": "ticks"})),
            text("waiting"),
            text("noted"),
        ]
    })
    .until("system/task_started")
    .control("away", json!({"subtype": "background_tasks"}))
    .until("result")
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_command_in_the_background_is_stopped_by_the_host() {
    allowed(|| vec![in_background(), text("waiting"), text("noted")])
        .until("result")
        .control(
            "output",
            json!({"subtype": "get_task_output", "task_id": "<task>"}),
        )
        .control("stop", json!({"subtype": "stop_task", "task_id": "<task>"}))
        .until("system/task_notification")
        .control(
            "late",
            json!({"subtype": "get_task_output", "task_id": "<task>"}),
        )
        .control(
            "unknown",
            json!({"subtype": "get_task_output", "task_id": "nothing"}),
        )
        .eof()
        .same();
}

#[test]
fn a_task_that_is_not_there_is_stopped_by_the_model() {
    allowed(|| {
        vec![
            tool_use("TaskStop", json!({"task_id": "nothing"})),
            tool_use("TaskStop", json!({})),
            text("done"),
        ]
    })
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_output_of_a_task_that_ended_is_told() {
    allowed(|| {
        vec![
            call(
                json!({"command": "until [ -e go ]; do sleep 0.05; done; echo one; exit 7",
                "description": "fails", "run_in_background": true}),
            ),
            text("waiting"),
            text("noted"),
        ]
    })
    .until("result")
    .touch("go")
    .until("result")
    .control(
        "output",
        json!({"subtype": "get_task_output", "task_id": "<task>"}),
    )
    .eof()
    .same();
}

#[test]
fn an_interrupt_ends_the_background_too() {
    allowed(|| vec![in_background(), hold("never").text("waiting")])
        .until("system/task_started")
        .requests(2)
        .control("stop", json!({"subtype": "interrupt"}))
        .until("result")
        .eof()
        .same();
}

#[test]
fn an_interrupt_between_turns_spares_the_background() {
    allowed(|| vec![in_background(), text("waiting"), text("noted")])
        .until("result")
        .control("stop", json!({"subtype": "interrupt"}))
        .touch("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn an_interrupt_may_spare_the_background() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(in_background())
            .turn(hold("never").text("waiting"))
            .turn(text("noted"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({"perTaskStopAffordance": true}))
    .say("go")
    .requests(2)
    .control("stop", json!({"subtype": "interrupt"}))
    .until("result")
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_input_ends_with_a_command_in_the_background() {
    allowed(|| {
        vec![
            call(
                json!({"command": "until [ -e go ]; do sleep 0.05; done; echo tick",
                "description": "ticks", "run_in_background": true}),
            ),
            text("waiting"),
            text("noted"),
        ]
    })
    .until("result")
    .eof()
    .touch("go")
    .same();
}

#[test]
fn inputs_of_commands_that_do_not_fit() {
    free(|_| {
        vec![
            call(json!({"command": "echo hi", "timeout": "soon"})),
            call(json!({"command": "echo hi", "timeout": 99_000_000})),
            call(json!({"command": "", "description": "nothing"})),
            call(json!({"command": "echo hi", "surprise": true})),
            call(json!({"command": "sleep 30", "description": "sleep"})),
        ]
    })
    .same();
}
