//! Limits on a run: turns, money, tokens.

use super::Options;

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapOptions {
    pub(crate) turns: Option<u32>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) task_tokens: Option<u64>,
}

impl Options {
    /// Ends the run after this many turns with a result of subtype `error_max_turns`.
    ///
    /// Carried by `--max-turns`. Default: no limit. 0 is refused: the engine would take it
    /// for no limit.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.launch.caps.turns = Some(turns);
        self
    }

    /// Ends the run when it has cost this much, with a result of subtype
    /// `error_max_budget_usd`.
    ///
    /// Carried by `--max-budget-usd`. Default: no limit.
    #[must_use]
    pub fn max_budget_usd(mut self, usd: f64) -> Self {
        self.launch.caps.budget_usd = Some(usd);
        self
    }

    /// Tells the model how many tokens it has for the task (beta of the API).
    ///
    /// Carried by `--task-budget`. Default: not told.
    #[must_use]
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.launch.caps.task_tokens = Some(tokens);
        self
    }
}
