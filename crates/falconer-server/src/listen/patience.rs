//! A connection whose peer takes nothing of what is sent to it is cut after a while.
//!
//! This is what ends a slow reader of a stream: nothing is skipped for it, nothing piles up for
//! it. It comes back with the number of the last event it has.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Fails a write that makes no progress for `limit`.
#[derive(Debug)]
pub(crate) struct Patience<T> {
    inner: T,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Patience<T> {
    pub(crate) fn new(inner: T, limit: Duration) -> Self {
        Self {
            inner,
            limit,
            waiting: None,
        }
    }

    /// Passes a finished step on, and bounds the wait for an unfinished one.
    fn bound<R>(&mut self, cx: &mut Context<'_>, step: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if step.is_ready() {
            self.waiting = None;
            return step;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        match waiting.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                // Asked again it fails again, at once.
                waiting.as_mut().reset(Instant::now());
                let error = io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing");
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patience<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patience<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let step = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.bound(cx, step)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let step = Pin::new(&mut this.inner).poll_write_vectored(cx, parts);
        this.bound(cx, step)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let step = Pin::new(&mut this.inner).poll_flush(cx);
        this.bound(cx, step)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let step = Pin::new(&mut this.inner).poll_shutdown(cx);
        this.bound(cx, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_cut_and_who_reads_slowly_is_not() {
        let (client, server) = tokio::io::duplex(64);
        let mut server = Patience::new(server, Duration::from_secs(30));
        let started = Instant::now();
        let error = server.write_all(&[0; 200]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), 30);
        drop(client);

        let (mut client, server) = tokio::io::duplex(64);
        let mut server = Patience::new(server, Duration::from_secs(30));
        let reading = tokio::spawn(async move {
            let mut taken = 0;
            while taken < 640 {
                sleep(Duration::from_secs(29)).await;
                taken += client.read(&mut [0; 64]).await.unwrap();
            }
        });
        server.write_all(&[0; 640]).await.unwrap();
        reading.await.unwrap();
    }
}
