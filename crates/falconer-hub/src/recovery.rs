//! After somebody died: ends orphaned processes and closes what was open. Runs nothing.

use falconer_event::{Event, Failure, RunId, Sequence};
use falconer_process::end_leftovers;
use falconer_store::{
    Append, Death, EventQuery, Fence, InputQuery, InputState, LastTurn, LivePatch, NewEvent,
    NodeId, RequestQuery, RequestState, SessionId, SessionState, TurnOutcome,
};

use crate::error::Error;
use crate::hub::Shared;
use crate::keeper::written;
use crate::loose_ends::{LooseEnds, SERVER_DIED};
use crate::nodes::host_of;

/// Sees to the sessions of hubs that are gone. What one of them left does not keep others waiting.
pub(crate) async fn recover(shared: &Shared) -> Result<(), Error> {
    for owner in shared.store.owners().await? {
        if let Some(death) = shared.node.death_of(&owner) {
            take_over(shared, &owner.node, death).await?;
        }
    }
    Ok(())
}

/// Takes the sessions of a dead hub, closes what was open in them and lets them go.
pub(crate) async fn take_over(shared: &Shared, dead: &NodeId, death: Death) -> Result<(), Error> {
    if death == Death::Known {
        end_processes(dead).await;
    }
    let (store, lease) = (&shared.store, shared.config.lease);
    let taken = store.take_over(dead, death, &shared.node.id, lease).await?;
    if death == Death::Silent && !taken.is_empty() {
        // Not before its sessions were taken: until then it may come back and go on.
        end_processes(dead).await;
    }
    for lease in taken {
        tracing::warn!(session = %lease.session, %dead, ?death, "took over a session");
        if let Err(error) = tie_loose_ends(shared, &lease.session, lease.fence).await {
            tracing::warn!(session = %lease.session, %error, "failed to close what was open");
        }
        if let Err(error) = store.release(&lease.session, lease.fence).await {
            tracing::warn!(session = %lease.session, %error, "failed to let a session go");
        }
    }
    Ok(())
}

/// What a dead hub started must not go on, whether its own watchdog saw to it or not.
async fn end_processes(dead: &NodeId) {
    let Some(host) = host_of(dead) else {
        return;
    };
    match tokio::task::spawn_blocking(move || end_leftovers(host)).await {
        Ok(0) => {}
        Ok(ended) => tracing::warn!(ended, "ended processes that a dead server left behind"),
        Err(error) => tracing::warn!(%error, "failed to look for processes left behind"),
    }
}

/// Closes what the last run of a session left open. It was interrupted if it was doing anything.
pub(crate) async fn tie_loose_ends(
    shared: &Shared,
    session: &SessionId,
    fence: Fence,
) -> Result<(), Error> {
    let (ends, head) = read(shared, session).await?;
    let state = shared.store.session(session).await?.state;
    let was_busy = matches!(state, SessionState::Running | SessionState::Waiting);
    let run = ends.run().cloned().unwrap_or_default();
    let mut append = Append::new(session.clone(), fence, head + 1, Vec::new());
    append.settled = open_requests(shared, session).await?;
    append.inputs = sent_inputs(shared, session).await?;
    let left_open = !append.settled.is_empty() || !append.inputs.is_empty();
    let is_interrupted = was_busy || left_open || ends.is_in_the_middle();
    let failure = is_interrupted.then(interruption);
    if ends.run().is_some() {
        append.events = events(session, head, &run, ends.tie(failure.clone()));
    }
    append.live = LivePatch::default().run(None).state(SessionState::Idle);
    if let Some(failure) = failure {
        let (last, outcome) = (head + append.events.len() as u64, TurnOutcome::Interrupted);
        append.live.state = Some(SessionState::Interrupted);
        append.live.last_turn = Some(LastTurn::without_answer(last, outcome, failure));
    }
    shared.store.append(append).await?;
    Ok(())
}

fn interruption() -> Failure {
    let text = "the process that ran the session ended before the run did; what it was doing may or may not have happened";
    Failure::new(SERVER_DIED, text).hint("send a message to continue")
}

/// What is open in the log of a session, and the number of its last event.
pub(crate) async fn read(shared: &Shared, session: &SessionId) -> Result<(LooseEnds, u64), Error> {
    let mut ends = LooseEnds::default();
    let mut last = 0;
    loop {
        let page = shared
            .store
            .events(session, EventQuery::after(last))
            .await?;
        for row in &page.events {
            last = row.seq;
            match serde_json::from_str::<Event>(&row.json) {
                Ok(event) => ends.note(event),
                // Written by another version; it stays as it is.
                Err(error) => {
                    tracing::warn!(%session, seq = row.seq, %error, "cannot read an event");
                }
            }
        }
        if !page.more {
            return Ok((ends, last));
        }
    }
}

/// Numbered, timed and written.
pub(crate) fn events(
    session: &SessionId,
    head: u64,
    run: &RunId,
    drafts: Vec<falconer_event::Draft>,
) -> Vec<NewEvent> {
    let mut sequence = Sequence::after(session.as_str(), head);
    let now = falconer_store::Timestamp::now().to_string();
    let stamp = |draft| {
        let (kind, json) = written(&sequence.stamp(run, now.as_str(), draft));
        NewEvent::new(kind, json)
    };
    drafts.into_iter().map(stamp).collect()
}

async fn open_requests(
    shared: &Shared,
    session: &SessionId,
) -> Result<Vec<(falconer_store::RequestId, RequestState)>, Error> {
    let open = RequestQuery::default()
        .session(session.clone())
        .states([RequestState::Pending, RequestState::Answered]);
    let open = shared.store.requests(open).await?;
    let expired = |request: falconer_store::RequestRecord| (request.id, RequestState::Expired);
    Ok(open.into_iter().map(expired).collect())
}

/// What the agent was given and did not answer is never given to it again by itself.
async fn sent_inputs(
    shared: &Shared,
    session: &SessionId,
) -> Result<Vec<(falconer_store::MessageId, InputState)>, Error> {
    let sent = InputQuery::states([InputState::Sent]);
    let sent = shared.store.inputs(session, sent).await?;
    let interrupted = |input: falconer_store::InputRecord| (input.id, InputState::Interrupted);
    Ok(sent.into_iter().map(interrupted).collect())
}
