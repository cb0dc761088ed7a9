//! Asking and changing a running engine.

use falconer::protocol::Object;
use falconer::protocol::agent::AgentDefinition;
use falconer::protocol::control::{EndSession, HostRequest, RenameSession};
use falconer::protocol::system::SystemMessage;
use falconer::sessions::{SessionId, Sessions};
use falconer::{EngineExit, Error, Message};
use falconer_testkit::scenario::{RequestKind, Scenario, any, on_kind, status, text, tool_use};
use serde_json::json;

use super::evidence::wait_for;
use super::{Stage, next_result};
use crate::scripted::LIMIT;

#[tokio::test]
async fn hello_tells_commands_models_agents_account_and_version() {
    let stage = Stage::new(Scenario::new());
    let agent = json!({ "description": "a scout", "prompt": "look" });
    let agent: AgentDefinition = serde_json::from_value(agent).unwrap();
    let (client, _messages) = stage.connect(stage.options().agent("scout", agent)).await;
    let hello = client.hello();
    assert!(
        hello
            .commands
            .iter()
            .any(|command| command.name == "compact")
    );
    assert!(hello.models.iter().any(|model| model.value == "sonnet"));
    let scout = hello
        .agents
        .iter()
        .find(|agent| agent.name == "scout")
        .unwrap();
    assert_eq!(scout.description.as_deref(), Some("a scout"));
    let account = hello.account.as_ref().unwrap();
    assert_eq!(account.api_key_source.as_deref(), Some("ANTHROPIC_API_KEY"));
    assert!(
        hello
            .claude_code_version
            .as_ref()
            .unwrap()
            .starts_with("2.")
    );
    assert_eq!(hello.pid, client.pid());
    assert_eq!(hello.hook_on_failure_supported, Some(true));
    let closed = client.close().await.unwrap();
    assert_eq!(closed.exit, EngineExit::Code(0));
}

#[tokio::test]
async fn the_model_is_changed_by_alias_and_reset() {
    let stage = Stage::new(Scenario::new().on(any()).times(3).reply(text("ok")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let changed = client.set_model("sonnet").await.unwrap().model.unwrap();
    assert!(changed.starts_with("claude-sonnet"), "{changed}");
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    client.reset_model().await.unwrap();
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let requests = stage.server.messages();
    let models: Vec<_> = requests
        .iter()
        .map(|r| r.body["model"].as_str().unwrap())
        .collect();
    assert_eq!(models[1], changed);
    assert_ne!(models[0], changed);
    assert_eq!(models[2], models[0]);
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_unknown_model_is_refused_and_the_old_one_stays() {
    let scenario = Scenario::new()
        .on(on_kind(RequestKind::Probe))
        .reply(status(404).message("model: claude-unheard-of"))
        .turn(text("ok"));
    let stage = Stage::new(scenario);
    let (client, mut messages) = stage.connect(stage.options().model("sonnet")).await;
    let refused = client.set_model("claude-unheard-of").await;
    let Err(Error::Refused {
        request, message, ..
    }) = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(request, "set_model");
    assert!(message.contains("claude-unheard-of"), "{message}");
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "ok");
    let model = stage.server.messages()[0].body["model"].clone();
    assert!(
        model.as_str().unwrap().starts_with("claude-sonnet"),
        "{model}"
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn thinking_is_switched_off_limited_and_reset_while_running() {
    let stage = Stage::new(Scenario::new().on(any()).times(4).reply(text("ok")));
    // Newer models think as they see fit, whatever is asked for.
    let (client, mut messages) = stage
        .connect(stage.options().model("claude-haiku-4-5"))
        .await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    for tokens in [Some(0), Some(4096), None] {
        client.set_max_thinking_tokens(tokens).await.unwrap();
        client.send("go").await.unwrap();
        next_result(&mut messages).await;
    }
    let requests = stage.server.messages();
    let budgets: Vec<_> = requests
        .iter()
        .map(|r| r.body["thinking"]["budget_tokens"].as_u64())
        .collect();
    let initially = budgets[0];
    assert!(initially > Some(4096), "{budgets:?}");
    assert_eq!(budgets, [initially, None, Some(4096), initially]);
    assert_eq!(requests[1].body["thinking"]["type"], "disabled");
    client.close().await.unwrap();
}

#[tokio::test]
async fn flag_settings_apply_to_the_running_session() {
    let scenario = Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({ "command": "touch one.txt", "description": "x" }),
        ))
        .turn(text("refused"))
        .turn(tool_use(
            "Bash",
            json!({ "command": "touch two.txt", "description": "x" }),
        ))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.permission_denials.len(), 1);
    let settings = json!({ "permissions": { "allow": ["Bash(touch:*)"] } });
    client.apply_flag_settings(settings).await.unwrap();
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.permission_denials.len(), 0);
    assert!(!stage.file("one.txt").exists() && stage.file("two.txt").exists());
    client.close().await.unwrap();
}

#[tokio::test]
async fn context_usage_is_told_by_category() {
    let stage = Stage::new(Scenario::new().counting_tokens(77).turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let usage = client.context_usage().await.unwrap();
    assert!(usage.total_tokens > 0 && usage.max_tokens.unwrap() > usage.total_tokens);
    assert!(usage.categories.len() > 1, "{usage:?}");
    assert!(usage.model.is_some());
    client.close().await.unwrap();
}

#[tokio::test]
async fn files_are_rewound_to_before_a_message_after_a_look() {
    let stage = Stage::new(Scenario::new());
    let made = stage.file("made.txt");
    let input = json!({ "file_path": made, "content": "new\n" });
    let stage = Stage {
        server: falconer_testkit::ApiServer::start(
            Scenario::new()
                .turn(tool_use("Write", input))
                .turn(text("written")),
        )
        .unwrap(),
        ..stage
    };
    let options = stage.options().checkpoint_files().allow_tools(["Write"]);
    let (client, mut messages) = stage.connect(options).await;
    let ticket = client.send("write it").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "written");
    assert!(made.exists());
    let preview = client.preview_rewind(&ticket).await.unwrap();
    assert!(preview.can_rewind);
    let changed = preview.files_changed.unwrap();
    assert!(
        changed.iter().any(|file| file.ends_with("made.txt")),
        "{changed:?}"
    );
    assert!(made.exists(), "a look changes nothing");
    assert!(client.rewind_files(&ticket).await.unwrap().can_rewind);
    assert!(!made.exists());
    client.close().await.unwrap();
}

#[tokio::test]
async fn rewinding_is_refused_without_checkpoints() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let ticket = client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let refused = client.rewind_files(&ticket).await;
    let Err(Error::Refused {
        request, message, ..
    }) = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(request, "rewind_files");
    assert!(message.contains("not enabled"), "{message}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_idle_engine_can_be_initialized_again() {
    let stage = Stage::new(Scenario::new().turn(text("one")).turn(text("two")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "one");
    tokio::time::timeout(LIMIT, client.idle()).await.unwrap();
    let hello = client.reinitialize().await.unwrap();
    assert_eq!(hello.pid, client.pid());
    assert!(!hello.commands.is_empty());
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "two");
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_unknown_request_is_refused_with_a_code_and_the_session_goes_on() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let mut request = Object::new();
    request.insert("subtype".into(), json!("sing_a_song"));
    let refused = client.request(HostRequest::Unknown(request)).await;
    let Err(Error::Refused { request, code, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (request.as_str(), code.as_deref()),
        ("sing_a_song", Some("unsupported_request"))
    );
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "hi");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_session_is_renamed_by_request_and_listed_so() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let rename = RenameSession {
        title: "Falcons".to_owned(),
        ..RenameSession::default()
    };
    client.request(rename.into()).await.unwrap();
    let title = wait_for(&mut messages, |message| match message {
        Message::System(SystemMessage::SessionTitleChanged(line)) => line.title.clone(),
        _ => None,
    })
    .await;
    assert_eq!(title, "Falcons");
    let session = SessionId::new(client.session_id().unwrap());
    client.close().await.unwrap();
    let info = Sessions::open(stage.config())
        .info(&session)
        .unwrap()
        .unwrap();
    assert_eq!(info.custom_title.as_deref(), Some("Falcons"));
}

#[tokio::test]
async fn an_engine_that_is_asked_to_end_its_session_ends_well() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    client.request(EndSession::default().into()).await.unwrap();
    let rest = async {
        while let Some(message) = messages.next().await {
            drop(message.unwrap());
        }
    };
    tokio::time::timeout(LIMIT, rest)
        .await
        .expect("the engine lives on");
    assert_eq!(client.close().await.unwrap().exit, EngineExit::Code(0));
    let late = client.send("too late").await;
    assert!(matches!(late, Err(Error::EngineEnded { .. })), "{late:?}");
}
