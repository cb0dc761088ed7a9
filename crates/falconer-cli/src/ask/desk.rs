//! Questions in the order in which they were asked; the first is on the screen.
//!
//! An answer counts if it was typed after the question was shown and had a moment to be read.
//! What was typed before is thrown away, and the person is told.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use falconer_session::Verdict;
use owo_colors::OwoColorize;

use super::{Line, Open, Step};
use crate::render::Screen;

/// How long a question is shown before it can be answered.
const MOMENT: Duration = Duration::from_millis(500);

/// Open questions, each with what its owner needs to answer it.
#[derive(Debug)]
pub(crate) struct Desk<T> {
    open: VecDeque<(Open, T)>,
    stage: Stage,
    /// The last question that somebody else has settled, and when.
    settled: Option<(Open, Instant)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first question is not on the screen.
    Hidden,
    /// It is, and may be answered from then on.
    Shown(Instant),
    /// It may be answered by what was typed since then.
    Asking(Instant),
}

/// What a line is, where it could also be a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Answer,
    /// It was typed for another question, or before this one could be read.
    Stale,
    /// It was typed below a question, but answers nothing.
    Unclear,
    Other,
}

impl<T> Desk<T> {
    pub(crate) fn new() -> Self {
        Self {
            open: VecDeque::new(),
            stage: Stage::Hidden,
            settled: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.open.iter().any(|(open, _)| open.id == id)
    }

    /// Whether a question is on the screen. Nothing else is to be written below it.
    pub(crate) fn is_shown(&self) -> bool {
        self.stage != Stage::Hidden
    }

    /// Whether an answer is waited for.
    pub(crate) fn is_asking(&self) -> bool {
        matches!(self.stage, Stage::Asking(_))
    }

    pub(crate) fn add(&mut self, open: Open, about: T) {
        self.open.push_back((open, about));
    }

    /// Leaves out what is no longer asked.
    pub(crate) fn keep(&mut self, is_open: impl Fn(&str) -> bool) {
        if let Some((first, _)) = self.open.front()
            && !is_open(&first.id)
        {
            let id = first.id.clone();
            self.remove(&id);
        }
        self.open.retain(|(open, _)| is_open(&open.id));
    }

    /// Shows the first question, unless it is on the screen.
    pub(crate) fn show<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<()> {
        if let (Stage::Hidden, Some((open, _))) = (self.stage, self.open.front_mut()) {
            open.begin(screen)?;
            self.stage = Stage::Shown(Instant::now() + MOMENT);
        }
        Ok(())
    }

    /// Ends when the question on the screen may be answered; never if there is none to wait for.
    pub(crate) fn moment(&self) -> impl Future<Output = ()> + use<T> {
        let at = match self.stage {
            Stage::Shown(at) => Some(at),
            Stage::Hidden | Stage::Asking(_) => None,
        };
        async move {
            match at {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Asks for the answer.
    pub(crate) fn ask<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<()> {
        if let Some((open, _)) = self.open.front() {
            open.prompt(screen)?;
            self.stage = Stage::Asking(Instant::now());
        }
        Ok(())
    }

    /// Takes a settled question away; `true` if it was the one on the screen.
    pub(crate) fn remove(&mut self, id: &str) -> bool {
        let is_first = self.open.front().is_some_and(|(open, _)| open.id == id);
        if !is_first {
            self.open.retain(|(open, _)| open.id != id);
            return false;
        }
        self.stage = Stage::Hidden;
        if let Some((open, _)) = self.open.pop_front() {
            self.settled = Some((open, Instant::now()));
        }
        true
    }

    pub(crate) fn meaning(&self, line: &Line) -> Meaning {
        let text = line.text.trim();
        let is_for = |open: &Open| open.understands(text);
        let first = self.open.front().filter(|_| self.stage != Stage::Hidden);
        if first.is_some_and(|(open, _)| is_for(open)) {
            return match self.stage {
                Stage::Asking(since) if line.begun >= since => Meaning::Answer,
                _ => Meaning::Stale,
            };
        }
        let is_below = match self.stage {
            Stage::Hidden => false,
            Stage::Shown(since) | Stage::Asking(since) => line.begun >= since,
        };
        if is_below && !text.is_empty() && !text.starts_with('/') {
            return Meaning::Unclear;
        }
        let settled = self.settled.as_ref();
        if settled.is_some_and(|(open, at)| line.begun < *at && is_for(open)) {
            Meaning::Stale
        } else {
            Meaning::Other
        }
    }

    /// The answers to the question on the screen.
    pub(crate) fn keys(&self) -> Option<String> {
        let (open, _) = self.open.front().filter(|_| self.is_shown())?;
        Some(open.keys())
    }

    /// Says that a line answers nothing, and asks again.
    pub(crate) fn unclear<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        match self.open.front() {
            Some((open, _)) => open.unclear(screen),
            None => Ok(()),
        }
    }

    /// Says that a line was not taken, and asks again.
    pub(crate) fn refuse<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<()> {
        let text = if self.open.is_empty() {
            "  (not sent: the question is already settled)"
        } else {
            "  (ignored: typed before this question was shown)"
        };
        screen.line(text.yellow())?;
        match (self.stage, self.open.front()) {
            (Stage::Asking(_), Some((open, _))) => open.prompt(screen),
            _ => Ok(()),
        }
    }

    /// Takes an answer; `None` if there is more to ask. No line means that nobody is there.
    pub(crate) fn take<W: Write>(
        &mut self,
        line: Option<&str>,
        screen: &mut Screen<W>,
    ) -> io::Result<Option<(Open, T, Verdict)>> {
        let Some((open, _)) = self.open.front_mut() else {
            return Ok(None);
        };
        match open.take(line, screen)? {
            Step::Again => Ok(None),
            Step::Read => {
                self.stage = Stage::Shown(Instant::now() + MOMENT);
                Ok(None)
            }
            Step::Verdict(verdict) => {
                self.stage = Stage::Hidden;
                let first = self.open.pop_front();
                Ok(first.map(|(open, about)| (open, about, verdict)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use falconer_event::PermissionRequested;
    use serde_json::json;

    use super::*;

    fn open(id: &str) -> Open {
        let input = json!({"command": "make"});
        Open::permission(&PermissionRequested::new(id, "Bash", input, "d"))
    }

    fn line(text: &str, begun: Instant) -> Line {
        let text = text.to_owned();
        Line { text, begun }
    }

    #[test]
    fn a_line_answers_only_the_question_it_was_typed_for() {
        let mut screen = Screen::new(Vec::new(), "");
        let mut desk = Desk::new();
        let early = Instant::now();
        desk.add(open("1"), ());
        desk.add(open("2"), ());
        assert_eq!(desk.meaning(&line("y", early)), Meaning::Other);
        desk.show(&mut screen).unwrap();
        assert_eq!(
            desk.meaning(&line("y", early)),
            Meaning::Stale,
            "not read yet"
        );
        desk.ask(&mut screen).unwrap();
        assert_eq!(
            desk.meaning(&line("y", early)),
            Meaning::Stale,
            "typed before"
        );
        let typed = Instant::now();
        assert_eq!(desk.meaning(&line("y", typed)), Meaning::Answer);
        assert_eq!(desk.meaning(&line("hello", typed)), Meaning::Unclear);
        assert_eq!(desk.meaning(&line("hello", early)), Meaning::Other);
        for other in ["/help", "", "  "] {
            assert_eq!(desk.meaning(&line(other, typed)), Meaning::Other, "{other}");
        }
        assert_eq!(desk.keys().as_deref(), Some("y/n/e/s"));

        assert!(desk.remove("1"));
        assert_eq!(
            desk.meaning(&line("y", typed)),
            Meaning::Stale,
            "1 is settled"
        );
        desk.show(&mut screen).unwrap();
        desk.ask(&mut screen).unwrap();
        assert_eq!(
            desk.meaning(&line("y", typed)),
            Meaning::Stale,
            "it was for 1"
        );
        let taken = desk.take(Some("y"), &mut screen).unwrap();
        let (answered, (), verdict) = taken.unwrap();
        assert_eq!((answered.id.as_str(), verdict), ("2", Verdict::Allow));
        assert_eq!(desk.meaning(&line("y", typed)), Meaning::Stale);
        assert_eq!(desk.meaning(&line("y", Instant::now())), Meaning::Other);
    }

    #[test]
    fn a_question_behind_another_goes_without_a_word() {
        let mut desk = Desk::new();
        desk.add(open("1"), ());
        desk.add(open("2"), ());
        assert!(!desk.remove("2"));
        assert!(desk.has("1") && !desk.has("2"));
    }
}
