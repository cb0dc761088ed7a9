//! Connections that a handler can break.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections that come with a [`Breaker`].
pub(super) struct Connections(pub(super) TcpListener);

impl Listener for Connections {
    type Io = Breakable;
    type Addr = Breaker;

    async fn accept(&mut self) -> (Breakable, Breaker) {
        let (stream, _) = Listener::accept(&mut self.0).await;
        // Events are small and must not wait for each other; failing only makes them slower.
        let _ = stream.set_nodelay(true);
        let breaker = Breaker::default();
        let connection = Breakable {
            stream,
            breaker: breaker.clone(),
        };
        (connection, breaker)
    }

    fn local_addr(&self) -> io::Result<Breaker> {
        Ok(Breaker::default())
    }
}

/// Breaks one connection: nothing more is written and the peer sees a reset.
#[derive(Debug, Clone, Default)]
pub(super) struct Breaker(Arc<AtomicBool>);

impl Breaker {
    pub(super) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Connected<IncomingStream<'_, Connections>> for Breaker {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        stream.remote_addr().clone()
    }
}

/// A connection that can be broken.
pub(super) struct Breakable {
    stream: TcpStream,
    breaker: Breaker,
}

impl Breakable {
    fn check(&self) -> io::Result<()> {
        if !self.breaker.0.load(Ordering::Acquire) {
            return Ok(());
        }
        // Without lingering, closing sends a reset instead of an orderly end.
        self.stream.set_zero_linger()?;
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

impl AsyncRead for Breakable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Breakable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
