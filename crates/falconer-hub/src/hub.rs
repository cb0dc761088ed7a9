//! The hub: who keeps which session, and what can be asked of it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use falconer_session::{EngineInfo, ModelInfo, SessionLocks};
use falconer_store::{Change as Hint, MessageId, SessionId, SessionRecord, Store};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::config::HubConfig;
use crate::deltas::{Deltas, Listeners};
use crate::engines::{EngineName, LaunchError, ProjectTrust, TrustVerdict};
use crate::error::Error;
use crate::isolation::Conversations;
use crate::keeper::Keeper;
use crate::message::{Accepted, NewMessage, TakenBack};
use crate::models::KnownModels;
use crate::nodes::Node;
use crate::order::{Order, Reply};
use crate::recovery;

/// Orders that may wait for a keeper; who gives more is told to come back.
const ORDERS: usize = 256;

/// Runs the sessions of a store; cheap to clone.
///
/// When the last clone is gone all engines are ended; [`Hub::shut_down`] waits for it.
#[derive(Debug, Clone)]
pub struct Hub {
    pub(crate) shared: Arc<Shared>,
    _background: Arc<Background>,
}

/// What the keepers share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: HubConfig,
    pub(crate) node: Node,
    pub(crate) locks: SessionLocks,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) conversations: Conversations,
    pub(crate) models: KnownModels,
    keepers: Mutex<Keepers>,
}

#[derive(Debug, Default)]
struct Keepers {
    is_closed: bool,
    orders: HashMap<SessionId, mpsc::Sender<Order>>,
}

/// Tasks that end with the hub.
#[derive(Debug)]
struct Background {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl Hub {
    /// Opens a hub: sees to what dead ones left, then takes orders.
    ///
    /// # Errors
    /// If the store or the directory of the locks cannot be used.
    pub async fn open(store: Arc<dyn Store>, config: HubConfig) -> Result<Self, Error> {
        let node = Node::new(&config.program);
        let shared = Arc::new(Shared {
            locks: SessionLocks::new(&config.locks),
            conversations: Conversations::new(&config.locks),
            models: KnownModels::default(),
            store,
            config,
            node,
            listeners: Arc::default(),
            keepers: Mutex::default(),
        });
        shared.stay().await?;
        // What is taken over below has to be renewed, however long it takes to see to it.
        let mut background = Background {
            tasks: vec![tokio::spawn(stay_alive(shared.clone()))],
            shared: shared.clone(),
        };
        recovery::recover(&shared).await?;
        (background.tasks).extend([
            tokio::spawn(look_after_others(shared.clone())),
            tokio::spawn(listen_to_others(shared.clone())),
        ]);
        Ok(Self {
            shared,
            _background: Arc::new(background),
        })
    }

    /// Says where this hub is reached over HTTP, for those who look for one of its sessions.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_reached_at(&self, url: impl Into<String>) -> Result<(), Error> {
        self.shared.node.is_reached_at(url.into());
        self.shared.stay().await
    }

    /// Takes secrets out of everything the hub keeps; whoever makes a secret teaches it.
    pub fn redactor(&self) -> &falconer_session::Redactor {
        &self.shared.config.redactor
    }

    /// Where everything is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// The engines that can be asked for.
    pub fn engines(&self) -> Vec<EngineName> {
        self.shared.config.engines.names()
    }

    /// The models of an engine: those it named when it was last started here, else those that are
    /// known of it.
    pub fn models(&self, engine: &str) -> Vec<ModelInfo> {
        let said = self.shared.models.of(engine);
        said.unwrap_or_else(|| self.shared.config.engines.models(engine))
    }

    /// What a project wants, and whether it is trusted. Looks at files.
    ///
    /// # Errors
    /// If the project cannot be looked at.
    pub fn inspect_project(&self, project: &Path) -> Result<ProjectTrust, Error> {
        Ok(self.shared.config.engines.inspect_project(project)?)
    }

    /// Trusts the content of a project with this digest, or takes all trust in it back. Counts for
    /// runs that start afterwards.
    ///
    /// # Errors
    /// If the content has another digest, or nothing can be kept.
    pub fn trust_project(
        &self,
        project: &Path,
        digest: &str,
        verdict: TrustVerdict,
    ) -> Result<ProjectTrust, Error> {
        let engines = &self.shared.config.engines;
        Ok(engines.trust_project(project, digest, verdict)?)
    }

    /// The texts under way in a session so far, and their pieces from now on.
    pub fn deltas(&self, session: &SessionId) -> Deltas {
        Listeners::listen(&self.shared.listeners, session)
    }

    /// How many sessions have a task that keeps them.
    pub fn kept(&self) -> usize {
        self.shared.keepers().orders.len()
    }

    /// Sends a message. It is kept first; then the engine is started if it does not run. The
    /// same `client_msg_id` counts once.
    ///
    /// # Errors
    /// `Closed`, `Launch`, `Elsewhere`, `Session`, or the store's.
    pub async fn send(&self, session: &SessionId, message: NewMessage) -> Result<Accepted, Error> {
        let message = Box::new(message);
        self.ask(session, |reply| Order::Send(message, reply)).await
    }

    /// Takes back a message that the agent has not been given yet.
    ///
    /// # Errors
    /// The store's, or what the engine said.
    pub async fn take_back(
        &self,
        session: &SessionId,
        message: &MessageId,
    ) -> Result<TakenBack, Error> {
        let message = message.clone();
        self.ask(session, |reply| Order::TakeBack(message, reply))
            .await
    }

    /// Interrupts the turn under way. What is queued runs next.
    ///
    /// # Errors
    /// `NotRunning`, or what the engine said.
    pub async fn interrupt(&self, session: &SessionId) -> Result<(), Error> {
        self.ask(session, Order::Interrupt).await
    }

    /// Stops one background task.
    ///
    /// # Errors
    /// `NotRunning`, or what the engine said.
    pub async fn stop_task(
        &self,
        session: &SessionId,
        task: impl Into<String>,
    ) -> Result<(), Error> {
        let task = task.into();
        self.ask(session, |reply| Order::StopTask(task, reply))
            .await
    }

    /// The commands and models of the engine, if it runs.
    ///
    /// # Errors
    /// `NotRunning`.
    pub async fn info(&self, session: &SessionId) -> Result<EngineInfo, Error> {
        self.ask(session, Order::Info).await
    }

    /// Starts the engine of a session without a new message; what was queued goes on.
    ///
    /// # Errors
    /// As [`Hub::send`], but a closed session is opened again.
    pub async fn resume(&self, session: &SessionId) -> Result<SessionRecord, Error> {
        self.ask(session, Order::Resume).await
    }

    /// Ends the engine; the session takes no messages until it is resumed. What is open is
    /// denied.
    ///
    /// # Errors
    /// `Elsewhere`, or the store's.
    pub async fn close(&self, session: &SessionId) -> Result<SessionRecord, Error> {
        self.ask(session, Order::Close).await
    }

    /// Ends the engine and deletes the session with everything that belongs to it.
    ///
    /// # Errors
    /// `Elsewhere`, or the store's.
    pub async fn delete(&self, session: &SessionId) -> Result<(), Error> {
        self.ask(session, Order::Delete).await
    }

    /// Ends all engines and waits until nothing of them is left. Messages that were queued stay
    /// queued.
    pub async fn shut_down(&self) {
        let keepers = self.shared.close();
        let mut gone = Vec::new();
        for orders in keepers.into_values() {
            let (done, ended) = oneshot::channel();
            // A keeper that takes no orders any more is ending already.
            let _ = orders.send(Order::ShutDown(done)).await;
            gone.push(ended);
        }
        for ended in gone {
            // An error means that the keeper is gone, which is what was waited for.
            let _ = ended.await;
        }
        let (store, node) = (&self.shared.store, &self.shared.node.id);
        if let Err(error) = store.leave(node).await {
            tracing::warn!(%error, "failed to say that this server is gone");
        }
    }

    pub(crate) async fn ask<T>(
        &self,
        session: &SessionId,
        order: impl FnOnce(Reply<T>) -> Order,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.shared.order(session, order(reply))?;
        answer.await.unwrap_or(Err(Error::ShuttingDown))
    }
}

impl Shared {
    /// Says that this hub is alive, and who it is.
    async fn stay(&self) -> Result<(), Error> {
        let joined = self.store.join(self.node.about(), self.config.lease);
        Ok(joined.await?)
    }

    /// Makes sure that no other hub has the session. One that is dead loses it.
    ///
    /// # Errors
    /// `Elsewhere`, or the store's.
    pub(crate) async fn not_elsewhere(&self, session: &SessionId) -> Result<(), Error> {
        let record = self.store.session(session).await?;
        let Some(node) = record.owner.filter(|owner| *owner != self.node.id) else {
            return Ok(());
        };
        let owners = self.store.owners().await?;
        let Some(owner) = owners.into_iter().find(|owner| owner.node == node) else {
            return Ok(());
        };
        match self.node.death_of(&owner) {
            Some(death) => recovery::take_over(self, &node, death).await,
            None => Err(Error::elsewhere(session, owner)),
        }
    }

    /// The mode that sessions in this directory may have when they are to have this one.
    pub(crate) async fn narrow_mode(
        &self,
        cwd: &str,
        config: &Value,
        mode: &str,
    ) -> Result<String, Error> {
        let engines = self.config.engines.clone();
        let (cwd, config) = (std::path::PathBuf::from(cwd), config.clone());
        let mode = mode.to_owned();
        let narrowing =
            tokio::task::spawn_blocking(move || engines.narrow_mode(&cwd, &config, &mode));
        let narrowed = narrowing.await;
        Ok(narrowed.unwrap_or_else(|_| Err(LaunchError::broken()))?)
    }

    fn keepers(&self) -> MutexGuard<'_, Keepers> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an order to the keeper of a session, which is made if there is none.
    ///
    /// Orders are given while the table is locked, so that a keeper that finds no order there
    /// can leave without missing one.
    pub(crate) fn order(self: &Arc<Self>, session: &SessionId, order: Order) -> Result<(), Error> {
        let mut keepers = self.keepers();
        if keepers.is_closed {
            return Err(Error::ShuttingDown);
        }
        let orders = keepers.orders.entry(session.clone()).or_insert_with(|| {
            let (orders, taken) = mpsc::channel(ORDERS);
            // The task ends by itself: when it has nothing to do, or with the hub.
            tokio::spawn(Keeper::new(self.clone(), session.clone(), taken).keep());
            orders
        });
        orders.try_send(order).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                Error::Invalid(format!("session {session} has too much to do; try again"))
            }
            mpsc::error::TrySendError::Closed(_) => Error::ShuttingDown,
        })
    }

    /// Tells a keeper, if there is one. An order it has no room for is repeated by its sender.
    pub(crate) fn nudge(&self, session: &SessionId, order: Order) {
        if let Some(orders) = self.keepers().orders.get(session) {
            let _ = orders.try_send(order);
        }
    }

    /// Lets a keeper leave if nobody has told it anything meanwhile.
    pub(crate) fn retire(&self, session: &SessionId, orders: &mpsc::Receiver<Order>) -> bool {
        let mut keepers = self.keepers();
        if keepers.is_closed || !orders.is_empty() {
            return false;
        }
        keepers.orders.remove(session);
        true
    }

    pub(crate) fn kept(&self) -> Vec<SessionId> {
        self.keepers().orders.keys().cloned().collect()
    }

    fn close(&self) -> HashMap<SessionId, mpsc::Sender<Order>> {
        let mut keepers = self.keepers();
        keepers.is_closed = true;
        std::mem::take(&mut keepers.orders)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Keepers whose orders come from nowhere end.
        drop(self.shared.close());
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("node", &self.node.id)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Renews the leases of this hub, and does nothing else: whatever takes long here loses sessions.
async fn stay_alive(shared: Arc<Shared>) {
    let lease = shared.config.lease;
    let mut beats = beats(&shared);
    loop {
        beats.tick().await;
        let renewed = shared.store.renew(&shared.node.id, lease);
        let (renewed, stayed) = tokio::join!(renewed, shared.stay());
        match renewed {
            Ok(leases) => tell_losers(&shared, &leases),
            Err(error) => tracing::warn!(%error, "failed to renew the leases"),
        }
        if let Err(error) = stayed {
            tracing::warn!(%error, "failed to say that this server is alive");
        }
    }
}

/// Takes over from hubs that no longer renew.
async fn look_after_others(shared: Arc<Shared>) {
    let mut beats = beats(&shared);
    loop {
        beats.tick().await;
        if let Err(error) = recovery::recover(&shared).await {
            tracing::warn!(%error, "failed to look for what others left");
        }
    }
}

fn beats(shared: &Shared) -> tokio::time::Interval {
    let mut beats = tokio::time::interval(shared.config.lease / 3);
    beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    beats
}

/// A keeper whose lease is not among those that are left may have lost it.
fn tell_losers(shared: &Shared, leases: &[falconer_store::Lease]) {
    let held: HashSet<&SessionId> = leases.iter().map(|lease| &lease.session).collect();
    for session in shared.kept() {
        if !held.contains(&session) {
            shared.nudge(&session, Order::CheckLease);
        }
    }
}

/// Other processes with the same store leave answers there.
async fn listen_to_others(shared: Arc<Shared>) {
    let mut watcher = shared.store.watch();
    while let Some(hint) = watcher.changed().await {
        match hint {
            Hint::Session(session) => shared.nudge(&session, Order::Look),
            Hint::Rules => {}
            _ => {
                for session in shared.kept() {
                    shared.nudge(&session, Order::Look);
                }
            }
        }
    }
}
