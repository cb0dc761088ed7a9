//! Permissions, hooks, tools and questions of the host.

use std::sync::{Arc, Mutex};

use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{Decision, Hook, Options, Tool, ToolServer, query};
use falconer_native::Scenario;
use falconer_scenario::{any, text, tool_result_contains, tool_use};
use serde_json::{Value, json};

use crate::workplace::Workplace;

/// Wants to run `echo asked > asked.txt`, and says what came of it.
fn wants_to_run() -> Scenario {
    Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({ "command": "echo asked > asked.txt" }),
        ))
        .on(tool_result_contains("not today"))
        .reply(text("denied"))
        .on(any())
        .reply(text("ran"))
}

async fn answer(options: Options) -> String {
    let outcome = query("go", options).await.unwrap().outcome().await.unwrap();
    outcome.text().to_owned()
}

#[tokio::test]
async fn the_host_decides_what_no_rule_decides() {
    let edited = json!({ "command": "echo edited > asked.txt" });
    let table = [
        (Decision::allow(), "ran", Some("asked\n")),
        (Decision::deny("not today"), "denied", None),
        (Decision::allow_with_input(edited), "ran", Some("edited\n")),
    ];
    for (decision, said, written) in table {
        let place = Workplace::new();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let given = decision.clone();
        let options = place.options(wants_to_run()).on_permission(move |request| {
            log.lock().unwrap().push(request.tool_name().to_owned());
            let given = given.clone();
            async move { given }
        });
        assert_eq!(answer(options).await, said, "{decision:?}");
        assert_eq!(place.read("asked.txt").as_deref(), written, "{decision:?}");
        assert_eq!(*asked.lock().unwrap(), ["Bash"]);
    }
}

#[tokio::test]
async fn nobody_to_ask_means_no() {
    let place = Workplace::new();
    answer(place.options(wants_to_run())).await;
    assert_eq!(place.read("asked.txt"), None);
}

#[tokio::test]
async fn an_allowed_tool_is_not_asked_about() {
    let place = Workplace::new();
    let options = place.options(wants_to_run()).allow_tools(["Bash"]);
    let options = options.on_permission(async |_| Decision::deny("not today"));
    assert_eq!(answer(options).await, "ran");
}

#[tokio::test]
async fn hooks_see_calls_and_can_stop_them() {
    let place = Workplace::new();
    let seen = Arc::new(Mutex::new(None));
    let log = seen.clone();
    let hook = Hook::new(HookEvent::PreToolUse, move |call| {
        let log = log.clone();
        async move {
            *log.lock().unwrap() = Some(serde_json::to_value(&call.input).unwrap());
            let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
                "permissionDecision": "deny", "permissionDecisionReason": "not today" } });
            let output: HookOutput = serde_json::from_value(output).unwrap();
            Ok(output)
        }
    });
    let options = place
        .options(wants_to_run())
        .allow_tools(["Bash"])
        .hook(hook);
    assert_eq!(answer(options).await, "denied");
    assert_eq!(place.read("asked.txt"), None);
    let seen: Value = seen.lock().unwrap().take().unwrap();
    assert_eq!(seen["tool_name"], "Bash");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    city: String,
}

#[tokio::test]
async fn a_tool_of_the_host_is_called_in_process() {
    let place = Workplace::new();
    let weather = Tool::new("weather", "The weather", async |City { city }| {
        format!("sunny in {city}")
    });
    let server = ToolServer::new("sky").tool(weather);
    let scenario = Scenario::new()
        .turn(tool_use("mcp__sky__weather", json!({ "city": "Vienna" })))
        .on(tool_result_contains("sunny in Vienna"))
        .reply(text("picnic"));
    let options = place.options(scenario);
    let options = options.allow_tools(server.tool_names()).tool_server(server);
    assert_eq!(answer(options).await, "picnic");
}
