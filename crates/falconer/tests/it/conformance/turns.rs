//! What goes into a turn and what comes out of it.

use falconer::protocol::agent::AgentDefinition;
use falconer::protocol::content::ContentBlock;
use falconer::protocol::stream::StreamEvent;
use falconer::protocol::system::SystemMessage;
use falconer::{Client, Effort, Message, Prompt};
use falconer_testkit::scenario::{
    Scenario, any, last_user_contains, system_contains, text, thinking, tool_use,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::evidence::{conversation, last_user_texts, system_messages, wait_for};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

/// Text that shells, flags, JSON and line readers stumble over.
const AWKWARD: &str =
    "--dash=-x \"double\" 'single' \\back `tick` $HOME %s\n\ttab ü 🦅 \u{2028}\u{2029}\u{7f} end";

#[tokio::test]
async fn deltas_add_up_and_the_whole_block_comes_before_its_stop_event() {
    let stage =
        Stage::new(Scenario::new().turn(thinking("let me see").text("hello world").delta_chars(3)));
    let messages = stage
        .all_messages("go", stage.options().include_partial_messages())
        .await;
    let streamed: String = messages
        .iter()
        .filter_map(|message| match message {
            Message::StreamEvent(event) => event.text_delta(),
            _ => None,
        })
        .collect();
    assert_eq!(streamed, "hello world");
    let whole = messages.iter().position(|message| match message {
        Message::Assistant(answer) => answer.text() == "hello world",
        _ => false,
    });
    let stops: Vec<_> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| match message {
            Message::StreamEvent(line) => matches!(line.event, StreamEvent::ContentBlockStop(_)),
            _ => false,
        })
        .map(|(position, _)| position)
        .collect();
    assert_eq!(stops.len(), 2, "one for the thought, one for the text");
    assert!(stops[0] < whole.unwrap() && whole.unwrap() < stops[1]);
    assert!(
        system_messages(&messages).any(|line| matches!(line, SystemMessage::ThinkingTokens(_)))
    );
}

#[tokio::test]
async fn a_thought_is_a_block_of_its_own_line_and_not_part_of_the_result() {
    let stage = Stage::new(Scenario::new().turn(thinking("deep thought").text("the answer")));
    let messages = stage.all_messages("go", stage.options()).await;
    let answers: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Assistant(answer) => Some(&answer.message),
            _ => None,
        })
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(
        matches!(&answers[0].content[..], [ContentBlock::Thinking(t)] if t.thinking == "deep thought")
    );
    assert_eq!(answers[1].content[0].as_text(), Some("the answer"));
    assert_eq!(answers[0].id, answers[1].id);
    let Some(Message::Result(result)) = messages.iter().find(|m| matches!(m, Message::Result(_)))
    else {
        panic!("no result")
    };
    assert_eq!(result.text(), "the answer");
}

#[tokio::test]
async fn images_and_documents_reach_the_model() {
    let stage = Stage::new(Scenario::new().turn(text("seen")));
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let blocks: Vec<ContentBlock> = serde_json::from_value(json!([
        { "type": "text", "text": "look at these" },
        { "type": "image", "source":
            { "type": "base64", "media_type": "image/png", "data": png } },
        { "type": "document", "title": "notes", "source":
            { "type": "text", "media_type": "text/plain", "data": "falcons dive at 390 km/h" } },
    ]))
    .unwrap();
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send(Prompt::blocks(blocks)).await.unwrap();
    assert!(next_result(&mut messages).await.is_success());
    let said = conversation(&stage.server.messages()[0]);
    assert!(said.contains("look at these"));
    assert!(said.contains("\"type\":\"image\"") && said.contains("image/png"));
    assert!(said.contains("falcons dive at 390 km/h"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn slash_commands_answer_compact_and_clear_without_a_turn_of_the_model() {
    let scenario = Scenario::new()
        .turn(text("I will remember the falcon"))
        .turn(text("<summary>the user likes falcons</summary>"))
        .turn(text("who are you?"));
    let stage = Stage::new(scenario);
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("remember the falcon").await.unwrap();
    next_result(&mut messages).await;
    let before = client.session_id().unwrap();

    let ticket = client.send("/context").await.unwrap();
    let result = next_result(&mut messages).await;
    assert!(
        result.is_success() && ticket.is_answered_by(&result),
        "{result:?}"
    );
    assert!(result.text().contains("Context"), "{}", result.text());
    assert_eq!(
        stage.server.messages().len(),
        1,
        "answered without the model"
    );

    client.send("/compact").await.unwrap();
    let trigger = wait_for(&mut messages, |message| match message {
        Message::System(SystemMessage::CompactBoundary(line)) => {
            Some(line.compact_metadata.trigger.clone())
        }
        _ => None,
    })
    .await;
    assert_eq!(trigger, "manual");
    assert!(next_result(&mut messages).await.is_success());

    client.send("/clear").await.unwrap();
    let conversation_id = wait_for(&mut messages, |message| match message {
        Message::ConversationReset(reset) => Some(reset.new_conversation_id.clone()),
        _ => None,
    })
    .await;
    let result = next_result(&mut messages).await;
    let after = client.session_id().unwrap();
    assert_ne!(after, before);
    assert_ne!(
        after,
        conversation_id.as_str(),
        "a conversation is not a session"
    );
    assert_eq!(result.session_id.as_ref().unwrap().as_str(), after);

    client.send("who am I?").await.unwrap();
    let result = next_result(&mut messages).await;
    assert_eq!(result.session_id.as_ref().unwrap().as_str(), after);
    assert!(!conversation(&stage.server.messages()[2]).contains("falcon"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_verbatim_prompt_is_no_command() {
    let stage = Stage::new(
        Scenario::new()
            .on(any())
            .times(2)
            .reply(text("that is a command")),
    );
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("/help").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(
        stage.server.messages().len(),
        0,
        "the command never reaches the model"
    );
    client.send(Prompt::from("/help").verbatim()).await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "that is a command");
    assert!(last_user_texts(&stage.server.messages()[0]).contains(&"/help".to_owned()));
    client.close().await.unwrap();

    let (client, mut messages) = stage.connect(stage.options().verbatim_prompts()).await;
    client.send("/help").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "that is a command");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_prompt_without_query_is_heard_but_not_answered() {
    let stage = Stage::new(Scenario::new().turn(text("green")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let note = Prompt::from("my favourite colour is green").without_query();
    let note = client.send(note).await.unwrap();
    let result = next_result(&mut messages).await;
    assert_eq!((result.num_turns, result.is_error), (Some(0), false));
    assert!(note.is_answered_by(&result));
    assert_eq!(stage.server.messages().len(), 0);
    client.send("which is it?").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "green");
    assert!(conversation(&stage.server.messages()[0]).contains("my favourite colour is green"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn replayed_user_messages_carry_the_uuid_of_their_ticket() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options().replay_user_messages()).await;
    let ticket = client.send("hello there").await.unwrap();
    let replayed = wait_for(&mut messages, |message| match message {
        Message::User(user) if user.is_replay == Some(true) => Some(user.clone()),
        _ => None,
    })
    .await;
    assert_eq!(replayed.uuid.as_ref().unwrap().as_str(), ticket.uuid());
    assert_eq!(replayed.message.content.text(), "hello there");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_sent_twice_is_answered_once() {
    let stage = Stage::new(Scenario::new().turn(text("one")).turn(text("two")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let id = Uuid::new_v4();
    client.send(Prompt::from("first").id(id)).await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "one");
    finished(&client).await;
    client.send(Prompt::from("first").id(id)).await.unwrap();
    finished(&client).await;
    let second = client.send("second").await.unwrap();
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "two");
    assert!(second.is_answered_by(&result));
    finished(&client).await;
    assert_eq!(stage.server.messages().len(), 2);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_message_that_was_answered_before_a_resume_leaves_nothing_to_do() {
    let stage = Stage::new(Scenario::new().turn(text("one")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let id = Uuid::new_v4();
    client.send(Prompt::from("first").id(id)).await.unwrap();
    let session = next_result(&mut messages).await.session_id;
    client.close().await.unwrap();
    let options = stage.options().resume(session.unwrap().as_str());
    let (client, _messages) = stage.connect(options).await;
    client.send(Prompt::from("first").id(id)).await.unwrap();
    finished(&client).await;
    assert_eq!(stage.server.messages().len(), 1);
    client.close().await.unwrap();
}

/// Waits until the client says that nothing is left to do.
async fn finished(client: &Client) {
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("nothing is left to do");
}

#[tokio::test]
async fn awkward_text_survives_in_prompt_system_prompt_answer_and_agents() {
    let stage = Stage::new(Scenario::new().turn(text(AWKWARD).chunk_bytes(7)));
    let agent = json!({ "description": AWKWARD, "prompt": AWKWARD });
    let agent: AgentDefinition = serde_json::from_value(agent).unwrap();
    let outside = TempDir::new().unwrap();
    let odd = outside.path().join("-odd 'dir', ü");
    std::fs::create_dir(&odd).unwrap();
    let options = stage
        .options()
        .system_prompt(AWKWARD)
        .agent("awkward", agent)
        .additional_directory(&odd);
    let (client, mut messages) = stage.connect(options).await;
    let agents = &client.hello().agents;
    let agent = agents.iter().find(|agent| agent.name == "awkward").unwrap();
    assert_eq!(agent.description.as_deref(), Some(AWKWARD));
    client.send(AWKWARD).await.unwrap();
    let directories = wait_for(&mut messages, |message| match message {
        Message::System(SystemMessage::Init(init)) => init.additional_directories.clone(),
        _ => None,
    })
    .await;
    assert_eq!(directories, [odd.to_str().unwrap()]);
    assert_eq!(next_result(&mut messages).await.text(), AWKWARD);
    let request = &stage.server.messages()[0];
    assert!(last_user_texts(request).contains(&AWKWARD.to_owned()));
    let system = request.body["system"].as_array().unwrap();
    assert!(
        system
            .iter()
            .any(|block| block["text"].as_str().unwrap().contains(AWKWARD))
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn agents_of_300_kb_are_no_matter_and_work() {
    let prompt = format!("{} THE-END-OF-THE-PROMPT", "be thorough. ".repeat(24_000));
    assert!(prompt.len() > 300_000);
    let scenario = Scenario::new()
        .on(system_contains("THE-END-OF-THE-PROMPT"))
        .reply(text("from the sub-agent"))
        .turn(tool_use(
            "Agent",
            json!({ "description": "ask", "prompt": "what is it?",
            "subagent_type": "thorough", "run_in_background": false }),
        ))
        .on(any())
        .reply(text("done"));
    let stage = Stage::new(scenario);
    let agent = json!({ "description": "thorough", "prompt": prompt });
    let agent: AgentDefinition = serde_json::from_value(agent).unwrap();
    let outcome = stage
        .run("go", stage.options().agent("thorough", agent))
        .await;
    assert_eq!(outcome.text(), "done");
    let requests = stage.server.messages();
    assert_eq!(requests.len(), 3);
    assert!(conversation(&requests[2]).contains("from the sub-agent"));
}

#[tokio::test]
async fn claude_md_is_read_unless_setting_sources_are_empty() {
    for (isolated, expected) in [(false, true), (true, false)] {
        let stage = Stage::new(
            Scenario::new()
                .on(last_user_contains("go"))
                .reply(text("hi")),
        );
        std::fs::write(stage.file("CLAUDE.md"), "The password is swordfish.").unwrap();
        let options = if isolated {
            stage.options().setting_sources([])
        } else {
            stage.options()
        };
        stage.run("go", options).await;
        let body: &Value = &stage.server.messages()[0].body;
        assert_eq!(
            body.to_string().contains("swordfish"),
            expected,
            "isolated: {isolated}"
        );
    }
}

#[tokio::test]
async fn model_effort_and_tools_are_those_that_were_chosen() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let options = stage
        .options()
        .model("sonnet")
        .effort(Effort::High)
        .only_tools(["Read", "Bash"])
        .disallow_tools(["Bash"]);
    stage.run("go", options).await;
    let body = &stage.server.messages()[0].body;
    assert!(body["model"].as_str().unwrap().starts_with("claude-sonnet"));
    assert_eq!(body["output_config"]["effort"], "high");
    let tools = body["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(names.contains(&"Read"), "{names:?}");
    let others = ["Bash", "Write", "Edit", "Agent"];
    assert!(
        others.iter().all(|other| !names.contains(other)),
        "{names:?}"
    );
}

#[tokio::test]
async fn every_result_of_a_conversation_counts_on() {
    let stage = Stage::new(Scenario::new().on(any()).times(3).reply(text("ok")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let mut last = (0.0, None);
    for _ in 0..3 {
        client.send("go").await.unwrap();
        let result = next_result(&mut messages).await;
        let cost = result.total_cost_usd.unwrap().as_f64();
        assert!(cost > last.0, "the cost is the sum so far");
        assert!(result.result_index > last.1, "results are numbered");
        last = (cost, result.result_index);
    }
    client.close().await.unwrap();
}
