//! The class of every settings key: what a project may say with it.
//!
//! The list is closed: a key that is not in it needs trust.

use serde_json::Value;

use super::item::ItemKind;

/// The largest output of a command that a project may ask for without trust.
const DEFAULT_OUTPUT: u64 = 30_000;

/// Longer than the name of any model.
const MAX_NAME: usize = 256;

/// What a project may say with a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Class {
    /// Taken from every project: it cannot widen anything.
    Narrowing,
    /// Taken without trust if it narrows what the user has set.
    Relative(Relative),
    /// Needs trust as a whole.
    NeedsTrust(ItemKind),
    /// A list whose elements need trust one by one.
    EachNeedsTrust(ItemKind),
    /// An object whose entries need trust one by one.
    EntriesNeedTrust(ItemKind),
    /// An object whose keys have classes of their own.
    Section(&'static [(&'static str, Class)]),
    /// Variables: each by its name.
    Variables,
    /// Hooks: lists by event.
    Hooks,
    /// Never taken from a project.
    Never,
}

/// A value whose effect depends on what the user has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relative {
    /// `permissions.defaultMode`.
    Mode,
    /// `bashOutputMaxChars`.
    OutputLimit,
    /// A lock that `disable` closes.
    Lock,
    /// A switch that `true` narrows.
    Switch,
    /// Names of servers that are not started.
    Names,
    /// The name of a model, or a list of them.
    Text,
}

use Class::{
    EachNeedsTrust, EntriesNeedTrust, Hooks, Narrowing, NeedsTrust, Never, Section, Variables,
};
use ItemKind::{Directory, Guard, Helper, Mode, Rule, Server, Setting};

const PERMISSIONS: &[(&str, Class)] = &[
    ("deny", Narrowing),
    ("ask", Narrowing),
    ("allow", EachNeedsTrust(Rule)),
    ("additionalDirectories", EachNeedsTrust(Directory)),
    ("defaultMode", Class::Relative(Relative::Mode)),
    (
        "disableBypassPermissionsMode",
        Class::Relative(Relative::Lock),
    ),
    ("disableAutoMode", Class::Relative(Relative::Lock)),
    ("skipDangerousModePermissionPrompt", NeedsTrust(Guard)),
];

const SANDBOX: &[(&str, Class)] = &[
    ("enabled", Class::Relative(Relative::Switch)),
    ("failIfUnavailable", Class::Relative(Relative::Switch)),
];

/// Every key of a settings file, in the order of the alphabet.
#[rustfmt::skip]
pub(super) const KEYS: &[(&str, Class)] = &[
    ("$schema", Narrowing),
    ("additionalDirectories", EachNeedsTrust(Directory)),
    ("additionalMarketplaces", EntriesNeedTrust(Helper)),
    ("advisorModel", NeedsTrust(Setting)),
    ("agent", NeedsTrust(Setting)),
    ("agentPushNotifEnabled", NeedsTrust(Setting)),
    ("allowAllClaudeAiMcps", NeedsTrust(Guard)),
    ("allowClaudeInChromeWithManagedMcp", NeedsTrust(Guard)),
    ("allowedChannelPlugins", NeedsTrust(Setting)),
    ("allowedHttpHookUrls", NeedsTrust(Guard)),
    ("allowedMarketplaces", NeedsTrust(Setting)),
    ("allowedMcpServers", NeedsTrust(Server)),
    ("allowedProviders", Never),
    ("allowManagedHooksOnly", NeedsTrust(Guard)),
    ("allowManagedMcpServersOnly", NeedsTrust(Guard)),
    ("allowManagedPermissionRulesOnly", NeedsTrust(Guard)),
    ("alwaysThinkingEnabled", NeedsTrust(Setting)),
    ("apiKeyHelper", NeedsTrust(Helper)),
    ("appendPlugins", NeedsTrust(Helper)),
    ("askUserQuestionTimeout", NeedsTrust(Setting)),
    ("attribution", NeedsTrust(Setting)),
    ("attributionProject", NeedsTrust(Setting)),
    ("attributionProjectPolicy", NeedsTrust(Setting)),
    ("autoCompactEnabled", NeedsTrust(Setting)),
    ("autoCompactWindow", NeedsTrust(Setting)),
    ("autoContinueAtUsageLimit", NeedsTrust(Setting)),
    ("autoDreamEnabled", NeedsTrust(Setting)),
    ("autoMemoryDirectory", NeedsTrust(Directory)),
    ("autoMemoryEnabled", NeedsTrust(Setting)),
    ("autoMode", NeedsTrust(Guard)),
    ("autoScrollEnabled", NeedsTrust(Setting)),
    ("autoUpdatesChannel", NeedsTrust(Setting)),
    ("autoUploadSessions", NeedsTrust(Guard)),
    ("availableModels", NeedsTrust(Setting)),
    ("availableModelsMatch", NeedsTrust(Setting)),
    ("awsAuthRefresh", NeedsTrust(Helper)),
    ("awsCredentialExport", NeedsTrust(Helper)),
    ("bashEditDiffEnabled", NeedsTrust(Setting)),
    ("bashOutputMaxChars", Class::Relative(Relative::OutputLimit)),
    ("blockedMarketplaces", NeedsTrust(Setting)),
    ("channelsEnabled", NeedsTrust(Setting)),
    ("claudeMd", NeedsTrust(Setting)),
    ("claudeMdExcludes", NeedsTrust(Setting)),
    ("cleanupPeriodDays", NeedsTrust(Setting)),
    ("companyAnnouncements", NeedsTrust(Setting)),
    ("crossSessionInbound", NeedsTrust(Guard)),
    ("daemonColdStart", NeedsTrust(Setting)),
    ("defaultShell", NeedsTrust(Helper)),
    ("defaultView", NeedsTrust(Setting)),
    ("deniedMcpServers", NeedsTrust(Setting)),
    ("deniedModels", NeedsTrust(Setting)),
    ("desktopSessionCleanupPeriodDays", NeedsTrust(Setting)),
    ("dialogExpiry", NeedsTrust(Setting)),
    ("disableAgentView", NeedsTrust(Setting)),
    ("disableAllHooks", NeedsTrust(Guard)),
    ("disableArtifact", NeedsTrust(Setting)),
    ("disableAutoMode", NeedsTrust(Guard)),
    ("disableBundledSkills", NeedsTrust(Setting)),
    ("disableClaudeAiConnectors", NeedsTrust(Setting)),
    ("disableCommandPluginSources", NeedsTrust(Guard)),
    ("disableDeepLinkRegistration", NeedsTrust(Setting)),
    ("disabledMcpjsonServers", Class::Relative(Relative::Names)),
    ("disableRemoteControl", NeedsTrust(Setting)),
    ("disableReplyCheck", NeedsTrust(Setting)),
    ("disableSideloadFlags", NeedsTrust(Guard)),
    ("disableSkillShellExecution", NeedsTrust(Guard)),
    ("disableWindowsBashCommandSplit", NeedsTrust(Guard)),
    ("disableWorkflows", NeedsTrust(Setting)),
    ("editorMode", NeedsTrust(Setting)),
    ("effortLevel", NeedsTrust(Setting)),
    ("emojiCompletionEnabled", NeedsTrust(Setting)),
    ("enableAllProjectMcpServers", NeedsTrust(Server)),
    ("enableArtifact", NeedsTrust(Setting)),
    ("enabledMcpjsonServers", EachNeedsTrust(Server)),
    ("enabledPlugins", EntriesNeedTrust(Helper)),
    ("enableWorkflows", NeedsTrust(Setting)),
    ("enforceAvailableModels", NeedsTrust(Setting)),
    ("env", Variables),
    ("extraKnownMarketplaces", EntriesNeedTrust(Helper)),
    ("fallbackModel", Class::Relative(Relative::Text)),
    ("fastMode", NeedsTrust(Setting)),
    ("fastModePerSessionOptIn", NeedsTrust(Setting)),
    ("feedbackDrafts", NeedsTrust(Setting)),
    ("feedbackSurveyRate", NeedsTrust(Setting)),
    ("fileCheckpointingEnabled", NeedsTrust(Guard)),
    ("fileSuggestion", NeedsTrust(Helper)),
    ("footerLinksRegexes", NeedsTrust(Setting)),
    ("forceLoginGatewayUrl", Never),
    ("forceLoginMethod", NeedsTrust(Setting)),
    ("forceLoginOrgUUID", NeedsTrust(Setting)),
    ("forceRemoteSettingsRefresh", NeedsTrust(Setting)),
    ("gatewayInternalNetworks", Never),
    ("gcpAuthRefresh", NeedsTrust(Helper)),
    ("hooks", Hooks),
    ("httpHookAllowedEnvVars", NeedsTrust(Guard)),
    ("idleCompaction", NeedsTrust(Setting)),
    ("includeCoAuthoredBy", NeedsTrust(Setting)),
    ("includeGitInstructions", NeedsTrust(Setting)),
    ("inputNeededNotifEnabled", NeedsTrust(Setting)),
    ("isolatePeerMachines", NeedsTrust(Guard)),
    ("keybindingFlavor", NeedsTrust(Setting)),
    ("language", NeedsTrust(Setting)),
    ("managedMcpServers", EntriesNeedTrust(Server)),
    ("managedSourcesBehavior", NeedsTrust(Guard)),
    ("maxEffortLevel", NeedsTrust(Setting)),
    ("maxProseWidth", NeedsTrust(Setting)),
    ("mcpServers", EntriesNeedTrust(Server)),
    ("minimumVersion", NeedsTrust(Setting)),
    ("model", Class::Relative(Relative::Text)),
    // The address of a model, such as the ARN of somebody else's account.
    ("modelOverrides", Never),
    ("modelPicker", NeedsTrust(Setting)),
    ("modelPricing", NeedsTrust(Setting)),
    ("modelSettings", NeedsTrust(Setting)),
    ("otelHeadersHelper", NeedsTrust(Helper)),
    ("outputStyle", NeedsTrust(Setting)),
    ("parentSettingsBehavior", NeedsTrust(Guard)),
    ("permissions", Section(PERMISSIONS)),
    ("plansDirectory", NeedsTrust(Directory)),
    ("pluginConfigs", EntriesNeedTrust(Helper)),
    ("pluginSuggestionMarketplaces", NeedsTrust(Setting)),
    ("pluginTrustMessage", NeedsTrust(Setting)),
    ("policyHelper", NeedsTrust(Helper)),
    ("precomputeCompactionEnabled", NeedsTrust(Setting)),
    ("preferredNotifChannel", NeedsTrust(Setting)),
    ("prefersReducedMotion", NeedsTrust(Setting)),
    ("prependPlugins", NeedsTrust(Helper)),
    ("processWrapper", NeedsTrust(Helper)),
    ("promptCacheTtl", NeedsTrust(Setting)),
    ("promptSuggestionEnabled", NeedsTrust(Setting)),
    ("proxyAuthHelper", Never),
    ("prUrlTemplate", NeedsTrust(Setting)),
    ("remote", NeedsTrust(Setting)),
    ("remoteControlAtStartup", NeedsTrust(Guard)),
    ("requiredMaximumVersion", NeedsTrust(Setting)),
    ("requiredMinimumVersion", NeedsTrust(Setting)),
    ("respectGitignore", NeedsTrust(Setting)),
    ("respondToBashCommands", NeedsTrust(Setting)),
    ("sandbox", Section(SANDBOX)),
    ("showClearContextOnPlanAccept", NeedsTrust(Setting)),
    ("showMessageTimestamps", NeedsTrust(Setting)),
    ("showThinkingSummaries", NeedsTrust(Setting)),
    ("showTurnDuration", NeedsTrust(Setting)),
    ("skillListingBudgetFraction", NeedsTrust(Setting)),
    ("skillListingMaxDescChars", NeedsTrust(Setting)),
    ("skillOverrides", NeedsTrust(Setting)),
    ("skipAutoPermissionPrompt", NeedsTrust(Guard)),
    ("skipDangerousModePermissionPrompt", NeedsTrust(Guard)),
    ("skipWebFetchPreflight", NeedsTrust(Guard)),
    ("spellcheck", NeedsTrust(Setting)),
    ("spinnerTipsEnabled", NeedsTrust(Setting)),
    ("spinnerTipsOverride", NeedsTrust(Setting)),
    ("spinnerVerbs", NeedsTrust(Setting)),
    ("sshConfigs", NeedsTrust(Helper)),
    ("sshHostCommands", NeedsTrust(Helper)),
    ("statusLine", NeedsTrust(Helper)),
    ("strictKnownMarketplaces", NeedsTrust(Setting)),
    ("strictPluginOnlyCustomization", NeedsTrust(Setting)),
    ("subagentPromptCacheTtl", NeedsTrust(Setting)),
    ("subagentStatusLine", NeedsTrust(Helper)),
    ("switchModelsOnFlag", NeedsTrust(Setting)),
    ("syncClaudeAiPlugins", NeedsTrust(Setting)),
    ("syncClaudeAiSkills", NeedsTrust(Setting)),
    ("syntaxHighlightingDisabled", NeedsTrust(Setting)),
    ("taskOutputMaxChars", NeedsTrust(Setting)),
    ("teammateMode", NeedsTrust(Setting)),
    ("terminalProgressBarEnabled", NeedsTrust(Setting)),
    ("terminalTitleFromRename", NeedsTrust(Setting)),
    ("theme", NeedsTrust(Setting)),
    ("timeFormat", NeedsTrust(Setting)),
    ("timeZone", NeedsTrust(Setting)),
    ("todoFeatureEnabled", NeedsTrust(Setting)),
    ("tui", NeedsTrust(Setting)),
    ("ultracode", NeedsTrust(Setting)),
    ("useAutoModeDuringPlan", NeedsTrust(Guard)),
    ("verbose", NeedsTrust(Setting)),
    ("viewMode", NeedsTrust(Setting)),
    ("vimInsertModeRemaps", NeedsTrust(Setting)),
    ("voice", NeedsTrust(Setting)),
    ("voiceEnabled", NeedsTrust(Setting)),
    ("wheelScrollAccelerationEnabled", NeedsTrust(Setting)),
    ("workflowKeywordTriggerEnabled", NeedsTrust(Setting)),
    ("workflowSizeGuideline", NeedsTrust(Setting)),
    ("worktree", NeedsTrust(Setting)),
    ("wslInheritsWindowsSettings", NeedsTrust(Setting)),
];

/// Keys with classes, and the kind of those that are not listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    listed: &'static [(&'static str, Class)],
    others: ItemKind,
}

impl Keys {
    /// The keys of a settings file.
    pub(super) const ALL: Self = Self {
        listed: KEYS,
        others: Setting,
    };

    /// The keys of a section that protects.
    pub(super) fn of_section(listed: &'static [(&'static str, Class)]) -> Self {
        Self {
            listed,
            others: Guard,
        }
    }

    /// The class of a key; one that is not listed needs trust.
    pub(super) fn class(self, key: &str) -> Class {
        let found = self.listed.iter().find(|(name, _)| *name == key);
        found.map_or(NeedsTrust(self.others), |(_, class)| *class)
    }
}

impl Relative {
    /// The kind of a value that no user's setting makes narrow; none if it may narrow.
    pub(super) fn needs_trust(self, value: &Value) -> Option<ItemKind> {
        let (is_narrow, kind) = match self {
            Self::Mode => (rank(value).is_some_and(|rank| rank <= ASKING), Mode),
            Self::OutputLimit => (
                value.as_u64().is_some_and(|it| it <= DEFAULT_OUTPUT),
                Setting,
            ),
            Self::Lock => (value.as_str() == Some("disable"), Guard),
            Self::Switch => (value.as_bool() == Some(true), Guard),
            Self::Names => (is_list_of_texts(value), Guard),
            Self::Text => (is_plain_name(value), Setting),
        };
        (!is_narrow).then_some(kind)
    }

    /// Whether a value is at least as narrow as the user's.
    pub(super) fn narrows(self, value: &Value, user: Option<&Value>) -> bool {
        match self {
            Self::Mode => {
                let allowed = user.and_then(rank).unwrap_or(ASKING);
                rank(value).is_some_and(|rank| rank <= allowed)
            }
            Self::OutputLimit => {
                let allowed = user.and_then(Value::as_u64).unwrap_or(DEFAULT_OUTPUT);
                value.as_u64().is_some_and(|it| it <= allowed)
            }
            Self::Lock | Self::Switch | Self::Names | Self::Text => true,
        }
    }
}

/// The rank of the mode that asks.
const ASKING: u8 = 2;

/// Modes from the narrowest on; none for those that allow more than asking does.
fn rank(mode: &Value) -> Option<u8> {
    match mode.as_str()? {
        "plan" => Some(0),
        "dontAsk" => Some(1),
        "default" | "manual" => Some(ASKING),
        "acceptEdits" => Some(3),
        _ => None,
    }
}

/// Whether a value names models by plain names. An ARN or a path may be somebody else's account.
fn is_plain_name(value: &Value) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-:[]@, ".contains(c);
    let is_name = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        text.len() <= MAX_NAME && text.chars().all(is_plain) && !text.contains("arn:")
    };
    match value {
        Value::String(text) => is_name(text),
        Value::Array(list) => list.iter().all(|it| it.as_str().is_some_and(is_name)),
        _ => false,
    }
}

fn is_list_of_texts(value: &Value) -> bool {
    let list = value.as_array();
    list.is_some_and(|list| list.iter().all(Value::is_string))
}
