//! The suite that every backend has to pass.
//!
//! Each case is a function that gets [`Stores`] of its own and fails by panic or by error.
//! [`conformance_tests!`](crate::conformance_tests) makes a test of each; [`CASES`] lists them
//! for those who run tests in another way.

mod events;
mod inputs;
mod leases;
mod listing;
mod others;
mod requests;
mod sessions;
mod watching;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::{
    Append, Claim, Error, EventQuery, EventRow, Fence, Lease, NewEvent, NewSession, NodeId, Result,
    SessionId, SessionRecord, Store,
};

pub use events::*;
pub use inputs::*;
pub use leases::*;
pub use listing::*;
pub use others::*;
pub use requests::*;
pub use sessions::*;
pub use watching::*;

/// An empty store of its own, and a second way to the same data.
#[derive(Debug, Clone)]
pub struct Stores {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The same data as another process would open it; the same object if that is impossible.
    pub second: Arc<dyn Store>,
    /// Resources that live as long as the case runs, such as a folder that is removed afterwards.
    pub keep: Arc<dyn Any + Send + Sync>,
}

/// A named case.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(Stores) -> BoxFuture<'static, Result<()>>,
}

impl Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Calls a macro with the names of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! with_conformance_cases {
    ($then:path, $($argument:tt)*) => {
        $then! { ($($argument)*)
            a_session_is_read_as_it_was_made
            a_taken_name_is_a_conflict
            a_patch_changes_what_it_names_and_nothing_else
            deleting_removes_everything_but_the_audit
            a_session_that_runs_is_not_deleted_by_others
            forks_outlive_their_parent
            filters_agree_with_a_naive_model
            pages_of_sessions_are_complete_and_ordered
            events_come_back_byte_for_byte
            numbers_have_no_gaps_under_concurrent_writers
            a_wrong_first_number_is_refused
            a_refused_append_leaves_nothing
            pages_of_events_are_complete_and_ordered
            events_are_filtered_by_type
            an_event_that_is_too_large_is_refused
            a_page_of_large_events_is_cut
            an_append_moves_its_rows_along
            many_sessions_append_at_once
            a_message_sent_twice_is_one
            fifty_copies_of_a_message_are_one
            the_same_name_with_other_content_is_a_conflict
            exactly_one_of_fifty_takes_a_message_back
            a_message_goes_forward_only
            exactly_one_of_fifty_deciders_wins
            an_answer_to_something_else_does_not_count
            an_answer_that_comes_too_late_does_not_count
            a_decision_is_delivered_or_expires
            an_answer_told_by_events_is_kept
            only_one_of_two_claims_a_session
            a_stale_fence_is_refused_everywhere
            an_expired_lease_is_taken_by_exactly_one
            a_lease_nobody_took_goes_on
            what_was_released_is_not_written
            the_sessions_of_a_dead_node_are_taken_over
            a_node_says_who_it_is
            a_message_of_a_stale_holder_leaves_nothing
            a_session_of_another_node_is_not_changed
            rules_are_kept_counted_changed_and_removed
            rules_hold_where_they_say
            tokens_are_found_by_hash_only
            the_audit_only_grows
            equal_bytes_are_kept_once
            blobs_nobody_uses_are_swept
            a_watcher_learns_of_what_can_be_read
            a_watcher_learns_of_what_others_do
            a_slow_watcher_is_told_to_look_at_everything
            what_one_writes_the_other_reads
            a_closed_store_says_so
        }
    };
}

/// Makes a test of each case. Takes the path of an `async fn() -> Stores`.
#[macro_export]
macro_rules! conformance_tests {
    ($stores:path) => {
        $crate::with_conformance_cases! { $crate::conformance_tests, @ $stores }
    };
    ((@ $stores:path) $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let stores = $stores().await;
                let done = $crate::conformance::$name(stores).await;
                assert!(done.is_ok(), "{done:?}");
            }
        )*
    };
}

macro_rules! list_cases {
    (() $($name:ident)*) => {
        /// All cases.
        pub const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            run: |stores| Box::pin($name(stores)),
        },)*];
    };
}
crate::with_conformance_cases! { list_cases, }

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// The error for an answer no case expects.
fn unexpected(answer: impl Debug) -> Error {
    Error::Invalid(format!("nobody expected {answer:?}"))
}

fn node(name: &str) -> NodeId {
    name.into()
}

async fn new_session(store: &Arc<dyn Store>) -> Result<SessionRecord> {
    store
        .create_session(NewSession::new("auto", "/project"))
        .await
}

/// A session and the right to write it.
async fn claimed(store: &Arc<dyn Store>) -> Result<(SessionId, Fence)> {
    let session = new_session(store).await?.id;
    let fence = claim(store, &session, "a").await?.fence;
    Ok((session, fence))
}

async fn claim(store: &Arc<dyn Store>, session: &SessionId, by: &str) -> Result<Lease> {
    match store.claim(session, &node(by), LONG).await? {
        Claim::Claimed(lease) => Ok(lease),
        held => Err(unexpected(held)),
    }
}

fn event(text: impl std::fmt::Display) -> NewEvent {
    NewEvent::new("test.event", format!(r#"{{"text":"{text}"}}"#))
}

/// So many events, numbered from `first`.
fn events(session: &SessionId, fence: Fence, first: u64, count: u64) -> Append {
    let events = (first..first + count).map(event).collect();
    Append::new(session.clone(), fence, first, events)
}

/// All events of a session, page by page.
async fn all_events(store: &Arc<dyn Store>, session: &SessionId) -> Result<Vec<EventRow>> {
    let mut all: Vec<EventRow> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.seq);
        let page = store.events(session, EventQuery::after(after)).await?;
        all.extend(page.events);
        if !page.more {
            return Ok(all);
        }
    }
}

/// Runs many at the same time and gives what each gave.
async fn at_once<T: Send + 'static>(
    jobs: impl IntoIterator<Item = BoxFuture<'static, Result<T>>>,
) -> Result<Vec<T>> {
    let tasks: Vec<_> = jobs.into_iter().map(tokio::spawn).collect();
    let mut done = Vec::with_capacity(tasks.len());
    for task in tasks {
        done.push(task.await.map_err(unexpected)??);
    }
    Ok(done)
}
