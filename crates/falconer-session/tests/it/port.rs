//! Sessions on an engine that does not speak the Claude protocol.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use falconer_event::{
    Body, Delivery, Draft, Event, Item, ItemContent, Outcome, Resolution, RunStarted, Source,
    TurnCompleted, TurnNumber, TurnStarted,
};
use falconer_protocol::permission::PermissionMode;
use falconer_session::engine::{
    Ask, Call, Check, Checked, Controls, Engine, EngineError, EngineStream, Happening,
    NativeSession, Obeyed, Opening, Prompt, Question, Reply, Room, Running, Said, Stopped, TurnEnd,
    Used,
};
use falconer_session::{
    Answer, EventStream, LimitKind, Limits, Part, Policy, Session, SessionHandle, SessionSpec,
    Verdict,
};
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::scripted::{LIMIT, completed, locks};

/// What the session told the engine.
#[derive(Debug, PartialEq)]
enum Heard {
    Prompt(String, Delivery),
    Interrupt,
    Stop,
    Mode(String),
}

/// An engine that does what the test says.
struct Puppet {
    happenings: Option<mpsc::UnboundedReceiver<Happening>>,
    heard: mpsc::UnboundedSender<Heard>,
    prompts: mpsc::UnboundedSender<String>,
    over: watch::Receiver<bool>,
    close: Arc<watch::Sender<bool>>,
}

/// The test's side of it.
struct Strings {
    happen: mpsc::UnboundedSender<Happening>,
    heard: mpsc::UnboundedReceiver<Heard>,
    prompts: mpsc::UnboundedReceiver<String>,
}

fn puppet() -> (Puppet, Strings) {
    let (happen, happenings) = mpsc::unbounded_channel();
    let (heard_by, heard) = mpsc::unbounded_channel();
    let (prompts_by, prompts) = mpsc::unbounded_channel();
    let (close, over) = watch::channel(false);
    let puppet = Puppet {
        happenings: Some(happenings),
        heard: heard_by,
        prompts: prompts_by,
        over,
        close: Arc::new(close),
    };
    let strings = Strings {
        happen,
        heard,
        prompts,
    };
    (puppet, strings)
}

impl Engine for Puppet {
    fn start(&mut self, opening: Opening) -> BoxFuture<'static, Result<Running, Stopped>> {
        assert_eq!(opening.about.engine, "puppet");
        let happenings = self.happenings.take().expect("started once");
        let controls = PuppetControls {
            heard: self.heard.clone(),
            prompts: self.prompts.clone(),
            close: self.close.clone(),
        };
        let stream = PuppetStream {
            happenings,
            over: self.over.clone(),
            wait: None,
        };
        Box::pin(async move {
            Ok(Running {
                stream: Box::new(stream),
                controls: Arc::new(controls),
                info: Default::default(),
            })
        })
    }
}

struct PuppetStream {
    happenings: mpsc::UnboundedReceiver<Happening>,
    over: watch::Receiver<bool>,
    wait: Option<BoxFuture<'static, ()>>,
}

impl EngineStream for PuppetStream {
    fn poll_next(&mut self, cx: &mut Context<'_>, _: Room) -> Poll<Option<Happening>> {
        if let Poll::Ready(happening) = self.happenings.poll_recv(cx) {
            return Poll::Ready(happening);
        }
        let over = &self.over;
        let wait = self.wait.get_or_insert_with(|| {
            let mut over = over.clone();
            Box::pin(async move {
                let _ = over.wait_for(|over| *over).await;
            })
        });
        wait.as_mut().poll(cx).map(|()| None)
    }
}

struct PuppetControls {
    heard: mpsc::UnboundedSender<Heard>,
    prompts: mpsc::UnboundedSender<String>,
    close: Arc<watch::Sender<bool>>,
}

impl PuppetControls {
    fn hear(&self, heard: Heard) -> Obeyed {
        let _ = self.heard.send(heard);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Controls for PuppetControls {
    fn send(&self, prompt: Prompt) -> Obeyed {
        let Some(Part::Text(text)) = prompt.parts.into_iter().next() else {
            return Box::pin(std::future::ready(Err(EngineError::new("no text"))));
        };
        let _ = self.prompts.send(prompt.id);
        self.hear(Heard::Prompt(text, prompt.delivery))
    }

    fn take_back(&self, _: String) -> Obeyed<bool> {
        Box::pin(std::future::ready(Ok(false)))
    }

    fn interrupt(&self) -> Obeyed {
        self.hear(Heard::Interrupt)
    }

    fn stop(&self) -> Obeyed {
        self.hear(Heard::Stop)
    }

    fn set_model(&self, _: String) -> Obeyed {
        Box::pin(std::future::ready(Err(EngineError::new("one model only"))))
    }

    fn set_mode(&self, mode: PermissionMode) -> Obeyed {
        self.hear(Heard::Mode(mode.as_str().to_owned()))
    }

    fn stop_task(&self, _: String) -> Obeyed {
        Box::pin(std::future::ready(Err(EngineError::new("no tasks"))))
    }

    fn idle(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> BoxFuture<'static, Vec<String>> {
        self.close.send_replace(true);
        Box::pin(std::future::ready(vec!["bye".to_owned()]))
    }
}

impl Strings {
    fn say(&self, said: Said) {
        let _ = self.happen.send(Happening::Said(Box::new(said)));
    }

    fn drafts(&self, bodies: Vec<Body>) {
        self.say(said(bodies));
    }

    /// The run starts, and its first turn.
    fn begin(&self) {
        let mut started = RunStarted::default();
        started.engine = "puppet".to_owned();
        started.native_session = "p1".to_owned();
        let mut said = said(vec![
            Body::RunStarted(Box::new(started)),
            Body::TurnStarted(TurnStarted::default()),
        ]);
        let mut session = NativeSession::default();
        session.id = "p1".to_owned();
        session.cwd = Some("/p".to_owned());
        said.session = Some(session);
        self.say(said);
    }

    fn ask(&self, tool: &str, command: &str) -> oneshot::Receiver<Reply> {
        let mut ask = Ask::default();
        ask.tool = tool.to_owned();
        ask.input = json!({"command": command});
        let (question, answer) = Question::new(ask, CancellationToken::new());
        let _ = self.happen.send(Happening::Asked(question));
        answer
    }

    fn check(&self, tool: &str, command: &str) -> oneshot::Receiver<Checked> {
        let mut call = Call::default();
        call.tool = tool.to_owned();
        call.input = json!({"command": command});
        call.cwd = Some("/p".into());
        let (check, answer) = Check::new(call);
        let _ = self.happen.send(Happening::Checked(check));
        answer
    }

    /// The turn that a prompt caused is over.
    fn end_turn(&self, prompt: String, text: &str) {
        let mut completed = TurnCompleted::default();
        completed.ok = true;
        completed.text = text.to_owned();
        completed.prompts = vec![prompt.clone()];
        let mut said = said(vec![Body::TurnCompleted(Box::new(completed))]);
        let mut turn = TurnEnd::default();
        turn.prompts = vec![prompt];
        said.turn = Some(turn);
        self.say(said);
    }

    async fn hear(&mut self) -> Heard {
        let heard = tokio::time::timeout(LIMIT, self.heard.recv()).await;
        heard.expect("the session is silent").expect("it is gone")
    }

    async fn prompt(&mut self) -> String {
        let prompt = tokio::time::timeout(LIMIT, self.prompts.recv()).await;
        prompt.expect("no prompt came").expect("it is gone")
    }
}

fn said(bodies: Vec<Body>) -> Said {
    let mut said = Said::default();
    said.drafts = bodies
        .into_iter()
        .map(|body| {
            let mut draft = Draft::new(Source::Agent, body);
            if !matches!(draft.body, Body::RunStarted(_)) {
                draft.turn = Some(TurnNumber(1));
            }
            draft
        })
        .collect();
    said
}

fn message(id: &str, text: &str) -> Body {
    let text = text.to_owned();
    Body::ItemCompleted(Box::new(Item::new(id, ItemContent::Message { text })))
}

async fn start(
    make: impl FnOnce(SessionSpec) -> SessionSpec,
) -> (SessionHandle, EventStream, Strings, tempfile::TempDir) {
    let (folder, locks) = locks();
    let (puppet, strings) = puppet();
    let mut about = falconer_event::Run::default();
    about.engine = "puppet".to_owned();
    let spec = SessionSpec::new(locks).about(about).engine(puppet);
    let (session, events) = Session::start(make(spec)).await.unwrap();
    (session, events, strings, folder)
}

async fn rest(events: &mut EventStream) -> Vec<Event> {
    let all = async {
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event);
        }
        all
    };
    tokio::time::timeout(LIMIT, all)
        .await
        .expect("it does not end")
}

async fn until<T>(events: &mut EventStream, pick: impl Fn(&Event) -> Option<T>) -> T {
    let search = async {
        loop {
            let event = events.next().await.expect("the run ended first");
            if let Some(found) = pick(&event) {
                return found;
            }
        }
    };
    tokio::time::timeout(LIMIT, search)
        .await
        .expect("no such event")
}

#[tokio::test]
async fn a_whole_session_runs_on_an_engine_of_another_kind() {
    let policy = "[deny]\ncommands = [\"rm\"]\n".parse::<Policy>().unwrap();
    let (session, mut events, mut engine, _folder) =
        start(|spec| spec.until_idle().policy(Arc::new(policy))).await;
    let id = session.steer("hello").await.unwrap();
    let heard = Heard::Prompt("hello".to_owned(), Delivery::Steer);
    assert_eq!(engine.hear().await, heard);
    let prompt = engine.prompt().await;
    engine.begin();
    // The policy holds for the calls the session is asked about.
    assert!(matches!(
        engine.check("Bash", "rm -r x").await,
        Ok(Checked::Deny(_))
    ));
    assert_eq!(engine.check("Bash", "make").await, Ok(Checked::Pass));
    engine.drafts(vec![message("m1", "before")]);
    let answer = engine.ask("Bash", "make");
    let asked = until(&mut events, |event| match &event.body {
        Body::PermissionRequested(asked) => Some((**asked).clone()),
        _ => None,
    });
    let asked = asked.await;
    assert_eq!(
        (asked.tool.as_str(), asked.cwd.as_deref()),
        ("Bash", Some("/p"))
    );
    let allow = Answer::allow(&asked.id, &asked.digest, "anna");
    session.answer(allow.clone()).await.unwrap();
    assert!(session.answer(allow).await.is_err(), "it was answered");
    assert_eq!(answer.await, Ok(Reply::Decided(Verdict::Allow)));
    // Commands reach the engine, and its refusals come back.
    session.interrupt().await.unwrap();
    assert_eq!(engine.hear().await, Heard::Interrupt);
    session.set_mode(PermissionMode::Plan).await.unwrap();
    assert_eq!(engine.hear().await, Heard::Mode("plan".to_owned()));
    let refused = session.set_model("other").await.unwrap_err();
    assert_eq!(refused.to_string(), "one model only");
    engine.end_turn(prompt, "done");
    let events = rest(&mut events).await;
    let end = completed(&events);
    assert_eq!(
        (end.outcome, end.text.as_str(), end.turns),
        (Outcome::Ok, "done", 1)
    );
    assert_eq!(end.native_session.as_deref(), Some("p1"));
    let resolved = events.iter().find_map(|event| match &event.body {
        Body::PermissionResolved(resolved) => Some((resolved.resolution, resolved.by.clone())),
        _ => None,
    });
    assert_eq!(resolved, Some((Resolution::Allowed, "anna".to_owned())));
    let turn = events.iter().find_map(|event| match &event.body {
        Body::TurnCompleted(turn) => Some(turn.prompts.clone()),
        _ => None,
    });
    assert_eq!(turn, Some(vec![id.to_string()]));
}

#[tokio::test]
async fn limits_hold_for_any_engine_and_what_it_leaves_open_is_closed() {
    let mut limits = Limits::default();
    limits.turns = Some(2);
    limits.wind_down = Duration::from_millis(50);
    let (session, mut events, mut engine, _folder) = start(|spec| spec.limits(limits)).await;
    session.send("hello").await.unwrap();
    engine.hear().await;
    engine.begin();
    let text = String::new();
    let begun = Item::new("m1", ItemContent::Message { text });
    let mut used = Used::default();
    used.model_turns = 3;
    let mut over = said(vec![
        Body::ItemStarted(Box::new(begun)),
        Body::ItemDelta {
            id: "m1".into(),
            offset: 0,
            text: "half".to_owned(),
        },
    ]);
    over.used = Some(used);
    engine.say(over);
    assert_eq!(engine.hear().await, Heard::Stop);
    assert!(matches!(
        engine.check("Bash", "make").await,
        Ok(Checked::Deny(_)) | Err(_)
    ));
    // The engine does not obey; the run ends all the same.
    let events = rest(&mut events).await;
    let end = completed(&events);
    let failure = end.failure.as_ref().unwrap();
    assert_eq!(LimitKind::of(failure), Some(LimitKind::Turns));
    assert_eq!(end.text, "half");
    assert_eq!(end.stderr, ["bye"]);
    let closed = |event: &&Event| matches!(&event.body, Body::ItemCompleted(item) if item.id.as_str() == "m1");
    assert_eq!(events.iter().filter(closed).count(), 1);
}

#[tokio::test]
async fn an_engine_that_fails_and_questions_nobody_answers_end_with_the_run() {
    let (session, mut events, mut engine, _folder) = start(|spec| spec).await;
    session.send("hello").await.unwrap();
    engine.hear().await;
    engine.begin();
    let answer = engine.ask("Bash", "make");
    let failure = falconer_session::RunFailure::EngineEnded.with("it fell over");
    let _ = engine.happen.send(Happening::Failed(Stopped::new(failure)));
    drop(engine.happen);
    let end = completed(&rest(&mut events).await);
    assert_eq!(end.failure.unwrap().text, "it fell over");
    assert!(matches!(answer.await, Ok(Reply::Undecided(_))));
}
