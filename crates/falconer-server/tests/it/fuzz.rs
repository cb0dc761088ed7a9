//! Requests made up from the description, right and wrong ones: schemathesis against a server.

use std::process::Stdio;

use serde_json::json;

use crate::place::{LIMIT, Place, Running};

/// What has to hold for every answer: no failure of the server, only statuses, types and bodies
/// that the description has, nothing taken that it forbids.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method";
/// Streams do not end by themselves, and it must not take away the token it comes with: all of
/// them have tests of their own.
const LEFT_OUT: [&str; 5] = [
    "follow_session",
    "follow_everything",
    "open_socket",
    "revoke_token",
    "logout",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_asked_the_answer_is_one_that_is_described() {
    let place = Place::new();
    let server = place.serve().await;
    std::fs::write(
        place.root().join("schemathesis.toml"),
        config(&server).await,
    )
    .unwrap();
    let python = std::env::var_os("FALCONER_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = tokio::process::Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("{}/openapi.json", server.url))
        .args(["--checks", CHECKS, "--phases", "coverage,fuzzing"])
        .args(["--max-examples", "10", "--seed", "1", "--no-shrink"])
        .args(["--generation-database", "none", "--no-color"])
        .args([
            "--workers",
            "4",
            "--continue-on-failure",
            "--request-timeout",
            "30",
        ])
        .args(["--suppress-health-check", "all", "--warnings", "off"]);
    for operation in LEFT_OUT {
        command.args(["--exclude-operation-id", operation]);
    }
    let run = command
        .env("NO_PROXY", "127.0.0.1")
        .current_dir(place.root())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT * 2, run).await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{error}");
    // It was let in to the end, and it is still the server it was.
    server.get("/v1/me").await;
    server.stop().await;
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
    for (path, id) in known {
        let path = path.replace('{', "\\\\{").replace('}', "\\\\}");
        config += &format!(
            "[[operations]]\ninclude-path-regex = \"^{path}\"\nexclude-method = \"DELETE\"\n\
             parameters = {{ \"path.id\" = \"{id}\" }}\n"
        );
    }
    config
}
