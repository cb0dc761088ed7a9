//! Limits of time. The clock is the monotonic one, so that setting the machine's clock ends
//! nothing and saves nothing.

use std::collections::HashMap;
use std::time::Duration;

use falconer_event::{ActionStatus, Body, ItemContent};
use serde_json::Value;
use tokio::time::Instant;

use super::{LimitKind, Limits};

/// What a tool gets beyond the timeout it declares, to say that it ran out of time.
const TOOL_MARGIN: Duration = Duration::from_secs(5);
/// What the shell gets when its call declares nothing.
const SHELL_TIMEOUT: Duration = Duration::from_secs(120);

/// Knows since when the engine is silent and which tools run.
#[derive(Debug)]
pub(crate) struct Watch {
    started: Instant,
    heard: Instant,
    /// The declared timeouts of the tools that run.
    tools: HashMap<String, Duration>,
    /// The engine has something to do.
    pub(crate) at_work: bool,
    /// A person is asked.
    asking: bool,
    /// When the last result came, while the engine is not idle yet.
    pub(crate) settling_since: Option<Instant>,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            started: now,
            heard: now,
            tools: HashMap::new(),
            at_work: true,
            asking: false,
            settling_since: None,
        }
    }

    /// The engine said something.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// A person is asked, or no longer; being asked is no silence.
    pub(crate) fn asking(&mut self, asking: bool, now: Instant) {
        if self.asking && !asking {
            self.heard = now;
        }
        self.asking = asking;
    }

    /// An event may say that a tool begins or ends.
    pub(crate) fn observe(&mut self, body: &Body) {
        let (Body::ItemStarted(item) | Body::ItemCompleted(item)) = body else {
            return;
        };
        let ItemContent::Action(action) = &item.content else {
            return;
        };
        let id = item.id.as_str().to_owned();
        match (body, action.status) {
            (Body::ItemStarted(_), ActionStatus::Running) => {
                let declared = declared_timeout(&action.tool, &action.input);
                self.tools.insert(id, declared.unwrap_or_default());
            }
            _ => drop(self.tools.remove(&id)),
        }
    }

    fn allowed_silence(&self, limits: &Limits) -> Option<Duration> {
        let declared = self.tools.values().max().copied().unwrap_or_default();
        let extended = if declared.is_zero() {
            Duration::ZERO
        } else {
            declared.saturating_add(TOOL_MARGIN)
        };
        limits.silence.map(|silence| silence.max(extended))
    }

    fn ends(&self, limits: &Limits) -> [(LimitKind, Option<Instant>); 3] {
        let after = |from: Instant, time: Option<Duration>| from.checked_add(time?);
        let counts = self.at_work && !self.asking;
        let silence = self.allowed_silence(limits).filter(|_| counts);
        let grace = self
            .settling_since
            .and_then(|since| after(since, limits.grace));
        [
            (LimitKind::Deadline, after(self.started, limits.deadline)),
            (LimitKind::Silence, after(self.heard, silence)),
            (LimitKind::Grace, grace),
        ]
    }

    /// When to look again.
    pub(crate) fn next(&self, limits: &Limits) -> Option<Instant> {
        self.ends(limits)
            .into_iter()
            .filter_map(|(_, end)| end)
            .min()
    }

    /// The limit that is over, if one is.
    pub(crate) fn reached(&self, limits: &Limits, now: Instant) -> Option<LimitKind> {
        let mut ends = self.ends(limits).into_iter();
        ends.find(|(_, end)| end.is_some_and(|end| end <= now))
            .map(|(kind, _)| kind)
    }

    /// What is left until the deadline.
    pub(crate) fn left(&self, limits: &Limits, now: Instant) -> Option<Duration> {
        let deadline = self.started.checked_add(limits.deadline?)?;
        Some(deadline.saturating_duration_since(now))
    }
}

/// The timeout a call declares: in milliseconds under `timeout` or `timeout_ms`, in seconds
/// under `timeout_secs`.
fn declared_timeout(tool: &str, input: &Value) -> Option<Duration> {
    let number = |name: &str| input[name].as_u64();
    let millis = number("timeout").or_else(|| number("timeout_ms"));
    let declared = millis.map(Duration::from_millis);
    let declared = declared.or_else(|| number("timeout_secs").map(Duration::from_secs));
    declared.or_else(|| matches!(tool, "Bash" | "PowerShell").then_some(SHELL_TIMEOUT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    fn limits() -> Limits {
        Limits {
            deadline: Some(secs(1000)),
            silence: Some(secs(60)),
            grace: Some(secs(30)),
            ..Limits::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_end_is_reached_at_its_time() {
        type Set = fn(&mut Watch, Instant);
        let shell: Set = |watch, _| {
            watch.tools.insert("t".into(), secs(300));
        };
        let table: [(&str, Set, u64, Option<LimitKind>); 10] = [
            ("quiet", |_, _| {}, 59, None),
            ("silent", |_, _| {}, 60, Some(LimitKind::Silence)),
            ("heard", |watch, now| watch.heard(now + secs(30)), 60, None),
            ("a tool with a timeout of its own", shell, 304, None),
            ("the tool overran", shell, 305, Some(LimitKind::Silence)),
            (
                "a person is asked",
                |watch, now| watch.asking(true, now),
                900,
                None,
            ),
            ("nothing to do", |watch, _| watch.at_work = false, 900, None),
            (
                "deadline",
                |watch, _| watch.at_work = false,
                1000,
                Some(LimitKind::Deadline),
            ),
            (
                "settling",
                |watch, now| {
                    watch.at_work = false;
                    watch.settling_since = Some(now + secs(10));
                },
                40,
                Some(LimitKind::Grace),
            ),
            (
                "asked first",
                |watch, now| watch.asking(true, now),
                1000,
                Some(LimitKind::Deadline),
            ),
        ];
        for (name, set, at, expected) in table {
            let now = Instant::now();
            let mut watch = Watch::new(now);
            set(&mut watch, now);
            assert_eq!(watch.reached(&limits(), now + secs(at)), expected, "{name}");
            if expected.is_some() {
                assert!(watch.next(&limits()).unwrap() <= now + secs(at), "{name}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn being_answered_starts_the_silence_anew() {
        let now = Instant::now();
        let mut watch = Watch::new(now);
        watch.asking(true, now);
        watch.asking(false, now + secs(500));
        assert_eq!(watch.reached(&limits(), now + secs(559)), None);
        assert_eq!(
            watch.reached(&limits(), now + secs(560)),
            Some(LimitKind::Silence)
        );
    }

    #[test]
    fn calls_declare_their_timeouts() {
        let table = [
            ("Bash", json!({"timeout": 5000}), Some(secs(5))),
            ("Bash", json!({}), Some(SHELL_TIMEOUT)),
            ("mcp__a__b", json!({"timeout_secs": 7}), Some(secs(7))),
            ("mcp__a__b", json!({"timeout_ms": 7000}), Some(secs(7))),
            ("Read", json!({}), None),
            ("Read", json!("x"), None),
        ];
        for (tool, input, expected) in table {
            assert_eq!(declared_timeout(tool, &input), expected, "{tool} {input}");
        }
    }
}
