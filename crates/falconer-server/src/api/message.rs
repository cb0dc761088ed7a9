//! Messages to the agent.

use falconer_store::{Delivery, InputRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message to send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// Your own id of the message: sent twice, it counts once.
    pub(crate) client_msg_id: String,
    pub(crate) text: String,
    /// Ids of attachments.
    #[serde(default)]
    pub(crate) attachments: Vec<String>,
    /// What happens while the agent is at work.
    #[serde(default)]
    pub(crate) delivery: Option<Delivery>,
}

/// A message that was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sent {
    pub(crate) message: InputRecord,
    /// Whether it was there already.
    pub(crate) duplicate: bool,
}

/// The messages of a session, in the order they were sent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MessageList {
    pub(crate) messages: Vec<InputRecord>,
}

/// What became of the wish to take a message back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TakenBack {
    /// Whether the agent will not see it.
    pub(crate) cancelled: bool,
}
