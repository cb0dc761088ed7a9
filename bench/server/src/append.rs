//! Durable appends: many sessions, batches of several sizes, both kinds of durability.

use std::sync::Arc;
use std::time::{Duration, Instant};

use falconer_store::{
    Append, Claim, Durability, EventQuery, Fence, NewEvent, NewSession, SessionId, SqliteOptions,
    Store,
};

use crate::arguments::Arguments;
use crate::figures::{processor_time, spread, times};

const SESSIONS: [usize; 3] = [1, 100, 1_000];
const EVENTS: [usize; 3] = [1, 16, 256];

pub(crate) fn sessions(arguments: &Arguments) {
    println!("\n## Events appended durably\n");
    println!(
        "Every session appends, waits for the acknowledgement, and appends again; events of 600 bytes. One by one: every append has a transaction of its own.\n"
    );
    println!(
        "| sessions | events per append | durability | events/s | appends/s | append p50 / p99 ms | processor µs per event |"
    );
    println!("|---|---|---|---|---|---|---|");
    for sessions in SESSIONS {
        for events in EVENTS {
            // The rounds are interleaved, so that a neighbour's load falls on all.
            let mut rows = KINDS.map(|kind| Row::new(kind, sessions, events));
            for _ in 0..arguments.rounds {
                for row in &mut rows {
                    row.measure(arguments);
                }
            }
            for row in rows {
                row.print();
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    durability: Durability,
    batch: usize,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "power loss (FULL)",
        durability: Durability::PowerLoss,
        batch: 256,
    },
    Kind {
        name: "process only (NORMAL)",
        durability: Durability::Process,
        batch: 256,
    },
    Kind {
        name: "power loss, one by one",
        durability: Durability::PowerLoss,
        batch: 1,
    },
];

struct Row {
    kind: Kind,
    sessions: usize,
    events: usize,
    rates: Vec<f64>,
    times: Vec<Duration>,
    processor: Vec<f64>,
}

impl Row {
    fn new(kind: Kind, sessions: usize, events: usize) -> Self {
        Self {
            kind,
            sessions,
            events,
            rates: Vec::new(),
            times: Vec::new(),
            processor: Vec::new(),
        }
    }

    fn measure(&mut self, arguments: &Arguments) {
        let folder = arguments.folder();
        let options = SqliteOptions::new(folder.path().join("store.db"))
            .durability(self.kind.durability)
            .batch(self.kind.batch);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let round = runtime.block_on(round(options, self.sessions, self.events, arguments.time));
        self.rates
            .push(round.appends as f64 / round.took.as_secs_f64());
        self.times.extend(round.times);
        let events = round.appends as f64 * self.events as f64;
        self.processor
            .push(round.processor.as_secs_f64() * 1e6 / events);
    }

    fn print(self) {
        let events: Vec<f64> = self
            .rates
            .iter()
            .map(|rate| rate * self.events as f64)
            .collect();
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            self.sessions,
            self.events,
            self.kind.name,
            spread(&events),
            spread(&self.rates),
            times(self.times),
            spread(&self.processor),
        );
    }
}

struct Round {
    appends: u64,
    took: Duration,
    times: Vec<Duration>,
    processor: Duration,
}

async fn round(options: SqliteOptions, sessions: usize, events: usize, time: Duration) -> Round {
    let store: Arc<dyn Store> = Arc::new(options.open().await.expect("the store opens"));
    let sessions = prepare(&store, sessions).await;
    let processor = processor_time();
    let started = Instant::now();
    let writers: Vec<_> = sessions
        .into_iter()
        .map(|(id, fence)| {
            let writer = Writer {
                store: Arc::clone(&store),
                id,
                fence,
                events: vec![event(); events],
            };
            tokio::spawn(writer.write(started + time))
        })
        .collect();
    let mut round = Round {
        appends: 0,
        took: Duration::ZERO,
        times: Vec::new(),
        processor: Duration::ZERO,
    };
    for writer in writers {
        let times = writer.await.expect("a writer that ends");
        round.appends += times.len() as u64;
        round.times.extend(times);
    }
    round.took = started.elapsed();
    round.processor = processor_time() - processor;
    store.close().await.expect("the store closes");
    round
}

/// Sessions and the right to write them; made at once, so that they share commits.
pub(crate) async fn prepare(store: &Arc<dyn Store>, count: usize) -> Vec<(SessionId, Fence)> {
    let made: Vec<_> = (0..count)
        .map(|_| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let new = NewSession::new("auto", "/project");
                let id = store.create_session(new).await.expect("a session").id;
                let ttl = Duration::from_secs(3_600);
                let claim = store.claim(&id, &"bench".into(), ttl).await;
                match claim.expect("a claim") {
                    Claim::Claimed(lease) => (id, lease.fence),
                    held => panic!("{held:?}"),
                }
            })
        })
        .collect();
    let mut sessions = Vec::new();
    for session in made {
        sessions.push(session.await.expect("a session that is made"));
    }
    sessions
}

pub(crate) fn event() -> NewEvent {
    let text = "x".repeat(450);
    let json = format!(
        r#"{{"seq":1,"time":"2026-01-01T00:00:00Z","session":"0","run":"0","source":"agent","type":"item.completed","data":{{"id":"0","content":{{"type":"message","text":"{text}"}}}}}}"#
    );
    NewEvent::new("item.completed", json)
}

pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) id: SessionId,
    pub(crate) fence: Fence,
    pub(crate) events: Vec<NewEvent>,
}

impl Writer {
    /// Appends until then, and shows that nothing was lost or doubled; how long each took.
    pub(crate) async fn write(self, until: Instant) -> Vec<Duration> {
        let mut times = Vec::new();
        let mut head = 0;
        while Instant::now() < until {
            let append = Append::new(self.id.clone(), self.fence, head + 1, self.events.clone());
            let before = Instant::now();
            match self.store.append(append).await {
                Ok(now) => head = now,
                // The queue stayed full: what a caller has to do, too.
                Err(error) if error.is_retryable() => continue,
                Err(error) => panic!("{error}"),
            }
            times.push(before.elapsed());
        }
        assert_eq!(head, (times.len() * self.events.len()) as u64);
        let last = EventQuery::after(head.saturating_sub(1));
        let page = self
            .store
            .events(&self.id, last)
            .await
            .expect("the last event");
        assert_eq!((page.head, page.events.len() as u64), (head, head.min(1)));
        times
    }
}
