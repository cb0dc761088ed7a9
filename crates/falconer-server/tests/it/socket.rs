//! The WebSocket: the same frames and the same rules, both ways.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::place::{LIMIT, Place, Running};

struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    async fn open(server: &Running, token: &str) -> Self {
        let url = format!("ws://{}/v1/ws", server.address);
        let mut request = url.into_client_request().unwrap();
        let value = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
        Self(tokio_tungstenite::connect_async(request).await.unwrap().0)
    }

    async fn say(&mut self, order: Value) {
        self.0.send(Message::text(order.to_string())).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(LIMIT, self.0.next());
        let message = next.await.unwrap().expect("it goes on").unwrap();
        serde_json::from_str(message.to_text().unwrap()).unwrap()
    }

    async fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next().await;
            if is_it(&frame) {
                return frame;
            }
        }
    }

    /// The answer to an order.
    async fn order(&mut self, mut order: Value) -> Value {
        let mark = uuid::Uuid::new_v4().to_string();
        order["ref"] = json!(mark);
        self.say(order).await;
        self.find(|frame| frame["ref"] == mark.as_str()).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_session_goes_over_one_socket() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    let id = session.rsplit('/').next().unwrap();
    let mut socket = Socket::open(&server, &server.token).await;
    let ack = socket
        .order(json!({"op": "subscribe", "session": id, "after": 0}))
        .await;
    assert_eq!(ack["frame"], "ack");
    let hello = socket.find(|frame| frame["frame"] == "hello").await;
    assert_eq!(
        (&hello["session"], &hello["data"]["resume"]),
        (&json!(id), &json!("fresh"))
    );
    let twice = socket
        .order(json!({"op": "subscribe", "session": id}))
        .await;
    assert_eq!(twice["problem"]["code"], "wrong_state");

    let send = json!({"op": "send", "session": id, "client_msg_id": "1", "text": "write one"});
    let sent = socket.order(send).await;
    assert_eq!(sent["data"]["duplicate"], false);
    let is_asked = |frame: &Value| frame["data"]["type"] == "permission.requested";
    let asked = socket.find(is_asked).await["data"]["data"].clone();
    let answer = json!({"op": "answer", "request": asked["id"], "digest": asked["digest"],
        "verdict": {"type": "allow"}});
    // The answer may be told by an event before it is acknowledged.
    socket.say(answer).await;
    let mut log = Vec::new();
    socket
        .find(|frame| frame["data"]["type"] == "turn.completed")
        .await;
    assert_eq!(place.read("one.txt").as_deref(), Some("one\n"));
    let gone = socket
        .order(json!({"op": "unsubscribe", "session": id}))
        .await;
    assert_eq!(gone["data"]["was_subscribed"], true);

    let order = json!({"op": "subscribe", "session": id, "after": 0});
    socket.order(order).await;
    let head = server.state(&session, "ready").await["head"]
        .as_u64()
        .unwrap();
    while (log.len() as u64) < head {
        let frame = socket.find(|frame| frame["frame"] == "event").await;
        assert_eq!(frame["seq"], log.len() as u64 + 1);
        log.push(frame["data"].clone());
    }
    let stored: Vec<Value> = (server.log(&session).await.iter())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(log, stored);
    server.stop().await;
}

#[tokio::test]
async fn each_order_needs_its_scope_and_bad_ones_are_answered() {
    let place = Place::new();
    let server = place.serve().await;
    let session = server.session().await;
    let id = session.rsplit('/').next().unwrap();
    let guest = server.token("guest", &["read"]).await;
    let mut socket = Socket::open(&server, &guest).await;
    for order in [
        json!({"op": "send", "session": id, "client_msg_id": "1", "text": "x"}),
        json!({"op": "interrupt", "session": id}),
        json!({"op": "answer", "request": "r", "digest": "d", "verdict": {"type": "allow"}}),
    ] {
        let refused = socket.order(order.clone()).await;
        assert_eq!(refused["frame"], "error", "{order}");
        assert_eq!(refused["problem"]["code"], "missing_scope", "{order}");
    }
    let none = socket
        .order(json!({"op": "subscribe", "session": "none"}))
        .await;
    assert_eq!(none["problem"]["code"], "not_found");
    let unknown = socket.order(json!({"op": "dance"})).await;
    assert_eq!(unknown["problem"]["code"], "invalid_json");
    socket.say(json!("not an order")).await;
    assert_eq!(socket.next().await["frame"], "error");
    assert!(
        server.get(&format!("{session}/messages")).await["messages"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    // A token that is revoked ends the socket.
    let tokens = server.get("/v1/tokens").await;
    let guest = tokens["tokens"].as_array().unwrap().iter();
    let guest = guest
        .clone()
        .find(|token| token["name"] == "guest")
        .unwrap()["id"]
        .clone();
    let path = format!("/v1/tokens/{}", guest.as_str().unwrap());
    server
        .ask(reqwest::Method::DELETE, &path)
        .send()
        .await
        .unwrap();
    let end = tokio::time::timeout(LIMIT, async {
        while let Some(Ok(message)) = socket.0.next().await {
            if message.is_close() {
                return;
            }
        }
    });
    end.await.unwrap();
    server.stop().await;
}
