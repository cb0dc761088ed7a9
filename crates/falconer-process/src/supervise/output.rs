//! The output of a supervised process, to the end of it and not beyond.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::ioctl_fionread;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

use super::handle::{Exit, Handle};

/// A pipe that a supervised process writes to.
///
/// It ends when nobody holds it open any more, and at the latest with the process: somebody who
/// got away from the tree, or was given the pipe, cannot keep the reader waiting. What was
/// written before is read first.
pub struct Output {
    pipe: pipe::Receiver,
    exited: Pin<Box<dyn Future<Output = Exit> + Send + Sync>>,
    /// Bytes that were in the pipe when the process had ended, as far as they are not read yet.
    rest: Option<u64>,
}

impl Handle {
    /// Reads one of the process's pipes, inside a tokio runtime.
    ///
    /// # Errors
    /// The pipe cannot be made non-blocking, or the runtime cannot wait for it.
    pub fn output(&self, pipe: OwnedFd) -> io::Result<Output> {
        Ok(Output {
            pipe: pipe::Receiver::from_owned_fd(pipe)?,
            exited: Box::pin(self.exited()),
            rest: None,
        })
    }
}

impl AsyncRead for Output {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.rest.is_none() && this.exited.as_mut().poll(cx).is_ready() {
            this.rest = Some(ioctl_fionread(&this.pipe)?);
        }
        if this.rest == Some(0) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.pipe).poll_read(cx, buffer))?;
        let read = (buffer.filled().len() - before) as u64;
        this.rest = this.rest.map(|rest| rest.saturating_sub(read));
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("pipe", &self.pipe)
            .field("rest", &self.rest)
            .finish_non_exhaustive()
    }
}
