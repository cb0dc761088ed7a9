//! The last exchange of a session, as its log has it.

use std::sync::Arc;

use falconer_event::{Body, Event, ItemContent};
use falconer_session::Exchange;
use falconer_store::{EventQuery, SessionId, Store};

/// Finds what was said last in a session whose conversation the engine has lost.
pub(crate) async fn last_exchange(store: Arc<dyn Store>, session: SessionId) -> Option<Exchange> {
    let kinds = ["item.started", "turn.completed"].map(str::to_owned);
    let (mut found, mut prompt) = (None, String::new());
    let mut after = 0;
    loop {
        let query = EventQuery::after(after).kinds(kinds.to_vec());
        let page = match store.events(&session, query).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%session, %error, "failed to look up the last exchange");
                return found;
            }
        };
        let Some(last) = page.events.last() else {
            return found;
        };
        after = last.seq;
        for row in &page.events {
            match serde_json::from_str::<Event>(&row.json).map(|event| event.body) {
                Ok(Body::ItemStarted(item)) => {
                    if let ItemContent::Prompt(said) = item.content {
                        prompt = said.text;
                    }
                }
                Ok(Body::TurnCompleted(turn)) if turn.ok => {
                    found = Some(Exchange::new(&prompt, &turn.text));
                }
                _ => {}
            }
        }
    }
}
