//! The last lines: how it ended, how long it took, what it cost, how to go on.

use falconer_event::{Failure, Outcome, RunCompleted, Tokens, TurnCompleted};
use owo_colors::OwoColorize;

use super::plain::clean;

/// What the turns of a run took.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Totals {
    pub(super) milliseconds: f64,
    pub(super) model_turns: u64,
}

impl Totals {
    pub(super) fn add(&mut self, turn: &TurnCompleted) {
        self.milliseconds += turn.duration_ms;
        self.model_turns += turn.model_turns;
    }
}

/// Whether the session can be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resumable {
    Yes,
    /// It is not kept.
    No,
}

pub(super) fn lines(run: &RunCompleted, totals: Totals, resumable: Resumable) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(failure), Outcome::Failed) = (&run.failure, run.outcome) {
        lines.extend(failed(failure));
        for line in run.stderr.iter().rev().take(3).rev() {
            lines.push(format!("  {}", clean(line)).dimmed().to_string());
        }
    }
    let mark = match run.outcome {
        Outcome::Ok => "done".green().to_string(),
        Outcome::Cancelled => "stopped".yellow().to_string(),
        _ => "failed".red().to_string(),
    };
    let mut facts = vec![
        format!("in {:.1} s", totals.milliseconds / 1_000.0),
        match totals.model_turns {
            1 => "1 turn".to_owned(),
            turns => format!("{turns} turns"),
        },
        tokens(run.tokens),
        format!("${:.4}", run.cost_usd),
    ];
    if let Some(failure) = &run.failure {
        facts.push(clean(&failure.class));
    }
    lines.push(format!("{mark} {}", facts.join(" · ").dimmed()));
    if let (Resumable::Yes, Some(session)) = (resumable, &run.native_session) {
        lines.push(go_on(session));
    }
    lines
}

/// What went wrong, and what to do about it.
pub(super) fn failed(failure: &Failure) -> Vec<String> {
    let mut lines = vec![format!("✗ {}", clean(&failure.text)).red().to_string()];
    if let Some(hint) = &failure.hint {
        lines.push(format!("  {} {}", "hint:".bold(), clean(hint)));
    }
    lines
}

/// One line after a turn of a conversation.
pub(super) fn turn(turn: &TurnCompleted) -> String {
    let facts = [
        format!("{:.1} s", turn.duration_ms / 1_000.0),
        tokens(turn.tokens),
        format!("${:.4} so far", turn.total_cost_usd),
    ];
    facts.join(" · ").dimmed().to_string()
}

fn go_on(session: &str) -> String {
    // The beginning of an id is enough for every command.
    let id = uuid::Uuid::try_parse(session).map_or(session, |_| &session[..8]);
    let text = format!("continue with `falconer chat --resume {}`", clean(id));
    text.dimmed().to_string()
}

fn tokens(tokens: Tokens) -> String {
    let read = tokens.input + tokens.cache_read + tokens.cache_write;
    format!("{read} tokens in, {} out", tokens.output)
}
