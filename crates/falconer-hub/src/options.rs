//! Options that whoever makes a session may choose: kept in its record, applied at every start.
//!
//! Nothing in here starts a program on the machine, names an address, an account or a file, or
//! widens a permission mode. [`SessionOptions::asks_less`] names the one exception.

use std::collections::BTreeMap;

use falconer::protocol::agent::AgentDefinition;
use falconer::{BuiltinTools, Effort, Options, Skills, SystemPrompt, Thinking};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Stands for every skill.
const ALL_SKILLS: &str = "*";

/// How the runs of a session are started. What is missing is left to the server and its engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Replaces the engine's system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Follows the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Replaces the description of the work to do in plan mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_mode_instructions: Option<String>,
    /// Models to try, in order, when the model is overloaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// How much effort the model spends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<SessionEffort>,
    /// How the model thinks before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<SessionThinking>,
    /// Tokens the model is told it has for the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_budget: Option<u64>,
    /// Betas of the API.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub betas: Vec<String>,
    /// The built-in tools there are, and no others; an empty list is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Rules for what must not be done, besides those of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Skills that run unasked, `*` for all; needs the scope `approve`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The agent that leads the conversation; one of `agents`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Agents, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, SessionAgent>,
    /// The JSON Schema that answers fit; the value is in the `structured_output` of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Sends prompts as they are: no files for `@path`, no slash commands.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verbatim_prompts: bool,
}

/// How much effort the model spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SessionEffort {
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

/// How the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SessionThinking {
    /// The model decides.
    Adaptive {},
    /// Not at all.
    Disabled {},
    /// With at most this many tokens.
    Budget {
        /// How many; more than 0.
        tokens: u32,
    },
}

/// An agent of a session. Programs and permission modes are for whoever owns the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionAgent {
    /// When it is used.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has; those of its caller if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools it does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// Its model; that of its caller if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many rounds it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
}

impl SessionOptions {
    /// The options in the record of a session.
    ///
    /// # Errors
    /// If they make no sense: a session must not run without those it was given.
    pub fn of(config: &Value) -> Result<Self, String> {
        let options = match config.get("options") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(options) => Self::deserialize(options)
                .map_err(|error| format!("the options make no sense: {error}"))?,
        };
        options.check()?;
        Ok(options)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something is done unasked that is asked about without them: skills run unasked.
    #[must_use]
    pub fn asks_less(&self) -> bool {
        !self.skills.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        if self.thinking == Some(SessionThinking::Budget { tokens: 0 }) {
            return Err("`thinking` needs more than 0 tokens, or the type `disabled`".to_owned());
        }
        if let Some(flaw) = self.deny.iter().find_map(|rule| falconer_rule::flaw(rule)) {
            return Err(flaw);
        }
        if let Some(agent) = &self.agent
            && !self.agents.contains_key(agent)
        {
            return Err(format!("`agent` is `{agent}`, which is not among `agents`"));
        }
        let names = self.fallback_models.iter().chain(&self.betas);
        let mut names = names.chain(&self.skills).chain(self.agents.keys());
        if names.any(|name| name.trim().is_empty()) {
            Err("names of models, betas, skills and agents must not be empty".to_owned())
        } else {
            Ok(())
        }
    }

    /// These, and where they say nothing, others. Neither can have tools the other leaves out, and
    /// both deny.
    #[must_use]
    pub fn or(self, others: &Self) -> Self {
        let list = |own: Vec<String>, other: &Vec<String>| {
            if own.is_empty() { other.clone() } else { own }
        };
        let tools = match (self.tools, &others.tools) {
            (Some(own), Some(widest)) => {
                Some(own.into_iter().filter(|it| widest.contains(it)).collect())
            }
            (own, other) => own.or_else(|| other.clone()),
        };
        let mut agents = others.agents.clone();
        agents.extend(self.agents);
        Self {
            // What is appended belongs to the prompt it was written for.
            append_system_prompt: match self.system_prompt {
                Some(_) => self.append_system_prompt,
                None => self
                    .append_system_prompt
                    .or_else(|| others.append_system_prompt.clone()),
            },
            system_prompt: self.system_prompt.or_else(|| others.system_prompt.clone()),
            plan_mode_instructions: self
                .plan_mode_instructions
                .or_else(|| others.plan_mode_instructions.clone()),
            fallback_models: list(self.fallback_models, &others.fallback_models),
            effort: self.effort.or(others.effort),
            thinking: self.thinking.or(others.thinking),
            task_budget: self.task_budget.or(others.task_budget),
            betas: list(self.betas, &others.betas),
            tools,
            deny: others.deny.iter().cloned().chain(self.deny).collect(),
            skills: list(self.skills, &others.skills),
            agent: self.agent.or_else(|| others.agent.clone()),
            agents,
            output_schema: self.output_schema.or_else(|| others.output_schema.clone()),
            verbatim_prompts: self.verbatim_prompts || others.verbatim_prompts,
        }
    }

    /// The options an engine is started with.
    #[must_use]
    pub fn apply(&self, mut options: Options) -> Options {
        if let Some(prompt) = self.prompt() {
            options = options.system_prompt(prompt);
        }
        if let Some(text) = &self.plan_mode_instructions {
            options = options.plan_mode_instructions(text);
        }
        for model in &self.fallback_models {
            options = options.fallback_model(model);
        }
        if let Some(effort) = self.effort {
            options = options.effort(effort.into());
        }
        if let Some(thinking) = self.thinking {
            options = options.thinking(thinking.into());
        }
        if let Some(tokens) = self.task_budget {
            options = options.task_budget(tokens);
        }
        for name in &self.betas {
            options = options.beta(name);
        }
        if let Some(tools) = &self.tools {
            options = options.builtin_tools(if tools.is_empty() {
                BuiltinTools::None
            } else {
                BuiltinTools::Only(tools.clone())
            });
        }
        if !self.skills.is_empty() {
            let all = self.skills.iter().any(|skill| skill == ALL_SKILLS);
            options = options.skills(if all {
                Skills::All
            } else {
                Skills::Only(self.skills.clone())
            });
        }
        if let Some(name) = &self.agent {
            options = options.main_agent(name);
        }
        for (name, agent) in &self.agents {
            options = options.agent(name, agent.definition());
        }
        if let Some(schema) = &self.output_schema {
            options = options.output_schema(Value::Object(schema.clone()));
        }
        if self.verbatim_prompts {
            options = options.verbatim_prompts();
        }
        options.disallow_tools(self.deny.iter().cloned())
    }

    fn prompt(&self) -> Option<SystemPrompt> {
        let base = match &self.system_prompt {
            Some(text) => SystemPrompt::custom(text),
            None => SystemPrompt::claude_code(),
        };
        match (&self.system_prompt, &self.append_system_prompt) {
            (None, None) => None,
            (_, Some(text)) => Some(base.append(text)),
            (Some(_), None) => Some(base),
        }
    }
}

impl SessionAgent {
    fn definition(&self) -> AgentDefinition {
        let mut definition = AgentDefinition::new(&self.description, &self.prompt);
        definition.tools.clone_from(&self.tools);
        definition
            .disallowed_tools
            .clone_from(&self.disallowed_tools);
        definition.model.clone_from(&self.model);
        definition.max_turns = self.max_turns;
        definition
    }
}

impl From<SessionEffort> for Effort {
    fn from(effort: SessionEffort) -> Self {
        match effort {
            SessionEffort::Low => Self::Low,
            SessionEffort::Medium => Self::Medium,
            SessionEffort::High => Self::High,
            SessionEffort::XHigh => Self::XHigh,
            SessionEffort::Max => Self::Max,
        }
    }
}

impl From<SessionThinking> for Thinking {
    fn from(thinking: SessionThinking) -> Self {
        match thinking {
            SessionThinking::Adaptive {} => Self::Adaptive,
            SessionThinking::Disabled {} => Self::Disabled,
            SessionThinking::Budget { tokens } => Self::Budget(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(options: &Value) -> Result<SessionOptions, String> {
        SessionOptions::of(&json!({ "options": options }))
    }

    #[test]
    fn what_is_not_understood_is_refused_and_nothing_is_dropped() {
        for wrong in [
            json!("effort"),
            json!({"effrot": "high"}),
            json!({"effort": "highest"}),
            json!({"thinking": {"type": "budget", "tokens": 0}}),
            json!({"thinking": {"type": "adaptive", "tokens": 1}}),
            json!({"deny": ["Bsah(rm *)"]}),
            json!({"fallback_models": [" "]}),
            json!({"agent": "stranger"}),
            json!({"agents": {"a": {"description": "d", "prompt": "p", "mcpServers": []}}}),
            json!({"mcp_servers": {}}),
        ] {
            assert!(of(&wrong).is_err(), "{wrong}");
        }
        assert!(of(&json!({})).unwrap().is_empty());
        assert!(of(&Value::Null).unwrap().is_empty());
    }

    #[test]
    fn a_session_cannot_have_tools_or_undo_denials_of_its_server() {
        let server = of(&json!({"tools": ["Read", "Grep"], "deny": ["WebFetch"],
            "effort": "low", "betas": ["a"], "append_system_prompt": "In French."}))
        .unwrap();
        let session = of(&json!({"tools": ["Bash", "Grep"], "deny": ["Read(x)"],
            "effort": "max", "system_prompt": "Be brief."}))
        .unwrap();
        let together = session.or(&server);
        assert_eq!(together.tools, Some(vec!["Grep".to_owned()]));
        assert_eq!(together.deny, ["WebFetch", "Read(x)"]);
        assert_eq!(together.effort, Some(SessionEffort::Max));
        assert_eq!(together.betas, ["a"]);
        // What is appended belongs to the prompt it was written for.
        assert_eq!(together.append_system_prompt, None);
        assert_eq!(SessionOptions::default().or(&server), server);
    }

    #[test]
    fn only_skills_ask_less() {
        assert!(of(&json!({"skills": ["pdf"]})).unwrap().asks_less());
        let others = json!({"tools": ["Bash"], "agents": {"a": {"description": "", "prompt": ""}}});
        assert!(!of(&others).unwrap().asks_less());
    }
}
