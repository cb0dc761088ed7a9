//! Lines that wait for the caller: a little in memory, the rest in an unlinked file.
//!
//! The reader must never wait for a slow caller, because a permission request may stand
//! behind the messages the caller has not read. And memory must stay bounded. So what does
//! not fit in memory is written to a temporary file without a name, which the kernel removes
//! with the last handle, whatever happens to us. Only when the file has reached its own limit
//! (or cannot be written) does the reader wait.

use std::collections::VecDeque;
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use crate::options::BacklogLimits;
use crate::position::Position;

/// Time a caller may take for one block before the disk is used.
const MOMENT: Duration = Duration::from_millis(5);

/// Blocks on disk are joined up to this size, so that few bookkeeping entries are needed.
const JOIN: usize = 128 << 10;

/// Makes a backlog.
pub(crate) fn backlog(limits: BacklogLimits) -> (BacklogWriter, BacklogReader) {
    let shared = Arc::new(Mutex::new(Queue::new(limits)));
    (BacklogWriter(shared.clone()), BacklogReader(shared))
}

/// The reader task's end.
#[derive(Debug)]
pub(crate) struct BacklogWriter(Arc<Mutex<Queue>>);

/// The caller's end.
#[derive(Debug)]
pub(crate) struct BacklogReader(Arc<Mutex<Queue>>);

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    // Every critical section leaves the queue consistent, so a poisoned lock is still good.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BacklogWriter {
    /// Appends a block of whole lines.
    ///
    /// A caller who keeps up is waited for, a moment at a time: the engine cannot be further
    /// ahead than its pipe, so that delays no request by more than a few such moments. For a
    /// caller who does not, the block goes to disk. Only when the disk is full as well does
    /// this wait for as long as it takes.
    pub(crate) async fn push(&self, block: Bytes) {
        if block.is_empty() || lock(&self.0).try_memory(&block) {
            return;
        }
        let has_room = poll_fn(|cx| self.poll_place(cx, &block, Queue::try_memory));
        if lock(&self.0).spill.is_empty() && tokio::time::timeout(MOMENT, has_room).await.is_ok() {
            return;
        }
        poll_fn(|cx| self.poll_place(cx, &block, Queue::try_push)).await;
    }

    /// Returns the position after everything that was pushed.
    pub(crate) fn position(&self) -> Position {
        Position::after(lock(&self.0).pushed)
    }

    fn poll_place(
        &self,
        cx: &mut Context<'_>,
        block: &Bytes,
        place: fn(&mut Queue, &Bytes) -> bool,
    ) -> Poll<()> {
        let mut queue = lock(&self.0);
        if place(&mut queue, block) {
            return Poll::Ready(());
        }
        queue.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns `true` if the caller still reads.
    #[cfg(test)]
    pub(crate) fn is_read(&self) -> bool {
        !lock(&self.0).reader_gone
    }
}

impl Drop for BacklogWriter {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.ended = true;
        queue.wake_reader();
    }
}

impl BacklogReader {
    /// The next block of whole lines; `None` after the last one.
    pub(crate) fn poll_pop(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = lock(&self.0);
        match queue.pop() {
            Some(block) => {
                if let Some(writer) = queue.writer.take() {
                    writer.wake();
                }
                Poll::Ready(Some(block))
            }
            None if queue.ended => Poll::Ready(None),
            None => {
                queue.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl BacklogReader {
    /// Returns the position of a reader who has `unread` bytes of the last block before it.
    pub(crate) fn position(&self, unread: usize) -> Position {
        Position::after(lock(&self.0).popped.saturating_sub(unread as u64))
    }
}

impl Drop for BacklogReader {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.reader_gone = true;
        queue.memory.clear();
        queue.spill = Spill::default();
        if let Some(writer) = queue.writer.take() {
            writer.wake();
        }
    }
}

#[derive(Debug)]
struct Queue {
    limits: BacklogLimits,
    memory: VecDeque<Bytes>,
    in_memory: usize,
    spill: Spill,
    /// Bytes that were ever pushed.
    pushed: u64,
    /// Bytes that were ever popped; a block lost to a bad disk counts with its own length.
    popped: u64,
    ended: bool,
    reader_gone: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Queue {
    fn new(limits: BacklogLimits) -> Self {
        Self {
            limits,
            memory: VecDeque::new(),
            in_memory: 0,
            spill: Spill::default(),
            pushed: 0,
            popped: 0,
            ended: false,
            reader_gone: false,
            reader: None,
            writer: None,
        }
    }

    /// Takes the block, or says that everything is full.
    fn try_push(&mut self, block: &Bytes) -> bool {
        if self.try_memory(block) {
            return true;
        }
        let taken = self.spill.append(block, self.limits.disk_bytes);
        if taken {
            self.pushed += block.len() as u64;
            self.wake_reader();
        }
        taken
    }

    /// Takes the block if there is room in memory and nothing on disk comes before it.
    fn try_memory(&mut self, block: &Bytes) -> bool {
        if self.reader_gone {
            return true;
        }
        if !self.spill.is_empty() || !self.has_room(block.len()) {
            return false;
        }
        self.pushed += block.len() as u64;
        self.in_memory += block.len();
        self.memory.push_back(block.clone());
        self.wake_reader();
        true
    }

    fn has_room(&self, length: usize) -> bool {
        self.memory.is_empty() || self.in_memory + length <= self.limits.memory_bytes
    }

    fn pop(&mut self) -> Option<Bytes> {
        if let Some(block) = self.memory.pop_front() {
            self.in_memory -= block.len();
            self.popped += block.len() as u64;
            return Some(block);
        }
        let (block, length) = self.spill.take_first()?;
        self.popped += length as u64;
        Some(block)
    }

    fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// The part of the backlog that is on disk.
#[derive(Debug, Default)]
struct Spill {
    file: Option<File>,
    /// Lengths of the blocks from `read` to `written`, in order.
    blocks: VecDeque<usize>,
    read: u64,
    written: u64,
}

impl Spill {
    fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Appends a block unless the file is full or cannot be written.
    fn append(&mut self, block: &[u8], limit: u64) -> bool {
        if !self.is_empty() && self.written - self.read + block.len() as u64 > limit {
            return false;
        }
        match self.write(block) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(%error, "cannot spill unread messages to disk; the engine waits");
                false
            }
        }
    }

    fn write(&mut self, block: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.write_all_at(block, self.written)?;
        self.written += block.len() as u64;
        match self.blocks.back_mut() {
            Some(last) if *last + block.len() <= JOIN => *last += block.len(),
            _ => self.blocks.push_back(block.len()),
        }
        Ok(())
    }

    /// Takes out the first block, with the length it was written with.
    fn take_first(&mut self) -> Option<(Bytes, usize)> {
        let length = self.blocks.pop_front()?;
        let block = self.read_block(length);
        self.read += length as u64;
        if self.blocks.is_empty() {
            self.rewind();
        }
        Some((block, length))
    }

    /// Reads back what was written. The file has no name, so only a failing disk can get
    /// between; then the block is lost, which is said in its place.
    fn read_block(&self, length: usize) -> Bytes {
        let mut block = vec![0; length];
        let read = match &self.file {
            Some(file) => file.read_exact_at(&mut block, self.read),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match read {
            Ok(()) => block.into(),
            Err(error) => crate::connection::notice::messages_lost(length, &error),
        }
    }

    /// Starts the file over once everything in it was read.
    fn rewind(&mut self) {
        self.read = 0;
        self.written = 0;
        if let Some(file) = &self.file {
            // A failure only leaves the file longer than needed.
            let _ = file.set_len(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn pop(reader: &mut BacklogReader) -> Option<Bytes> {
        poll_fn(|cx| reader.poll_pop(cx)).now_or_never().flatten()
    }

    const TINY: BacklogLimits = BacklogLimits {
        memory_bytes: 8,
        disk_bytes: 64,
    };

    #[tokio::test(start_paused = true)]
    async fn order_is_kept_across_memory_and_disk() {
        let (writer, mut reader) = backlog(TINY);
        let mut expected = Vec::new();
        for n in 0..12 {
            let line = format!("{n:02}\n");
            expected.extend_from_slice(line.as_bytes());
            writer.push(line.into()).await;
        }
        drop(writer);
        let mut got = Vec::new();
        while let Some(block) = pop(&mut reader) {
            got.extend_from_slice(&block);
        }
        assert_eq!(got, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_backlog_makes_the_writer_wait_until_something_is_read() {
        let (writer, mut reader) = backlog(TINY);
        for _ in 0..72 / 8 {
            writer.push("1234567\n".into()).await;
        }
        let mut push = Box::pin(writer.push("last\n".into()));
        let waits = tokio::time::timeout(Duration::from_secs(3600), push.as_mut()).await;
        assert!(waits.is_err(), "nothing was full");
        while pop(&mut reader).is_some() {}
        push.await;
        assert_eq!(pop(&mut reader).as_deref(), Some(&b"last\n"[..]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_block_larger_than_every_limit_still_passes() {
        let (writer, mut reader) = backlog(TINY);
        let big = Bytes::from(vec![b'x'; 1000]);
        for _ in 0..2 {
            writer.push(big.clone()).await;
        }
        assert_eq!(pop(&mut reader).map(|b| b.len()), Some(1000));
        assert_eq!(pop(&mut reader).map(|b| b.len()), Some(1000));
    }

    #[test]
    fn a_reader_that_left_holds_nobody_up() {
        let (writer, reader) = backlog(TINY);
        drop(reader);
        assert!(!writer.is_read());
        for _ in 0..100 {
            writer
                .push("1234567\n".into())
                .now_or_never()
                .expect("thrown away");
        }
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken_by_a_line_and_by_the_end() {
        let (writer, mut reader) = backlog(BacklogLimits::default());
        let reading = tokio::spawn(async move {
            let first = poll_fn(|cx| reader.poll_pop(cx)).await;
            let end = poll_fn(|cx| reader.poll_pop(cx)).await;
            (first, end)
        });
        tokio::task::yield_now().await;
        writer.push("a\n".into()).await;
        drop(writer);
        let (first, end) = reading.await.expect("no panic");
        assert_eq!(first.as_deref(), Some(&b"a\n"[..]));
        assert_eq!(end, None);
    }
}
