//! What the session has used: tokens, money, time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use falconer_model::{FoundPrice, PriceTable};
use falconer_protocol::control::ApiUsage;
use falconer_protocol::usage::{
    CacheCreation, CostBasis, ModelUsage, OutputTokensDetails, ServerToolUsage, Usage,
};
use serde_json::{Map, Value};

/// Tokens of one or more responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_5m: u64,
    pub(crate) cache_1h: u64,
    pub(crate) cache_creation: u64,
    pub(crate) thinking: u64,
    pub(crate) web_searches: u64,
    pub(crate) web_fetches: u64,
}

impl Tokens {
    /// Reads a `usage` of the API; what is missing counts as nothing.
    pub(crate) fn read(usage: &Value) -> Self {
        Self::of(&falconer_protocol::from_value(usage.clone()).unwrap_or_default())
    }

    fn of(usage: &Usage) -> Self {
        let cache = usage.cache_creation.as_ref();
        let tools = usage.server_tool_use.as_ref();
        let details = usage.output_tokens_details.as_ref();
        Self {
            input: usage.input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
            cache_read: usage.cache_read_input_tokens.unwrap_or(0),
            cache_creation: usage.cache_creation_input_tokens.unwrap_or(0),
            cache_5m: cache
                .and_then(|it| it.ephemeral_5m_input_tokens)
                .unwrap_or(0),
            cache_1h: cache
                .and_then(|it| it.ephemeral_1h_input_tokens)
                .unwrap_or(0),
            thinking: details.and_then(|it| it.thinking_tokens).unwrap_or(0),
            web_searches: tools.and_then(|it| it.web_search_requests).unwrap_or(0),
            web_fetches: tools.and_then(|it| it.web_fetch_requests).unwrap_or(0),
        }
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_creation = self.cache_creation.saturating_add(more.cache_creation);
        self.cache_5m = self.cache_5m.saturating_add(more.cache_5m);
        self.cache_1h = self.cache_1h.saturating_add(more.cache_1h);
        self.thinking = self.thinking.saturating_add(more.thinking);
        self.web_searches = self.web_searches.saturating_add(more.web_searches);
        self.web_fetches = self.web_fetches.saturating_add(more.web_fetches);
    }

    /// As the `usage` of a result.
    pub(crate) fn usage(&self) -> Usage {
        let usage = Usage {
            input_tokens: Some(self.input),
            cache_creation_input_tokens: Some(self.cache_creation),
            cache_read_input_tokens: Some(self.cache_read),
            output_tokens: Some(self.output),
            output_tokens_details: Some(OutputTokensDetails {
                thinking_tokens: Some(self.thinking),
                ..OutputTokensDetails::default()
            }),
            server_tool_use: Some(ServerToolUsage {
                web_search_requests: Some(self.web_searches),
                web_fetch_requests: Some(self.web_fetches),
                ..ServerToolUsage::default()
            }),
            service_tier: Some("standard".to_owned()),
            cache_creation: Some(CacheCreation {
                ephemeral_1h_input_tokens: Some(self.cache_1h),
                ephemeral_5m_input_tokens: Some(self.cache_5m),
                ..CacheCreation::default()
            }),
            inference_geo: Some(String::new()),
            iterations: Some(Vec::new()),
            speed: Some("standard".to_owned()),
            ..Usage::default()
        };
        usage.with_empty("fallback_credit")
    }
}

/// What one model used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Account {
    tokens: Tokens,
    cost: f64,
}

impl Account {
    /// Reads an entry of `modelUsage`; what is missing or damaged counts as nothing.
    fn read(usage: &Value) -> Self {
        let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let cost = usage.get("costUSD").and_then(Value::as_f64);
        Self {
            tokens: Tokens {
                input: number("inputTokens"),
                output: number("outputTokens"),
                cache_read: number("cacheReadInputTokens"),
                cache_creation: number("cacheCreationInputTokens"),
                cache_5m: number("cacheCreationEphemeral5mInputTokens"),
                cache_1h: number("cacheCreationEphemeral1hInputTokens"),
                thinking: number("thinkingTokens"),
                web_searches: number("webSearchRequests"),
                web_fetches: 0,
            },
            cost: cost.filter(|cost| *cost >= 0.0).unwrap_or(0.0),
        }
    }
}

/// Lines of files that were changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

impl Lines {
    /// Reads the output of a tool that changes files.
    pub(crate) fn read(output: &Value) -> Self {
        let hunks = output["structuredPatch"].as_array();
        let lines = hunks.into_iter().flatten().filter_map(|hunk| {
            let lines = hunk["lines"].as_array()?;
            Some(lines.iter().filter_map(Value::as_str))
        });
        let mut counted = Self::default();
        for line in lines.flatten() {
            counted.added += u64::from(line.starts_with('+'));
            counted.removed += u64::from(line.starts_with('-'));
        }
        // A new file has no patch.
        if output["type"] == "create" {
            let content = output["content"].as_str().unwrap_or_default();
            // The end of the last line counts as one more, as it does for the CLI.
            counted.added += content.split('\n').count() as u64;
        }
        counted
    }
}

/// The books of a session.
#[derive(Debug)]
pub(crate) struct Ledger {
    prices: PriceTable,
    opened: Instant,
    models: BTreeMap<String, Account>,
    since_result: BTreeMap<String, Account>,
    /// Brought over from a session that was resumed, and not told apart by models.
    carried_cost: f64,
    /// Cost that the budget does not count: what was there before.
    budget_base: f64,
    api_time: Duration,
    lines: Lines,
    /// Of the last response.
    last: Option<Tokens>,
    results: u64,
    /// Answers that a model stopped because of what it was asked.
    pub(crate) safety_stops: u64,
}

impl Ledger {
    pub(crate) fn new(prices: PriceTable) -> Self {
        Self {
            prices,
            opened: Instant::now(),
            models: BTreeMap::new(),
            since_result: BTreeMap::new(),
            carried_cost: 0.0,
            budget_base: 0.0,
            api_time: Duration::ZERO,
            lines: Lines::default(),
            last: None,
            results: 0,
            safety_stops: 0,
        }
    }

    /// Books one response.
    pub(crate) fn book(&mut self, model: &str, usage: &Value) -> Tokens {
        let usage = falconer_protocol::from_value(usage.clone()).unwrap_or_default();
        let tokens = Tokens::of(&usage);
        self.last = Some(tokens);
        let cost = self.prices.cost(model, &usage);
        for accounts in [&mut self.models, &mut self.since_result] {
            let account = accounts.entry(model.to_owned()).or_default();
            account.tokens.add(&tokens);
            account.cost += cost;
        }
        tokens
    }

    pub(crate) fn book_lines(&mut self, more: Lines) {
        self.lines.added += more.added;
        self.lines.removed += more.removed;
    }

    pub(crate) fn lines(&self) -> Lines {
        self.lines
    }

    /// What the last response says it used, as `get_context_usage` tells it.
    pub(crate) fn last_usage(&self) -> Option<ApiUsage> {
        self.last.map(|tokens| ApiUsage {
            input_tokens: Some(tokens.input),
            output_tokens: Some(tokens.output),
            cache_creation_input_tokens: Some(tokens.cache_creation),
            cache_read_input_tokens: Some(tokens.cache_read),
            ..ApiUsage::default()
        })
    }

    pub(crate) fn book_time(&mut self, spent: Duration) {
        self.api_time = self.api_time.saturating_add(spent);
    }

    /// Takes over the books of a session that is resumed: what it cost, and its `modelUsage`.
    pub(crate) fn carry(&mut self, cost: f64, model_usage: &Map<String, Value>) {
        let accounts = model_usage.iter();
        self.models = accounts
            .map(|(model, usage)| (model.clone(), Account::read(usage)))
            .collect();
        self.carried_cost = cost - self.models.values().map(|it| it.cost).sum::<f64>();
        self.budget_base = cost;
    }

    /// The conversation was cleared: what follows is another session with its own books.
    pub(crate) fn restart(&mut self) {
        self.models.clear();
        self.carried_cost = 0.0;
        self.budget_base = 0.0;
    }

    pub(crate) fn total_cost(&self) -> f64 {
        self.carried_cost + self.models.values().map(|it| it.cost).sum::<f64>()
    }

    pub(crate) fn is_over(&self, budget: Option<f64>) -> bool {
        budget.is_some_and(|budget| self.total_cost() - self.budget_base >= budget)
    }

    pub(crate) fn api_time(&self) -> Duration {
        self.api_time
    }

    pub(crate) fn model_usage(&self) -> BTreeMap<String, ModelUsage> {
        self.told(&self.models)
    }

    /// Closes the books of a turn: its number, and what was used since the last one.
    pub(crate) fn close_turn(&mut self) -> (u64, BTreeMap<String, ModelUsage>) {
        let index = self.results;
        self.results += 1;
        let since = self.told(&self.since_result);
        self.since_result.clear();
        (index, since)
    }

    /// The books in words.
    pub(crate) fn words(&self) -> String {
        let mut all = Tokens::default();
        self.models.values().for_each(|it| all.add(&it.tokens));
        format!(
            "Total cost:            ${:.4}\nTotal duration (API):  {}s\n\
             Total duration (wall): {}s\n\
             Total code changes:    {} lines added, {} lines removed\n\
             Usage:                 {} input, {} output, \
             {} cache read, {} cache write",
            self.total_cost(),
            self.api_time.as_secs(),
            self.opened.elapsed().as_secs(),
            self.lines.added,
            self.lines.removed,
            all.input,
            all.output,
            all.cache_read,
            all.cache_creation,
        )
    }

    fn told(&self, models: &BTreeMap<String, Account>) -> BTreeMap<String, ModelUsage> {
        let entry = |(model, account): (&String, &Account)| {
            (
                model.clone(),
                entry(model, account, self.prices.find(model)),
            )
        };
        models.iter().map(entry).collect()
    }

    pub(crate) fn wall_time(&self) -> Duration {
        self.opened.elapsed()
    }
}

fn entry(model: &str, account: &Account, found: FoundPrice) -> ModelUsage {
    let tokens = &account.tokens;
    let limits = found.price();
    ModelUsage {
        input_tokens: Some(tokens.input),
        output_tokens: Some(tokens.output),
        cache_read_input_tokens: Some(tokens.cache_read),
        cache_creation_input_tokens: Some(tokens.cache_creation),
        web_search_requests: Some(tokens.web_searches),
        cost_usd: Some(account.cost.into()),
        context_window: Some(limits.context_window),
        max_output_tokens: Some(limits.max_output),
        thinking_tokens: Some(tokens.thinking),
        cache_creation_ephemeral_5m_input_tokens: Some(tokens.cache_5m),
        cache_creation_ephemeral_1h_input_tokens: Some(tokens.cache_1h),
        canonical_model: Some(falconer_model::canonical_model(model).to_owned()),
        provider: Some("firstParty".to_owned()),
        cost_basis: Some(match found {
            FoundPrice::Listed(_) => CostBasis::List,
            FoundPrice::Guessed(_) => CostBasis::Unknown,
        }),
        ..ModelUsage::default()
    }
}
