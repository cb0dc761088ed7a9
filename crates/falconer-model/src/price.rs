//! What tokens cost and how many fit, as data.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use falconer_protocol::usage::Usage;
use falconer_secret::Environment;
use serde::Deserialize;

use crate::ConnectError;

const DATA: &str = include_str!("prices.json");

/// The variable with a file of prices that go before ours, in the format of `prices.json`.
const VARIABLE: &str = "FALCONER_PRICES";

const MILLION: f64 = 1_000_000.0;

/// The prices of all models that are known. Clones share them.
#[derive(Debug, Clone)]
pub struct PriceTable {
    data: Arc<Data>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    #[expect(dead_code, reason = "for the reader of the file")]
    #[serde(default)]
    about: String,
    #[serde(default)]
    web_search: Option<f64>,
    #[serde(default)]
    models: BTreeMap<String, Price>,
    #[serde(default)]
    unknown: Option<Price>,
}

/// Dollars for a million tokens of one model, and its limits.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
    cache_read: Option<f64>,
    pub context_window: u64,
    pub max_output: u64,
}

/// Whether a price is the model's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FoundPrice {
    Listed(Price),
    /// The model is not in the table: a price of the same order, so that a budget still holds.
    Guessed(Price),
}

impl FoundPrice {
    pub fn price(self) -> Price {
        match self {
            Self::Listed(price) | Self::Guessed(price) => price,
        }
    }
}

impl Price {
    const FREE: Self = Self {
        input: 0.0,
        output: 0.0,
        cache_write_5m: None,
        cache_write_1h: None,
        cache_read: None,
        context_window: 200_000,
        max_output: 32_000,
    };

    fn tokens(&self, usage: &Usage) -> f64 {
        let written = usage.cache_creation_input_tokens.unwrap_or_default();
        let long = usage.cache_creation.as_ref();
        let long = long.and_then(|cache| cache.ephemeral_1h_input_tokens);
        let long = long.unwrap_or_default().min(written);
        let parts = [
            (usage.input_tokens.unwrap_or_default(), self.input),
            (usage.output_tokens.unwrap_or_default(), self.output),
            (
                usage.cache_read_input_tokens.unwrap_or_default(),
                self.cache_read.unwrap_or(self.input * 0.1),
            ),
            (
                written - long,
                self.cache_write_5m.unwrap_or(self.input * 1.25),
            ),
            (long, self.cache_write_1h.unwrap_or(self.input * 2.0)),
        ];
        parts
            .iter()
            .map(|(tokens, price)| count(*tokens) * price / MILLION)
            .sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "no account holds 2^53 tokens")]
fn count(tokens: u64) -> f64 {
    tokens as f64
}

static OURS: LazyLock<PriceTable> = LazyLock::new(|| {
    let empty = Data {
        about: String::new(),
        web_search: None,
        models: BTreeMap::new(),
        unknown: None,
    };
    // The file is ours and a test reads it.
    PriceTable {
        data: Arc::new(serde_json::from_str(DATA).unwrap_or(empty)),
    }
});

impl PriceTable {
    /// The prices that come with us.
    pub fn ours() -> Self {
        OURS.clone()
    }

    /// Ours, and before them those of the file the environment names.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConnectError> {
        match environment.text(VARIABLE) {
            Some(path) => Self::ours().overridden(Path::new(&path)),
            None => Ok(Self::ours()),
        }
    }

    fn overridden(&self, path: &Path) -> Result<Self, ConnectError> {
        let bad = |why: String| ConnectError::Prices(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
        let theirs: Data = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        let mut data = Data::clone(&self.data);
        data.models.extend(theirs.models);
        data.web_search = theirs.web_search.or(data.web_search);
        data.unknown = theirs.unknown.or(data.unknown);
        Ok(Self {
            data: Arc::new(data),
        })
    }

    /// The price of a model; the longest name in the table that it begins with counts.
    pub fn find(&self, model: &str) -> FoundPrice {
        let name = canonical_model(model);
        let fits = self.data.models.iter();
        let fits = fits.filter(|(known, _)| name.starts_with(known.as_str()));
        match fits.max_by_key(|(known, _)| known.len()) {
            Some((_, price)) => FoundPrice::Listed(Price {
                context_window: if model.ends_with("[1m]") {
                    1_000_000
                } else {
                    price.context_window
                },
                ..*price
            }),
            None => FoundPrice::Guessed(self.data.unknown.unwrap_or(Price::FREE)),
        }
    }

    /// What it costs to have tokens kept for five minutes, in dollars.
    pub fn cache_write(&self, model: &str, tokens: u64) -> f64 {
        let usage = Usage {
            cache_creation_input_tokens: Some(tokens),
            ..Usage::default()
        };
        self.find(model).price().tokens(&usage)
    }

    /// Dollars.
    pub fn cost(&self, model: &str, usage: &Usage) -> f64 {
        let searches = usage.server_tool_use.as_ref();
        let searches = searches.and_then(|tools| tools.web_search_requests);
        let searched = count(searches.unwrap_or_default()) * self.data.web_search.unwrap_or(0.0);
        self.find(model).price().tokens(usage) + searched
    }
}

/// The name without what clouds put before it, and without the mark of the long context.
pub fn canonical_model(model: &str) -> &str {
    let name = model.strip_suffix("[1m]").unwrap_or(model);
    let name = name.rsplit('/').next().unwrap_or(name);
    match name.find("claude-") {
        Some(start) => &name[start..],
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(usage: serde_json::Value) -> Usage {
        falconer_protocol::from_value(usage).unwrap()
    }

    #[test]
    fn costs_are_those_the_cli_reported() {
        let small = json!({"input_tokens": 10, "output_tokens": 5});
        let table = [
            (
                "claude-opus-5-5",
                json!({"input_tokens": 100_000, "output_tokens": 20_000}),
                0.8,
            ),
            ("claude-opus-5-5", small.clone(), 0.000_14),
            ("claude-sonnet-5-5", small.clone(), 0.000_07),
            ("claude-haiku-5-5", small.clone(), 0.000_003_5),
            ("claude-haiku-4-5-20251001", small.clone(), 0.000_035),
            ("claude-opus-4-8", small.clone(), 0.000_175),
            (
                "us.anthropic.claude-haiku-4-5-20251001-v1:0",
                small.clone(),
                0.000_035,
            ),
            ("anthropic/claude-haiku-4-5", small, 0.000_035),
            (
                "claude-sonnet-4-5",
                json!({"cache_read_input_tokens": 1_000_000}),
                0.3,
            ),
            (
                "claude-sonnet-4-5",
                json!({"cache_creation_input_tokens": 1_000_000}),
                3.75,
            ),
            (
                "claude-sonnet-4-5",
                json!({"cache_creation_input_tokens": 1_000_000, "cache_creation": {"ephemeral_1h_input_tokens": 1_000_000}}),
                6.0,
            ),
            (
                "claude-sonnet-4-5",
                json!({"server_tool_use": {"web_search_requests": 3}}),
                0.03,
            ),
            ("claude-sonnet-4-5", json!({}), 0.0),
        ];
        for (model, tokens, dollars) in table {
            let cost = PriceTable::ours().cost(model, &usage(tokens.clone()));
            assert!(
                (cost - dollars).abs() < 1e-12,
                "{model} {tokens}: {cost}, not {dollars}"
            );
        }
    }

    #[test]
    fn the_longest_name_counts_and_strangers_are_guessed() {
        let prices = PriceTable::ours();
        let window = |model| prices.find(model).price().context_window;
        assert_eq!(window("claude-opus-4-8-latest"), 1_000_000);
        assert_eq!(window("claude-opus-4-1"), 200_000);
        assert_eq!(window("claude-sonnet-4-5[1m]"), 1_000_000);
        assert_eq!(prices.find("claude-opus-5-5").price().max_output, 128_000);
        assert!(matches!(prices.find("gpt-oss"), FoundPrice::Guessed(price) if price.input > 0.0));
    }

    #[test]
    fn a_file_goes_before_ours() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let price = json!({"input": 1, "output": 1, "context_window": 7, "max_output": 8, "cache_read": 0.5});
        let text = json!({"models": {"gpt-oss": price, "claude-opus-5-5": price}});
        std::fs::write(file.path(), text.to_string()).unwrap();
        let prices = PriceTable::ours().overridden(file.path()).unwrap();
        assert_eq!(prices.find("gpt-oss-20b").price().context_window, 7);
        let cached = usage(json!({"cache_read_input_tokens": 1_000_000}));
        assert!((prices.cost("claude-opus-5-5", &cached) - 0.5).abs() < 1e-12);
        assert_eq!(
            prices.find("claude-haiku-4-5").price().context_window,
            200_000
        );

        std::fs::write(file.path(), "{\"modles\": 1}").unwrap();
        let error = PriceTable::ours()
            .overridden(file.path())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("modles") && error.contains(file.path().to_str().unwrap()),
            "{error}"
        );
    }

    #[test]
    fn the_data_file_is_valid() {
        let data: Data = serde_json::from_str(DATA).unwrap();
        assert!(
            data.models
                .values()
                .all(|price| price.input <= price.output)
        );
    }
}
