//! The trait every backend implements.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::error::Result;
use crate::id::{
    AuditId, BlobHash, BlobId, Fence, MessageId, NodeId, RequestId, RuleId, SessionId, TokenHash,
    TokenId,
};
use crate::query::{
    AuditPage, EventPage, EventQuery, InputQuery, RequestQuery, RuleQuery, SessionPage,
    SessionQuery,
};
use crate::record::{
    Append, BlobRecord, Claim, Counts, Death, Decided, DecisionRecord, Guard, InputRecord,
    InputState, Inserted, Lease, LivePatch, Moved, NewAudit, NewBlob, NewInput, NewRule,
    NewSession, NewToken, Node, Owner, RequestRecord, RequestState, RulePatch, RuleRecord,
    SessionPatch, SessionRecord, TokenRecord,
};
use crate::time::Timestamp;
use crate::watch::Watcher;

/// The largest event that is kept, in bytes of JSON.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// The largest blob that is kept.
pub const MAX_BLOB_BYTES: usize = 64 << 20;

/// The largest text of any other kind: all texts of a message, a request or a session together.
pub const MAX_TEXT_BYTES: usize = 4 << 20;

/// The most rows in a page, whatever was asked for.
pub const MAX_PAGE: usize = 1_000;

/// About the most bytes of events in a page: one that would go over it is the first of the next,
/// unless the page is empty.
pub const MAX_PAGE_BYTES: usize = 8 << 20;

/// The answer of a method: a future that can be sent and dropped.
///
/// A write whose future is dropped is made or not; never half.
type Answer<'a, T> = BoxFuture<'a, Result<T>>;

/// Sessions and everything that belongs to them.
///
/// What holds for every method:
/// - `Ok` from a method that writes means that it is on the disk and survives `kill -9` and a
///   power failure. Readers, and [`Watcher`]s, learn of it only afterwards.
/// - A write is made as a whole or not at all.
/// - Who reads after a write was answered sees it. Each read is one snapshot.
/// - Reads do not wait for writes. Writes are made one after the other.
/// - Leases run out by the clock of the store, whatever the callers' clocks say.
/// - All waiting is limited; [`Busy`](crate::Error::Busy) tells that the limit was reached.
/// - Any method can fail with [`Io`](crate::Error::Io), [`Corrupt`](crate::Error::Corrupt) or
///   [`Closed`](crate::Error::Closed); one that writes also with [`Busy`](crate::Error::Busy),
///   [`Full`](crate::Error::Full), [`ReadOnly`](crate::Error::ReadOnly) and
///   [`TooLarge`](crate::Error::TooLarge). Others are named at the method.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    // Sessions

    /// Makes a session. `Conflict` if there is one of that name, `NotFound` if it has a parent
    /// that does not exist.
    fn create_session(&self, new: NewSession) -> Answer<'_, SessionRecord>;

    /// A session. `NotFound` if there is none.
    fn session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, SessionRecord>;

    /// Sessions that meet the query, the one that changed last first.
    fn sessions(&self, query: SessionQuery) -> Answer<'_, SessionPage>;

    /// Changes what anybody may change. `NotFound`; `Held` if the patch is only for a session that
    /// nobody else has.
    fn update_session<'a>(
        &'a self,
        id: &'a SessionId,
        patch: SessionPatch,
    ) -> Answer<'a, SessionRecord>;

    /// Changes what only the holder of the lease may change. `NotFound`, `StaleFence`.
    fn update_live<'a>(
        &'a self,
        id: &'a SessionId,
        fence: Fence,
        patch: LivePatch,
    ) -> Answer<'a, SessionRecord>;

    /// Deletes a session with its events, messages, requests, rules, and blobs nobody else uses.
    /// Forks of it stay, without a parent; the audit stays. `NotFound`; `Held` if somebody runs it
    /// and the caller is not the holder; `StaleFence` if the caller was the holder.
    fn delete_session<'a>(&'a self, id: &'a SessionId, guard: Guard) -> Answer<'a, ()>;

    // Events

    /// Stores events and what they mean for the rows of the session, and gives the new head.
    ///
    /// Numbers of a session are 1, 2, 3… without gaps, because the first must be the head plus
    /// one and all are stored or none. `NotFound` (the session, or a message or request that is
    /// to be moved), `StaleFence`, `WrongSequence`, `TooLarge`; `Conflict` if a request exists.
    fn append(&self, append: Append) -> Answer<'_, u64>;

    /// Events in order, byte for byte as they were given. `NotFound` if there is no such session.
    fn events<'a>(&'a self, session: &'a SessionId, query: EventQuery) -> Answer<'a, EventPage>;

    // Messages of users

    /// Stores a message once: the same `client_msg_id` in the same session gives the message that
    /// is there. `Conflict` if that one has other text, attachments or delivery, or if the id of
    /// the message is taken; `NotFound` if there is no such session or attachment; `StaleFence` if
    /// only the holder may store it and the caller is not.
    fn insert_input(&self, new: NewInput) -> Answer<'_, Inserted<InputRecord>>;

    /// A message. `NotFound`.
    fn input<'a>(&'a self, id: &'a MessageId) -> Answer<'a, InputRecord>;

    /// Messages of a session in the order they were stored; the last [`MAX_PAGE`] of them.
    fn inputs<'a>(
        &'a self,
        session: &'a SessionId,
        query: InputQuery,
    ) -> Answer<'a, Vec<InputRecord>>;

    /// Brings a message from one state into another, if it is in the first: of many who try
    /// exactly one succeeds. `NotFound`, `StaleFence`; `Invalid` if no message may go that way.
    fn move_input<'a>(
        &'a self,
        id: &'a MessageId,
        from: InputState,
        to: InputState,
        guard: Guard,
    ) -> Answer<'a, Moved<InputRecord>>;

    // Permissions and questions: they are opened by `append`

    /// A request. `NotFound`.
    fn request<'a>(&'a self, id: &'a RequestId) -> Answer<'a, RequestRecord>;

    /// Requests in the order they were stored; the last [`MAX_PAGE`] of them.
    fn requests(&self, query: RequestQuery) -> Answer<'_, Vec<RequestRecord>>;

    /// Answers a request if it is pending and has this digest: of many who answer exactly one
    /// wins, and everybody else learns who and what it was.
    fn decide<'a>(
        &'a self,
        id: &'a RequestId,
        digest: &'a str,
        decision: DecisionRecord,
    ) -> Answer<'a, Decided>;

    /// Brings a request to its end: `Delivered` (only an answered one), `Expired` or `Withdrawn`.
    /// `No` if it is not in a state from which that is possible. `NotFound`, `StaleFence`;
    /// `Invalid` if the state is no end.
    fn settle_request<'a>(
        &'a self,
        id: &'a RequestId,
        to: RequestState,
        guard: Guard,
    ) -> Answer<'a, Moved<RequestRecord>>;

    // Rules

    /// Makes a rule. `NotFound` if it is for a session that does not exist.
    fn add_rule(&self, new: NewRule) -> Answer<'_, RuleRecord>;

    /// Rules, oldest first.
    fn rules(&self, query: RuleQuery) -> Answer<'_, Vec<RuleRecord>>;

    /// Changes a rule. `NotFound` (the rule, or the session it shall be for).
    fn update_rule<'a>(&'a self, id: &'a RuleId, patch: RulePatch) -> Answer<'a, RuleRecord>;

    /// Removes a rule. `NotFound`.
    fn remove_rule<'a>(&'a self, id: &'a RuleId) -> Answer<'a, ()>;

    /// Counts that a rule answered. `NotFound`: it was removed; then it must not answer.
    fn use_rule<'a>(&'a self, id: &'a RuleId) -> Answer<'a, RuleRecord>;

    // Tokens

    /// Stores a token by its hash. `Conflict` if there is one with that hash.
    fn add_token(&self, new: NewToken) -> Answer<'_, TokenRecord>;

    /// The token with this hash, revoked or not; `None` if there is none.
    fn token<'a>(&'a self, hash: &'a TokenHash) -> Answer<'a, Option<TokenRecord>>;

    /// All tokens, oldest first.
    fn tokens(&self) -> Answer<'_, Vec<TokenRecord>>;

    /// Notes that a token was used; at most one write a minute for each. `NotFound`.
    fn touch_token<'a>(&'a self, id: &'a TokenId) -> Answer<'a, ()>;

    /// Ends a token; one that is ended stays as it was. `NotFound`.
    fn revoke_token<'a>(&'a self, id: &'a TokenId) -> Answer<'a, TokenRecord>;

    // Audit

    /// Records what somebody did. It can never be changed or removed.
    fn audit(&self, new: NewAudit) -> Answer<'_, AuditId>;

    /// Records after this one, oldest first.
    fn audit_log(&self, after: AuditId, limit: usize) -> Answer<'_, AuditPage>;

    // Blobs

    /// Stores bytes; equal bytes are kept once. `NotFound` if it is for a session that does not
    /// exist.
    fn put_blob(&self, new: NewBlob) -> Answer<'_, BlobRecord>;

    /// Returns the facts about a blob. `NotFound`.
    fn blob<'a>(&'a self, id: &'a BlobId) -> Answer<'a, BlobRecord>;

    /// The bytes with this hash. `NotFound`; `Corrupt` if they have another hash by now.
    fn blob_bytes<'a>(&'a self, hash: &'a BlobHash) -> Answer<'a, Vec<u8>>;

    /// Removes blobs no session uses that were stored before this time; how many.
    fn sweep_blobs(&self, before: Timestamp) -> Answer<'_, u64>;

    // Leases

    /// Claims a session for a while. It succeeds if nobody holds it, if the lease has run out, or
    /// if the caller holds it; each time with a higher fence, which ends the claim before.
    /// `NotFound`.
    fn claim<'a>(
        &'a self,
        session: &'a SessionId,
        node: &'a NodeId,
        ttl: Duration,
    ) -> Answer<'a, Claim>;

    /// Prolongs all leases a node holds and gives those it still has: one round trip for any
    /// number of sessions. A lease that has run out and that nobody took counts as held: after a
    /// laptop slept the sessions go on. What is missing from the answer was lost.
    fn renew<'a>(&'a self, node: &'a NodeId, ttl: Duration) -> Answer<'a, Vec<Lease>>;

    /// Lets a session go. The fence is of no use any more. `NotFound`, `StaleFence`.
    fn release<'a>(&'a self, session: &'a SessionId, fence: Fence) -> Answer<'a, ()>;

    /// Claims for `node` the sessions of a dead one; of many who try exactly one gets each.
    /// Sessions that were released are not among them. A node without sessions is forgotten.
    fn take_over<'a>(
        &'a self,
        dead: &'a NodeId,
        death: Death,
        node: &'a NodeId,
        ttl: Duration,
    ) -> Answer<'a, Vec<Lease>>;

    /// Everybody who holds leases or has joined, by name.
    fn owners(&self) -> Answer<'_, Vec<Owner>>;

    /// Says who a node is, or says it again; it counts as there for `ttl`.
    fn join(&self, node: Node, ttl: Duration) -> Answer<'_, ()>;

    /// Forgets a node that goes away, unless sessions are still its own.
    fn leave<'a>(&'a self, node: &'a NodeId) -> Answer<'a, ()>;

    // The store itself

    /// Hints about changes from now on.
    fn watch(&self) -> Watcher;

    /// Counts what is stored.
    fn counts(&self) -> Answer<'_, Counts>;

    /// Checks that it can be read and written right now, by doing it.
    fn ping(&self) -> Answer<'_, ()>;

    /// Finishes what was asked for and lets go of everything. Watchers end; every later call
    /// fails with `Closed`. To close twice is fine.
    fn close(&self) -> Answer<'_, ()>;
}
