//! What the model is given: instructions and tools. It says whether it has seen them.

use falconer_testkit::scenario::{Matcher, Scenario, system_contains, text, tool_available};
use serde_json::{Value, json};

use super::{Case, all_same};

/// A model that names what it sees; a prompt for each thing to look for.
fn looking(things: fn() -> Vec<Matcher>, args: &[&str], hello: Value) -> Case {
    let case = Case::bidi(move |_| {
        things().into_iter().fold(Scenario::new(), |scenario, it| {
            let hidden = falconer_testkit::scenario::not(it.clone());
            let next = scenario.rules.len() as u32 / 2;
            let prompt = || falconer_testkit::scenario::last_user_contains(format!("look {next}"));
            scenario
                .on(prompt().and(it))
                .reply(text("seen"))
                .on(prompt().and(hidden))
                .reply(text("not seen"))
        })
    });
    let mut case = case.args(args.iter().copied()).hello(hello);
    for index in 0..things().len() {
        case = case.say(&format!("look {index}")).until("result");
    }
    case.eof()
}

fn instructions() -> Vec<Matcher> {
    vec![
        system_contains("MARK-ONE"),
        system_contains("MARK-TWO"),
        system_contains("MARK-THREE"),
    ]
}

#[test]
fn instructions_by_flag() {
    looking(
        instructions,
        &[
            "--system-prompt=MARK-ONE",
            "--append-system-prompt=MARK-TWO",
        ],
        json!({}),
    )
    .same();
}

#[test]
fn instructions_in_files() {
    looking(
        instructions,
        &[
            "--system-prompt-file=<project>/one.md",
            "--append-system-prompt-file=<project>/two.md",
        ],
        json!({}),
    )
    .file("one.md", "MARK-ONE\n")
    .file("two.md", "MARK-TWO\n")
    .same();
}

#[test]
fn instructions_in_the_hello() {
    looking(
        instructions,
        &[],
        json!({"systemPrompt": ["MARK-ONE", "MARK-TWO"], "appendSystemPrompt": "MARK-THREE",
            "excludeDynamicSections": true}),
    )
    .same();
}

#[test]
fn instructions_in_the_hello_and_by_flag() {
    looking(
        instructions,
        &[
            "--system-prompt=MARK-ONE",
            "--append-system-prompt=MARK-TWO",
        ],
        json!({"systemPrompt": ["MARK-THREE"]}),
    )
    .same();
}

#[test]
fn instructions_that_contradict_each_other() {
    all_same(
        [
            ["--system-prompt=a", "--system-prompt-file=<project>/one.md"],
            [
                "--append-system-prompt=a",
                "--append-system-prompt-file=<project>/one.md",
            ],
            ["--system-prompt-file=<project>/missing.md", "--verbose"],
        ]
        .map(|args| {
            Case::one_shot("hi", &args, |_| Scenario::new().turn(text("hi")))
                .file("one.md", "one\n")
        }),
    );
}

fn tools() -> Vec<Matcher> {
    ["Bash", "Read", "Write", "Grep"]
        .map(tool_available)
        .to_vec()
}

#[test]
fn some_tools() {
    looking(tools, &["--tools=Bash,Grep"], json!({})).same();
}

#[test]
fn no_tools() {
    looking(tools, &["--tools="], json!({})).same();
}

#[test]
fn all_tools_but_some() {
    looking(
        tools,
        &["--tools=default", "--disallowedTools=Bash,Write(a.txt)"],
        json!({}),
    )
    .same();
}

#[test]
fn tools_that_are_allowed_are_there() {
    looking(tools, &["--allowedTools=Grep,Bash(ls:*)"], json!({})).same();
}
