//! Hooks of the host, as the CLI calls them.

use std::future::pending;
use std::time::Duration;

use falconer::protocol::hook::{
    HookEvent, HookInput, HookOutput, HookPermissionDecision, HookSpecificOutput,
    PermissionRequestOutput, PostToolUseOutput, PreToolUseOutput,
};
use falconer::protocol::message::TerminalReason;
use falconer::protocol::permission::{DecisionReasonType, PermissionResult};
use falconer::{Decision, Hook, HookCall, HookError, OnFailure, PermissionMode, PermissionRequest};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;
use tokio::sync::watch;

use super::seen::{Asked, Seen};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

/// The inputs hooks were called with.
type Calls = Seen<HookInput>;

impl Calls {
    /// A hook that notes its calls and always says the same.
    fn hook(&self, event: HookEvent, output: impl Into<HookOutput>) -> Hook {
        let (calls, output) = (self.clone(), output.into());
        Hook::new(event, move |call: HookCall| {
            calls.add(call.input);
            std::future::ready(Ok(output.clone()))
        })
    }

    fn events(&self) -> Vec<HookEvent> {
        self.all().iter().map(HookInput::event).collect()
    }
}

/// One command, then a last word.
fn one_command(command: &str) -> Stage {
    let call = tool_use(
        "Bash",
        json!({ "command": command, "description": "a command" }),
    );
    Stage::new(Scenario::new().turn(call).turn(text("done")))
}

fn specific(output: impl Into<HookSpecificOutput>) -> HookOutput {
    HookOutput::specific(output)
}

#[tokio::test]
async fn a_hook_denies_a_tool_before_anybody_is_asked() {
    let stage = one_command("touch made.txt");
    let (calls, asked) = (Calls::default(), Asked::default());
    let options = stage
        .options()
        .hook(calls.hook(HookEvent::PreToolUse, HookOutput::deny_tool("not with me")))
        .on_permission(asked.answering(Decision::allow()));
    let outcome = stage.run("go", options).await;
    let calls = calls.all();
    let [HookInput::PreToolUse(call)] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(call.tool_name, "Bash");
    assert_eq!(call.tool_input["command"], "touch made.txt");
    assert_eq!(
        call.tool_use_id.as_ref().unwrap().as_str(),
        "toolu_scripted_0001"
    );
    let result = stage.result_in(2);
    assert!(
        result.is_error && result.text.contains("not with me"),
        "{result:?}"
    );
    assert_eq!(outcome.last().unwrap().permission_denials.len(), 1);
    assert_eq!(asked.all(), []);
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_hook_allows_a_tool_without_a_question_but_not_against_a_rule() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", json!({ "command": "touch made.txt" })))
        .turn(tool_use("Bash", json!({ "command": "mkdir forbidden" })))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let asked = Asked::default();
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::PreToolUse, HookOutput::allow_tool()))
        .disallow_tools(["Bash(mkdir:*)"])
        .on_permission(asked.answering(Decision::deny("no")));
    stage.run("go", options).await;
    assert_eq!(asked.all(), []);
    assert!(stage.file("made.txt").exists());
    assert!(!stage.file("forbidden").exists());
}

#[tokio::test]
async fn a_hook_makes_the_cli_ask_about_what_a_rule_allows() {
    let stage = one_command("touch made.txt");
    let asked = Asked::default();
    let options = stage
        .options()
        .allow_tools(["Bash"])
        .hook(Calls::default().hook(HookEvent::PreToolUse, HookOutput::ask_about_tool("be sure")))
        .on_permission(asked.answering(Decision::allow()));
    stage.run("go", options).await;
    let asked = asked.all();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].decision_reason_type,
        Some(DecisionReasonType::Hook)
    );
    assert!(
        asked[0]
            .decision_reason
            .as_ref()
            .unwrap()
            .contains("be sure")
    );
    assert!(stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_hook_replaces_the_input_before_permission_is_judged() {
    let stage = one_command("touch old.txt");
    let asked = Asked::default();
    let changed = HookOutput::update_tool_input(json!({ "command": "touch new.txt" }));
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::PreToolUse, changed))
        .on_permission(asked.answering(Decision::allow()));
    stage.run("go", options).await;
    assert_eq!(asked.all()[0].input["command"], "touch new.txt");
    assert!(stage.file("new.txt").exists());
    assert!(!stage.file("old.txt").exists());
}

#[tokio::test]
async fn context_from_hooks_around_a_tool_reaches_the_model() {
    let stage = one_command("echo hello");
    let before = specific(PreToolUseOutput {
        additional_context: Some("said before the tool".to_owned()),
        ..PreToolUseOutput::default()
    });
    let after = specific(PostToolUseOutput {
        additional_context: Some("said after the tool".to_owned()),
        ..PostToolUseOutput::default()
    });
    let calls = Calls::default();
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::PreToolUse, before))
        .hook(calls.hook(HookEvent::PostToolUse, after));
    stage.run("go", options).await;
    let calls = calls.all();
    let [HookInput::PostToolUse(call)] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert!(
        call.tool_response["stdout"]
            .as_str()
            .unwrap()
            .contains("hello")
    );
    let conversation = stage.conversation_in(2);
    assert!(
        conversation.contains("said before the tool"),
        "{conversation}"
    );
    assert!(
        conversation.contains("said after the tool"),
        "{conversation}"
    );
}

#[tokio::test]
async fn a_failed_tool_calls_its_own_hook_and_not_the_one_for_success() {
    let stage = one_command("ls /does/not/exist");
    let calls = Calls::default();
    let none = HookOutput::default;
    let options = stage
        .options()
        .allow_tools(["Bash"])
        .hook(calls.hook(HookEvent::PostToolUse, none()))
        .hook(calls.hook(HookEvent::PostToolUseFailure, none()));
    stage.run("go", options).await;
    assert_eq!(calls.events(), [HookEvent::PostToolUseFailure]);
}

#[tokio::test]
async fn context_for_a_prompt_reaches_the_model_with_it() {
    let stage = Stage::new(Scenario::new().turn(text("done")));
    let calls = Calls::default();
    let output = HookOutput::add_to_prompt("it is Sunday");
    let options = stage
        .options()
        .hook(calls.hook(HookEvent::UserPromptSubmit, output));
    stage.run("which day?", options).await;
    let calls = calls.all();
    let [HookInput::UserPromptSubmit(call)] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(call.prompt, "which day?");
    assert!(stage.conversation_in(1).contains("it is Sunday"));
}

#[tokio::test]
async fn a_blocked_prompt_never_reaches_the_model() {
    let stage = Stage::new(Scenario::new().turn(text("done")));
    let block = HookOutput::block("no secrets, please");
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::UserPromptSubmit, block));
    let outcome = stage.run("the password is x", options).await;
    assert_eq!(outcome.last().unwrap().num_turns, Some(0));
    assert_eq!(stage.server.messages(), []);
}

#[tokio::test]
async fn a_blocked_stop_goes_on_with_the_reason_and_says_so_the_next_time() {
    let stage = Stage::new(Scenario::new().turn(text("first")).turn(text("second")));
    let calls = Calls::default();
    let notes = calls.clone();
    let stop = Hook::new(HookEvent::Stop, move |call: HookCall| {
        let again = call.input.stop_hook_active() == Some(true);
        notes.add(call.input);
        let go_on = HookOutput::block("the tests are missing");
        std::future::ready(Ok(if again { HookOutput::default() } else { go_on }))
    });
    let outcome = stage.run("go", stage.options().hook(stop)).await;
    assert_eq!(outcome.text(), "second");
    assert!(stage.conversation_in(2).contains("the tests are missing"));
    let calls = calls.all();
    let [HookInput::Stop(first), HookInput::Stop(second)] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(
        (first.stop_hook_active, second.stop_hook_active),
        (false, true)
    );
    assert_eq!(first.last_assistant_message.as_deref(), Some("first"));
}

#[tokio::test]
async fn a_stop_that_is_blocked_for_ever_is_let_through_at_the_limit() {
    let scenario = Scenario::new()
        .turn(text("1"))
        .turn(text("2"))
        .turn(text("3"));
    let stage = Stage::new(scenario);
    let calls = Calls::default();
    let options = stage
        .options()
        .stop_block_limit(2)
        .hook(calls.hook(HookEvent::Stop, HookOutput::block("go on")));
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "3");
    assert_eq!(calls.all().len(), 3);
}

#[tokio::test]
async fn a_matcher_restricts_a_hook_to_its_tools() {
    let stage = one_command("echo hello");
    let (ours, others) = (Calls::default(), Calls::default());
    let none = HookOutput::default;
    let options = stage
        .options()
        .hook(others.hook(HookEvent::PreToolUse, none()).matcher("Write"))
        .hook(
            others
                .hook(HookEvent::PreToolUse, none())
                .matcher("mcp__.*"),
        )
        .hook(
            ours.hook(HookEvent::PreToolUse, none())
                .matcher("Edit|Bash"),
        );
    stage.run("go", options).await;
    assert_eq!(others.all(), []);
    assert_eq!(ours.all().len(), 1);
}

/// A hook for tools that fails in one of three ways.
fn failing(how: &'static str, policy: OnFailure) -> Hook {
    let hook = Hook::new(HookEvent::PreToolUse, move |_: HookCall| async move {
        match how {
            "error" => Err(HookError::from("the disk is full")),
            "panic" => panic!("this hook is broken"),
            _ => pending().await,
        }
    });
    hook.timeout(if how == "hang" {
        Duration::from_millis(50)
    } else {
        LIMIT * 3
    })
    .on_failure(policy)
}

#[tokio::test]
async fn a_failing_tool_hook_denies_the_tool_unless_it_may_be_passed_over() {
    let table = [
        ("error", OnFailure::DenyTools, "the disk is full"),
        ("panic", OnFailure::Block, "panicked"),
        ("hang", OnFailure::DenyTools, "no answer within 50ms"),
    ];
    for (how, policy, expect) in table {
        let stage = one_command("touch made.txt");
        let asked = Asked::default();
        let options = stage
            .options()
            .hook(failing(how, policy))
            .on_permission(asked.answering(Decision::allow()));
        let outcome = stage.run("go", options).await;
        assert_eq!(outcome.text(), "done", "{how}");
        assert_eq!(asked.all(), [], "{how}");
        let result = stage.result_in(2);
        assert!(
            result.is_error && result.text.contains(expect),
            "{how}: {result:?}"
        );
        assert!(!stage.file("made.txt").exists(), "{how}");
    }
}

#[tokio::test]
async fn a_failing_hook_that_may_be_passed_over_leaves_it_to_the_permission_handler() {
    let stage = one_command("touch made.txt");
    let asked = Asked::default();
    let options = stage
        .options()
        .hook(failing("error", OnFailure::Continue))
        .hook(failing("panic", OnFailure::Continue))
        .hook(failing("hang", OnFailure::Continue))
        .on_permission(asked.answering(Decision::allow()));
    let (client, mut messages) = stage.connect(options).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(asked.tools(), ["Bash"]);
    assert!(stage.file("made.txt").exists());
    assert_eq!(client.handler_failures(), 3);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_prompt_hook_that_must_block_blocks_when_it_fails() {
    let stage = Stage::new(Scenario::new().turn(text("done")));
    let hook = Hook::new(HookEvent::UserPromptSubmit, async |_: HookCall| {
        Err(HookError::from("the filter is down"))
    });
    let options = stage.options().hook(hook.on_failure(OnFailure::Block));
    let (client, mut messages) = stage.connect(options).await;
    assert_eq!(client.hello().hook_on_failure_supported, Some(true));
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.num_turns, Some(0));
    assert_eq!(stage.server.messages(), []);
    client.close().await.unwrap();
}

/// A hook that notes its calls and always fails.
fn always_failing(event: HookEvent, calls: &Calls) -> Hook {
    let calls = calls.clone();
    Hook::new(event, move |call: HookCall| {
        calls.add(call.input);
        std::future::ready(Err(HookError::from("the hook is down")))
    })
}

#[tokio::test]
async fn a_compaction_hook_that_must_block_blocks_when_it_fails() {
    let stage = Stage::new(Scenario::new().turn(text("a long answer")));
    let hook = always_failing(HookEvent::PreCompact, &Calls::default());
    let options = stage.options().hook(hook.on_failure(OnFailure::Block));
    let (client, mut messages) = stage.connect(options).await;
    client.send("talk").await.unwrap();
    next_result(&mut messages).await;
    client.send("/compact").await.unwrap();
    let result = next_result(&mut messages).await;
    assert!(
        result
            .result
            .unwrap()
            .contains("blocked by PreCompact hook")
    );
    assert_eq!(stage.server.messages().len(), 1, "nothing was compacted");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_failing_stop_hook_never_keeps_the_agent_at_work() {
    let stage = Stage::new(Scenario::new().turn(text("done")));
    let calls = Calls::default();
    let hook = always_failing(HookEvent::Stop, &calls).on_failure(OnFailure::Block);
    let outcome = stage.run("go", stage.options().hook(hook)).await;
    assert_eq!(outcome.text(), "done");
    assert_eq!(calls.all().len(), 1);
    assert_eq!(stage.server.messages().len(), 1);
}

#[tokio::test]
async fn of_two_hooks_the_denial_wins() {
    let stage = one_command("touch made.txt");
    let calls = Calls::default();
    let options = stage
        .options()
        .hook(calls.hook(HookEvent::PreToolUse, HookOutput::allow_tool()))
        .hook(calls.hook(HookEvent::PreToolUse, HookOutput::deny_tool("but not this")))
        .hook(calls.hook(HookEvent::PreToolUse, HookOutput::allow_tool()));
    stage.run("go", options).await;
    assert_eq!(calls.all().len(), 3);
    assert!(stage.result_in(2).text.contains("but not this"));
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_denial_of_a_hook_holds_when_permissions_are_bypassed() {
    let stage = one_command("touch made.txt");
    let options = stage
        .options()
        .env("IS_SANDBOX", "1")
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions()
        .hook(Calls::default().hook(HookEvent::PreToolUse, HookOutput::deny_tool("never")));
    stage.run("go", options).await;
    assert!(stage.result_in(2).text.contains("never"));
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_deferred_call_ends_the_turn_and_is_handed_to_the_host() {
    let stage = one_command("touch made.txt");
    let defer = specific(PreToolUseOutput {
        permission_decision: Some(HookPermissionDecision::Defer),
        ..PreToolUseOutput::default()
    });
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::PreToolUse, defer));
    let outcome = stage.run("go", options).await;
    let deferred = outcome.last().unwrap().deferred_tool_use.clone().unwrap();
    assert_eq!(deferred.name, "Bash");
    assert_eq!(deferred.input["command"], "touch made.txt");
    assert_eq!(stage.server.messages().len(), 1);
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_hook_that_ends_the_turn_does_not_stop_the_tool_at_hand() {
    let stage = one_command("touch made.txt");
    let stop = HookOutput {
        continue_: Some(false),
        ..HookOutput::default()
    };
    let options = stage
        .options()
        .allow_tools(["Bash"])
        .hook(Calls::default().hook(HookEvent::PreToolUse, stop));
    let outcome = stage.run("go", options).await;
    assert_eq!(
        outcome.last().unwrap().terminal_reason,
        Some(TerminalReason::HookStopped)
    );
    assert_eq!(stage.server.messages().len(), 1);
    assert!(stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_permission_hook_may_answer_before_the_handler_which_is_then_withdrawn() {
    let stage = one_command("touch made.txt");
    let (withdrawn, mut seen) = watch::channel(false);
    let decision = PermissionRequestOutput {
        decision: PermissionResult::allow(),
        ..PermissionRequestOutput::default()
    };
    let options = stage
        .options()
        .hook(Calls::default().hook(HookEvent::PermissionRequest, specific(decision)))
        .on_permission(move |request: PermissionRequest| {
            let withdrawn = withdrawn.clone();
            tokio::spawn(async move {
                request.withdrawn.cancelled().await;
                withdrawn.send_replace(true);
            });
            pending::<Decision>()
        });
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    assert!(stage.file("made.txt").exists());
    let told = tokio::time::timeout(LIMIT, seen.wait_for(|told| *told)).await;
    assert!(
        told.is_ok_and(|told| told.is_ok()),
        "the handler is not told"
    );
}

#[tokio::test]
async fn hooks_of_a_sub_agent_name_it() {
    let agent = json!({
        "description": "look", "prompt": "look around",
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let scenario = Scenario::new()
        .turn(tool_use("Agent", agent))
        .turn(tool_use("Bash", json!({ "command": "echo inside" })))
        .turn(text("seen"))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let calls = Calls::default();
    let none = HookOutput::default;
    let options = stage
        .options()
        .hook(calls.hook(HookEvent::SubagentStart, none()))
        .hook(calls.hook(HookEvent::PreToolUse, none()).matcher("Bash"))
        .hook(calls.hook(HookEvent::SubagentStop, none()));
    stage.run("go", options).await;
    assert_eq!(
        calls.events(),
        [
            HookEvent::SubagentStart,
            HookEvent::PreToolUse,
            HookEvent::SubagentStop
        ]
    );
    let agents: Vec<_> = calls
        .all()
        .iter()
        .map(|c| c.agent_id().map(str::to_owned))
        .collect();
    assert!(agents[0].is_some());
    assert!(agents.iter().all(|agent| *agent == agents[0]), "{agents:?}");
}

#[tokio::test]
async fn compaction_calls_its_hooks_before_and_after() {
    let scenario = Scenario::new()
        .turn(text("a long answer"))
        .turn(text("<summary>they talked</summary>"));
    let stage = Stage::new(scenario);
    let calls = Calls::default();
    let none = HookOutput::default;
    let options = stage
        .options()
        .hook(calls.hook(HookEvent::PreCompact, none()))
        .hook(calls.hook(HookEvent::PostCompact, none()));
    let (client, mut messages) = stage.connect(options).await;
    client.send("talk").await.unwrap();
    next_result(&mut messages).await;
    client.send("/compact").await.unwrap();
    next_result(&mut messages).await;
    let calls = calls.all();
    let [HookInput::PreCompact(before), HookInput::PostCompact(after)] = calls.as_slice() else {
        panic!("{calls:?}")
    };
    assert_eq!(before.trigger, "manual");
    assert!(
        after
            .compact_summary
            .as_ref()
            .unwrap()
            .contains("they talked")
    );
    client.close().await.unwrap();
}

const ALL_EVENTS: [HookEvent; 33] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::PostToolUseFailure,
    HookEvent::PostToolBatch,
    HookEvent::Notification,
    HookEvent::UserPromptSubmit,
    HookEvent::UserPromptExpansion,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
    HookEvent::Stop,
    HookEvent::StopFailure,
    HookEvent::SubagentStart,
    HookEvent::SubagentStop,
    HookEvent::PreCompact,
    HookEvent::PostCompact,
    HookEvent::PreModelSwitch,
    HookEvent::PostModelSwitch,
    HookEvent::PermissionRequest,
    HookEvent::PermissionDenied,
    HookEvent::Setup,
    HookEvent::TeammateIdle,
    HookEvent::TaskCreated,
    HookEvent::TaskCompleted,
    HookEvent::Elicitation,
    HookEvent::ElicitationResult,
    HookEvent::ConfigChange,
    HookEvent::WorktreeCreate,
    HookEvent::WorktreeRemove,
    HookEvent::InstructionsLoaded,
    HookEvent::CwdChanged,
    HookEvent::FileChanged,
    HookEvent::DirectoryAdded,
    HookEvent::MessageDisplay,
];

#[tokio::test]
async fn hooks_for_every_event_are_accepted_and_those_of_a_plain_turn_are_called() {
    let stage = one_command("echo hello");
    let calls = Calls::default();
    let options = ALL_EVENTS
        .into_iter()
        .fold(stage.options(), |options, event| {
            options.hook(calls.hook(event, HookOutput::default()))
        });
    let (client, mut messages) = stage.connect(options).await;
    assert_eq!(client.hello().hooks_applied, Some(true));
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    client.close().await.unwrap();
    let events = calls.events();
    for event in [
        HookEvent::UserPromptSubmit,
        HookEvent::PreToolUse,
        HookEvent::PostToolUse,
        HookEvent::PostToolBatch,
        HookEvent::Stop,
    ] {
        assert_eq!(
            events.iter().filter(|e| **e == event).count(),
            1,
            "{event:?}: {events:?}"
        );
    }
    assert!(
        !events.contains(&HookEvent::SessionStart),
        "the CLI has begun to call it: tell users"
    );
    assert!(
        calls
            .all()
            .iter()
            .all(|c| !matches!(c, HookInput::Unknown(_))),
        "{events:?}"
    );
}
