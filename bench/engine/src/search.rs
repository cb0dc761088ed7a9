//! Grep and Glob on a tree of 100,000 files, beside the command `rg`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use falconer_testkit::ApiServer;
use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::engine::Engine;
use crate::figures::{median, spread};
use crate::table::facts;

pub(crate) fn search(arguments: &Arguments) {
    let tree = TempDir::new().expect("a tree");
    grow(tree.path());
    let grep = json!({"pattern": "needle_7777", "path": tree.path()});
    let glob = json!({"pattern": "**/*.rs", "path": tree.path()});
    let (mut ours_grep, mut ours_glob, mut rg_grep) = (vec![], vec![], vec![]);
    let (mut rg_sorted, mut rg_bare) = (vec![], vec![]);
    for _ in 0..arguments.rounds {
        rg_grep.extend(rg(&["-l", "needle_7777"], tree.path()));
        ours_grep.push(tool(&arguments.ours, "Grep", &grep));
        let files = ["--files", "-g", "**/*.rs", "--sortr=modified"];
        rg_sorted.extend(rg(&files, tree.path()));
        rg_bare.extend(rg(&files[..3], tree.path()));
        ours_glob.push(tool(&arguments.ours, "Glob", &glob));
    }
    let ratio = |theirs: &[f64], ours: &[f64]| format!("{:.2} ×", median(theirs) / median(ours));
    facts(
        "Search in 100,000 files (a whole tool call against a whole `rg` process; goal: ≥ 1 ×)",
        &[
            ("Grep: rg", spread(&rg_grep, "ms")),
            ("Grep: falconer-claude", spread(&ours_grep, "ms")),
            ("Grep: ratio", ratio(&rg_grep, &ours_grep)),
            // Glob answers with the newest files first, so that is what `rg` has to find out, too.
            (
                "Glob: rg --files --sortr=modified",
                spread(&rg_sorted, "ms"),
            ),
            ("Glob: falconer-claude", spread(&ours_glob, "ms")),
            ("Glob: ratio", ratio(&rg_sorted, &ours_glob)),
            ("Glob: rg --files, in no order", spread(&rg_bare, "ms")),
            ("Glob: ratio to that", ratio(&rg_bare, &ours_glob)),
        ],
    );
}

fn grow(root: &Path) {
    for folder in 0..1000 {
        let folder_path = root.join(format!("d{:02}/d{folder}", folder % 100));
        std::fs::create_dir_all(&folder_path).expect("a folder");
        for file in 0..100 {
            let name = if file % 2 == 0 { "rs" } else { "txt" };
            let number = folder * 100 + file;
            let content = format!("line one\nneedle_{number}\nline three\n");
            std::fs::write(folder_path.join(format!("f{file}.{name}")), content).expect("a file");
        }
    }
}

/// Milliseconds, or nothing if `rg` is not there.
fn rg(args: &[&str], tree: &Path) -> Option<f64> {
    let started = Instant::now();
    let status = Command::new("rg")
        .args(args)
        .arg(tree)
        .stdout(Stdio::null())
        .status();
    status.ok()?;
    Some(started.elapsed().as_secs_f64() * 1e3)
}

/// From the call of a tool to its result.
fn tool(program: &Path, name: &str, input: &serde_json::Value) -> f64 {
    let scenario = Scenario::new()
        .turn(tool_use(name, input.clone()))
        .turn(text("done"));
    let server = ApiServer::start(scenario).expect("a port");
    let args = ["--tools=Grep,Glob", "--allowedTools=Grep,Glob"];
    let mut engine = Engine::conversation_with(program, &server.url(), &args);
    engine.hello();
    engine.say("go");
    engine.until("assistant");
    let started = Instant::now();
    engine.until("user");
    let time = started.elapsed().as_secs_f64() * 1e3;
    engine.until("result");
    engine.end();
    time
}
