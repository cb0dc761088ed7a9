//! Counters for Prometheus.

use std::sync::Mutex;

use falconer_store::Counts;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Counters for Prometheus.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Answer, Counter>,
    refused: Counter,
    events: Counter,
    streams: Gauge,
    sessions: Family<State, Gauge>,
    pending: Gauge,
    queued: Gauge,
    store_bytes: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("falconer")),
            requests: Family::default(),
            refused: Counter::default(),
            events: Counter::default(),
            streams: Gauge::default(),
            sessions: Family::default(),
            pending: Gauge::default(),
            queued: Gauge::default(),
            store_bytes: Gauge::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&self) {
        let mut registry = self
            .registry
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        registry.register(
            "http_requests",
            "Requests, by route and status",
            self.requests.clone(),
        );
        registry.register(
            "http_refused_credentials",
            "Failed sign-ins",
            self.refused.clone(),
        );
        registry.register(
            "stream_events",
            "Events sent on streams",
            self.events.clone(),
        );
        registry.register("streams", "Open streams", self.streams.clone());
        registry.register("sessions", "Sessions, by state", self.sessions.clone());
        registry.register("requests_pending", "Open requests", self.pending.clone());
        registry.register("messages_queued", "Queued messages", self.queued.clone());
        registry.register(
            "store_bytes",
            "Size of the database",
            self.store_bytes.clone(),
        );
    }

    /// A request was answered. `route` is the pattern, never the path: paths are without number.
    pub(crate) fn answered(&self, route: &str, status: u16) {
        let answer = Answer {
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&answer).inc();
    }

    pub(crate) fn refused(&self) {
        self.refused.inc();
    }

    pub(crate) fn sent(&self, events: usize) {
        self.events.inc_by(events as u64);
    }

    /// The text Prometheus reads.
    pub(crate) fn text(&self, counts: &Counts, streams: usize) -> Result<String, std::fmt::Error> {
        let gauge = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.streams.set(gauge(streams as u64));
        self.pending.set(gauge(counts.pending));
        self.queued.set(gauge(counts.queued));
        self.store_bytes.set(gauge(counts.bytes));
        self.sessions.clear();
        for (state, count) in &counts.sessions {
            let state = State {
                state: state.to_string(),
            };
            self.sessions.get_or_create(&state).set(gauge(*count));
        }
        let mut text = String::new();
        let registry = self
            .registry
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        encode(&mut text, &registry)?;
        Ok(text)
    }
}
