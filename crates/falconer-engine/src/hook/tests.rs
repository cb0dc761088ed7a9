//! Hooks as the loop sees them: real programs, a real loopback server, the other end of a host.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::hook::{
    HookEvent, HookInput, HookMatcher, HookPermissionDecision, OnFailure, PreToolUseInput,
    StopInput, UserPromptSubmitInput,
};
use falconer_secret::Environment;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Block, Decision, Fired, Hooks, NoVerdict, SettingsHooks, Shown, Surroundings};
use crate::host::Host;
use crate::host::lane::HostLane;

struct Scene {
    hooks: Arc<Hooks>,
    lane: HostLane,
    directory: tempfile::TempDir,
}

fn scene(shown: Shown) -> Scene {
    let (host, outbox, lane) = Host::pair();
    let directory = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let variables = [
        ("PATH".into(), path),
        ("SECRET".into(), "s3cret".into()),
        ("OTHER".into(), "other".into()),
    ];
    let hooks = Arc::new(Hooks::new(Surroundings {
        host,
        outbox,
        environment: Arc::new(Environment::new(variables)),
        project: directory.path().to_owned(),
        directory: super::RunIn::Cwd,
        shown,
    }));
    Scene {
        hooks,
        lane,
        directory,
    }
}

fn settings(hooks: Value) -> SettingsHooks {
    SettingsHooks {
        layers: vec![("settings.json".to_owned(), hooks)],
        ..SettingsHooks::default()
    }
}

/// One command for one event.
fn command(event: &str, line: &str, more: &Value) -> SettingsHooks {
    let mut hook = json!({"type": "command", "command": line});
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    settings(json!({event: [{"hooks": [hook]}]}))
}

fn callbacks(
    event: HookEvent,
    matchers: Vec<HookMatcher>,
) -> BTreeMap<HookEvent, Vec<HookMatcher>> {
    BTreeMap::from([(event, matchers)])
}

fn bash() -> HookInput {
    HookInput::PreToolUse(Box::new(PreToolUseInput {
        session_id: Some("s-1".into()),
        tool_name: "Bash".to_owned(),
        tool_input: json!({"command": "ls"}),
        tool_use_id: Some("toolu_1".into()),
        ..PreToolUseInput::default()
    }))
}

fn prompt() -> HookInput {
    HookInput::UserPromptSubmit(Box::new(UserPromptSubmitInput {
        prompt: "hi".to_owned(),
        ..UserPromptSubmitInput::default()
    }))
}

impl Scene {
    /// Fires in a task of its own, so that the test can play the host.
    fn fire(
        &self,
        input: HookInput,
        subject: Option<&'static str>,
    ) -> tokio::task::JoinHandle<Fired> {
        let hooks = Arc::clone(&self.hooks);
        tokio::spawn(async move { hooks.fire(&input, subject, &CancellationToken::new()).await })
    }

    async fn fired(&self, input: HookInput, subject: Option<&'static str>) -> Fired {
        let firing = tokio::time::timeout(Duration::from_secs(60), self.fire(input, subject));
        firing.await.expect("hooks end in time").unwrap()
    }
}

fn deny(reason: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": reason}})
}

#[tokio::test]
async fn exit_codes_and_output_of_commands_mean_what_is_documented() {
    let denied = |reason: &str, source: &str| Fired {
        permission: Some(Decision {
            decision: HookPermissionDecision::Deny,
            reason: Some(reason.to_owned()),
            source: source.to_owned(),
        }),
        ..Fired::default()
    };
    let exit_two = "echo out; echo 'not here' >&2; exit 2";
    let fails = "echo oops >&2; exit 3";
    let failing = || format!("PreToolUse hook {fails} failed: it exited with code 3: oops");
    let cases: &[(&str, Value, Fired)] = &[
        ("true", json!({}), Fired::default()),
        (
            "echo plain text is not context here",
            json!({}),
            Fired::default(),
        ),
        (
            exit_two,
            json!({}),
            denied(&format!("[{exit_two}]: not here\n"), exit_two),
        ),
        (
            "exit 2",
            json!({}),
            denied("[exit 2]: No stderr output", "exit 2"),
        ),
        (
            fails,
            json!({"onFailure": "block"}),
            denied(&failing(), fails),
        ),
        (
            fails,
            json!({}),
            Fired {
                failures: vec![failing()],
                ..Fired::default()
            },
        ),
        (
            "exit 2",
            json!({"async": true}),
            Fired {
                detached: 1,
                ..Fired::default()
            },
        ),
    ];
    for (line, more, expected) in cases {
        let scene = scene(Shown::No);
        let warnings = scene
            .hooks
            .set_settings_hooks(&command("PreToolUse", line, more));
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(scene.fired(bash(), Some("Bash")).await, *expected, "{line}");
        scene.hooks.close().await;
    }
}

#[tokio::test]
async fn a_command_gets_the_input_the_project_and_the_environment() {
    let scene = scene(Shown::No);
    let line = "cat >input.json; printf '%s %s' \"$CLAUDE_PROJECT_DIR\" \"$SECRET\"";
    scene
        .hooks
        .set_settings_hooks(&command("UserPromptSubmit", line, &json!({})));
    let fired = scene.fired(prompt(), None).await;
    let project = scene.directory.path();
    assert_eq!(fired.contexts, [format!("{} s3cret", project.display())]);
    let input = std::fs::read(project.join("input.json")).unwrap();
    let input: Value = serde_json::from_slice(&input).unwrap();
    assert_eq!(input["prompt"], "hi");
    assert_eq!(input["hook_event_name"], "UserPromptSubmit");
}

#[tokio::test]
async fn the_same_command_runs_once_and_a_once_hook_never_again() {
    let scene = scene(Shown::No);
    let same = json!({"type": "command", "command": "echo same >>same"});
    let once = json!({"type": "command", "command": "echo once >>once", "once": true});
    scene
        .hooks
        .set_settings_hooks(&settings(json!({"PreToolUse": [
            {"matcher": "Bash", "hooks": [same, once]},
            {"matcher": "*", "hooks": [same]},
            {"matcher": "Read", "hooks": [{"type": "command", "command": "echo no >>no"}]},
        ]})));
    for _ in 0..2 {
        scene.fired(bash(), Some("Bash")).await;
    }
    let read = |name: &str| std::fs::read_to_string(scene.directory.path().join(name));
    assert_eq!(read("same").unwrap(), "same\nsame\n");
    assert_eq!(read("once").unwrap(), "once\n");
    assert!(read("no").is_err(), "another tool's hook does not run");
}

#[tokio::test]
async fn a_late_command_is_ended_with_all_it_started() {
    let scene = scene(Shown::No);
    let line = "sleep 1000 & echo $! >child; wait";
    scene
        .hooks
        .set_settings_hooks(&command("PreToolUse", line, &json!({"timeout": 2})));
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(fired.failures.len(), 1, "{fired:?}");
    assert!(
        fired.failures[0].contains("no answer within 2000 ms"),
        "{fired:?}"
    );
    assert_eq!(fired.permission, None, "late commands fail open");
    assert_gone(&scene.directory.path().join("child"));
    scene.hooks.set_settings_hooks(&command(
        "PreToolUse",
        line,
        &json!({"timeout": 0.3, "onFailure": "block"}),
    ));
    let fired = scene.fired(bash(), Some("Bash")).await;
    let decision = fired.permission.map(|it| it.decision);
    assert_eq!(decision, Some(HookPermissionDecision::Deny));
}

#[tokio::test]
async fn cancelling_ends_the_command_and_says_so() {
    let scene = scene(Shown::No);
    let line = "echo $$ >child; mkfifo started; cat started >/dev/null";
    scene
        .hooks
        .set_settings_hooks(&command("PreToolUse", line, &json!({})));
    let cancelled = CancellationToken::new();
    let firing = tokio::spawn({
        let (hooks, cancelled) = (Arc::clone(&scene.hooks), cancelled.clone());
        async move { hooks.fire(&bash(), Some("Bash"), &cancelled).await }
    });
    let child = scene.directory.path().join("child");
    wait_for(|| std::fs::read_to_string(&child).is_ok_and(|text| text.ends_with('\n'))).await;
    cancelled.cancel();
    let fired = tokio::time::timeout(Duration::from_secs(30), firing)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(fired.no_verdict, Some(NoVerdict::Cancelled));
    assert_gone(&child);
}

#[tokio::test]
async fn a_command_that_goes_on_by_itself_does_not_hold_up_the_event() {
    let scene = scene(Shown::No);
    let line = "echo '{\"async\":true}'; echo $$ >child; mkfifo never; cat never";
    scene
        .hooks
        .set_settings_hooks(&command("PreToolUse", line, &json!({})));
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(
        fired,
        Fired {
            detached: 1,
            ..Fired::default()
        }
    );
    let child = scene.directory.path().join("child");
    wait_for(|| std::fs::read_to_string(&child).is_ok_and(|text| text.ends_with('\n'))).await;
    scene.hooks.close().await;
    assert_gone(&child);
}

#[tokio::test]
async fn endless_output_is_bounded() {
    let mut scene = scene(Shown::Yes);
    let line = "head -c 3000000 /dev/zero | tr '\\0' x; exit 1";
    scene
        .hooks
        .set_settings_hooks(&command("PreToolUse", line, &json!({})));
    let firing = scene.fire(bash(), Some("Bash"));
    scene.lane.frame().await;
    let response = scene.lane.frame().await;
    assert_eq!(response["stdout"].as_str().unwrap().len(), 1024 * 1024);
    assert_eq!(response["exit_code"], 1);
    firing.await.unwrap();
}

#[tokio::test]
async fn frames_show_commands_as_recorded() {
    let mut scene = scene(Shown::Yes);
    scene
        .hooks
        .set_settings_hooks(&command("PreToolUse", "echo ran", &json!({})));
    let firing = scene.fire(bash(), Some("Bash"));
    let (mut started, mut ended) = (scene.lane.frame().await, scene.lane.frame().await);
    assert_eq!(started["hook_id"], ended["hook_id"]);
    for frame in [&mut started, &mut ended] {
        let frame = frame.as_object_mut().unwrap();
        assert!(frame.remove("hook_id").is_some() && frame.remove("uuid").is_some());
    }
    let common = json!({"type": "system", "subtype": "hook_started",
        "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse", "session_id": "s-1"});
    assert_eq!(started, common);
    let mut expected = common;
    let more = json!({"subtype": "hook_response", "output": "ran\n", "stdout": "ran\n",
        "stderr": "", "exit_code": 0, "outcome": "success"});
    expected
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    assert_eq!(ended, expected);
    firing.await.unwrap();
}

#[tokio::test]
async fn callbacks_run_beside_each_other_and_a_denial_wins() {
    let mut scene = scene(Shown::Yes);
    let matcher = HookMatcher {
        hook_callback_ids: vec!["a".into(), "b".into()],
        ..HookMatcher::default()
    };
    scene
        .hooks
        .set_host_hooks(&callbacks(HookEvent::PreToolUse, vec![matcher]));
    let firing = scene.fire(bash(), Some("Bash"));
    // Both are asked before either is answered.
    let (first, second) = (scene.lane.frame().await, scene.lane.frame().await);
    assert_eq!(first["request"]["callback_id"], "a");
    assert_eq!(first["request"]["tool_use_id"], "toolu_1");
    assert_eq!(first["request"]["input"]["tool_name"], "Bash");
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "allow", "updatedInput": {"command": "ls -l"}}});
    let id = |frame: &Value| frame["request_id"].as_str().unwrap().into();
    scene.lane.answer(&id(&second), &deny("policy"));
    scene.lane.answer(&id(&first), &allow);
    let fired = firing.await.unwrap();
    let decision = fired.permission.unwrap();
    assert_eq!(decision.decision, HookPermissionDecision::Deny);
    assert_eq!(decision.reason.as_deref(), Some("policy"));
    assert_eq!(decision.source, "callback");
    assert_eq!(
        fired.updated_input,
        json!({"command": "ls -l"}).as_object().cloned()
    );
}

#[tokio::test]
async fn failing_callbacks_are_told_and_count_as_their_matcher_says() {
    let answers: [fn(&HostLane, &falconer_protocol::RequestId); 2] = [
        |lane, id| {
            assert_eq!(
                lane.refuse(id, "exploded"),
                crate::host::Resolved::Delivered
            );
        },
        |lane, id| {
            let odd = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "maybe"}});
            lane.answer(id, &odd);
        },
    ];
    for answer in answers {
        for (on_failure, expected) in [
            (None, None),
            (Some(OnFailure::Block), Some(HookPermissionDecision::Deny)),
        ] {
            let mut scene = scene(Shown::No);
            let matcher = HookMatcher {
                on_failure,
                ..HookMatcher::new("cb")
            };
            scene
                .hooks
                .set_host_hooks(&callbacks(HookEvent::PreToolUse, vec![matcher]));
            let firing = scene.fire(bash(), Some("Bash"));
            let (id, _) = scene.lane.question().await;
            answer(&scene.lane, &id);
            let warning = scene.lane.frame().await;
            assert_eq!(warning["subtype"], "informational");
            assert_eq!(warning["tag"], "hook_callback_failed");
            let fired = firing.await.unwrap();
            assert_eq!(fired.permission.map(|it| it.decision), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_callback_is_cancelled_and_leaves_no_verdict() {
    let mut scene = scene(Shown::No);
    let matcher = |on_failure| HookMatcher {
        timeout: serde_json::from_value(json!(1)).ok(),
        on_failure,
        ..HookMatcher::new("cb")
    };
    scene
        .hooks
        .set_host_hooks(&callbacks(HookEvent::PreToolUse, vec![matcher(None)]));
    let firing = scene.fire(bash(), Some("Bash"));
    let (id, _) = scene.lane.question().await;
    let cancel = scene.lane.frame().await;
    assert_eq!(cancel["type"], "control_cancel_request");
    assert_eq!(cancel["request_id"], id.as_str());
    let fired = firing.await.unwrap();
    let expected = NoVerdict::TimedOut(Duration::from_secs(1));
    assert_eq!(fired.no_verdict, Some(expected));
    assert!(fired.timed_out());

    let blocking = vec![matcher(Some(OnFailure::Block))];
    scene
        .hooks
        .set_host_hooks(&callbacks(HookEvent::PreToolUse, blocking));
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(
        fired.permission.map(|it| it.decision),
        Some(HookPermissionDecision::Deny)
    );
}

#[tokio::test]
async fn a_host_that_leaves_gives_no_verdict() {
    let mut scene = scene(Shown::No);
    scene.hooks.set_host_hooks(&callbacks(
        HookEvent::PreToolUse,
        vec![HookMatcher::new("cb")],
    ));
    let firing = scene.fire(bash(), Some("Bash"));
    scene.lane.question().await;
    scene.lane.host.close();
    assert_eq!(
        firing.await.unwrap().no_verdict,
        Some(NoVerdict::HostClosed)
    );
}

#[tokio::test]
async fn objections_of_a_stop_hook_are_collected_and_stop_texts_kept() {
    let mut scene = scene(Shown::No);
    let matchers = ["a", "b", "c"].map(HookMatcher::new).to_vec();
    scene
        .hooks
        .set_host_hooks(&callbacks(HookEvent::Stop, matchers));
    let stop = HookInput::Stop(Box::<StopInput>::default());
    let firing = scene.fire(stop, None);
    for answer in [
        json!({"decision": "block", "reason": "tests fail"}),
        json!({"decision": "block", "reason": "no docs"}),
        json!({"continue": false, "stopReason": "enough", "systemMessage": "hello"}),
    ] {
        let (id, _) = scene.lane.question().await;
        scene.lane.answer(&id, &answer);
    }
    let fired = firing.await.unwrap();
    let block = Block {
        reason: "tests fail\nno docs".to_owned(),
        told: "tests fail\nno docs".to_owned(),
        source: "callback".to_owned(),
    };
    assert_eq!(fired.block, Some(block));
    assert_eq!(fired.stop.as_deref(), Some("enough"));
    assert_eq!(fired.system_messages, ["hello"]);
}

#[tokio::test]
async fn kinds_that_cannot_run_are_told_once_and_can_fail_closed() {
    let mut scene = scene(Shown::No);
    let hooks = |on_failure: &str| {
        let hook = |kind: &str| json!({"type": kind, "prompt": "p", "onFailure": on_failure});
        settings(json!({"PreToolUse": [{"hooks": [hook("prompt")]}]}))
    };
    scene.hooks.set_settings_hooks(&hooks("continue"));
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(fired.permission, None);
    assert_eq!(fired.failures.len(), 1);
    let warning = scene.lane.frame().await;
    assert!(
        warning["content"].as_str().unwrap().contains("`prompt`"),
        "{warning}"
    );
    scene.hooks.set_settings_hooks(&hooks("block"));
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(
        fired.permission.unwrap().decision,
        HookPermissionDecision::Deny
    );
    assert!(scene.lane.lines.try_recv().is_err(), "it is told once");
}

#[tokio::test]
async fn settings_can_switch_their_hooks_off_but_not_those_of_the_host() {
    let scene = scene(Shown::No);
    let mut hooks = command("PreToolUse", "exit 2", &json!({}));
    hooks.disabled = true;
    scene.hooks.set_settings_hooks(&hooks);
    assert!(!scene.hooks.has(&HookEvent::PreToolUse));
    scene.hooks.set_host_hooks(&callbacks(
        HookEvent::PreToolUse,
        vec![HookMatcher::new("cb")],
    ));
    assert!(scene.hooks.has(&HookEvent::PreToolUse));
    scene.hooks.set_host_hooks(&BTreeMap::new());
    assert!(
        !scene.hooks.has(&HookEvent::PreToolUse),
        "each initialize replaces them"
    );
}

#[test]
fn all_known_events_are_accepted_and_odd_settings_are_named() {
    let scene = scene(Shown::No);
    assert_eq!(HookEvent::KNOWN.len(), 33);
    let hook = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
    let all: serde_json::Map<_, _> = HookEvent::KNOWN
        .iter()
        .map(|event| (event.to_string(), hook.clone()))
        .collect();
    assert_eq!(
        scene
            .hooks
            .set_settings_hooks(&settings(Value::Object(all))),
        [""; 0]
    );
    assert!(HookEvent::KNOWN.iter().all(|event| scene.hooks.has(event)));
    let odd = [
        json!(7),
        json!({"Nonsense": []}),
        json!({"Stop": [{"matcher": "x"}]}),
        json!({"Stop": [{"hooks": [{"type": "command"}]}]}),
        json!({"Stop": [{"hooks": [{"command": "true"}]}]}),
        json!({"Stop": [{"matcher": "a(", "hooks": [{"type": "command", "command": "true"}]}]}),
    ];
    for hooks in odd {
        let warnings = scene.hooks.set_settings_hooks(&settings(hooks.clone()));
        assert_eq!(warnings.len(), 1, "{hooks}: {warnings:?}");
    }
}

#[tokio::test]
async fn http_hooks_post_the_input_and_only_allowed_variables() {
    let (sent, mut received) = tokio::sync::mpsc::channel(8);
    let app = axum::Router::new().fallback(move |headers: axum::http::HeaderMap, body: String| {
        let sent = sent.clone();
        async move {
            let header = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
            let seen = (header("x-a"), header("x-b"), body);
            sent.send(seen).await.unwrap();
            deny("over http").to_string()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let scene = scene(Shown::No);
    let hook = json!({"type": "http", "url": url, "allowedEnvVars": ["SECRET"],
        "headers": {"x-a": "Bearer $SECRET", "x-b": "v${OTHER}"}});
    let mut hooks = settings(json!({"PreToolUse": [{"hooks": [hook]}]}));
    scene.hooks.set_settings_hooks(&hooks);
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(
        fired.permission.unwrap().reason.as_deref(),
        Some("over http")
    );
    let (a, b, body) = received.recv().await.unwrap();
    assert_eq!(
        (a.as_deref(), b.as_deref()),
        (Some("Bearer s3cret"), Some("v"))
    );
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap()["tool_name"],
        "Bash"
    );

    hooks.allowed_urls = Some(vec!["https://elsewhere/*".to_owned()]);
    scene.hooks.set_settings_hooks(&hooks);
    let fired = scene.fired(bash(), Some("Bash")).await;
    assert_eq!(fired.permission, None);
    assert!(
        fired.failures[0].contains("allowedHttpHookUrls"),
        "{fired:?}"
    );
    assert!(received.try_recv().is_err(), "nothing was sent");
    server.abort();
}

#[tokio::test]
async fn a_dead_http_hook_fails_open_or_closed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    drop(listener);
    for (on_failure, denied) in [("continue", false), ("block", true)] {
        let scene = scene(Shown::No);
        let hook = json!({"type": "http", "url": url, "onFailure": on_failure});
        scene
            .hooks
            .set_settings_hooks(&settings(json!({"PreToolUse": [{"hooks": [hook]}]})));
        let fired = scene.fired(bash(), Some("Bash")).await;
        assert_eq!(fired.permission.is_some(), denied, "{fired:?}");
    }
}

async fn wait_for(mut ready: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !ready() {
        assert!(tokio::time::Instant::now() < deadline, "waited in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// That the process whose id is in the file does not exist any more.
fn assert_gone(file: &Path) {
    let pid = std::fs::read_to_string(file).unwrap();
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    // An orphan that nobody has collected yet is dead all the same.
    let alive = stat.is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!alive, "process {pid} is still there");
}
