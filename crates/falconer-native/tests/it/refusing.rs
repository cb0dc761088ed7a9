//! Sessions that must not start say why, as the CLI does.

use falconer::{Client, Error, FailureClass, Settings};
use falconer_native::Scenario;
use falconer_scenario::text;
use serde_json::json;

use crate::workplace::Workplace;

#[tokio::test]
async fn a_sandbox_that_is_asked_for_is_never_ignored() {
    for sandbox in [
        json!({ "enabled": true }),
        json!({ "enabled": true, "failIfUnavailable": false }),
    ] {
        let place = Workplace::new();
        let options = place.options(Scenario::new().turn(text("unsafe")));
        let options = options.settings(Settings::Inline(json!({ "sandbox": sandbox })));
        let error = Client::connect(options).await.unwrap_err();
        let Error::Failed(failure) = &error else {
            panic!("{error}");
        };
        let reason = "sandbox_required_unavailable".to_owned();
        assert_eq!(failure.class, FailureClass::Startup(reason), "{failure:?}");
    }
}

#[tokio::test]
async fn an_unknown_session_cannot_be_resumed() {
    let place = Workplace::new();
    let options = place.options(Scenario::new().turn(text("hi")));
    let options = options.resume("cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa");
    let error = Client::connect(options).await.unwrap_err();
    let Error::Failed(failure) = &error else {
        panic!("{error}");
    };
    assert_eq!(failure.class, FailureClass::SessionNotFound, "{failure:?}");
}

#[tokio::test]
async fn what_a_flag_names_must_be_there() {
    let place = Workplace::new();
    let options = place.options(Scenario::new().turn(text("hi")));
    let options = options.mcp_config_file("missing.json");
    let error = Client::connect(options).await.unwrap_err().to_string();
    assert!(error.contains("missing.json"), "{error}");
}

#[tokio::test]
async fn isolation_is_refused_where_it_cannot_be_had() {
    let place = Workplace::new();
    let options = place.options(Scenario::new().turn(text("unsafe")));
    let options = options.isolation(falconer::isolation::IsolationConfig::new());
    let error = Client::connect(options).await.unwrap_err();
    assert!(matches!(error, Error::Isolation(_)), "{error}");
}
