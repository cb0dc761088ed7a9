//! The control protocol: questions of either side and their answers.

mod context;
mod engine;
mod envelope;
mod host;
mod info;
mod initialize;
mod reply;

pub use context::{
    ApiUsage, ContextAgent, ContextCategory, ContextMcpTool, ContextMemoryFile, ContextToolCalls,
    ContextUsage, MessageBreakdown,
};
pub use engine::{
    CanUseTool, Elicitation, ElicitationAction, ElicitationReply, EngineRequest, HookCallback,
    HostAuthTokenRefresh, MatchedAskRule, McpMessage, McpMessageReply, OauthTokenRefresh,
    RequestUserDialog, UserDialogReply,
};
pub use envelope::{
    ControlCancelRequest, ControlError, ControlReply, ControlRequest, ControlResponse,
    ControlSuccess, HostControlRequest,
};
pub use host::{
    ApplyFlagSettings, BackgroundTasks, CancelAsyncMessage, EndSession, FileSuggestions,
    GenerateSessionTitle, GetBinaryVersion, GetContextUsage, GetHooksListing, GetPlan,
    GetSessionCost, GetSettings, GetStatus, GetTaskOutput, GetUsage, HostRequest, Interrupt,
    ListModels, ListPermissionRules, McpCall, McpReadResource, McpReconnect, McpSetServers,
    McpStatus, McpToggle, ReadFile, RegisterRepoRoot, ReloadOutputStyles, ReloadPlugins,
    ReloadSkills, RenameSession, RewindFiles, SeedReadState, SetColor, SetCwd, SetHasSubscribers,
    SetMaxThinkingTokens, SetMcpPermissionModeOverride, SetModel, SetPermissionMode, SideQuestion,
    StopTask, UpdateSettings,
};
pub use info::{AccountInfo, AgentInfo, ModelInfo};
pub use initialize::{
    FeedbackMode, InitializeRequest, InitializeResponse, PluginConfig, SdkMcpServerConfig,
    SdkMcpServerManifest,
};
pub use reply::{
    BinaryVersionResponse, CancelAsyncMessageResponse, InterruptResponse, ListModelsResponse,
    ListPermissionRulesResponse, McpReadResourceResponse, McpSetServersResponse, McpStatusResponse,
    PermissionRuleEntry, PermissionRulesState, ReadFileResponse, ReloadOutputStylesResponse,
    ReloadPluginsResponse, ReloadSkillsResponse, RewindResponse, RuleDescription,
    SessionCostResponse, SetModelResponse, SetPermissionModeResponse, SideQuestionResponse,
    TaskOutputResponse, WorkspaceDirectory,
};
