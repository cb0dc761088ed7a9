//! The times of signals: pure, without a clock of its own.

use std::time::{Duration, Instant};

/// The time a process gets to end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// Time to exit unasked, before SIGTERM goes to its process group.
    pub exit: Duration,
    /// Time after SIGTERM, before SIGKILL goes to the whole tree.
    pub term: Duration,
}

/// The step that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rung {
    Term,
    Kill,
}

/// The deadlines of one process. Requests can only bring them forward.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    term_at: Option<Instant>,
    kill_at: Option<Instant>,
}

impl Schedule {
    pub(super) fn request(&mut self, ladder: Ladder, now: Instant) {
        let term_at = after(now, ladder.exit);
        let kill_at = after(term_at, ladder.term);
        // SIGTERM that was sent already is not sent again: its deadline is gone, and
        // `kill_at` shows that there was one.
        if self.kill_at.is_none() || self.term_at.is_some() {
            self.term_at = Some(self.term_at.map_or(term_at, |old| old.min(term_at)));
        }
        self.kill_at = Some(self.kill_at.map_or(kill_at, |old| old.min(kill_at)));
    }

    /// The rung that is due, the later one if both are.
    pub(super) fn peek(&self, now: Instant) -> Option<Rung> {
        if self.kill_at.is_some_and(|at| at <= now) {
            Some(Rung::Kill)
        } else if self.term_at.is_some_and(|at| at <= now) {
            Some(Rung::Term)
        } else {
            None
        }
    }

    /// Takes the rung that is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<Rung> {
        let rung = self.peek(now)?;
        self.term_at = None;
        Some(rung)
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.term_at.into_iter().chain(self.kill_at).min()
    }
}

/// `Instant + Duration` that does not panic for durations meant as "for ever".
fn after(start: Instant, wait: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    start + wait.min(FOR_EVER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which ladder is asked for at which second.
    type Requests = [(u64, Ladder)];

    /// Plays `(at, request)` and returns which rung came at which second, up to the kill.
    fn play(requests: &Requests) -> Vec<(u64, Rung)> {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        let mut seen = Vec::new();
        for second in 0..100 {
            let now = start + Duration::from_secs(second);
            for (_, ladder) in requests.iter().filter(|(at, _)| *at == second) {
                schedule.request(*ladder, now);
            }
            if let Some(rung) = schedule.due(now) {
                seen.push((second, rung));
                if rung == Rung::Kill {
                    break;
                }
            }
        }
        seen
    }

    fn ladder(exit: u64, term: u64) -> Ladder {
        Ladder {
            exit: Duration::from_secs(exit),
            term: Duration::from_secs(term),
        }
    }

    #[test]
    fn requests_climb_in_order_and_only_bring_the_end_forward() {
        use Rung::{Kill, Term};
        let cases: &[(&Requests, &[(u64, Rung)])] = &[
            (&[], &[]),
            (&[(1, ladder(5, 5))], &[(6, Term), (11, Kill)]),
            (&[(1, ladder(0, 2))], &[(1, Term), (3, Kill)]),
            (&[(1, ladder(0, 0))], &[(1, Kill)]),
            // Hurried before SIGTERM.
            (
                &[(1, ladder(9, 9)), (2, ladder(0, 2))],
                &[(2, Term), (4, Kill)],
            ),
            // Hurried after SIGTERM: it is not repeated.
            (
                &[(1, ladder(2, 9)), (5, ladder(0, 1))],
                &[(3, Term), (6, Kill)],
            ),
            (
                &[(1, ladder(2, 9)), (5, ladder(0, 0))],
                &[(3, Term), (5, Kill)],
            ),
            // A later, slower request changes nothing.
            (
                &[(1, ladder(1, 2)), (2, ladder(50, 50))],
                &[(2, Term), (4, Kill)],
            ),
            (
                &[(1, ladder(1, 2)), (3, ladder(0, 50))],
                &[(2, Term), (4, Kill)],
            ),
        ];
        for (requests, expected) in cases {
            assert_eq!(play(requests), *expected, "{requests:?}");
        }
    }

    #[test]
    fn waiting_for_ever_is_possible() {
        let mut schedule = Schedule::default();
        let now = Instant::now();
        schedule.request(ladder(u64::MAX, u64::MAX), now);
        assert_eq!(schedule.due(now + Duration::from_secs(1_000_000)), None);
        schedule.request(ladder(0, 1), now);
        assert_eq!(schedule.due(now), Some(Rung::Term));
    }
}
