//! Lists of sessions.

use super::{Stores, claim};
use crate::{
    Archived, Cursor, LivePatch, NewSession, Result, SessionPatch, SessionQuery, SessionRecord,
    SessionState, Store,
};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const TITLES: &[Option<&str>] = &[
    None,
    Some(""),
    Some("Fix the Parser"),
    Some("100% of a_b"),
    Some("ÄRGER mit ß"),
    Some("'\"\\"),
];
const FOLDERS: &[&str] = &["/", "/home/me/parser", "/srv/100%", "/tmp/Ärger", "/a_b"];
const TEXTS: &[&str] = &[
    "", "parser", "PARSER", "%", "_", "a_b", "/", "Ärger", "\\", "'", "nowhere",
];

const NATIVE: &[Option<&str>] = &[None, Some("one"), Some("two"), Some("ONE")];

async fn populate(store: &std::sync::Arc<dyn Store>, dice: &mut Dice) -> Result<()> {
    let mut first = None;
    for _ in 0..60 {
        let mut new = NewSession::new("auto", dice.pick(FOLDERS));
        new.title = dice.pick(TITLES).map(str::to_owned);
        new.native_session = dice.pick(NATIVE).map(str::to_owned);
        new.parent = first.clone().filter(|_| dice.below(3) == 0);
        let id = store.create_session(new).await?.id;
        first.get_or_insert_with(|| id.clone());
        let fence = claim(store, &id, "a").await?.fence;
        let state = dice.pick(SessionState::ALL);
        store
            .update_live(&id, fence, LivePatch::default().state(state))
            .await?;
        store.release(&id, fence).await?;
        if dice.below(3) == 0 {
            store
                .update_session(&id, SessionPatch::default().archived(true))
                .await?;
        }
    }
    Ok(())
}

/// Returns the answer of the documentation, in the plainest way.
fn matches(session: &SessionRecord, query: &SessionQuery) -> bool {
    let contains = |text: &str, part: &str| {
        text.to_ascii_lowercase()
            .contains(&part.to_ascii_lowercase())
    };
    let title = session.title.as_deref().unwrap_or_default();
    let text = query.text.as_deref();
    let text = text.is_none_or(|part| contains(title, part) || contains(&session.cwd, part));
    let archived = match query.archived {
        Archived::Hide => !session.archived,
        Archived::Only => session.archived,
        Archived::Any => true,
    };
    let state = query.states.is_empty() || query.states.contains(&session.state);
    let native = query.native_session.is_none() || session.native_session == query.native_session;
    let parent = query.parent.is_none() || session.parent == query.parent;
    text && archived && state && native && parent
}

async fn everything(store: &std::sync::Arc<dyn Store>) -> Result<Vec<SessionRecord>> {
    let query = SessionQuery {
        archived: Archived::Any,
        limit: crate::MAX_PAGE,
        ..SessionQuery::default()
    };
    Ok(store.sessions(query).await?.sessions)
}

/// Random filters, read in pages of random size, give what a plain loop gives.
pub async fn filters_agree_with_a_naive_model(Stores { store, .. }: Stores) -> Result<()> {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    populate(&store, &mut dice).await?;
    let all = everything(&store).await?;
    assert_eq!(all.len(), 60);
    let parent = all.iter().find_map(|session| session.parent.clone());
    assert!(parent.is_some(), "some are copies");
    let mut found_any = false;
    for round in 0..200 {
        let states = (0..dice.below(3))
            .map(|_| dice.pick(SessionState::ALL))
            .collect();
        let mut query = SessionQuery {
            states,
            text: (dice.below(4) > 0).then(|| dice.pick(TEXTS).to_owned()),
            native_session: (dice.below(4) == 0).then(|| "one".to_owned()),
            parent: parent.clone().filter(|_| dice.below(4) == 0),
            archived: dice.pick(&[Archived::Hide, Archived::Only, Archived::Any]),
            limit: 1 + dice.below(20),
            cursor: None,
        };
        let expected: Vec<_> = all
            .iter()
            .filter(|session| matches(session, &query))
            .collect();
        let mut found = Vec::new();
        loop {
            let page = store.sessions(query.clone()).await?;
            assert!(page.sessions.len() <= query.limit);
            found.extend(page.sessions);
            match page.next {
                // Over the wire and back.
                Some(next) => query.cursor = next.to_string().parse().ok(),
                None => break,
            }
        }
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected,
            "{round}: {query:?}"
        );
        found_any |= !found.is_empty() && found.len() < all.len();
    }
    assert!(found_any, "the filters filter nothing");
    Ok(())
}

/// The one that changed last comes first; every session is on exactly one page.
pub async fn pages_of_sessions_are_complete_and_ordered(
    Stores { store, .. }: Stores,
) -> Result<()> {
    populate(&store, &mut Dice(7)).await?;
    let all = everything(&store).await?;
    let key = |session: &SessionRecord| (session.updated_at, session.id.clone());
    assert!(all.is_sorted_by(|a, b| key(a) > key(b)));
    let first = store
        .sessions(SessionQuery {
            limit: 0,
            ..SessionQuery::default()
        })
        .await?;
    assert_eq!(first.sessions.len(), 1, "a page has at least one");
    let cursor: Option<Cursor> = first.next;
    let rest = SessionQuery {
        cursor,
        limit: 1_000_000,
        ..SessionQuery::default()
    };
    let rest = store.sessions(rest).await?;
    assert_eq!(rest.next, None);
    let visible = all.iter().filter(|session| !session.archived).count();
    assert_eq!(rest.sessions.len(), visible - 1);

    let oldest = all.last().map(|session| session.id.clone());
    let oldest = oldest.ok_or_else(|| super::unexpected("no session"))?;
    let patch = SessionPatch::default().archived(false);
    store.update_session(&oldest, patch).await?;
    let page = store
        .sessions(SessionQuery {
            limit: 1,
            ..SessionQuery::default()
        })
        .await?;
    assert_eq!(page.sessions[0].id, oldest);
    Ok(())
}
