//! Why something failed or ended.

use crate::wire::open_enum;

open_enum! {
    /// The class of an API failure.
    pub enum AssistantError {
        Unknown = "unknown",
        AuthenticationFailed = "authentication_failed",
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        AccountOnHold = "account_on_hold",
        VerificationRequired = "verification_required",
        BillingError = "billing_error",
        RateLimit = "rate_limit",
        Overloaded = "overloaded",
        InvalidRequest = "invalid_request",
        ModelNotFound = "model_not_found",
        ServerError = "server_error",
        MaxOutputTokens = "max_output_tokens",
        CloudCredentialError = "cloud_credential_error",
    }
}

open_enum! {
    /// Why a turn ended.
    pub enum TerminalReason {
        Completed = "completed",
        MaxTurns = "max_turns",
        BudgetExhausted = "budget_exhausted",
        ApiError = "api_error",
        ModelError = "model_error",
        ImageError = "image_error",
        PromptTooLong = "prompt_too_long",
        BlockingLimit = "blocking_limit",
        RapidRefillBreaker = "rapid_refill_breaker",
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        AbortedStreaming = "aborted_streaming",
        AbortedTools = "aborted_tools",
        StopHookPrevented = "stop_hook_prevented",
        HookStopped = "hook_stopped",
        ToolDeferred = "tool_deferred",
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        BackgroundRequested = "background_requested",
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        TurnSetupFailed = "turn_setup_failed",
    }
}

open_enum! {
    /// Why an engine refused to start.
    pub enum StartupFailureReason {
        ConfigFileInvalid = "config_file_invalid",
        BypassRoot = "bypass_root",
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        SessionHeldByBackground = "session_held_by_background",
        CwdUnavailable = "cwd_unavailable",
        TempDirUnusable = "temp_dir_unusable",
        ShellToolMissing = "shell_tool_missing",
        InitializeNotFirst = "initialize_not_first",
        CliVersionTooOld = "cli_version_too_old",
        ProxyInvalid = "proxy_invalid",
        ManagedSettingsInvalid = "managed_settings_invalid",
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        OrgPinMismatch = "org_pin_mismatch",
        OrgVerifyFailed = "org_verify_failed",
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        OrgConfigRefused = "org_config_refused",
        ProviderNotAllowed = "provider_not_allowed",
        GatewaySigninRequired = "gateway_signin_required",
        GatewayAccessDenied = "gateway_access_denied",
        WorktreeResumeRefused = "worktree_resume_refused",
        WorktreeUnverified = "worktree_unverified",
    }
}
