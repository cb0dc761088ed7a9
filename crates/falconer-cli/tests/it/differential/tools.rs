//! What the tools say to the host.

use std::path::Path;

use falconer_testkit::scenario::{MessageReply, Scenario, text, tool_use};
use serde_json::{Value, json};

use super::Case;

/// Every tool may be used.
pub(super) fn free(calls: impl Fn(&Path) -> Vec<MessageReply> + Send + Sync + 'static) -> Case {
    let scenario = move |project: &Path| {
        let scenario = calls(project)
            .into_iter()
            .fold(Scenario::new(), Scenario::turn);
        scenario.turn(text("done"))
    };
    Case::bidi(scenario)
        .args(["--permission-mode=bypassPermissions"])
        .env("IS_SANDBOX", "1")
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
}

pub(super) fn one(
    name: &'static str,
    input: impl Fn(&Path) -> Value + Send + Sync + 'static,
) -> Case {
    free(move |project| vec![tool_use(name, input(project))])
}

pub(super) fn bash(command: &'static str) -> Case {
    one(
        "Bash",
        move |_| json!({"command": command, "description": "run"}),
    )
}

#[test]
fn a_command_with_output() {
    bash("echo out; echo err >&2").same();
}

#[test]
fn a_command_without_output() {
    bash("true").same();
}

#[test]
fn a_command_that_fails() {
    bash("echo out; echo err >&2; exit 3").same();
}

#[test]
fn a_command_that_is_not_there() {
    bash("no-such-command-here").same();
}

#[test]
fn a_new_file() {
    one(
        "Write",
        |project| json!({"file_path": project.join("a.txt"), "content": "one\ntwo\n"}),
    )
    .same();
}

#[test]
fn an_existing_file_is_overwritten_after_it_was_read() {
    free(|project| {
        let file = project.join("a.txt");
        vec![
            tool_use("Read", json!({"file_path": file})),
            tool_use("Write", json!({"file_path": file, "content": "new\n"})),
        ]
    })
    .file("a.txt", "old\n")
    .same();
}

#[test]
fn a_file_is_read() {
    one(
        "Read",
        |project| json!({"file_path": project.join("a.txt")}),
    )
    .file("a.txt", "one\ntwo\nthree\n")
    .same();
}

#[test]
fn a_part_of_a_file_is_read() {
    one(
        "Read",
        |project| json!({"file_path": project.join("a.txt"), "offset": 2, "limit": 1}),
    )
    .file("a.txt", "one\ntwo\nthree\n")
    .same();
}

#[test]
fn a_file_that_is_not_there() {
    one(
        "Read",
        |project| json!({"file_path": project.join("missing.txt")}),
    )
    .same();
}

#[test]
fn a_directory_is_no_file() {
    one("Read", |project| json!({"file_path": project})).same();
}

#[test]
fn an_empty_file() {
    one(
        "Read",
        |project| json!({"file_path": project.join("a.txt")}),
    )
    .file("a.txt", "")
    .same();
}

fn edit(old: &'static str, new: &'static str, all: bool) -> Case {
    free(move |project| {
        let file = project.join("a.txt");
        let input =
            json!({"file_path": file, "old_string": old, "new_string": new, "replace_all": all});
        vec![
            tool_use("Read", json!({"file_path": file})),
            tool_use("Edit", input),
        ]
    })
    .file("a.txt", "one\ntwo\ntwo\nthree\n")
}

#[test]
fn an_edit() {
    edit("one", "1", false).same();
}

#[test]
fn an_edit_everywhere() {
    edit("two", "2", true).same();
}

#[test]
fn an_edit_that_is_not_clear() {
    edit("two", "2", false).same();
}

#[test]
fn an_edit_of_what_is_not_there() {
    edit("four", "4", false).same();
}

#[test]
fn an_edit_that_changes_nothing() {
    edit("one", "one", false).same();
}

#[test]
fn an_edit_of_a_file_that_was_not_read() {
    one("Edit", |project| {
        json!({"file_path": project.join("a.txt"), "old_string": "one", "new_string": "1"})
    })
    .file("a.txt", "one\n")
    .same();
}

#[test]
fn an_edit_of_a_file_that_is_not_there() {
    one("Edit", |project| {
        json!({"file_path": project.join("missing.txt"), "old_string": "one", "new_string": "1"})
    })
    .same();
}

#[test]
fn a_file_that_somebody_else_changed_is_not_edited() {
    let trace = free(|project| {
        let file = project.join("a.txt");
        vec![
            tool_use("Read", json!({"file_path": file})),
            tool_use(
                "Bash",
                json!({"command": "sleep 0.05; echo changed > a.txt", "description": "change"}),
            ),
            tool_use(
                "Edit",
                json!({"file_path": file, "old_string": "changed", "new_string": "2"}),
            ),
        ]
    })
    .file("a.txt", "one\n")
    .only_ours();
    let edit = trace.frames.iter().find(|frame| {
        frame["type"] == "user"
            && frame["message"]["content"][0]["tool_use_id"] == "toolu_scripted_0003"
    });
    let result = &edit.unwrap()["message"]["content"][0];
    assert_eq!(result["is_error"], true, "{result}");
    let text = result["content"].as_str().unwrap();
    assert!(text.starts_with("<tool_use_error>"), "{text}");
}

#[test]
fn an_input_that_does_not_fit() {
    one("Bash", |_| json!({"cmd": "ls"})).same();
}

#[test]
fn a_tool_that_does_not_exist() {
    one("NoSuchTool", |_| json!({"a": 1})).same();
}

#[test]
fn names_of_files() {
    one("Glob", |_| json!({"pattern": "**/*.rs"}))
        .args(["--tools=Bash,Read,Edit,Write,Glob,Grep"])
        .file("src/main.rs", "fn main() {}\n")
        .same();
}

#[test]
fn files_with_matches() {
    one("Grep", |_| json!({"pattern": "fn main"}))
        .args(["--tools=Bash,Read,Edit,Write,Glob,Grep"])
        .file("src/main.rs", "fn main() {}\n")
        .same();
}

#[test]
fn lines_with_matches() {
    one(
        "Grep",
        |_| json!({"pattern": "fn", "output_mode": "content", "-C": 1}),
    )
    .args(["--tools=Bash,Read,Edit,Write,Glob,Grep"])
    .file("src/main.rs", "// first\nfn main() {}\n// last\n")
    .same();
}

#[test]
fn counted_matches() {
    one("Grep", |_| json!({"pattern": "o", "output_mode": "count"}))
        .args(["--tools=Bash,Read,Edit,Write,Glob,Grep"])
        .file("a.txt", "one\ntwo\n")
        .same();
}

#[test]
fn results_of_readers_and_writers_come_in_the_same_order() {
    free(|project| {
        vec![
            tool_use(
                "Bash",
                json!({"command": "echo 1 > one", "description": "1"}),
            )
            .tool_use("Read", json!({"file_path": project.join("a.txt")}))
            .tool_use(
                "Bash",
                json!({"command": "echo 2 > two", "description": "2"}),
            ),
        ]
    })
    .file("a.txt", "one\n")
    .same();
}

#[test]
fn a_command_in_the_background_wakes_the_session() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "until [ -e go ]; do sleep 0.05; done; echo tick",
                "description": "ticks", "run_in_background": true}),
            ))
            .turn(text("waiting"))
            .turn(text("noted"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_notebook_cell_is_replaced() {
    let notebook = json!({"cells": [{"cell_type": "code", "id": "c1", "execution_count": null,
        "metadata": {}, "outputs": [], "source": ["print(1)"]}],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5});
    free(|project| {
        let file = project.join("a.ipynb");
        vec![
            tool_use("Read", json!({"file_path": file})),
            tool_use(
                "NotebookEdit",
                json!({"notebook_path": file, "cell_id": "c1", "new_source": "print(2)"}),
            ),
        ]
    })
    .file("a.ipynb", notebook.to_string())
    .same();
}

#[test]
fn a_search_does_not_show_what_may_not_be_read() {
    free(|_| {
        vec![
            tool_use("Grep", json!({"pattern": "key"})),
            tool_use("Glob", json!({"pattern": "**/*.txt"})),
        ]
    })
    .args([
        "--tools=Bash,Read,Edit,Write,Glob,Grep",
        r#"--settings={"permissions":{"deny":["Read(./secret/**)"]}}"#,
    ])
    .file("open.txt", "key\n")
    .file("secret/closed.txt", "key\n")
    .same();
}

#[test]
fn an_edit_that_cannot_work_is_not_asked_about() {
    Case::bidi(|project| {
        let file = project.join("a.txt");
        Scenario::new()
            .turn(tool_use("Read", json!({"file_path": file})))
            .turn(tool_use(
                "Edit",
                json!({"file_path": file, "old_string": "o", "new_string": "0"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .file("a.txt", "one\ntwo\n")
    .hello(json!({}))
    .allow()
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_long_command_in_front_is_told() {
    bash("sleep 4; echo done").same();
}

#[test]
fn a_file_with_zero_bytes() {
    one(
        "Read",
        |project| json!({"file_path": project.join("a.bin")}),
    )
    .file("a.bin", "a\0b\0c")
    .same();
}

#[test]
fn nothing_is_found() {
    one("Glob", |_| json!({"pattern": "**/*.none"}))
        .args(["--tools=Glob,Grep"])
        .same();
}

#[test]
fn no_line_matches() {
    one(
        "Grep",
        |_| json!({"pattern": "nowhere", "output_mode": "content"}),
    )
    .args(["--tools=Glob,Grep"])
    .file("a.txt", "one\n")
    .same();
}
