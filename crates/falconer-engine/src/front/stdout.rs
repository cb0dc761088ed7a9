//! Standard output, written on a thread: a reader that does not read must not stop the session
//! from hearing its host.

use std::io::{self, Write};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::render::Renderer;

/// Writes what a session says until it says no more.
///
/// The receiver hears when everything is written. A reader that is gone gets nothing more, and
/// the session goes on, as the official CLI does.
pub(crate) fn pump(
    stdout: Box<dyn Write + Send>,
    frames: mpsc::Receiver<Bytes>,
    renderer: Renderer,
) -> io::Result<oneshot::Receiver<()>> {
    let (written, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("stdout".to_owned());
    thread.spawn(move || {
        write_frames(stdout, frames, renderer);
        let _ = written.send(());
    })?;
    Ok(done)
}

fn write_frames(
    mut stdout: Box<dyn Write + Send>,
    mut frames: mpsc::Receiver<Bytes>,
    mut renderer: Renderer,
) {
    let mut gone = false;
    let mut write = |bytes: &[u8]| {
        // One write for each frame, so that a reader never sees half of one for long.
        if !gone && (stdout.write_all(bytes).is_err() || stdout.flush().is_err()) {
            gone = true;
        }
    };
    while let Some(frame) = frames.blocking_recv() {
        if let Some(bytes) = renderer.frame(frame) {
            write(&bytes);
        }
    }
    if let Some(bytes) = renderer.finish() {
        write(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that goes away after the first frame.
    struct Leaving(usize);

    impl Write for Leaving {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Ok(bytes.len()),
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_reader_that_leaves_does_not_stop_the_session() {
        let (frames, received) = mpsc::channel(1);
        let done = pump(Box::new(Leaving(0)), received, Renderer::Frames).unwrap();
        for _ in 0..10 {
            frames.send(Bytes::from_static(b"{}\n")).await.unwrap();
        }
        drop(frames);
        done.await.unwrap();
    }
}
