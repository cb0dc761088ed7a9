//! Who gets in, and what for.

use falconer_server::{Scope, Server};
use reqwest::Method;
use serde_json::json;

use crate::place::{Place, good, problem};

/// Every route and what it takes, as `/openapi.json` says it.
async fn routes(server: &crate::place::Running) -> Vec<(Method, String, Option<String>, bool)> {
    let document = server.get("/openapi.json").await;
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let scope = operation["x-falconer-scope"].as_str().map(str::to_owned);
            let is_public = operation["security"].as_array().unwrap().is_empty();
            let path = path
                .replace("{id}", "nothing")
                .replace("{message}", "nothing")
                .replace("{task}", "nothing");
            routes.push((method, path, scope, is_public));
        }
    }
    assert!(routes.len() > 40, "{}", routes.len());
    routes
}

#[tokio::test]
async fn every_route_asks_for_a_credential_and_for_its_scope() {
    let place = Place::new();
    let server = place
        .serve_with(|config| config.caps.failures = 10_000)
        .await;
    for (method, path, scope, is_public) in routes(&server).await {
        let bare = server
            .bare(method.clone(), &path)
            .header("x-falconer-name", "a");
        let bare = bare.send().await.unwrap();
        if is_public {
            assert_ne!(bare.status(), 403, "{method} {path}");
            continue;
        }
        problem(bare, 401, "unauthenticated").await;
        let wrong = server.with("flc_wrong", method.clone(), &path);
        let wrong = wrong.header("x-falconer-name", "a").send().await.unwrap();
        problem(wrong, 401, "unauthenticated").await;
        let Some(scope) = scope else { continue };
        let others: Vec<&str> = (Scope::ALL.iter())
            .map(|scope| scope.as_str())
            .filter(|other| *other != scope)
            .collect();
        let token = server.token("all but one", &others).await;
        let refused = server.with(&token, method.clone(), &path);
        let refused = refused.header("x-falconer-name", "a").send().await.unwrap();
        let told = problem(refused, 403, "missing_scope").await;
        assert!(told["detail"].as_str().unwrap().contains(&scope), "{told}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_program_that_may_prompt_may_not_approve() {
    let place = Place::new();
    let server = place.serve().await;
    let bot = server.token("bot", &["read", "operate"]).await;
    let session = server.session().await;
    server.send(&session, "write one").await;
    let request = server.request(&session).await;
    let answer = server
        .answer_as(&bot, &request, json!({"type": "allow"}))
        .await;
    problem(answer, 403, "missing_scope").await;
    // A mode that asks less would be the same by another way.
    let path = session.clone();
    for mode in ["acceptEdits", "auto", "bypassPermissions"] {
        let change = server
            .with(&bot, Method::PATCH, &path)
            .json(&json!({"mode": mode}));
        let refused = change.send().await.unwrap();
        assert_eq!(refused.status(), 403, "{mode}");
        let new = json!({"cwd": place.work(), "engine": "script", "mode": mode});
        let create = server.with(&bot, Method::POST, "/v1/sessions").json(&new);
        assert_eq!(create.send().await.unwrap().status(), 403, "{mode}");
    }
    let rule = json!({"text": "Bash", "effect": "allow", "scope": {"type": "user"}});
    let rule = server.with(&bot, Method::POST, "/v1/rules").json(&rule);
    problem(rule.send().await.unwrap(), 403, "missing_scope").await;
    let careful = server
        .with(&bot, Method::PATCH, &path)
        .json(&json!({"mode": "plan"}));
    assert_eq!(careful.send().await.unwrap().status(), 200);
    assert_eq!(place.read("one.txt"), None);
    server.stop().await;
}

#[tokio::test]
async fn options_and_profiles_that_ask_less_take_the_right_to_approve() {
    let place = Place::new();
    let server = place.serve().await;
    let bot = server.token("bot", &["read", "operate"]).await;
    let table = [
        (json!({"options": {"effort": "high"}}), 201),
        (json!({"options": {"skills": ["pdf"]}}), 403),
        (json!({"profile": "careful"}), 201),
        (json!({"profile": "wide"}), 403),
        (json!({"profile": "unlisted"}), 422),
        (json!({"options": {"base_url": "http://127.0.0.1:9"}}), 422),
    ];
    for (extra, status) in table {
        let mut new = json!({"cwd": place.work(), "engine": "script"});
        for (key, value) in extra.as_object().unwrap() {
            new[key] = value.clone();
        }
        let create = server.with(&bot, Method::POST, "/v1/sessions").json(&new);
        let answer = create.send().await.unwrap();
        assert_eq!(answer.status(), status, "{extra}");
        if status == 201 {
            let session = good(answer).await;
            for (key, value) in extra.as_object().unwrap() {
                assert_eq!(session[key], *value);
            }
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn nobody_gives_away_a_scope_he_has_not() {
    let place = Place::new();
    let server = place.serve().await;
    let admin = server.token("admin", &["admin", "read"]).await;
    for path in ["/v1/tokens", "/v1/codes"] {
        let body = json!({"name": "more", "scopes": ["read", "approve"]});
        let refused = server
            .with(&admin, Method::POST, path)
            .json(&body)
            .send()
            .await
            .unwrap();
        problem(refused, 403, "missing_scope").await;
        let body = json!({"name": "less", "scopes": ["read"]});
        let made = server
            .with(&admin, Method::POST, path)
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(made.status(), 201);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_revoked_token_ends_at_once_also_on_open_streams() {
    let place = Place::new();
    let server = place.serve().await;
    let token = server.token("guest", &["read"]).await;
    let session = server.session().await;
    let stream = server.with(&token, Method::GET, &format!("{session}/stream"));
    let mut stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let tokens = server.get("/v1/tokens").await;
    let listed = tokens["tokens"].as_array().unwrap();
    let guest = listed
        .iter()
        .find(|token| token["name"] == "guest")
        .unwrap();
    assert!(guest.get("hash").is_none() && guest.get("secret").is_none());
    let path = format!("/v1/tokens/{}", guest["id"].as_str().unwrap());
    let revoked = server.ask(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(revoked.status(), 204);
    let refused = server
        .with(&token, Method::GET, "/v1/me")
        .send()
        .await
        .unwrap();
    problem(refused, 401, "unauthenticated").await;
    // It ends; a stream that stayed open would run into the limit of the request.
    while stream.chunk().await.unwrap().is_some() {}
    server.stop().await;
}

#[tokio::test]
async fn a_code_is_traded_for_a_cookie_once() {
    let place = Place::new();
    let server = place.serve().await;
    let code = server.link.split_once("#code=").unwrap().1;
    assert!(code.len() >= 4 + 22, "at least 128 bits");
    let login = || {
        server
            .bare(Method::POST, "/v1/login")
            .json(&json!({"code": code}))
    };
    let response = login().send().await.unwrap();
    assert_eq!(response.status(), 204);
    let cookie = response.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .to_owned();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let again = login().send().await.unwrap();
    problem(again, 401, "unauthenticated").await;

    let cookie = cookie.split(';').next().unwrap();
    let me = server
        .bare(Method::GET, "/v1/me")
        .header("cookie", cookie)
        .send()
        .await
        .unwrap();
    let me: serde_json::Value = me.json().await.unwrap();
    assert_eq!(me["scopes"], json!(["read", "operate", "approve", "admin"]));
    assert_eq!(me["bypass_allowed"], false);
    let logout = server
        .bare(Method::POST, "/v1/logout")
        .header("cookie", cookie);
    let logout = logout.header("origin", &server.url).send().await.unwrap();
    assert_eq!(logout.status(), 204);
    assert!(
        logout.headers()["set-cookie"]
            .to_str()
            .unwrap()
            .contains("Max-Age=0")
    );
    let gone = server
        .bare(Method::GET, "/v1/me")
        .header("cookie", cookie)
        .send()
        .await
        .unwrap();
    problem(gone, 401, "unauthenticated").await;

    let made = server
        .post("/v1/codes", json!({"name": "phone", "scopes": ["read"]}))
        .await;
    let path = made["path"].as_str().unwrap();
    let code = path.strip_prefix("/#code=").unwrap();
    let login = server
        .bare(Method::POST, "/v1/login")
        .json(&json!({"code": code}));
    assert_eq!(login.send().await.unwrap().status(), 204);
    server.stop().await;
}

#[tokio::test]
async fn guessing_is_stopped_and_locks_nobody_else_out() {
    let place = Place::new();
    let server = place.serve_with(|config| config.caps.failures = 5).await;
    let mut last = 0;
    for guess in 0..8 {
        let token = format!("flc_{guess}");
        let refused = server
            .with(&token, Method::GET, "/v1/me")
            .send()
            .await
            .unwrap();
        last = refused.status().as_u16();
        if last == 429 {
            assert!(refused.headers().contains_key("retry-after"));
            problem(refused, 429, "too_many_attempts").await;
        }
    }
    assert_eq!(last, 429);
    // Who knows the token is let in; a code is not even looked at.
    server.get("/v1/me").await;
    let code = server.link.split_once("#code=").unwrap().1;
    let login = server
        .bare(Method::POST, "/v1/login")
        .json(&json!({"code": code}));
    problem(login.send().await.unwrap(), 429, "too_many_attempts").await;
    server.stop().await;
}

#[tokio::test]
async fn a_set_up_that_is_open_to_all_does_not_start() {
    let place = Place::new();
    let mut config = place.config();
    config.address = "0.0.0.0:0".parse().unwrap();
    let hub = place.hub().await;
    let refused = Server::bind(hub.clone(), config.clone()).await;
    assert!(matches!(
        refused,
        Err(falconer_server::Error::OpenToAll { .. })
    ));
    config.proxy = falconer_server::Proxy::Trusted;
    assert!(Server::bind(hub, config).await.is_ok());
}

#[tokio::test]
async fn what_was_done_is_on_record_with_who_did_it() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    server.patch(&session, json!({"title": "x"})).await;
    server.token("more", &["read"]).await;
    let audit = server.get("/v1/audit").await;
    let actions: Vec<&str> = (audit["records"].as_array().unwrap().iter())
        .map(|record| record["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["session.create", "session.change", "token.make"]);
    assert!(
        audit["records"][0]["who"]
            .as_str()
            .unwrap()
            .starts_with("token:")
    );
    let after = server.get("/v1/audit?after=1&limit=1").await;
    assert_eq!(after["records"].as_array().unwrap().len(), 1);
    assert_eq!(after["more"], true);
    let text = audit.to_string();
    assert!(!text.contains("flc_"), "{text}");
    server.stop().await;
}
