//! Listing 1,000 sessions of 1 MB each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{Context, header, heading, row};
use crate::figures::{Series, megabytes, ratio, short};
use crate::run::{clean_environment, fresh_folder};

const SESSIONS: usize = 1_000;
const SESSION_BYTES: usize = 1_000_000;

/// A program that lists the sessions of its home and the project folder given to it.
struct Lister {
    name: &'static str,
    command: fn(&Context<'_>, &Path) -> Option<Command>,
    ms: Series,
    rss: Series,
    listed: String,
}

pub(super) fn print(context: &Context<'_>) {
    heading(
        "(h) Listing 1,000 sessions of 1 MB",
        "peak memory < 50 MB, 10x faster than the official function",
    );
    let home = match make_sessions() {
        Ok(home) => home,
        Err(error) => return println!("left out: could not write the sessions: {error}"),
    };
    let mut listers = [
        Lister::new("TypeScript 0.3.325 listSessions", official),
        Lister::new("falconer example list_sessions", ours),
    ];
    for _ in 0..context.arguments.rounds {
        listers
            .iter_mut()
            .for_each(|lister| lister.run(context, &home));
    }
    let _ = std::fs::remove_dir_all(&home);
    let base = listers[0].ms.median();
    header(&[
        "program",
        "whole process ms",
        "min-max ms",
        "peak MB",
        "sessions listed",
        "speed vs TypeScript",
    ]);
    for lister in &listers {
        let is_measured = !lister.ms.is_empty();
        row(&[
            lister.name.to_owned(),
            short(lister.ms.median()),
            lister.ms.range(),
            megabytes(lister.rss.max()),
            lister.listed.clone(),
            if is_measured {
                ratio(base, Some(lister.ms.median()))
            } else {
                "-".to_owned()
            },
        ]);
    }
}

impl Lister {
    fn new(name: &'static str, command: fn(&Context<'_>, &Path) -> Option<Command>) -> Lister {
        Lister {
            name,
            command,
            ms: Series::default(),
            rss: Series::default(),
            listed: "left out".to_owned(),
        }
    }

    /// Takes the time of the whole process, from start to end.
    fn run(&mut self, context: &Context<'_>, home: &Path) {
        let Some(mut command) = (self.command)(context, home) else {
            return;
        };
        clean_environment(&mut command, home);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        let Ok(child) = command.spawn() else { return };
        let peak = watch_peak(child.id());
        let Ok(output) = child.wait_with_output() else {
            return;
        };
        self.ms.push(started.elapsed().as_secs_f64() * 1_000.0);
        self.rss.push(peak.join().unwrap_or(0) as f64);
        let text = String::from_utf8_lossy(&output.stdout);
        let listed = text
            .lines()
            .filter(|line| line.contains("00000000-0000-4000-8000-"))
            .count();
        self.listed = format!("{listed}/{SESSIONS}");
    }
}

fn official(context: &Context<'_>, home: &Path) -> Option<Command> {
    let mut command = Command::new(std::env::var_os("FALCONER_NODE")?);
    command
        .arg(context.arguments.scripts.join("list_sessions.mjs"))
        .arg(project(home));
    Some(command)
}

fn ours(_context: &Context<'_>, home: &Path) -> Option<Command> {
    let mut command = Command::new(std::env::var_os("FALCONER_LIST_SESSIONS")?);
    command.arg(home.join(".claude"));
    Some(command)
}

/// Samples the peak the kernel keeps until the process is gone.
fn watch_peak(pid: u32) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(value) = line.and_then(|value| value.split_whitespace().next()?.parse().ok())
            else {
                break;
            };
            peak = value;
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        peak
    })
}

fn project(home: &Path) -> PathBuf {
    home.join("project")
}

/// The CLI names a project's folder after its path, with everything but letters and digits replaced.
fn make_sessions() -> std::io::Result<PathBuf> {
    let home = fresh_folder()?.canonicalize()?;
    let project = project(&home);
    std::fs::create_dir_all(&project)?;
    let name: String = project
        .to_string_lossy()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let folder = home.join(".claude/projects").join(name);
    std::fs::create_dir_all(&folder)?;
    for number in 0..SESSIONS {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        std::fs::write(folder.join(format!("{id}.jsonl")), session(&id, &project))?;
    }
    Ok(home)
}

fn session(id: &str, project: &Path) -> String {
    let cwd = project.to_string_lossy();
    let entry = |kind: &str, number: usize, content: &str| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"{cwd}\",\"sessionId\":\"{id}\",\
             \"version\":\"2.1.325\",\"gitBranch\":\"main\",\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\
             \"content\":{content}}},\"uuid\":\"10000000-0000-4000-8000-{number:012}\",\
             \"timestamp\":\"2026-11-15T19:17:17.031Z\"}}\n"
        )
    };
    let mut text = entry("user", 0, "\"Please look at the parser\"");
    let filler = format!(
        "[{{\"type\":\"text\",\"text\":\"{}\"}}]",
        "a line of text that was said. ".repeat(60)
    );
    let mut number = 1;
    while text.len() < SESSION_BYTES {
        text.push_str(&entry("assistant", number, &filler));
        number += 1;
    }
    text
}
