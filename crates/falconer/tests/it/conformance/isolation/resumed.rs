//! A session of a store, resumed in isolation.

use std::path::PathBuf;
use std::sync::Arc;

use falconer::isolation::{IsolationConfig, NetworkPolicy, Sandbox};
use falconer::mirror::{FlushMode, InMemorySessionStore};
use falconer::protocol::system::SystemMessage;
use falconer::{Client, Error, Message, Options};
use falconer_testkit::scenario::{Scenario, any, text};

use super::super::evidence::{conversation, wait_for};
use super::super::next_result;
use super::{Den, run};

/// Runs a prompt; the session, and the tools for the web that it has.
async fn web_tools(options: Options, prompt: &str) -> (String, Vec<String>) {
    let (client, mut messages) = Client::connect(options).await.unwrap();
    client.send(prompt).await.unwrap();
    let tools = wait_for(&mut messages, |message| match message {
        Message::System(SystemMessage::Init(init)) => Some(init.tools.clone()),
        _ => None,
    })
    .await;
    next_result(&mut messages).await;
    let id = client.session_id().unwrap().to_owned();
    client.close().await.unwrap();
    assert!(tools.iter().any(|tool| tool == "Bash"), "{tools:?}");
    let web = tools.into_iter().filter(|tool| tool.starts_with("Web"));
    (id, web.collect())
}

#[tokio::test]
async fn a_session_resumed_from_a_store_keeps_the_rules_of_its_isolation() {
    let den = Den::new(Scenario::new().on(any()).always().reply(text("I see")));
    let store = Arc::new(InMemorySessionStore::new());
    let options = |config: IsolationConfig| {
        den.options(config.sandbox_mode(Sandbox::OffByChoice))
            .shared_session_store(store.clone(), FlushMode::Eager)
    };
    let open = den.config().network(NetworkPolicy::open_by_choice());
    let (id, tools) = web_tools(options(open), "I like falcons").await;
    assert_eq!(
        tools,
        ["WebFetch", "WebSearch"],
        "what there is to take away"
    );
    for _ in 0..2 {
        let resumed = options(den.config()).resume(id.as_str());
        let (again, tools) = web_tools(resumed, "what do I like?").await;
        assert_eq!(again, id);
        assert_eq!(tools, Vec::<String>::new(), "the network is closed");
        let said = conversation(den.server.messages().last().unwrap());
        assert!(said.contains("I like falcons"), "{said}");
    }
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_configuration_directory_of_the_caller_is_refused() {
    let den = Den::new(Scenario::new());
    let elsewhere = den.project.path().join("config");
    let of_config = den.config().env("CLAUDE_CONFIG_DIR", &elsewhere);
    let of_options = den
        .options(den.config())
        .env("CLAUDE_CONFIG_DIR", &elsewhere);
    for options in [den.options(of_config), of_options] {
        let error = run(options).await.unwrap_err();
        assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
        assert!(error.to_string().contains("CLAUDE_CONFIG_DIR"), "{error}");
    }
}
