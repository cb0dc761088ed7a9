//! What a transcript says about its session; the last word counts.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::cost::CostState;
use crate::entry::RawEntry;
use crate::text::Text;

/// The facts about a session that its next run needs.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) cost: Option<CostState>,
    pub(super) custom_title: Option<String>,
    pub(super) last_prompt: Option<String>,
    pub(super) tools_used: Vec<String>,
}

/// The fields of entries that hold a fact.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FactEntry<'a> {
    #[serde(borrow)]
    custom_title: Text<'a>,
    #[serde(borrow)]
    last_prompt: Text<'a>,
    #[serde(borrow)]
    tools: Vec<Text<'a>>,
    #[serde(rename = "totalCostUSD")]
    total_cost_usd: Option<IgnoredAny>,
}

impl Facts {
    /// Takes in an entry that is not part of the conversation.
    pub(super) fn learn(&mut self, entry: &RawEntry<'_>, line: &[u8]) {
        let kind = entry.kind.as_deref().unwrap_or_default();
        if !matches!(
            kind,
            "cost-state" | "custom-title" | "last-prompt" | "tools-used"
        ) {
            return;
        }
        let Ok(fact) = serde_json::from_slice::<FactEntry<'_>>(line) else {
            return;
        };
        match kind {
            "custom-title" => self.custom_title = fact.custom_title.non_empty().map(str::to_owned),
            "last-prompt" => self.last_prompt = fact.last_prompt.into_string(),
            "tools-used" => {
                let tools = fact.tools.into_iter().filter_map(Text::into_string);
                self.tools_used = tools.collect();
            }
            _ if fact.total_cost_usd.is_some() => {
                self.cost = serde_json::from_slice(line).ok().or(self.cost.take());
            }
            _ => {}
        }
    }
}
