//! A WebSocket: the frames of any number of streams out, orders in.
//!
//! Orders are carried out one after the other. What is sent waits in a short queue; a client that
//! takes nothing is cut by the connection, and comes back with the numbers it has.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use falconer_event::Shown;
use falconer_hub::Verdict;
use falconer_store::{Delivery, RequestId, Scope, SessionId};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::{AbortHandle, JoinSet};

use crate::api::{AnswerRequest, SendMessage, by_api};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::problem::{Code, Problem};
use crate::route::{messages, requests};
use crate::stream::feed::Feed;
use crate::stream::frame::Frame;

/// Queued messages to be sent.
const QUEUE: usize = 32;
/// Sessions one socket may follow.
const MOST_FOLLOWED: usize = 64;

/// What a client may ask for.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Order {
    Subscribe {
        #[serde(default, rename = "ref")]
        mark: Value,
        session: String,
        #[serde(default)]
        after: u64,
    },
    Unsubscribe {
        #[serde(default, rename = "ref")]
        mark: Value,
        session: String,
    },
    Send {
        #[serde(default, rename = "ref")]
        mark: Value,
        session: String,
        client_msg_id: String,
        text: String,
        #[serde(default)]
        attachments: Vec<String>,
        #[serde(default)]
        delivery: Option<Delivery>,
    },
    Answer {
        #[serde(default, rename = "ref")]
        mark: Value,
        request: String,
        digest: String,
        verdict: Verdict,
        #[serde(default = "by_api")]
        shown: Shown,
    },
    Interrupt {
        #[serde(default, rename = "ref")]
        mark: Value,
        session: String,
    },
}

/// Serves a socket until one side has enough.
pub(crate) async fn run(
    app: Arc<App>,
    principal: Principal,
    socket: WebSocket,
    _place: OwnedSemaphorePermit,
) {
    let (mut sink, mut source) = socket.split();
    let (out, mut queue) = mpsc::channel::<Message>(QUEUE);
    let mut talk = Talk {
        app: Arc::clone(&app),
        principal,
        out,
        feeds: JoinSet::new(),
        followed: HashMap::new(),
    };
    let mut revoked = app.revoked.subscribe();
    let mut ping = tokio::time::interval(app.config.caps.ping);
    ping.tick().await;
    let writing = async {
        while let Some(message) = queue.recv().await {
            if sink.send(message).await.is_err() {
                return;
            }
        }
    };
    let reading = async {
        loop {
            let is_alive = tokio::select! {
                () = app.end.cancelled() => false,
                _ = revoked.changed() => app.still_good(&talk.principal).await,
                _ = ping.tick() => app.still_good(&talk.principal).await
                    && talk.say(Frame::ping().message(None)).await,
                message = source.next() => match message {
                    Some(Ok(message)) => talk.hear(message).await,
                    Some(Err(_)) | None => false,
                },
            };
            if !is_alive {
                return;
            }
        }
    };
    // Whichever ends first ends the other; the streams end with `talk`.
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

/// One client.
struct Talk {
    app: Arc<App>,
    principal: Principal,
    out: mpsc::Sender<Message>,
    feeds: JoinSet<()>,
    followed: HashMap<SessionId, AbortHandle>,
}

impl Talk {
    /// Whether the client is still there.
    async fn say(&self, text: String) -> bool {
        self.out.send(Message::Text(text.into())).await.is_ok()
    }

    async fn hear(&mut self, message: Message) -> bool {
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return true,
            Message::Binary(_) | Message::Close(_) => return false,
        };
        let order: Order = match serde_json::from_str(&text) {
            Ok(order) => order,
            Err(error) => {
                let mark = serde_json::from_str::<Value>(&text)
                    .ok()
                    .and_then(|value| value.get("ref").cloned());
                let problem = Problem::new(Code::InvalidJson, error.to_string());
                return self.reply(mark.unwrap_or_default(), Err(problem)).await;
            }
        };
        let (mark, result) = self.obey(order).await;
        self.reply(mark, result).await
    }

    async fn obey(&mut self, order: Order) -> (Value, Result<Value, Problem>) {
        match order {
            Order::Subscribe {
                mark,
                session,
                after,
            } => (mark, self.follow(session.into(), after).await),
            Order::Unsubscribe { mark, session } => {
                let feed = self.followed.remove(&SessionId::from(session));
                if let Some(feed) = &feed {
                    feed.abort();
                }
                (mark, Ok(json!({"was_subscribed": feed.is_some()})))
            }
            Order::Send {
                mark,
                session,
                client_msg_id,
                text,
                attachments,
                delivery,
            } => {
                let message = SendMessage {
                    client_msg_id,
                    text,
                    attachments,
                    delivery,
                };
                (mark, self.send(session.into(), message).await)
            }
            Order::Answer {
                mark,
                request,
                digest,
                verdict,
                shown,
            } => {
                let answer = AnswerRequest {
                    digest,
                    verdict,
                    shown,
                };
                (mark, self.answer(request.into(), answer).await)
            }
            Order::Interrupt { mark, session } => (mark, self.interrupt(session.into()).await),
        }
    }

    async fn follow(&mut self, session: SessionId, after: u64) -> Result<Value, Problem> {
        while self.feeds.try_join_next().is_some() {}
        self.followed.retain(|_, feed| !feed.is_finished());
        if self.followed.contains_key(&session) {
            let text = format!("this socket follows session {session} already");
            return Err(Problem::new(Code::WrongState, text));
        }
        if self.followed.len() >= MOST_FOLLOWED {
            let text = format!("one socket follows at most {MOST_FOLLOWED} sessions");
            return Err(Problem::new(Code::TooManyStreams, text));
        }
        let app = Arc::clone(&self.app);
        let mut feed = Feed::open(app, self.principal.clone(), session.clone(), after).await?;
        let out = self.out.clone();
        let handle = self.feeds.spawn(async move {
            while let Some(frames) = feed.next().await {
                for frame in frames {
                    // The socket has signs of life of its own.
                    if matches!(frame, Frame::Ping(_)) {
                        continue;
                    }
                    let text = frame.message(Some(feed.session()));
                    if out.send(Message::Text(text.into())).await.is_err() {
                        return;
                    }
                }
            }
        });
        self.followed.insert(session, handle);
        Ok(json!({}))
    }

    async fn send(&self, session: SessionId, message: SendMessage) -> Result<Value, Problem> {
        self.check(Scope::Operate).await?;
        let sent = messages::send(&self.app, &self.principal, session, message).await?;
        Ok(serde_json::to_value(sent).unwrap_or_default())
    }

    async fn answer(&self, request: RequestId, answer: AnswerRequest) -> Result<Value, Problem> {
        self.check(Scope::Approve).await?;
        let answered = requests::answer(&self.app, &self.principal, request, answer).await?;
        Ok(serde_json::to_value(answered).unwrap_or_default())
    }

    async fn interrupt(&self, session: SessionId) -> Result<Value, Problem> {
        self.check(Scope::Operate).await?;
        let hub = self.app.hub.clone();
        let work = async move { hub.interrupt(&session).await };
        self.app.finish(work).await??;
        Ok(json!({}))
    }

    /// The right to do something, as it is now and not as it was when the socket was opened.
    async fn check(&self, scope: Scope) -> Result<(), Problem> {
        if !self.app.still_good(&self.principal).await {
            let text = "the credential is not known any more";
            return Err(Problem::new(Code::Unauthenticated, text));
        }
        self.principal.need(scope)
    }

    async fn reply(&self, mark: Value, result: Result<Value, Problem>) -> bool {
        let reply = match result {
            Ok(data) => json!({"frame": "ack", "ref": mark, "data": data}),
            Err(problem) => json!({"frame": "error", "ref": mark, "problem": problem}),
        };
        self.say(reply.to_string()).await
    }
}
