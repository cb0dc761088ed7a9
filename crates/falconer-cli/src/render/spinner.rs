//! The last line of a terminal while the agent is at work: what it does, and for how long.

use std::fmt;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::log::screen;

/// Whether there is a moving line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Motion {
    Shown,
    None,
}

impl Motion {
    /// Only where a line can be taken back, and nobody asked for plain text.
    pub(crate) fn of_stdout() -> Self {
        let plain = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if std::io::stdout().is_terminal() && !plain("NO_COLOR") && !is_dumb {
            Self::Shown
        } else {
            Self::None
        }
    }
}

/// A moving line, or none.
pub(super) struct Spinner {
    motion: Motion,
    bar: Option<ProgressBar>,
}

impl Spinner {
    pub(super) fn new(motion: Motion) -> Self {
        Self { motion, bar: None }
    }

    /// Shows what goes on.
    pub(super) fn spin(&mut self, text: String) {
        if self.motion == Motion::None {
            return;
        }
        self.rest();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        // The template is ours; were it wrong, the default would do.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(text);
        screen::move_with(&bar);
        bar.enable_steady_tick(Duration::from_millis(120));
        self.bar = Some(bar);
    }

    /// Takes the line away.
    pub(super) fn rest(&mut self) {
        if let Some(bar) = self.bar.take() {
            screen::rest(&bar);
        }
    }
}

impl fmt::Debug for Spinner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spinner")
            .field("motion", &self.motion)
            .finish_non_exhaustive()
    }
}
