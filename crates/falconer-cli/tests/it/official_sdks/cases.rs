//! What the SDKs are used for. The programs are in `tests/official`.

use std::path::Path;

use falconer_testkit::scenario::{Scenario, any, status, text, tool_use};
use serde_json::json;

use super::runs::{Sdk, same};

fn one(_: &Path) -> Scenario {
    Scenario::new().turn(text("Hello."))
}

fn two(_: &Path) -> Scenario {
    Scenario::new().turn(text("one")).turn(text("two"))
}

fn touch(_: &Path) -> Scenario {
    Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": "touch made.txt", "description": "make"}),
        ))
        .turn(tool_use(
            "Bash",
            json!({"command": "touch denied.txt", "description": "make"}),
        ))
        .turn(text("done"))
}

fn make(_: &Path) -> Scenario {
    Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": "touch made.txt", "description": "make"}),
        ))
        .turn(text("done"))
}

fn question(_: &Path) -> Scenario {
    let questions = json!([{"question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]);
    Scenario::new()
        .turn(tool_use("AskUserQuestion", json!({"questions": questions})))
        .turn(text("Blue it is."))
}

fn addition(_: &Path) -> Scenario {
    Scenario::new()
        .turn(tool_use("mcp__calc__add", json!({"a": 2, "b": 3})))
        .turn(text("five"))
}

fn value(_: &Path) -> Scenario {
    Scenario::new().turn(tool_use("StructuredOutput", json!({"n": 7})))
}

fn held(_: &Path) -> Scenario {
    Scenario::new().turn(text("a beginning").hold("never").text("an end"))
}

fn write(project: &Path) -> Scenario {
    Scenario::new()
        .turn(tool_use(
            "Write",
            json!({"file_path": project.join("new.txt"), "content": "new\n"}),
        ))
        .turn(text("done"))
}

fn refused(_: &Path) -> Scenario {
    Scenario::new().on(any()).always().reply(status(400))
}

/// One test per SDK and case.
macro_rules! cases {
    ($sdk:ident, $module:ident: $($name:ident => $scenario:expr),+ $(,)?) => {
        mod $module {
            use super::*;

            $(
                #[test]
                fn $name() {
                    same(Sdk::$sdk, stringify!($name), $scenario);
                }
            )+
        }
    };
}

cases! {
    TypeScript, typescript:
    one_shot => one,
    streaming_input => two,
    partial_messages => one,
    permissions => touch,
    questions => question,
    hooks => make,
    tools => addition,
    structured_output => value,
    interrupt => held,
    resume => two,
    fork => two,
    session_functions => two,
    checkpoints => write,
    controls => one,
    failure => refused,
}

cases! {
    Python, python:
    one_shot => one,
    streaming_input => two,
    partial_messages => one,
    permissions => touch,
    questions => question,
    hooks => make,
    tools => addition,
    structured_output => value,
    interrupt => held,
    resume => two,
    fork => two,
    session_functions => one,
    checkpoints => write,
}
