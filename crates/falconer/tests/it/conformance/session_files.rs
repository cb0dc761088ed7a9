//! Sessions across runs, and the session functions on what the CLI wrote.

use falconer::protocol::agent::AgentDefinition;
use falconer::sessions::{
    ForkOptions, ListOptions, SessionError, SessionId, SessionMessage, Sessions, SystemMessages,
};
use falconer::{Error, FailureClass, Message, Options};
use falconer_testkit::scenario::{Scenario, any, system_contains, text, tool_use};
use serde_json::json;
use uuid::Uuid;

use super::Stage;
use super::evidence::conversation;

/// A model that always answers the same.
fn agreeable() -> Stage {
    Stage::new(Scenario::new().on(any()).always().reply(text("I see")))
}

/// Runs a prompt; the session it ran in.
async fn session_of(stage: &Stage, prompt: &str, options: Options) -> SessionId {
    let outcome = stage.run(prompt, options).await;
    let session = outcome.last().unwrap().session_id.as_ref().unwrap();
    SessionId::new(session.as_str())
}

fn sessions(stage: &Stage) -> Sessions {
    Sessions::open(stage.config()).of_directory(stage.project())
}

fn messages(stage: &Stage, session: &SessionId) -> Vec<SessionMessage> {
    let messages = sessions(stage)
        .messages(session, SystemMessages::default())
        .unwrap();
    messages.map(Result::unwrap).collect()
}

/// What the newest request said to the model.
fn last_said(stage: &Stage) -> String {
    conversation(stage.server.messages().last().unwrap())
}

#[tokio::test]
async fn a_fixed_session_id_is_used_and_a_resumed_session_remembers() {
    let stage = agreeable();
    let id = Uuid::new_v4().to_string();
    let first = session_of(&stage, "I like falcons", stage.options().session_id(&id)).await;
    assert_eq!(first.as_str(), id);
    let second = session_of(&stage, "what do I like?", stage.options().resume(&id)).await;
    assert_eq!(second, first, "resuming keeps the id");
    assert!(last_said(&stage).contains("I like falcons"));
    let third = session_of(&stage, "and now?", stage.options().continue_latest()).await;
    assert_eq!(third, first, "continuing too");
    assert!(last_said(&stage).contains("what do I like?"));
    assert_eq!(messages(&stage, &first).len(), 6);
}

#[tokio::test]
async fn a_fork_has_a_new_id_and_leaves_the_old_session_as_it_was() {
    let stage = agreeable();
    let old = session_of(&stage, "I like falcons", stage.options()).await;
    let before = messages(&stage, &old).len();
    let options = stage.options().resume(old.as_str()).fork_session();
    let fork = session_of(&stage, "and owls", options).await;
    assert_ne!(fork, old);
    assert!(last_said(&stage).contains("I like falcons"));
    assert_eq!(messages(&stage, &old).len(), before);
    assert_eq!(messages(&stage, &fork).len(), before + 2);
}

#[tokio::test]
async fn resuming_at_a_message_forgets_what_came_later() {
    let stage = agreeable();
    let id = session_of(&stage, "I like falcons", stage.options()).await;
    let first_answer = messages(&stage, &id)[1].uuid.clone();
    session_of(&stage, "I like owls", stage.options().resume(id.as_str())).await;
    let options = stage.options().resume(id.as_str()).resume_at(&first_answer);
    session_of(&stage, "what do I like?", options).await;
    let said = last_said(&stage);
    assert!(said.contains("falcons") && !said.contains("owls"), "{said}");

    let options = stage
        .options()
        .resume(id.as_str())
        .resume_at(Uuid::new_v4().to_string());
    let missing = stage.try_run("go", options).await;
    assert!(matches!(missing, Err(Error::Failed(_))), "{missing:?}");
}

#[tokio::test]
async fn resuming_a_session_that_does_not_exist_is_named_so() {
    let stage = agreeable();
    let missing = stage
        .try_run("go", stage.options().resume(Uuid::new_v4().to_string()))
        .await;
    let Err(Error::Failed(failure)) = missing else {
        panic!("{missing:?}")
    };
    assert_eq!(failure.class, FailureClass::SessionNotFound, "{failure}");
    assert!(!failure.is_retryable() && !failure.advice().is_empty());
    assert_eq!(stage.server.requests().len(), 0);
}

#[tokio::test]
async fn sessions_in_one_directory_run_side_by_side() {
    let stage = agreeable();
    let (one, two) = tokio::join!(
        session_of(&stage, "the first", stage.options()),
        session_of(&stage, "the second", stage.options()),
    );
    assert_ne!(one, two);
    assert_eq!(messages(&stage, &one).len(), 2);
    assert_eq!(messages(&stage, &two).len(), 2);
}

#[tokio::test]
async fn sessions_are_listed_read_renamed_tagged_and_deleted() {
    let stage = agreeable();
    let id = session_of(&stage, "I like falcons", stage.options()).await;
    let here = sessions(&stage);
    let listed = here.list(&ListOptions::new());
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].session_id, id);
    assert_eq!(listed[0].first_prompt.as_deref(), Some("I like falcons"));
    assert_eq!(listed[0].cwd.as_deref(), Some(stage.project()));
    assert_eq!(here.newest().unwrap().session_id, id);

    let all = messages(&stage, &id);
    let said = all[0].message.as_ref().unwrap().get();
    assert!(said.contains("I like falcons"), "{said}");
    assert!(all[1].message.as_ref().unwrap().get().contains("I see"));

    here.rename(&id, "Birds").unwrap();
    here.tag(&id, "nature").unwrap();
    let info = here.info(&id).unwrap().unwrap();
    assert_eq!(
        (info.custom_title.as_deref(), info.tag.as_deref()),
        (Some("Birds"), Some("nature"))
    );

    // What was changed here does not disturb the CLI.
    let resumed = session_of(&stage, "go on", stage.options().resume(id.as_str())).await;
    assert_eq!(resumed, id);
    assert!(last_said(&stage).contains("I like falcons"));
    let info = here.info(&id).unwrap().unwrap();
    assert_eq!(
        (info.custom_title.as_deref(), info.tag.as_deref()),
        (Some("Birds"), Some("nature"))
    );

    here.delete(&id).unwrap();
    assert!(here.list(&ListOptions::new()).is_empty());
    assert!(matches!(here.info(&id), Err(SessionError::NotFound { .. })));
    let missing = stage
        .try_run("go", stage.options().resume(id.as_str()))
        .await;
    let Err(Error::Failed(failure)) = missing else {
        panic!("{missing:?}")
    };
    assert_eq!(failure.class, FailureClass::SessionNotFound);
}

#[tokio::test]
async fn the_engine_resumes_a_session_that_was_forked_here() {
    let stage = agreeable();
    let id = session_of(&stage, "I like falcons", stage.options()).await;
    session_of(&stage, "I like owls", stage.options().resume(id.as_str())).await;
    let here = sessions(&stage);
    let upto = messages(&stage, &id)[1].uuid.clone();
    for (fork, remembers_owls) in [
        (
            here.fork(&id, &ForkOptions::new().title("All")).unwrap(),
            true,
        ),
        (
            here.fork(&id, &ForkOptions::new().up_to(upto)).unwrap(),
            false,
        ),
    ] {
        let resumed = session_of(&stage, "what?", stage.options().resume(fork.as_str())).await;
        assert_eq!(resumed, fork);
        let said = last_said(&stage);
        assert!(said.contains("falcons"));
        assert_eq!(said.contains("owls"), remembers_owls);
    }
    assert_eq!(messages(&stage, &id).len(), 4, "the source is as it was");
}

#[tokio::test]
async fn sub_agents_of_a_session_are_listed_and_read() {
    let scenario = Scenario::new()
        .on(system_contains("YOU-ARE-THE-SCOUT"))
        .reply(text("land in sight"))
        .turn(tool_use(
            "Agent",
            json!({ "description": "look", "prompt": "look around",
            "subagent_type": "scout", "run_in_background": false }),
        ))
        .on(any())
        .reply(text("done"));
    let stage = Stage::new(scenario);
    let scout = json!({ "description": "a scout", "prompt": "YOU-ARE-THE-SCOUT" });
    let scout: AgentDefinition = serde_json::from_value(scout).unwrap();
    let id = session_of(&stage, "go", stage.options().agent("scout", scout)).await;
    let here = sessions(&stage);
    let agents = here.subagents(&id).unwrap();
    assert_eq!(agents.len(), 1);
    let messages = here.subagent_messages(&id, &agents[0]).unwrap();
    let messages: Vec<_> = messages.map(Result::unwrap).collect();
    let text: String = messages
        .iter()
        .map(|m| m.message.as_ref().unwrap().get())
        .collect();
    assert!(
        text.contains("look around") && text.contains("land in sight"),
        "{text}"
    );
    assert!(
        messages
            .iter()
            .all(|message| message.parent_tool_use_id.is_some())
    );
}

#[tokio::test]
async fn a_run_without_persistence_writes_no_transcript() {
    let stage = agreeable();
    let messages = stage
        .all_messages("a secret", stage.options().without_persistence())
        .await;
    let id = messages.iter().find_map(|message| match message {
        Message::Result(result) => result.session_id.clone(),
        _ => None,
    });
    assert!(sessions(&stage).list(&ListOptions::new()).is_empty());
    let missing = stage
        .try_run("go", stage.options().resume(id.unwrap().as_str()))
        .await;
    let Err(Error::Failed(failure)) = missing else {
        panic!("{missing:?}")
    };
    assert_eq!(failure.class, FailureClass::SessionNotFound);
}

#[tokio::test]
async fn a_session_id_that_is_in_use_is_an_error_with_the_words_of_the_engine() {
    let stage = agreeable();
    let id = session_of(&stage, "I like falcons", stage.options()).await;
    let refused = stage
        .try_run("go", stage.options().session_id(id.as_str()))
        .await;
    let Err(error @ Error::EngineEnded { .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert!(error.to_string().contains("already in use"), "{error}");
    assert_eq!(messages(&stage, &id).len(), 2, "the session is as it was");
}

#[tokio::test]
async fn continuing_where_there_is_nothing_starts_a_new_session() {
    let stage = agreeable();
    session_of(&stage, "hello", stage.options().continue_latest()).await;
    assert_eq!(sessions(&stage).list(&ListOptions::new()).len(), 1);
}
