//! A transport of which one can see from outside that it has ended.

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Cancels a token when the connection drops its transport.
pub(in crate::mcp) struct Watched<T> {
    inner: T,
    _ended: DropGuard,
}

impl<T> Watched<T> {
    pub(in crate::mcp) fn new(inner: T, ended: CancellationToken) -> Self {
        Self {
            inner,
            _ended: ended.drop_guard(),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.inner.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
