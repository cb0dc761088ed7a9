//! Tools: calls that make no sense, files that cannot be read, commands that do not end.

use std::time::Instant;

use serde_json::json;

use super::run::{Scene, bash, call};

#[test]
fn calls_that_make_no_sense_are_answered_and_the_session_goes_on() {
    let scene = Scene::new().args(["--allowedTools=Bash,Read,Write,Edit,Glob,Grep"]);
    let calls = [
        call("Bash", json!({})),
        call("Bash", json!({"command": 7})),
        call("Bash", json!({"command": "true", "timeout": "soon"})),
        call("Read", json!({"file_path": ["a"]})),
        call("Read", json!({"file_path": "a\u{0}b"})),
        call("Read", json!({"file_path": ""})),
        call("Read", json!({"file_path": "x".repeat(100_000)})),
        call("Write", json!({"file_path": "a.txt"})),
        call(
            "Edit",
            json!({"file_path": "a.txt", "old_string": "", "new_string": null}),
        ),
        call("Grep", json!({"pattern": "("})),
        call("Glob", json!({"pattern": "[", "path": "/does/not/exist"})),
        call("NoSuchTool", json!({})),
        call("", json!({})),
        call("mcp__none__none", json!({"a": 1})),
    ];
    let told = scene.run(&mut scene.calls(&calls));
    told.went_well();
    let answers = told.answers();
    assert_eq!(answers.len(), calls.len());
    for (made, (is_error, text)) in calls.iter().zip(&answers) {
        assert!(is_error, "{:.120}: {text:.200}", made.to_string());
        assert!(!text.is_empty());
    }
}

#[test]
fn a_command_that_does_not_end_is_moved_away_and_ended_with_the_session() {
    let stubborn = "trap '' TERM INT HUP; echo begun; sleep 600";
    for command in ["sleep 600; true", stubborn, "sleep 600 & sleep 600; true"] {
        let scene = Scene::new()
            .args(["--allowedTools=Bash"])
            .env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "300");
        let input = json!({"command": command, "description": "hang", "timeout": 500});
        let told = scene.run(&mut scene.calls(&[call("Bash", input)]));
        assert_eq!(told.answers().len(), 1, "{command}");
        told.went_well();
    }
}

#[test]
fn a_file_of_two_gigabytes_is_refused_without_reading_it() {
    let scene = Scene::new().file("small.txt", "small\n");
    let file = std::fs::File::create(scene.work("huge.txt")).unwrap();
    file.set_len(2 << 30).unwrap();
    let begun = Instant::now();
    let huge = scene.work("huge.txt");
    let calls = [
        call("Read", json!({"file_path": huge})),
        call(
            "Read",
            json!({"file_path": huge, "offset": 1_000_000_000, "limit": 10}),
        ),
        call(
            "Edit",
            json!({"file_path": huge, "old_string": "a", "new_string": "b"}),
        ),
        call(
            "Grep",
            json!({"pattern": "small", "output_mode": "content"}),
        ),
    ];
    let told = scene.run(
        scene
            .calls(&calls)
            .args(["--allowedTools=Edit", "--tools=Read,Edit,Grep"]),
    );
    told.went_well();
    let answers = told.answers();
    assert!(answers[0].0, "{:?}", answers[0]);
    assert!(answers[2].0, "{:?}", answers[2]);
    assert!(answers[3].1.contains("small.txt"), "{:?}", answers[3]);
    assert!(begun.elapsed().as_secs() < 40, "{:?}", begun.elapsed());
    assert_eq!(std::fs::metadata(&huge).unwrap().len(), 2 << 30);
}

#[test]
fn files_that_are_no_text_do_no_harm() {
    let mut noise: Vec<u8> = (0..=255).collect();
    noise.extend(std::iter::repeat_n([0xff, 0x00, 0xfe, 0x80], 5000).flatten());
    let scene = Scene::new()
        .file("noise.bin", &noise)
        .file("latin.txt", b"gr\xfc\xdfe\n")
        .file("fake.png", b"\x89PNG\r\n\x1a\nnot really")
        .file("fake.pdf", b"%PDF-1.7 not really")
        .file("fake.ipynb", b"{\"cells\": [1, null, {\"cell_type\": 7}]}")
        .file("long.txt", "x".repeat(5_000_000));
    let made = std::process::Command::new("mkfifo")
        .arg(scene.work("pipe"))
        .status();
    assert!(made.unwrap().success());
    let names = [
        "noise.bin",
        "latin.txt",
        "fake.png",
        "fake.pdf",
        "fake.ipynb",
        "long.txt",
        "pipe",
        ".",
        "/dev/zero",
        "/proc/self/mem",
    ];
    let reads = names.map(|name| call("Read", json!({"file_path": name})));
    let mut calls = reads.to_vec();
    calls.push(call(
        "Edit",
        json!({"file_path": "noise.bin", "old_string": "\u{1}", "new_string": "x"}),
    ));
    let told = scene.run(scene.calls(&calls).arg("--permission-mode=acceptEdits"));
    told.went_well();
    assert_eq!(told.answers().len(), calls.len());
    assert_eq!(
        std::fs::read(scene.work("latin.txt")).unwrap(),
        b"gr\xfc\xdfe\n"
    );
}

#[test]
fn a_directory_that_vanishes_fails_calls_and_nothing_else() {
    let scene = Scene::new().args(["--allowedTools=Bash,Write"]);
    let remove = format!("rmdir {}", scene.work("").display());
    let vanish = json!({"rules": [
        {"reply": {"message": {"content": [bash(&remove)]}}},
        {"reply": {"message": {"content": [
            bash("pwd; ls"),
            call("Read", json!({"file_path": "a.txt"})),
            call("Glob", json!({"pattern": "**/*"})),
            call("Grep", json!({"pattern": "x"})),
        ]}}},
        {"times": "always", "reply": {"text": "done"}},
    ]});
    let mut command = scene.place.scripted(&vanish.to_string());
    let told = scene.run(command.arg("--tools=Bash,Read,Write,Glob,Grep"));
    told.went_well();
    assert_eq!(told.answers().len(), 5);
    assert!(!scene.work("").exists());
}
