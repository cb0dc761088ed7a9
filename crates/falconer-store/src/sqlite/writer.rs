//! The one task that writes, and its queue.
//!
//! The queue is bounded twice: by changes and by bytes. A caller who finds it full waits as long
//! as for another process, then gets `Busy`.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::{Entity, Error, Result};
use crate::watch::Change;

use super::SqliteOptions;
use super::batch::{Batch, Committed};
use super::event;
use super::fault::{Fault, Place};

/// Changes that wait at most.
const WAITING: usize = 1_024;
/// Kilobytes that wait, or are being written, at most.
const WAITING_KILOBYTES: u32 = 128 << 10;

/// The way to the task that writes.
#[derive(Debug)]
pub(super) struct Writer {
    queue: RwLock<Option<mpsc::Sender<Box<dyn Queued>>>>,
    room: Arc<Semaphore>,
    place: Place,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(
        connection: SqliteConnection,
        options: &SqliteOptions,
        hints: broadcast::Sender<Change>,
        seen: Arc<AtomicI64>,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(WAITING);
        let place = options.place();
        let desk = Desk {
            batch: Batch::new(connection, options.clock.clone()),
            place: place.clone(),
            hints,
            seen,
            leftovers: Leftovers::Maybe,
        };
        let task = tokio::spawn(desk.serve(waiting, options.batch));
        Self {
            queue: RwLock::new(Some(queue)),
            room: Arc::new(Semaphore::new(WAITING_KILOBYTES as usize)),
            place,
            task: Mutex::new(Some(task)),
        }
    }

    /// Queues a change of so many bytes and waits for what becomes of it.
    pub(super) async fn ask<A, T>(
        &self,
        arguments: A,
        bytes: usize,
        change: for<'a> fn(&'a mut Batch, &'a A) -> BoxFuture<'a, Result<T, Fault>>,
    ) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let queue = self.sender()?;
        let room = self.room(bytes).await?;
        let (reply, answer) = oneshot::channel();
        let ticket = Ticket {
            arguments,
            change,
            outcome: None,
            reply,
            _room: room,
        };
        let sent = timeout(self.place.patience, queue.send(Box::new(ticket))).await;
        sent.map_err(|_| self.place.busy())?
            .map_err(|_| Error::Closed)?;
        drop(queue);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    fn sender(&self) -> Result<mpsc::Sender<Box<dyn Queued>>> {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        queue.clone().ok_or(Error::Closed)
    }

    async fn room(&self, bytes: usize) -> Result<OwnedSemaphorePermit> {
        let limit = (WAITING_KILOBYTES as usize) << 10;
        let kilobytes = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        if kilobytes > WAITING_KILOBYTES {
            return Err(Error::TooLarge {
                what: Entity::Event,
                size: bytes,
                limit,
            });
        }
        let room = Arc::clone(&self.room).acquire_many_owned(kilobytes);
        let room = timeout(self.place.patience, room).await;
        room.map_err(|_| self.place.busy())?
            .map_err(|_| Error::Closed)
    }

    /// Takes no more, finishes what is queued, and lets the file go.
    pub(super) async fn close(&self) {
        let queue = self
            .queue
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(queue);
        let mut task = self.task.lock().await;
        if let Some(task) = task.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the writer of the store ended badly");
        }
    }
}

/// The task that writes.
struct Desk {
    batch: Batch,
    place: Place,
    hints: broadcast::Sender<Change>,
    seen: Arc<AtomicI64>,
    leftovers: Leftovers,
}

/// Changes that go together.
type Tickets = Vec<Box<dyn Queued>>;

impl Desk {
    async fn serve(mut self, mut waiting: mpsc::Receiver<Box<dyn Queued>>, most: usize) {
        let mut tickets = Vec::with_capacity(most);
        loop {
            // Events of deleted sessions are removed when nobody waits.
            if self.leftovers == Leftovers::Maybe && waiting.is_empty() {
                self.leftovers = self.remove_leftovers().await;
                continue;
            }
            if waiting.recv_many(&mut tickets, most).await == 0 {
                break;
            }
            self.write(std::mem::take(&mut tickets)).await;
        }
        if let Err(fault) = self.batch.close().await {
            tracing::warn!(error = %fault.into_error(&self.place, "close"), "the store was not closed cleanly");
        }
    }

    /// Makes all changes in one transaction. If one of them makes the database fail, each gets a
    /// transaction of its own, so that only the guilty one is told.
    async fn write(&mut self, mut tickets: Tickets) {
        match self.attempt(&mut tickets).await {
            Ok(committed) => self.tell(tickets, committed),
            Err(fault) if tickets.len() == 1 || fault.concerns_everybody() => {
                let error = fault.into_error(&self.place, "write");
                for ticket in tickets {
                    ticket.fail(error.clone());
                }
            }
            Err(_) => {
                for ticket in tickets {
                    self.write_alone(ticket).await;
                }
            }
        }
    }

    async fn write_alone(&mut self, ticket: Box<dyn Queued>) {
        let mut ticket = vec![ticket];
        match self.attempt(&mut ticket).await {
            Ok(committed) => self.tell(ticket, committed),
            Err(fault) => {
                let error = fault.into_error(&self.place, "write");
                for ticket in ticket {
                    ticket.fail(error.clone());
                }
            }
        }
    }

    async fn attempt(&mut self, tickets: &mut Tickets) -> Result<Committed, Fault> {
        self.batch.begin().await?;
        for ticket in tickets {
            if let Err(fault) = ticket.run(&mut self.batch).await {
                self.batch.roll_back().await;
                return Err(fault);
            }
        }
        let committed = self.batch.commit().await;
        if committed.is_err() {
            self.batch.roll_back().await;
        }
        committed
    }

    /// Tells callers and watchers, now that it is durable.
    fn tell(&mut self, tickets: Tickets, committed: Committed) {
        if committed.deleted {
            self.leftovers = Leftovers::Maybe;
        }
        if let Some(revision) = committed.revision {
            // Only if no other process wrote in between; then the poll has to look.
            let next = (revision - 1, revision);
            let (order, other) = (Ordering::AcqRel, Ordering::Acquire);
            let _ = self.seen.compare_exchange(next.0, next.1, order, other);
        }
        for ticket in tickets {
            ticket.finish();
        }
        for change in committed.changes {
            // Nobody watches: that is fine.
            let _ = self.hints.send(change);
        }
    }

    async fn remove_leftovers(&mut self) -> Leftovers {
        let removed = match self.batch.begin().await {
            Ok(()) => event::remove_leftovers(&mut self.batch).await,
            Err(fault) => Err(fault),
        };
        let done = match removed {
            Ok(0) => {
                self.batch.roll_back().await;
                return Leftovers::None;
            }
            Ok(_) => self.batch.commit().await,
            Err(fault) => Err(fault),
        };
        match done {
            Ok(_) => Leftovers::Maybe,
            Err(fault) => {
                self.batch.roll_back().await;
                let error = fault.into_error(&self.place, "remove events in");
                tracing::debug!(%error, "events of deleted sessions stay for now");
                Leftovers::None
            }
        }
    }
}

/// The presence of events of deleted sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leftovers {
    Maybe,
    None,
}

/// A change in the queue.
trait Queued: Send {
    /// Makes the change, or notes that it is refused. An error is one of the database.
    fn run<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<(), Fault>>;

    /// Tells the caller what was noted; the transaction is durable.
    fn finish(self: Box<Self>);

    /// Tells the caller that nothing was done.
    fn fail(self: Box<Self>, error: Error);
}

impl fmt::Debug for dyn Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queued")
    }
}

struct Ticket<A, T> {
    arguments: A,
    change: for<'a> fn(&'a mut Batch, &'a A) -> BoxFuture<'a, Result<T, Fault>>,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    _room: OwnedSemaphorePermit,
}

impl<A: Send + Sync, T: Send> Queued for Ticket<A, T> {
    fn run<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let outcome = match (self.change)(batch, &self.arguments).await {
                Ok(done) => Ok(done),
                Err(Fault::Refused(error)) => Err(error),
                Err(fault) => return Err(fault),
            };
            self.outcome = Some(outcome);
            Ok(())
        })
    }

    fn finish(self: Box<Self>) {
        // A caller who no longer waits does not mind.
        let _ = self.reply.send(self.outcome.unwrap_or(Err(Error::Closed)));
    }

    fn fail(self: Box<Self>, error: Error) {
        let _ = self.reply.send(Err(error));
    }
}
