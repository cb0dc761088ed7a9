//! The model and its reasoning.

use super::Options;

/// The model's reasoning before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// The model decides (`--thinking=adaptive`).
    Adaptive,
    /// At most this many tokens (`--max-thinking-tokens`); 0 means disabled.
    Budget(u32),
    /// No thinking (`--thinking=disabled`).
    Disabled,
}

/// The form in which reasoning is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// As a summary.
    Summarized,
    /// Not at all.
    Omitted,
}

impl ThinkingDisplay {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Summarized => "summarized",
            Self::Omitted => "omitted",
        }
    }
}

/// The effort that the model spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effort {
    /// Least.
    Low,
    /// Usual.
    Medium,
    /// More.
    High,
    /// Much more.
    XHigh,
    /// Most.
    Max,
}

impl Effort {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelOptions {
    pub(crate) model: Option<String>,
    pub(crate) fallbacks: Vec<String>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) thinking_display: Option<ThinkingDisplay>,
    pub(crate) effort: Option<Effort>,
    pub(crate) betas: Vec<String>,
}

impl Options {
    /// Chooses the model, by id or alias (`sonnet`).
    ///
    /// Carried by `--model`. Default: the engine's.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.launch.model.model = Some(model.into());
        self
    }

    /// Adds a model to try when the first one is overloaded.
    ///
    /// Carried by `--fallback-model`, comma-separated in the order given. Default: none.
    #[must_use]
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.launch.model.fallbacks.push(model.into());
        self
    }

    /// Sets how the model thinks.
    ///
    /// Carried by `--thinking` or `--max-thinking-tokens`. Default: adaptive where the
    /// model can.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.launch.model.thinking = Some(thinking);
        self
    }

    /// Sets how thoughts are shown.
    ///
    /// Carried by `--thinking-display`. Default: the engine's.
    #[must_use]
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.launch.model.thinking_display = Some(display);
        self
    }

    /// Sets how much effort the model spends.
    ///
    /// Carried by `--effort`. Default: the model's.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.launch.model.effort = Some(effort);
        self
    }

    /// Turns on a beta of the API, for example `context-1m-2025-08-07`.
    ///
    /// Carried by `--betas`, comma-separated. Default: none.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.launch.model.betas.push(name.into());
        self
    }
}
