//! Servers inside the host: every message is a question to the host, and its answer the reply.

use falconer_protocol::control::{EngineRequest, McpMessage, McpMessageReply};
use rmcp::RoleClient;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::host::{Host, HostError};
use crate::mcp::manifest::{Answers, Known, Manifest};

/// How many messages may wait to be read; then answers wait, and notifications are dropped.
const WAITING: usize = 64;

/// The connection to one server in the host.
pub(in crate::mcp) struct SdkTransport {
    host: Host,
    server: String,
    replies: mpsc::Sender<ServerJsonRpcMessage>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Answers that need not be asked for.
    known: Answers,
}

impl SdkTransport {
    /// Also returns the end into which messages go that the host sends by itself.
    pub(in crate::mcp) fn new(
        host: Host,
        server: String,
        manifest: Option<Manifest>,
    ) -> (Self, mpsc::Sender<ServerJsonRpcMessage>) {
        let (replies, messages) = mpsc::channel(WAITING);
        let incoming = replies.clone();
        let transport = Self {
            host,
            server,
            replies,
            messages,
            known: manifest.map(Manifest::into_answers).unwrap_or_default(),
        };
        (transport, incoming)
    }
}

impl Transport<RoleClient> for SdkTransport {
    type Error = HostError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let host = self.host.clone();
        let server = self.server.clone();
        let replies = self.replies.clone();
        let message = tidy(serde_json::to_value(&item).unwrap_or_default());
        let known = self.known.take(&message);
        async move {
            let id = message.get("method").and(message.get("id")).cloned();
            match known {
                Known::Superfluous => return Ok(()),
                Known::Result(result) => {
                    return match id.and_then(|id| success(&id, &result)) {
                        Some(reply) => replies.send(reply).await.map_err(|_| HostError::Closed),
                        None => Err(no_sense()),
                    };
                }
                Known::Nothing => {}
            }
            let question = EngineRequest::McpMessage(McpMessage {
                server_name: server,
                message,
                ..McpMessage::default()
            });
            let answer = host.ask(question).await;
            let Some(id) = id else {
                // Notifications are answered too, but nobody cares how.
                return match answer {
                    Err(HostError::Closed) => Err(HostError::Closed),
                    _ => Ok(()),
                };
            };
            let reply = match answer {
                Ok(payload) => reply_to(&id, payload),
                Err(HostError::Refused(why)) => failure(&id, &why),
                Err(HostError::Closed) => return Err(HostError::Closed),
            };
            match reply {
                Some(reply) => replies.send(reply).await.map_err(|_| HostError::Closed),
                None => Err(no_sense()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close();
        Ok(())
    }
}

/// Leaves out what these servers do not expect: progress tokens except for calls, where it is
/// the id of the request, and parameters that are empty then.
fn tidy(mut message: Value) -> Value {
    let is_call = message["method"] == "tools/call";
    let id = message.get("id").cloned();
    let Some(object) = message.as_object_mut() else {
        return message;
    };
    if let Some(params) = object.get_mut("params").and_then(Value::as_object_mut) {
        if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
            match (is_call, id) {
                (true, Some(id)) => drop(meta.insert("progressToken".to_owned(), id)),
                _ => drop(meta.remove("progressToken")),
            }
            if meta.is_empty() {
                params.remove("_meta");
            }
        }
        if params.is_empty() {
            object.remove("params");
        }
    }
    message
}

fn reply_to(id: &Value, payload: Value) -> Option<ServerJsonRpcMessage> {
    let reply: McpMessageReply = falconer_protocol::from_value(payload).ok()?;
    let mut message = reply.mcp_response;
    // Hosts are known to answer with an id of their own.
    message.as_object_mut()?.insert("id".to_owned(), id.clone());
    serde_json::from_value(message).ok()
}

fn no_sense() -> HostError {
    HostError::Refused("the server's answer makes no sense".to_owned())
}

fn success(id: &Value, result: &Value) -> Option<ServerJsonRpcMessage> {
    serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "result": result})).ok()
}

fn failure(id: &Value, why: &str) -> Option<ServerJsonRpcMessage> {
    let error = serde_json::to_value(ErrorData::internal_error(why.to_owned(), None)).ok()?;
    serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "error": error})).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tidy;

    #[test]
    fn messages_look_as_the_cli_writes_them() {
        let cases = [
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
                    "params": {"_meta": {"progressToken": 0}}}),
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            ),
            (
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
                    {"name": "add", "_meta": {"claudecode/toolUseId": "t", "progressToken": 1}}}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
                    {"name": "add", "_meta": {"claudecode/toolUseId": "t", "progressToken": 2}}}),
            ),
            (
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(tidy(message), expected);
        }
    }
}
