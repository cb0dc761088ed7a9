//! Requests made up from the description, right and wrong ones: schemathesis against a server.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{LIMIT, Place, Running};

/// What has to hold for every answer: no failure of the server, only statuses, types and bodies
/// that the description has, nothing taken that it forbids.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method";
/// Answers that do not end by themselves, which the generator would wait for. `streams`, `sse` and
/// `socket` test them.
const STREAMS: [&str; 3] = ["follow_session", "follow_everything", "open_socket"];
const DESCRIPTION: &str = "openapi.json";
/// The generator's own count of what it did.
const REPORT: &str = "report.json";
/// Each makes up requests of its own; the same ones in every run, so that a failure stays one.
const SEEDS: [&str; 2] = ["1", "20260101"];
const EXAMPLES: &str = "25";
/// Fewer requests than this of one seed mean that the generator skips something.
const LEAST_REQUESTS: u64 = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_asked_the_answer_is_one_that_is_described() {
    for seed in SEEDS {
        attack(seed).await;
    }
}

async fn attack(seed: &str) {
    let place = Place::new();
    let server = place.serve().await;
    std::fs::write(
        place.root().join("schemathesis.toml"),
        config(&server).await,
    )
    .unwrap();
    // As a file: of an address it would leave out the operation that serves the description.
    let description = server.get("/openapi.json").await;
    std::fs::write(place.root().join(DESCRIPTION), description.to_string()).unwrap();
    let python = std::env::var_os("FALCONER_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = tokio::process::Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "run", DESCRIPTION])
        .args(["--url", &server.url])
        .args(["--checks", CHECKS, "--phases", "coverage,fuzzing"])
        .args(["--max-examples", EXAMPLES, "--seed", seed, "--no-shrink"])
        .args(["--generation-database", "none", "--no-color"])
        .args([
            "--workers",
            "4",
            "--continue-on-failure",
            "--request-timeout",
            "30",
        ])
        .args(["--suppress-health-check", "all", "--warnings", "off"])
        .args(["--report-json-path", REPORT]);
    for operation in STREAMS {
        command.args(["--exclude-operation-id", operation]);
    }
    let run = command
        .env("NO_PROXY", "127.0.0.1")
        .current_dir(place.root())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT * 4, run).await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{error}");
    let report = std::fs::read(place.root().join(REPORT)).unwrap();
    check_coverage(&description, &serde_json::from_slice(&report).unwrap());
    // It was let in to the end, and it is still the server it was.
    server.get("/v1/me").await;
    server.stop().await;
}

/// Checks that the generator tried every operation that is described, but for the streams.
fn check_coverage(description: &Value, report: &Value) {
    let paths = description["paths"].as_object().unwrap();
    let operations: Vec<&str> = paths
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    for stream in STREAMS {
        assert!(operations.contains(&stream), "{stream} is not described");
    }
    let tried = operations.len() - STREAMS.len();
    let counted = json!({"total": operations.len(), "selected": tried, "tested": tried,
        "errored": 0, "skipped": 0, "skip_reasons": []});
    assert_eq!(report["operations"], counted);
    let requests = report["test_cases"]["generated"].as_u64().unwrap();
    assert!(requests >= LEAST_REQUESTS, "{requests} requests");
}

/// With things that are there: made-up ids find nothing, and nothing is asked of them.
async fn config(server: &Running) -> String {
    let session = server.session().await;
    server.send(&session, "write one").await;
    let request = server.request(&session).await;
    let rule = json!({"text": "Bash(git status:*)", "effect": "allow", "scope": {"type": "user"}});
    let rule = server.post("/v1/rules", rule).await;
    let known = [
        ("/v1/sessions/{id}", session.rsplit('/').next().unwrap()),
        ("/v1/requests/{id}", request["id"].as_str().unwrap()),
        ("/v1/rules/{id}", rule["id"].as_str().unwrap()),
    ];
    let mut config = format!(
        "headers = {{ Authorization = \"Bearer {}\" }}\n",
        server.token
    );
    // It reads which tokens there are, and must not take away the one it comes with.
    let other = json!({"name": "other", "scopes": ["read"]});
    let other = server.post("/v1/tokens", other).await;
    config += &format!(
        "[[operations]]\ninclude-path-regex = \"^/v1/tokens/\"\n\
         parameters = {{ \"path.id\" = {} }}\n",
        other["token"]["id"]
    );
    for (path, id) in known {
        let path = path.replace('{', "\\\\{").replace('}', "\\\\}");
        config += &format!(
            "[[operations]]\ninclude-path-regex = \"^{path}\"\nexclude-method = \"DELETE\"\n\
             parameters = {{ \"path.id\" = \"{id}\" }}\n"
        );
    }
    config
}
