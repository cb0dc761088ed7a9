//! What an engine has to offer.

use crate::wire::wire_struct;

wire_struct! {
    /// A slash command or a skill.
    pub struct SlashCommand {
        pub name: String,
        pub description ? String,
        pub argument_hint ? String => "argumentHint",
        pub aliases ? Vec<String>,
        pub builtin ? bool,
    }
}

wire_struct! {
    /// A sub-agent.
    pub struct AgentInfo {
        pub name: String,
        pub description ? String,
        pub model ? String,
    }
}

wire_struct! {
    /// A model.
    pub struct ModelInfo {
        /// What `set_model` takes.
        pub value: String,
        pub resolved_model ? String => "resolvedModel",
        pub display_name ? String => "displayName",
        pub description ? String,
        pub supports_effort ? bool => "supportsEffort",
        pub supported_effort_levels ? Vec<String> => "supportedEffortLevels",
        pub supports_adaptive_thinking ? bool => "supportsAdaptiveThinking",
        pub supports_fast_mode ? bool => "supportsFastMode",
        pub supports_auto_mode ? bool => "supportsAutoMode",
    }
}

wire_struct! {
    /// Who pays.
    pub struct AccountInfo {
        pub email ? String,
        pub organization ? String,
        pub subscription_type ? String => "subscriptionType",
        pub token_source ? String => "tokenSource",
        pub api_key_source ? String => "apiKeySource",
        pub api_provider ? String => "apiProvider",
    }
}
