//! Identifiers. All are opaque: compare them, pass them on, never look inside.

use crate::wire::text_newtype;

text_newtype! {
    /// Names a session. It may change while a session runs (`/clear`, fork).
    pub struct SessionId;
    /// Pairs a control request with its response; chosen by the sender.
    pub struct RequestId;
    /// Pairs a tool call with its result.
    pub struct ToolUseId;
    /// Names one line, or one prompt of the host.
    pub struct MessageUuid;
    /// Names a background task.
    pub struct TaskId;
    /// Names one run of a background task.
    pub struct RunId;
    /// Names a sub-agent.
    pub struct AgentId;
    /// Names a hook callback that was registered with `initialize`.
    pub struct HookCallbackId;
}
