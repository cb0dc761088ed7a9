//! Sub-agents, models and accounts of an engine.

use crate::wire::wire_struct;

wire_struct! {
    /// A sub-agent.
    pub struct AgentInfo {
        /// Name by which the model calls it.
        pub name: String,
        /// Text by which the model decides to use it.
        pub description ? String,
        /// Model it runs on; `inherit` for the caller's, absent for the default.
        pub model ? String,
    }
}

wire_struct! {
    /// A model.
    pub struct ModelInfo {
        /// Value for [`SetModel`](super::SetModel); an alias or a model id.
        pub value: String,
        /// Model id that `value` stands for.
        pub resolved_model ? String => "resolvedModel",
        /// Short name for people.
        pub display_name ? String => "displayName",
        /// Line for people.
        pub description ? String,
        /// `true` if the model accepts an effort level.
        pub supports_effort ? bool => "supportsEffort",
        /// Levels from the lowest to the highest, such as `low` to `max`.
        pub supported_effort_levels ? Vec<String> => "supportedEffortLevels",
        /// `true` if the model decides by itself how long to think.
        pub supports_adaptive_thinking ? bool => "supportsAdaptiveThinking",
        /// `true` if fast mode can be switched on.
        pub supports_fast_mode ? bool => "supportsFastMode",
        /// `true` if [`PermissionMode::Auto`](crate::permission::PermissionMode::Auto) is possible.
        pub supports_auto_mode ? bool => "supportsAutoMode",
    }
}

wire_struct! {
    /// The account that pays.
    pub struct AccountInfo {
        /// Address of the login; absent with an API key.
        pub email ? String,
        /// Organisation of the login; absent with an API key.
        pub organization ? String,
        /// Plan of the login; absent with an API key.
        pub subscription_type ? String => "subscriptionType",
        /// Origin of the login token; `none` with an API key.
        pub token_source ? String => "tokenSource",
        /// Origin of the API key, such as `ANTHROPIC_API_KEY`; absent without one.
        pub api_key_source ? String => "apiKeySource",
        /// API in use: `firstParty`, `bedrock`, `vertex` and others.
        pub api_provider ? String => "apiProvider",
    }
}
