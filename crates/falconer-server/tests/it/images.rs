//! Images that tools return, as clients get them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::Value;

use crate::place::{DOT, Place, problem};

#[tokio::test]
async fn an_image_of_a_tool_is_served_like_an_attachment_and_to_nobody_else() {
    let place = Place::new();
    let server = place.serve().await;
    let bytes = STANDARD.decode(DOT).unwrap();
    std::fs::write(place.work().join("dot.png"), &bytes).unwrap();
    let session = server.session().await;
    server.send(&session, "look at the picture").await;
    server.turns(&session, 1).await;
    let log = server.log(&session).await;
    let shown = log.iter().find_map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let content = &event["data"]["content"];
        content["images"].is_array().then(|| content.clone())
    });
    let content = shown.expect("an action with images");
    let note = format!("[image, {} B]", bytes.len());
    assert_eq!(content["result"]["text"], note);
    let image = &content["images"][0];
    assert_eq!(image["media_type"], "image/png");
    assert_eq!(image["bytes"], bytes.len());

    let path = format!("/v1/attachments/{}", image["id"].as_str().unwrap());
    let stranger = server.bare(Method::GET, &path).send().await.unwrap();
    problem(stranger, 401, "unauthenticated").await;
    let reader = server.token("reader", &["read"]).await;
    let file = server.with(&reader, Method::GET, &path);
    let file = file.send().await.unwrap();
    let header = |name: &str| file.headers()[name].to_str().unwrap();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("content-disposition"), "inline");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-security-policy").contains("sandbox"));
    assert_eq!(file.bytes().await.unwrap(), bytes);

    let text = format!("{session}/export?format=markdown");
    let text = server.ask(Method::GET, &text).send().await.unwrap();
    assert!(text.text().await.unwrap().contains(&note));
    let deleted = server.ask(Method::DELETE, &session).send().await.unwrap();
    assert!(deleted.status().is_success(), "{deleted:?}");
    let gone = server.ask(Method::GET, &path).send().await.unwrap();
    assert_eq!(gone.status(), 404);
    server.stop().await;
}
