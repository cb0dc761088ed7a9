//! What fills the context, estimated from sizes; the API is asked for the whole where it can.

use std::collections::BTreeMap;

use falconer_protocol::content::ContentBlock;
use falconer_protocol::control::{
    ContextCategory, ContextMcpTool, ContextToolCalls, ContextUsage, MessageBreakdown,
};
use falconer_protocol::message::{ContextReport, ContextReportCategory};
use serde_json::Value;

use super::core::Core;
use crate::conversation::Role;
use crate::turn::request;

/// Sizes of the parts of a request, in tokens.
struct Sizes {
    system: u64,
    tools: u64,
    mcp_tools: Vec<(String, u64)>,
    messages: u64,
    window: u64,
    model: String,
}

/// Id, name, tokens, colour and kind of a part.
type Category = (&'static str, &'static str, u64, &'static str, &'static str);

impl Sizes {
    fn total(&self) -> u64 {
        let mcp: u64 = self.mcp_tools.iter().map(|it| it.1).sum();
        self.system + self.tools + mcp + self.messages
    }

    fn percentage(&self) -> u64 {
        self.total() * 100 / self.window.max(1)
    }

    fn categories(&self) -> Vec<Category> {
        let mcp: u64 = self.mcp_tools.iter().map(|it| it.1).sum();
        let free = self.window.saturating_sub(self.total());
        let all = [
            (
                "system_prompt",
                "System prompt",
                self.system,
                "promptBorder",
                "used",
            ),
            (
                "system_tools",
                "System tools",
                self.tools,
                "inactive",
                "used",
            ),
            ("mcp_tools", "MCP tools", mcp, "cyan", "used"),
            ("messages", "Messages", self.messages, "purple", "used"),
            ("free_space", "Free space", free, "promptBorder", "free"),
        ];
        all.into_iter().filter(|it| it.2 > 0).collect()
    }
}

fn tokens(value: &Value) -> u64 {
    tokens_in(value.to_string().len())
}

/// About four bytes of JSON make a token.
fn tokens_in(size: usize) -> u64 {
    (size as u64).div_ceil(4)
}

impl Core {
    async fn sizes(&self) -> Sizes {
        let model = self.model();
        let parts = self.request_parts(&model);
        let is_mcp = |tool: &&Value| {
            tool["name"]
                .as_str()
                .is_some_and(|it| it.starts_with("mcp__"))
        };
        let mcp_tools = parts.tools.iter().filter(is_mcp);
        let mut sizes = Sizes {
            system: parts.system.iter().map(tokens).sum(),
            tools: parts
                .tools
                .iter()
                .filter(|it| !is_mcp(it))
                .map(tokens)
                .sum(),
            mcp_tools: mcp_tools
                .map(|it| {
                    (
                        it["name"].as_str().unwrap_or_default().to_owned(),
                        tokens(it),
                    )
                })
                .collect(),
            messages: parts
                .conversation
                .messages()
                .map(|it| tokens_in(it.size()))
                .sum(),
            window: self.prices.find(&model).price().context_window,
            model,
        };
        self.correct(&mut sizes, parts).await;
        sizes
    }

    /// The API's own count of the whole, if it has one, corrects the largest part.
    async fn correct(&self, sizes: &mut Sizes, parts: request::Parts) {
        if !self.provider.capabilities().count_tokens || parts.conversation.is_empty() {
            return;
        }
        let mut body = request::build(parts, &self.provider.capabilities()).body;
        for field in ["max_tokens", "stream", "metadata", "output_config"] {
            body.remove(field);
        }
        if let Ok(total) = self.provider.count_tokens(body).await {
            let others = sizes.total() - sizes.messages;
            sizes.messages = total.saturating_sub(others);
        }
    }

    /// The answer to `get_context_usage`.
    pub(crate) async fn context_usage(&self) -> ContextUsage {
        let sizes = self.sizes().await;
        let category = |(id, name, tokens, color, kind): Category| ContextCategory {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            tokens,
            color: Some(color.to_owned()),
            kind: Some(kind.to_owned()),
            ..ContextCategory::default()
        };
        let tool = |(name, tokens): &(String, u64)| ContextMcpTool {
            name: name.clone(),
            server_name: Some(name.split("__").nth(1).unwrap_or_default().to_owned()),
            tokens: *tokens,
            is_loaded: Some(true),
            ..ContextMcpTool::default()
        };
        let usage = ContextUsage {
            categories: sizes.categories().into_iter().map(category).collect(),
            total_tokens: sizes.total(),
            max_tokens: Some(sizes.window),
            raw_max_tokens: Some(sizes.window),
            percentage: Some(sizes.percentage().into()),
            grid_rows: Some(Value::Array(Vec::new())),
            memory_files: Some(Vec::new()),
            mcp_tools: Some(sizes.mcp_tools.iter().map(tool).collect()),
            agents: Some(Vec::new()),
            mcp_instructions: Some(Vec::new()),
            message_breakdown: Some(self.breakdown()),
            is_auto_compact_enabled: Some(false),
            api_usage: self.ledger().last_usage(),
            model: Some(sizes.model),
            ..ContextUsage::default()
        };
        usage.with_empty("categories").with_empty("apiUsage")
    }

    /// What the messages are made of.
    fn breakdown(&self) -> MessageBreakdown {
        let mut sizes = [0; 4];
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        let conversation = self.state().conversation.clone();
        for message in conversation.messages() {
            let words = match message.role() {
                Role::Assistant => 2,
                Role::User => 3,
            };
            if let Some(size) = message.string_size() {
                sizes[words] += tokens_in(size);
            }
            for (size, block) in message.blocks() {
                let size = tokens_in(size);
                match block {
                    Some(ContentBlock::ToolUse(call)) => {
                        sizes[0] += size;
                        *calls.entry(call.name).or_default() += size;
                    }
                    Some(ContentBlock::ToolResult(_)) => sizes[1] += size,
                    _ => sizes[words] += size,
                }
            }
        }
        let call = |(name, tokens): (String, u64)| ContextToolCalls {
            name,
            call_tokens: tokens,
            result_tokens: 0,
            ..ContextToolCalls::default()
        };
        MessageBreakdown {
            tool_call_tokens: sizes[0],
            tool_result_tokens: sizes[1],
            assistant_message_tokens: sizes[2],
            user_message_tokens: sizes[3],
            tool_calls_by_type: calls.into_iter().map(call).collect(),
            ..MessageBreakdown::default()
        }
    }

    /// The text of `/context`, and its numbers.
    pub(crate) async fn context_report(&self) -> (String, ContextReport) {
        let sizes = self.sizes().await;
        let mut text = format!(
            "## Context Usage\n\n**Model:** {}  \n**Tokens:** {} / {} ({}%)\n\n\
             | Category | Tokens |\n|----------|--------|\n",
            sizes.model,
            sizes.total(),
            sizes.window,
            sizes.percentage(),
        );
        let categories = sizes.categories();
        for (_, name, tokens, _, _) in &categories {
            text.push_str(&format!("| {name} | {tokens} |\n"));
        }
        let listed = categories
            .iter()
            .map(|(_, name, tokens, _, kind)| ContextReportCategory {
                name: (*name).to_owned(),
                tokens: *tokens,
                kind: Some((*kind).to_owned()),
                ..ContextReportCategory::default()
            });
        let report = ContextReport {
            total_tokens: sizes.total(),
            raw_max_tokens: sizes.window,
            percentage: sizes.percentage().into(),
            categories: listed.collect(),
            model: sizes.model,
            ..ContextReport::default()
        };
        (text, report)
    }
}
