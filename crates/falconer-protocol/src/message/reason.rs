//! Reasons for failures and endings.

use crate::wire::open_enum;

open_enum! {
    /// The class of an API failure.
    pub enum AssistantError {
        /// None of the other classes, such as a refused connection.
        Unknown = "unknown",
        /// The key or token was rejected, or there is none. Retried like a server error.
        AuthenticationFailed = "authentication_failed",
        /// The organisation of the login may not use this product.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// The account is suspended.
        AccountOnHold = "account_on_hold",
        /// The account has to be verified first.
        VerificationRequired = "verification_required",
        /// The account has no credit.
        BillingError = "billing_error",
        /// Too many requests; HTTP status 429.
        RateLimit = "rate_limit",
        /// The API is overloaded; HTTP status 529.
        Overloaded = "overloaded",
        /// The API did not accept the request; HTTP status 400.
        InvalidRequest = "invalid_request",
        /// The model does not exist or is not available to the account.
        ModelNotFound = "model_not_found",
        /// The API failed; HTTP status 500 and above.
        ServerError = "server_error",
        /// The answer reached its token limit, and continuing it did too.
        MaxOutputTokens = "max_output_tokens",
        /// The credentials of a cloud provider are missing or expired.
        CloudCredentialError = "cloud_credential_error",
    }
}

open_enum! {
    /// The reason a turn ended.
    ///
    /// Not all of them occur in the recorded sessions; the rarer ones are known by name only.
    pub enum TerminalReason {
        /// The model stopped by itself.
        Completed = "completed",
        /// The limit on API round trips was reached.
        MaxTurns = "max_turns",
        /// The limit on costs was reached.
        BudgetExhausted = "budget_exhausted",
        /// The API failed, and the retries too.
        ApiError = "api_error",
        /// The model's answer could not be used.
        ModelError = "model_error",
        /// A picture could not be processed.
        ImageError = "image_error",
        /// The API refused the prompt because of its length.
        PromptTooLong = "prompt_too_long",
        /// The engine itself refused the prompt because of its length.
        BlockingLimit = "blocking_limit",
        /// The context filled up again right after it was compacted, several times.
        RapidRefillBreaker = "rapid_refill_breaker",
        /// The model kept writing tool calls that could not be parsed.
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        /// An interrupt, or a prompt with priority `now`, came while the model was answering.
        AbortedStreaming = "aborted_streaming",
        /// An interrupt came while tools were running.
        AbortedTools = "aborted_tools",
        /// A `Stop` hook ended the turn.
        StopHookPrevented = "stop_hook_prevented",
        /// A hook answered `continue: false`.
        HookStopped = "hook_stopped",
        /// A hook put a tool call off; see `deferred_tool_use`.
        ToolDeferred = "tool_deferred",
        /// A call that was put off could not be taken up again.
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        /// The turn was moved to the background.
        BackgroundRequested = "background_requested",
        /// The model never produced output that fits the schema.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// The turn failed before its first request.
        TurnSetupFailed = "turn_setup_failed",
    }
}

open_enum! {
    /// The reason an engine refused to start.
    ///
    /// Recorded sessions have `config_file_invalid`, `bypass_root` and
    /// `sandbox_required_unavailable`; the others are known by name only.
    pub enum StartupFailureReason {
        /// A configuration file is not valid JSON; see `invalid_config_file`.
        ConfigFileInvalid = "config_file_invalid",
        /// Permissions may not be bypassed as root.
        BypassRoot = "bypass_root",
        /// The settings demand a sandbox and there is none.
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        /// A background process is using the session.
        SessionHeldByBackground = "session_held_by_background",
        /// The working directory does not exist or cannot be read.
        CwdUnavailable = "cwd_unavailable",
        /// The directory for temporary files cannot be used.
        TempDirUnusable = "temp_dir_unusable",
        /// No usable shell was found.
        ShellToolMissing = "shell_tool_missing",
        /// `--await-initialize` was given and another line came first.
        InitializeNotFirst = "initialize_not_first",
        /// The CLI is older than its service accepts.
        CliVersionTooOld = "cli_version_too_old",
        /// The configured proxy is not valid.
        ProxyInvalid = "proxy_invalid",
        /// The managed settings could not be read.
        ManagedSettingsInvalid = "managed_settings_invalid",
        /// Managed settings were announced and did not arrive.
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
        /// The settings demand remote settings, which could not be fetched.
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        /// An organisation is prescribed, and an API key is in use instead of a login.
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        /// The login belongs to another organisation than the prescribed one.
        OrgPinMismatch = "org_pin_mismatch",
        /// The organisation of the login could not be checked.
        OrgVerifyFailed = "org_verify_failed",
        /// The organisation's configuration is required and could not be fetched.
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        /// The organisation's configuration was refused.
        OrgConfigRefused = "org_config_refused",
        /// Managed settings do not allow this API provider.
        ProviderNotAllowed = "provider_not_allowed",
        /// The gateway needs a login.
        GatewaySigninRequired = "gateway_signin_required",
        /// The gateway refused the login.
        GatewayAccessDenied = "gateway_access_denied",
        /// The session's worktree may not be used again.
        WorktreeResumeRefused = "worktree_resume_refused",
        /// The session's worktree could not be checked.
        WorktreeUnverified = "worktree_unverified",
    }
}
