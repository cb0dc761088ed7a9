//! Parameters of the model API that no agent can honour.

use super::Options;

/// Parameters that steer a single completion; an agent makes many.
pub(crate) const REFUSED: &[&str] = &[
    "seed",
    "stop",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
];

/// Names of parameters that were asked for and are refused when the run is planned.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusedParameters {
    pub(crate) names: Vec<String>,
    pub(crate) unknown: Vec<String>,
    pub(crate) invalid: Vec<String>,
}

impl Options {
    /// Takes a parameter by its name in a configuration or request of another program.
    ///
    /// `model`, `max_turns`, `max_budget_usd`, `system_prompt` and `title` are set.
    /// Sampling parameters (`seed`, `stop`, `temperature`, `top_p`, `top_k`,
    /// `presence_penalty`, `frequency_penalty`) cannot be honoured by an agent: they are
    /// refused when the run is planned, all in one error, instead of being dropped. So are
    /// unknown names and values of a wrong type. `null` means not set.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: &serde_json::Value) -> Self {
        if value.is_null() {
            return self;
        }
        if REFUSED.contains(&name) {
            self.launch.refused.names.push(name.to_owned());
            return self;
        }
        let text = || value.as_str().map(str::to_owned);
        match name {
            "model" => self.taken(name, text(), Options::model),
            "system_prompt" => self.taken(name, text(), Options::system_prompt),
            "title" => self.taken(name, text(), Options::title),
            "max_turns" => {
                let turns = value.as_u64().and_then(|turns| u32::try_from(turns).ok());
                self.taken(name, turns, Options::max_turns)
            }
            "max_budget_usd" => self.taken(name, value.as_f64(), Options::max_budget_usd),
            _ => {
                self.launch.refused.unknown.push(name.to_owned());
                self
            }
        }
    }

    /// Takes several parameters; see [`Options::parameter`].
    #[must_use]
    pub fn parameters(self, map: &serde_json::Map<String, serde_json::Value>) -> Self {
        map.iter().fold(self, |options, (name, value)| {
            options.parameter(name, value)
        })
    }

    fn taken<T>(mut self, name: &str, value: Option<T>, set: fn(Self, T) -> Self) -> Self {
        match value {
            Some(value) => set(self, value),
            None => {
                self.launch.refused.invalid.push(name.to_owned());
                self
            }
        }
    }
}
