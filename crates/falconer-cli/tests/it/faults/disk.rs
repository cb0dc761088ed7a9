//! The disk: full, or with files on it that make no sense.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::run::{Scene, Told, call};

/// A directory that holds next to nothing.
pub(crate) enum Small {
    /// A small file system of its own, which root can have.
    Mounted(PathBuf),
    /// Otherwise no file of the process may grow.
    Limited,
}

impl Small {
    pub(crate) fn at(path: &Path) -> Self {
        std::fs::create_dir_all(path).unwrap();
        let options = ["-t", "tmpfs", "-o", "size=64k", "falconer-small"];
        let mounted = Command::new("mount").args(options).arg(path).output();
        if mounted.is_ok_and(|it| it.status.success()) {
            Self::Mounted(path.to_owned())
        } else {
            Self::Limited
        }
    }

    pub(crate) fn is_mounted(&self) -> bool {
        matches!(self, Self::Mounted(_))
    }

    /// The program under the limit.
    fn command(&self, command: Command) -> Command {
        match self {
            Self::Mounted(_) => command,
            Self::Limited => {
                let mut limited = Command::new("sh");
                let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
                limited
                    .args(["-c", script, "sh"])
                    .arg(command.get_program());
                limited.args(command.get_args()).env_clear();
                for (name, value) in command.get_envs() {
                    limited.env(name, value.unwrap_or_default());
                }
                limited.current_dir(command.get_current_dir().unwrap());
                limited
            }
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        if let Self::Mounted(path) = self {
            let ended = Command::new("umount").arg("-l").arg(path).status();
            assert!(ended.unwrap().success());
        }
    }
}

#[test]
fn a_full_disk_fails_the_write_and_leaves_the_old_file() {
    let scene = Scene::new().args(["--permission-mode=acceptEdits"]);
    let small = Small::at(&scene.work("small"));
    std::fs::write(scene.work("small/kept.txt"), "kept\n").unwrap();
    let big = "x".repeat(200_000);
    let calls = [
        call(
            "Write",
            json!({"file_path": "small/new.txt", "content": big}),
        ),
        call(
            "Edit",
            json!({"file_path": "small/kept.txt", "old_string": "kept",
            "new_string": big}),
        ),
    ];
    let mut command = small.command(scene.calls(&calls));
    let told = scene.run(&mut command);
    told.went_well();
    assert!(
        told.answers().iter().all(|(is_error, _)| *is_error),
        "{:?}",
        told.answers()
    );
    let kept = std::fs::read_to_string(scene.work("small/kept.txt")).unwrap();
    assert_eq!(kept, "kept\n");
    let names: Vec<_> = std::fs::read_dir(scene.work("small"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["kept.txt"], "half a file is left");
}

#[test]
fn a_full_disk_for_the_transcript_is_told_and_the_session_goes_on() {
    let scene = Scene::new().file("big.txt", "a line of text\n".repeat(6_000));
    let small = Small::at(&scene.home(".claude"));
    let read = call("Read", json!({"file_path": "big.txt"}));
    let mut command = small.command(scene.calls(&[read]));
    let told = scene.run(&mut command);
    told.went_well();
    let warned = told.frames.iter().any(|frame| {
        let content = frame["content"].as_str().unwrap_or_default();
        frame["subtype"] == "informational" && content.contains("session")
    });
    assert!(warned, "{:?} {}", told.frames, told.stderr);
}

const ID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

/// Goes on with a conversation whose transcript ends with this.
fn resumed(tail: &[u8]) -> Told {
    let scene = Scene::new();
    let first = scene.run(scene.calls(&[]).arg(format!("--session-id={ID}")));
    assert_eq!(first.code, 0, "{}", first.stderr);
    let projects = scene.home(".claude/projects");
    let project = std::fs::read_dir(projects)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let file = project.path().join(format!("{ID}.jsonl"));
    let mut content = std::fs::read(&file).unwrap();
    content.extend_from_slice(tail);
    std::fs::write(&file, content).unwrap();
    scene.run(scene.calls(&[]).arg(format!("--resume={ID}")))
}

#[test]
fn a_damaged_transcript_is_read_as_far_as_it_goes() {
    let cycle = json!({"type": "user", "uuid": "b", "parentUuid": "b",
        "message": {"role": "user", "content": "me"}});
    let odd = json!({"type": "assistant", "uuid": 7, "parentUuid": {}, "message": [1]});
    let deep = format!("{}\n", "[".repeat(300_000));
    let tails: [Vec<u8>; 6] = [
        b"{\"type\":\"user\",\"uuid\":\"x\",\"mess".to_vec(),
        b"\n\n\x00\xff\xfe garbage \n{}\n[]\n7\n\"x\"\nnull\n".to_vec(),
        format!("{cycle}\n").into_bytes(),
        format!("{odd}\n").into_bytes(),
        deep.into_bytes(),
        vec![b'x'; 3_000_000],
    ];
    for tail in tails {
        let told = resumed(&tail);
        told.went_well();
    }
}

#[test]
fn a_transcript_without_a_conversation_is_refused() {
    let scene = Scene::new();
    scene.run(scene.calls(&[]).arg(format!("--session-id={ID}")));
    let projects = scene.home(".claude/projects");
    let project = std::fs::read_dir(projects)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let file = project.path().join(format!("{ID}.jsonl"));
    for content in [&b""[..], b"\x00\x00\x00", b"{}\n{}\n"] {
        std::fs::write(&file, content).unwrap();
        let told = scene.run(scene.calls(&[]).arg(format!("--resume={ID}")));
        assert_eq!(told.code, 1);
        let errors = told.result()["errors"].to_string();
        assert!(errors.contains("No conversation found"), "{errors}");
    }
}

#[test]
fn settings_that_make_no_sense_are_left_out_with_a_warning() {
    let deep = format!("{{\"env\": {}", "[".repeat(200_000));
    let large = format!("{{\"env\": {{\"A\": \"{}\"}}}}", "x".repeat(5 << 20));
    let wrong = json!({"permissions": 7, "hooks": [1], "env": "x", "model": {}}).to_string();
    for (content, is_warned) in [
        ("{nope", true),
        ("[]", true),
        ("\u{0}\u{1}", true),
        (deep.as_str(), true),
        (large.as_str(), true),
        (wrong.as_str(), false),
        ("", false),
    ] {
        let scene = Scene::new().file(".claude/settings.json", content);
        let told = scene.run(&mut scene.calls(&[]));
        told.went_well();
        let warned = told.stderr.contains("ignored settings file");
        assert_eq!(warned, is_warned, "{content:.40}: {}", told.stderr);
    }
    let scene = Scene::new().file(".claude/settings.json/file", "");
    let told = scene.run(&mut scene.calls(&[]));
    told.went_well();
    assert!(
        told.stderr.contains("ignored settings file"),
        "{}",
        told.stderr
    );
}
