//! The trait, method by method: writes go to the writer, reads to the readers.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::Row as _;

use crate::error::{Entity, Error, Result};
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
use crate::store::{MAX_PAGE, Store};
use crate::time::Timestamp;
use crate::watch::Watcher;

use super::row::{Columns as _, list, number};
use super::session::Page;
use super::{
    SMALL, SqliteStore, audit, blob, counts, event, file, input, lease, live, node, request, rule,
    session, token,
};

type Answer<'a, T> = BoxFuture<'a, Result<T>>;

impl Store for SqliteStore {
    fn create_session(&self, new: NewSession) -> Answer<'_, SessionRecord> {
        Box::pin(self.write(new, |batch, new| Box::pin(session::create(batch, new))))
    }

    fn session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, SessionRecord> {
        Box::pin(async move {
            let query = sqlx::query(session::BY_ID).bind(id.as_str());
            let found = self.row(query, session::read).await?;
            found.ok_or_else(|| Error::not_found(Entity::Session, id))
        })
    }

    fn sessions(&self, query: SessionQuery) -> Answer<'_, SessionPage> {
        Box::pin(async move {
            let page = Page::new(query);
            let found = self.rows(page.query(), session::read).await?;
            Ok(page.cut(found))
        })
    }

    fn update_session<'a>(
        &'a self,
        id: &'a SessionId,
        patch: SessionPatch,
    ) -> Answer<'a, SessionRecord> {
        let change = (id.clone(), patch);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(session::update(batch, change))
        }))
    }

    fn update_live<'a>(
        &'a self,
        id: &'a SessionId,
        fence: Fence,
        patch: LivePatch,
    ) -> Answer<'a, SessionRecord> {
        let change = (id.clone(), fence, patch);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(live::update(batch, change))
        }))
    }

    fn delete_session<'a>(&'a self, id: &'a SessionId, guard: Guard) -> Answer<'a, ()> {
        let change = (id.clone(), guard);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(session::delete(batch, change))
        }))
    }

    fn append(&self, append: Append) -> Answer<'_, u64> {
        let size = event::size(&append);
        Box::pin(self.writer.ask(append, size, |batch, append| {
            Box::pin(event::append(batch, append))
        }))
    }

    fn events<'a>(&'a self, session: &'a SessionId, query: EventQuery) -> Answer<'a, EventPage> {
        Box::pin(async move {
            let page = event::page(&self.readers, session, &query).await;
            page.map_err(|fault| self.read_error(fault))
        })
    }

    fn insert_input(&self, new: NewInput) -> Answer<'_, Inserted<InputRecord>> {
        let size = SMALL + new.text.len();
        Box::pin(
            self.writer
                .ask(new, size, |batch, new| Box::pin(input::insert(batch, new))),
        )
    }

    fn input<'a>(&'a self, id: &'a MessageId) -> Answer<'a, InputRecord> {
        Box::pin(async move {
            let query = sqlx::query(input::BY_ID).bind(id.as_str());
            let found = self.row(query, input::read).await?;
            found.ok_or_else(|| Error::not_found(Entity::Input, id))
        })
    }

    fn inputs<'a>(
        &'a self,
        session: &'a SessionId,
        query: InputQuery,
    ) -> Answer<'a, Vec<InputRecord>> {
        Box::pin(async move {
            let states = list(query.states.iter().map(|state| state.as_str()));
            let query = sqlx::query(input::OF_SESSION)
                .bind(session.as_str())
                .bind(states)
                .bind(number(MAX_PAGE as u64));
            let mut inputs = self.rows(query, input::read).await?;
            inputs.reverse();
            Ok(inputs)
        })
    }

    fn move_input<'a>(
        &'a self,
        id: &'a MessageId,
        from: InputState,
        to: InputState,
        guard: Guard,
    ) -> Answer<'a, Moved<InputRecord>> {
        let change = (id.clone(), from, to, guard);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(input::advance(batch, change))
        }))
    }

    fn request<'a>(&'a self, id: &'a RequestId) -> Answer<'a, RequestRecord> {
        Box::pin(async move {
            let query = sqlx::query(request::BY_ID).bind(id.as_str());
            let found = self.row(query, request::read).await?;
            found.ok_or_else(|| Error::not_found(Entity::Request, id))
        })
    }

    fn requests(&self, query: RequestQuery) -> Answer<'_, Vec<RequestRecord>> {
        Box::pin(async move {
            let states = list(query.states.iter().map(|state| state.as_str()));
            let query = sqlx::query(request::ALL)
                .bind(query.session.as_ref().map(|id| id.as_str().to_owned()))
                .bind(states)
                .bind(number(MAX_PAGE as u64));
            let mut requests = self.rows(query, request::read).await?;
            requests.reverse();
            Ok(requests)
        })
    }

    fn decide<'a>(
        &'a self,
        id: &'a RequestId,
        digest: &'a str,
        decision: DecisionRecord,
    ) -> Answer<'a, Decided> {
        let change = (id.clone(), digest.to_owned(), decision);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(request::decide(batch, change))
        }))
    }

    fn settle_request<'a>(
        &'a self,
        id: &'a RequestId,
        to: RequestState,
        guard: Guard,
    ) -> Answer<'a, Moved<RequestRecord>> {
        let change = (id.clone(), to, guard);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(request::settle(batch, change))
        }))
    }

    fn add_rule(&self, new: NewRule) -> Answer<'_, RuleRecord> {
        Box::pin(self.write(new, |batch, new| Box::pin(rule::add(batch, new))))
    }

    fn rules(&self, query: RuleQuery) -> Answer<'_, Vec<RuleRecord>> {
        Box::pin(async move {
            let session = match &query {
                RuleQuery::All => None,
                RuleQuery::Covering { session, .. } => Some(session.as_str().to_owned()),
            };
            let rules = sqlx::query(rule::ALL).bind(session);
            let mut rules = self.rows(rules, rule::read).await?;
            if let RuleQuery::Covering { session, cwd } = &query {
                rules.retain(|rule| rule.scope.covers(session, cwd));
            }
            Ok(rules)
        })
    }

    fn update_rule<'a>(&'a self, id: &'a RuleId, patch: RulePatch) -> Answer<'a, RuleRecord> {
        let change = (id.clone(), patch);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(rule::update(batch, change))
        }))
    }

    fn remove_rule<'a>(&'a self, id: &'a RuleId) -> Answer<'a, ()> {
        Box::pin(self.write(id.clone(), |batch, id| Box::pin(rule::remove(batch, id))))
    }

    fn use_rule<'a>(&'a self, id: &'a RuleId) -> Answer<'a, RuleRecord> {
        Box::pin(self.write(id.clone(), |batch, id| Box::pin(rule::count_use(batch, id))))
    }

    fn add_token(&self, new: NewToken) -> Answer<'_, TokenRecord> {
        Box::pin(self.write(new, |batch, new| Box::pin(token::add(batch, new))))
    }

    fn token<'a>(&'a self, hash: &'a TokenHash) -> Answer<'a, Option<TokenRecord>> {
        Box::pin(async move {
            let query = sqlx::query(token::BY_HASH).bind(hash.as_str());
            self.row(query, token::read).await
        })
    }

    fn tokens(&self) -> Answer<'_, Vec<TokenRecord>> {
        Box::pin(self.rows(sqlx::query(token::ALL), token::read))
    }

    fn touch_token<'a>(&'a self, id: &'a TokenId) -> Answer<'a, ()> {
        Box::pin(async move {
            let query = sqlx::query(token::BY_ID).bind(id.as_str());
            match self.row(query, token::read).await? {
                None => Err(Error::not_found(Entity::Token, id)),
                Some(token) if !token::is_new_use(&token) => Ok(()),
                Some(_) => {
                    let id = id.clone();
                    self.write(id, |batch, id| Box::pin(token::touch(batch, id)))
                        .await
                }
            }
        })
    }

    fn revoke_token<'a>(&'a self, id: &'a TokenId) -> Answer<'a, TokenRecord> {
        Box::pin(self.write(id.clone(), |batch, id| Box::pin(token::revoke(batch, id))))
    }

    fn audit(&self, new: NewAudit) -> Answer<'_, AuditId> {
        Box::pin(self.write(new, |batch, new| Box::pin(audit::add(batch, new))))
    }

    fn audit_log(&self, after: AuditId, limit: usize) -> Answer<'_, AuditPage> {
        Box::pin(async move {
            let limit = limit.clamp(1, MAX_PAGE);
            let query = sqlx::query(audit::PAGE)
                .bind(number(after.0))
                .bind(number(limit as u64 + 1));
            let mut records = self.rows(query, audit::read).await?;
            let more = records.len() > limit;
            records.truncate(limit);
            Ok(AuditPage { records, more })
        })
    }

    fn put_blob(&self, new: NewBlob) -> Answer<'_, BlobRecord> {
        Box::pin(async move {
            blob::check_size(&new)?;
            let size = SMALL + new.bytes.len();
            let hash = BlobHash::of(&new.bytes);
            let put = (new, hash);
            self.writer
                .ask(put, size, |batch, put| Box::pin(blob::put(batch, put)))
                .await
        })
    }

    fn blob<'a>(&'a self, id: &'a BlobId) -> Answer<'a, BlobRecord> {
        Box::pin(async move {
            let query = sqlx::query(blob::BY_ID).bind(id.as_str());
            let found = self.row(query, blob::read).await?;
            found.ok_or_else(|| Error::not_found(Entity::Blob, id))
        })
    }

    fn blob_bytes<'a>(&'a self, hash: &'a BlobHash) -> Answer<'a, Vec<u8>> {
        Box::pin(async move {
            let query = sqlx::query(blob::BYTES).bind(hash.as_str());
            let found: Option<Vec<u8>> = self.row(query, |row| Ok(row.try_get("bytes")?)).await?;
            let bytes = found.ok_or_else(|| Error::not_found(Entity::Blob, hash))?;
            if BlobHash::of(&bytes) != *hash {
                return Err(self.place.corrupt(format!("blob {hash} has other bytes")));
            }
            Ok(bytes)
        })
    }

    fn sweep_blobs(&self, before: Timestamp) -> Answer<'_, u64> {
        Box::pin(async move {
            let mut swept = 0;
            loop {
                // Some at a time: other writes come in between.
                let some = self.write(before, |batch, before| Box::pin(blob::sweep(batch, before)));
                match some.await? {
                    0 => return Ok(swept),
                    some => swept += some,
                }
            }
        })
    }

    fn claim<'a>(
        &'a self,
        session: &'a SessionId,
        node: &'a NodeId,
        ttl: Duration,
    ) -> Answer<'a, Claim> {
        let change = (session.clone(), node.clone(), ttl);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(lease::claim(batch, change))
        }))
    }

    fn renew<'a>(&'a self, node: &'a NodeId, ttl: Duration) -> Answer<'a, Vec<Lease>> {
        let change = (node.clone(), ttl);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(lease::renew(batch, change))
        }))
    }

    fn release<'a>(&'a self, session: &'a SessionId, fence: Fence) -> Answer<'a, ()> {
        let change = (session.clone(), fence);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(lease::release(batch, change))
        }))
    }

    fn take_over<'a>(
        &'a self,
        dead: &'a NodeId,
        death: Death,
        node: &'a NodeId,
        ttl: Duration,
    ) -> Answer<'a, Vec<Lease>> {
        let change = (dead.clone(), death, node.clone(), ttl);
        Box::pin(self.write(change, |batch, change| {
            Box::pin(lease::take_over(batch, change))
        }))
    }

    fn owners(&self) -> Answer<'_, Vec<Owner>> {
        Box::pin(async move {
            let rows = self.rows(sqlx::query(node::ALL), node::read).await?;
            Ok(node::owners(rows, &self.clock.now()))
        })
    }

    fn join(&self, node: Node, ttl: Duration) -> Answer<'_, ()> {
        Box::pin(self.write((node, ttl), |batch, change| {
            Box::pin(node::join(batch, change))
        }))
    }

    fn leave<'a>(&'a self, node: &'a NodeId) -> Answer<'a, ()> {
        Box::pin(self.write(node.clone(), |batch, node| {
            Box::pin(async move { node::leave(batch, node).await })
        }))
    }

    fn watch(&self) -> Watcher {
        self.poll.watcher()
    }

    fn counts(&self) -> Answer<'_, Counts> {
        Box::pin(counts::read(self))
    }

    fn ping(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let query = sqlx::query("SELECT rev FROM meta");
            self.row(query, |row| row.count("rev")).await?;
            self.write((), |batch, ()| Box::pin(counts::write_nothing(batch)))
                .await?;
            // The log may have room for a page where the disk has none for an event.
            let path = self.path().to_owned();
            let probing = tokio::task::spawn_blocking(move || file::probe(&path)).await;
            probing.unwrap_or(Err(Error::Closed))
        })
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.poll.close();
            self.readers.close().await;
            self.writer.close().await;
            Ok(())
        })
    }
}
