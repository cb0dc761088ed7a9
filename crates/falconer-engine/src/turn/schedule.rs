//! Which calls of a message may run now: in the order of the message, alone or side by side.
//!
//! Consecutive calls that change nothing run beside each other. Any other call waits for all
//! before it and holds up all after it, so a call never overtakes one that changes something.

use std::collections::VecDeque;

/// Whether a call may run beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Shared,
    Alone,
}

/// The calls that wait, and what runs.
#[derive(Debug)]
pub(crate) struct Schedule<T> {
    waiting: VecDeque<(Company, T)>,
    running: usize,
    /// A call that tolerates no other is running.
    exclusive: bool,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            running: 0,
            exclusive: false,
        }
    }
}

impl<T> Schedule<T> {
    pub(crate) fn add(&mut self, company: Company, call: T) {
        self.waiting.push_back((company, call));
    }

    /// The next call that may start now; it counts as running from here on.
    pub(crate) fn start(&mut self) -> Option<T> {
        let (company, _) = self.waiting.front()?;
        let fits = match company {
            Company::Shared => !self.exclusive,
            Company::Alone => self.running == 0,
        };
        if !fits {
            return None;
        }
        let (company, call) = self.waiting.pop_front()?;
        self.running += 1;
        self.exclusive = company == Company::Alone;
        Some(call)
    }

    /// A call has ended.
    pub(crate) fn finish(&mut self) {
        self.running = self.running.saturating_sub(1);
        if self.running == 0 {
            self.exclusive = false;
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// Takes out what has not started.
    pub(crate) fn abandon(&mut self) -> Vec<T> {
        self.waiting.drain(..).map(|(_, call)| call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Company::{Alone, Shared};
    use super::*;

    fn startable(schedule: &mut Schedule<u32>) -> Vec<u32> {
        std::iter::from_fn(|| schedule.start()).collect()
    }

    #[test]
    fn calls_run_in_batches_in_the_order_of_the_message() {
        let mut schedule = Schedule::default();
        let kinds = [Alone, Alone, Shared, Shared, Shared, Alone];
        for (number, kind) in kinds.into_iter().enumerate() {
            schedule.add(kind, number as u32 + 1);
        }
        let mut batches = Vec::new();
        while !schedule.is_done() {
            let batch = startable(&mut schedule);
            batch.iter().for_each(|_| schedule.finish());
            batches.push(batch);
        }
        let expected: [&[u32]; 4] = [&[1], &[2], &[3, 4, 5], &[6]];
        assert_eq!(batches, expected);
    }

    #[test]
    fn a_later_reader_does_not_overtake_a_waiting_writer() {
        let mut schedule = Schedule::default();
        schedule.add(Shared, 1);
        assert_eq!(startable(&mut schedule), [1]);
        schedule.add(Alone, 2);
        schedule.add(Shared, 3);
        assert!(startable(&mut schedule).is_empty());
        schedule.finish();
        assert_eq!(startable(&mut schedule), [2]);
        schedule.add(Shared, 4);
        assert!(startable(&mut schedule).is_empty());
        schedule.finish();
        assert_eq!(startable(&mut schedule), [3, 4]);
    }

    #[test]
    fn what_has_not_started_can_be_taken_out() {
        let mut schedule = Schedule::default();
        for number in 0..3 {
            schedule.add(Alone, number);
        }
        assert_eq!(startable(&mut schedule), [0]);
        assert_eq!(schedule.abandon(), [1, 2]);
        schedule.finish();
        assert!(schedule.is_done());
    }
}
