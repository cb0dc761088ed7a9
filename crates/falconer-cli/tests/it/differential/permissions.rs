//! Who may do what: the host's answers, modes, rules.

use std::path::Path;

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::case::Answer;

const TOUCH: &str = "touch made.txt && echo made";

fn touch(_: &Path) -> Scenario {
    bash(TOUCH)
}

fn bash(command: &str) -> Scenario {
    Scenario::new()
        .turn(
            text("I make it.").tool_use("Bash", json!({"command": command, "description": "make"})),
        )
        .turn(text("done"))
}

/// A host that can be asked, and one prompt.
fn asked(scenario: impl Fn(&Path) -> Scenario + Send + Sync + 'static) -> Case {
    Case::bidi(scenario)
        .args(["--permission-prompt-tool=stdio"])
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
}

fn answered(answer: Value) -> Case {
    asked(touch).answer("can_use_tool", Answer::Success(answer))
}

#[test]
fn allowed() {
    asked(touch).allow().same();
}

#[test]
fn allowed_with_another_input() {
    let input = json!({"command": "echo other", "description": "other"});
    answered(json!({"behavior": "allow", "updatedInput": input})).same();
}

#[test]
fn allowed_with_an_empty_input_changes_nothing() {
    answered(json!({"behavior": "allow", "updatedInput": {}})).same();
}

#[test]
fn allowed_with_null_as_input_is_no_answer() {
    answered(json!({"behavior": "allow", "updatedInput": null})).same();
}

#[test]
fn allowed_with_an_input_that_does_not_fit() {
    answered(json!({"behavior": "allow", "updatedInput": {"command": 7}})).same();
}

#[test]
fn denied() {
    asked(touch).deny("not today").same();
}

#[test]
fn denied_without_a_message_is_no_answer() {
    answered(json!({"behavior": "deny"})).same();
}

#[test]
fn denied_and_stopped() {
    // The hook holds the question back until the whole answer has come: a turn that is stopped
    // before has not used what the end of the answer says.
    let hook = json!({"type": "command", "command": "until [ -e go ]; do sleep 0.01; done"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    let denial = json!({"behavior": "deny", "message": "stop", "interrupt": true});
    Case::bidi(|_| Scenario::new().turn(tool_use("Bash", json!({"command": TOUCH}))))
        .args([
            "--permission-prompt-tool=stdio",
            "--include-partial-messages",
        ])
        .args([format!("--settings={settings}").as_str()])
        .hello(json!({}))
        .say("go")
        .until_all("stream_event", 6)
        .touch("go")
        .answer("can_use_tool", Answer::Success(denial))
        .until("result")
        .eof()
        .same();
}

#[test]
fn garbage_is_no_answer() {
    answered(json!({"whatever": 1})).same();
}

#[test]
fn an_error_is_a_denial() {
    asked(touch)
        .answer("can_use_tool", Answer::Error("host broke".to_owned()))
        .same();
}

#[test]
fn the_end_of_input_is_a_denial() {
    Case::bidi(touch)
        .args(["--permission-prompt-tool=stdio"])
        .hello(json!({}))
        .say("go")
        .until("control_request/can_use_tool")
        .eof()
        .same();
}

#[test]
fn a_rule_for_the_session_silences_the_next_call() {
    let rule = json!({"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "touch a.txt"}]});
    asked(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "touch a.txt", "description": "a"}),
            ))
            .turn(tool_use(
                "Bash",
                json!({"command": "touch a.txt", "description": "again"}),
            ))
            .turn(text("done"))
    })
    .answer(
        "can_use_tool",
        Answer::Success(json!({"behavior": "allow", "updatedPermissions": [rule]})),
    )
    .same();
}

#[test]
fn a_mode_set_by_an_answer_is_told() {
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    asked(|project| {
        Scenario::new()
            .turn(write(project, "a.txt"))
            .turn(write(project, "b.txt"))
            .turn(text("done"))
    })
    .answer(
        "can_use_tool",
        Answer::Success(json!({"behavior": "allow", "updatedPermissions": [mode]})),
    )
    .same();
}

fn write(project: &Path, name: &str) -> falconer_testkit::scenario::MessageReply {
    let file = project.join(name);
    tool_use("Write", json!({"file_path": file, "content": "text\n"}))
}

#[test]
fn calls_that_write_are_asked_one_after_another() {
    asked(|project| {
        Scenario::new()
            .turn(
                tool_use(
                    "Bash",
                    json!({"command": "touch a.txt", "description": "a"}),
                )
                .tool_use(
                    "Bash",
                    json!({"command": "touch b.txt", "description": "b"}),
                )
                .tool_use(
                    "Write",
                    json!({"file_path": project.join("c.txt"), "content": "c"}),
                ),
            )
            .turn(text("done"))
    })
    .allow()
    .same();
}

#[test]
fn reading_commands_are_not_asked() {
    asked(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "ls", "description": "list"}),
            ))
            .turn(tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(tool_use(
                "Bash",
                json!({"command": "cat a.txt", "description": "show"}),
            ))
            .turn(text("done"))
    })
    .file("a.txt", "hello\n")
    .same();
}

#[test]
fn outside_of_the_project_is_asked() {
    asked(|_| {
        Scenario::new()
            .turn(tool_use("Read", json!({"file_path": "/etc/hostname"})))
            .turn(text("done"))
    })
    .deny("not there")
    .same();
}

#[test]
fn accept_edits_lets_edits_through_and_asks_for_the_rest() {
    asked(|project| {
        Scenario::new()
            .turn(write(project, "a.txt"))
            .turn(tool_use(
                "Bash",
                json!({"command": "touch b.txt", "description": "b"}),
            ))
            .turn(tool_use(
                "Bash",
                json!({"command": "curl http://127.0.0.1:9/", "description": "c"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-mode=acceptEdits"])
    .deny("no network")
    .same();
}

#[test]
fn plan_mode_asks_before_it_writes() {
    asked(|project| {
        Scenario::new()
            .turn(write(project, "a.txt"))
            .turn(text("done"))
    })
    .args(["--permission-mode=plan"])
    .deny("planning")
    .same();
}

#[test]
fn dont_ask_denies() {
    asked(touch).args(["--permission-mode=dontAsk"]).same();
}

#[test]
fn bypass_asks_nothing() {
    asked(touch)
        .args(["--permission-mode=bypassPermissions"])
        .env("IS_SANDBOX", "1")
        .same();
}

#[test]
fn without_somebody_to_ask_it_is_denied() {
    Case::one_shot("go", &[], touch).same();
}

#[test]
fn writing_without_somebody_to_ask_is_denied() {
    Case::one_shot("go", &[], |project| {
        Scenario::new()
            .turn(write(project, "a.txt"))
            .turn(text("done"))
    })
    .same();
}

#[test]
fn without_a_prompt_tool_a_host_is_not_asked() {
    Case::bidi(touch)
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn prompts_can_be_turned_off() {
    Case::bidi(touch)
        .args(["--permission-prompts=none"])
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn allowed_tools_are_not_asked() {
    Case::one_shot("go", &["--allowedTools=Bash"], touch).same();
}

#[test]
fn a_rule_allows_what_it_names() {
    Case::one_shot("go", &["--allowedTools=Bash(touch *),Bash(echo *)"], touch).same();
}

#[test]
fn a_tool_that_is_not_allowed_at_all_is_not_there() {
    Case::one_shot("go", &["--disallowedTools=Bash"], touch).same();
}

#[test]
fn a_deny_rule_beats_an_allowed_tool() {
    Case::one_shot(
        "go",
        &["--allowedTools=Bash", "--disallowedTools=Bash(touch:*)"],
        touch,
    )
    .same();
}

#[test]
fn rules_of_a_settings_file_are_read() {
    asked(touch)
        .args(["--settings={\"permissions\":{\"deny\":[\"Bash(touch:*)\"]}}"])
        .same();
}

#[test]
fn a_question_is_answered_by_the_host() {
    let questions = json!([{"question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]);
    let answers = json!({"questions": questions, "answers": {"Which color?": "Blue"}});
    asked(move |_| {
        Scenario::new()
            .turn(tool_use("AskUserQuestion", json!({"questions": questions})))
            .turn(text("Blue it is."))
    })
    .answer(
        "can_use_tool",
        Answer::Success(json!({"behavior": "allow", "updatedInput": answers})),
    )
    .same();
}

#[test]
fn a_question_may_stay_without_an_answer() {
    asked(|_| {
        Scenario::new()
            .turn(tool_use("AskUserQuestion", json!({"questions": [{"question": "Which color?",
                "header": "Color", "multiSelect": false, "options": [
                    {"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]})))
            .turn(text("I choose."))
    })
    .allow()
    .same();
}

#[test]
fn a_question_without_a_host_is_not_there() {
    Case::one_shot("ask me", &[], |_| {
        Scenario::new()
            .turn(tool_use("AskUserQuestion", json!({"questions": []})))
            .turn(text("done"))
    })
    .same();
}

#[test]
fn a_plan_is_approved_by_the_host() {
    asked(|_| {
        Scenario::new()
            .turn(tool_use(
                "ExitPlanMode",
                json!({"plan": "# Plan\n1. do it"}),
            ))
            .turn(text("I begin."))
    })
    .args(["--permission-mode=plan"])
    .allow()
    .same();
}

#[test]
fn a_plan_is_sent_back_by_the_host() {
    asked(|_| {
        Scenario::new()
            .turn(tool_use(
                "ExitPlanMode",
                json!({"plan": "# Plan\n1. do it"}),
            ))
            .turn(text("I think again."))
    })
    .args(["--permission-mode=plan"])
    .deny("more detail")
    .same();
}

#[test]
fn readers_are_asked_side_by_side() {
    // Nobody answers, so that it does not matter who is faster.
    Case::bidi(|_| {
        Scenario::new()
            .turn(
                tool_use("Read", json!({"file_path": "/etc/hostname"}))
                    .tool_use("Read", json!({"file_path": "/etc/hosts"})),
            )
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .hello(json!({}))
    .say("go")
    .until_all("control_request/can_use_tool", 2)
    .eof()
    .same();
}

#[test]
fn one_command_that_a_rule_denies() {
    Case::one_shot(
        "go",
        &["--allowedTools=Bash", "--disallowedTools=Bash(touch:*)"],
        |_| bash("touch a.txt"),
    )
    .same();
}

#[test]
fn a_file_that_a_rule_hides() {
    asked(|project| {
        Scenario::new()
            .turn(tool_use("Read", json!({"file_path": project.join(".env")})))
            .turn(text("done"))
    })
    .args(["--disallowedTools=Read(./.env)"])
    .file(".env", "SECRET=1\n")
    .same();
}

#[test]
fn writing_in_a_directory_below_is_asked() {
    asked(|project| {
        Scenario::new()
            .turn(write(project, "sub/a.txt"))
            .turn(text("done"))
    })
    .file("sub/b.txt", "")
    .deny("no")
    .same();
}

#[test]
fn plan_mode_lets_reading_commands_through() {
    asked(|_| bash("ls"))
        .args(["--permission-mode=plan"])
        .same();
}
