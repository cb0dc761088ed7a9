//! Events are appended and read.

use serde_json::json;

use super::{Stores, all_events, at_once, claimed, event, events, unexpected};
use crate::{
    Append, Error, EventQuery, InputState, LivePatch, MAX_EVENT_BYTES, MAX_PAGE, MAX_PAGE_BYTES,
    NewEvent, NewInput, NewRequest, RequestKind, RequestState, Result, SessionState,
};

/// Spaces, escapes and the order of fields stay as they were.
pub async fn events_come_back_byte_for_byte(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let texts = [
        r#"{"b":1,"a":2}"#,
        "{ \"n\" : 1.0e10 , \"x\":\"\\u00e4\" }",
        r#"{"t":"ä π 𝄞 \u0000 ' \" \\ \n"}"#,
        "{}",
    ];
    let new = texts.map(|json| NewEvent::new("x.y", json)).to_vec();
    assert_eq!(
        store.append(Append::new(id.clone(), fence, 1, new)).await?,
        4
    );
    let read = all_events(&store, &id).await?;
    assert_eq!(
        read.iter()
            .map(|event| event.json.as_str())
            .collect::<Vec<_>>(),
        texts
    );
    assert_eq!(
        read.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert!(read.iter().all(|event| event.kind == "x.y"));
    Ok(())
}

/// Writers that race for the next number: each number is given once, and whoever got `Ok` finds
/// exactly his events there.
pub async fn numbers_have_no_gaps_under_concurrent_writers(
    Stores { store, second, .. }: Stores,
) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let writers = (0..8).map(|writer| {
        let store = if writer % 2 == 0 { &store } else { &second };
        let (store, id) = (std::sync::Arc::clone(store), id.clone());
        let job: futures_util::future::BoxFuture<'static, _> = Box::pin(async move {
            let mut first = 1;
            let mut mine = Vec::new();
            while mine.len() < 10 {
                let new = vec![
                    event(format!("{writer}-{first}-a")),
                    event(format!("{writer}-{first}-b")),
                ];
                match store
                    .append(Append::new(id.clone(), fence, first, new))
                    .await
                {
                    Ok(head) => {
                        mine.push((writer, first));
                        first = head + 1;
                    }
                    Err(Error::WrongSequence { expected, .. }) => first = expected,
                    Err(other) => return Err(other),
                }
            }
            Ok(mine)
        });
        job
    });
    let mine: Vec<_> = at_once(writers).await?.into_iter().flatten().collect();
    let read = all_events(&store, &id).await?;
    assert!(read.iter().map(|event| event.seq).eq(1..=160));
    for (writer, first) in mine {
        for (event, part) in read[first as usize - 1..].iter().zip(["a", "b"]) {
            let text = format!(r#"{{"text":"{writer}-{first}-{part}"}}"#);
            assert_eq!(event.json, text);
        }
    }
    Ok(())
}

/// Too low, too high, zero: refused, with what would be right.
pub async fn a_wrong_first_number_is_refused(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    store.append(events(&id, fence, 1, 3)).await?;
    for given in [1, 3, 5, 1_000_000] {
        match store.append(events(&id, fence, given, 1)).await {
            Err(Error::WrongSequence {
                expected: 4,
                given: g,
                ..
            }) if g == given => {}
            other => return Err(unexpected(other)),
        }
    }
    for given in [0, u64::MAX, u64::MAX - 1] {
        let new = vec![event(1), event(2)];
        let refused = store
            .append(Append::new(id.clone(), fence, given, new))
            .await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    assert_eq!(
        store.append(events(&id, fence, 4, 0)).await?,
        3,
        "nothing to append is fine"
    );
    assert_eq!(store.append(events(&id, fence, 4, 1)).await?, 4);
    Ok(())
}

/// All or nothing: no event, no request, no state of a refused append is there.
pub async fn a_refused_append_leaves_nothing(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let mut first = events(&id, fence, 1, 1);
    first
        .requests
        .push(NewRequest::new("taken", RequestKind::Choice, json!(1), "d"));
    store.append(first).await?;
    let before = store.session(&id).await?;

    let mut taken = events(&id, fence, 2, 2);
    taken.live = LivePatch::default().state(SessionState::Running);
    taken
        .requests
        .push(NewRequest::new("new", RequestKind::Choice, json!(1), "d"));
    let mut unknown = taken.clone();
    let mut twice = taken.clone();
    taken
        .requests
        .push(NewRequest::new("taken", RequestKind::Choice, json!(1), "d"));
    let refused = store.append(taken).await;
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    twice
        .requests
        .push(NewRequest::new("new", RequestKind::Choice, json!(1), "d"));
    let refused = store.append(twice).await;
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    unknown.inputs.push(("nobody".into(), InputState::Sent));
    let refused = store.append(unknown).await;
    assert!(
        matches!(refused, Err(Error::NotFound { .. })),
        "{refused:?}"
    );

    let mut large = events(&id, fence, 2, 2);
    large.events[1].json = "x".repeat(MAX_EVENT_BYTES + 1);
    let refused = store.append(large).await;
    assert!(
        matches!(refused, Err(Error::TooLarge { .. })),
        "{refused:?}"
    );

    assert_eq!(store.session(&id).await?, before);
    assert_eq!(all_events(&store, &id).await?.len(), 1);
    let none = store.request(&"new".into()).await;
    assert!(matches!(none, Err(Error::NotFound { .. })), "{none:?}");
    Ok(())
}

/// Pages of any size give every event once, in order, with the right head.
pub async fn pages_of_events_are_complete_and_ordered(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let (other, other_fence) = claimed(&store).await?;
    let mut first = 1;
    for count in [1, 2, 60, 137, 300] {
        store.append(events(&id, fence, first, count)).await?;
        store
            .append(events(&other, other_fence, first, count))
            .await?;
        first += count;
    }
    for limit in [1, 7, 100, 499, 500, 501, 1_000_000] {
        let mut seen = 0;
        loop {
            let page = store
                .events(&id, EventQuery::after(seen).limit(limit))
                .await?;
            assert_eq!(page.head, 500);
            let numbers = page.events.iter().map(|event| event.seq);
            assert!(
                numbers.eq(seen + 1..=seen + page.events.len() as u64),
                "after {seen}"
            );
            assert!(page.events.len() <= limit.min(MAX_PAGE));
            seen += page.events.len() as u64;
            assert_eq!(page.more, seen < 500);
            if !page.more {
                break;
            }
        }
        assert_eq!(seen, 500);
    }
    for after in [500, 501, u64::MAX] {
        let page = store.events(&id, EventQuery::after(after)).await?;
        assert_eq!((page.events.len(), page.head, page.more), (0, 500, false));
    }
    Ok(())
}

/// A filter gives the events of these types, with their own numbers.
pub async fn events_are_filtered_by_type(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let kinds = ["a", "b", "c"];
    let new = (0..30).map(|n| NewEvent::new(kinds[n % 3], "{}")).collect();
    store.append(Append::new(id.clone(), fence, 1, new)).await?;
    let kinds = vec!["a".to_owned(), "c".to_owned(), "none".to_owned()];
    let query = EventQuery::after(2).limit(5).kinds(kinds);
    let page = store.events(&id, query).await?;
    let numbers: Vec<_> = page.events.iter().map(|event| event.seq).collect();
    assert_eq!(
        (numbers, page.head, page.more),
        (vec![3, 4, 6, 7, 9], 30, true)
    );
    let none = EventQuery::after(0).kinds(vec!["none".to_owned()]);
    let page = store.events(&id, none).await?;
    assert_eq!((page.events.len(), page.head, page.more), (0, 30, false));
    Ok(())
}

/// The largest is kept whole, one byte more is refused.
pub async fn an_event_that_is_too_large_is_refused(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let append = |size| {
        let new = NewEvent::new("large", "x".repeat(size));
        Append::new(id.clone(), fence, 1, vec![new])
    };
    match store.append(append(MAX_EVENT_BYTES + 1)).await {
        Err(Error::TooLarge { size, limit, .. }) => {
            assert_eq!((size, limit), (MAX_EVENT_BYTES + 1, MAX_EVENT_BYTES));
        }
        other => return Err(unexpected(other)),
    }
    store.append(append(MAX_EVENT_BYTES)).await?;
    assert_eq!(
        all_events(&store, &id).await?[0].json.len(),
        MAX_EVENT_BYTES
    );
    Ok(())
}

/// A page does not grow without limit; what is left is on the next.
pub async fn a_page_of_large_events_is_cut(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    for seq in 1..=4 {
        let new = NewEvent::new("large", "x".repeat(3 << 20));
        store
            .append(Append::new(id.clone(), fence, seq, vec![new]))
            .await?;
    }
    let page = store.events(&id, EventQuery::after(0)).await?;
    let size: usize = page.events.iter().map(|event| event.json.len()).sum();
    assert!(
        size <= MAX_PAGE_BYTES && page.more && page.events.len() == 2,
        "{size}"
    );
    assert_eq!(all_events(&store, &id).await?.len(), 4);
    Ok(())
}

/// Requests, messages and the session change with the events that tell of them.
pub async fn an_append_moves_its_rows_along(Stores { store, .. }: Stores) -> Result<()> {
    let (id, fence) = claimed(&store).await?;
    let input = store
        .insert_input(NewInput::new(id.clone(), "c", "hello"))
        .await?;
    let input = input.into_record().id;
    let mut append = events(&id, fence, 1, 2);
    append.live = LivePatch::default().state(SessionState::Waiting);
    append.requests.push(NewRequest::new(
        "r",
        RequestKind::Permission,
        json!({"a": 1}),
        "d",
    ));
    append.inputs.push((input.clone(), InputState::Sent));
    store.append(append).await?;
    let session = store.session(&id).await?;
    assert_eq!(
        (session.state, session.pending, session.head),
        (SessionState::Waiting, 1, 2)
    );
    assert_eq!(store.input(&input).await?.state, InputState::Sent);
    assert_eq!(
        store.request(&"r".into()).await?.state,
        RequestState::Pending
    );

    let mut append = events(&id, fence, 3, 1);
    append.settled.push(("r".into(), RequestState::Withdrawn));
    append.inputs.push((input.clone(), InputState::Done));
    store.append(append).await?;
    assert_eq!(
        store.request(&"r".into()).await?.state,
        RequestState::Withdrawn
    );
    assert_eq!(store.input(&input).await?.state, InputState::Done);
    assert_eq!(store.session(&id).await?.pending, 0);

    // Rows of another session are out of reach.
    let (other, other_fence) = claimed(&store).await?;
    let mut foreign = events(&other, other_fence, 1, 1);
    foreign.settled.push(("r".into(), RequestState::Expired));
    let refused = store.append(foreign).await;
    assert!(
        matches!(refused, Err(Error::NotFound { .. })),
        "{refused:?}"
    );
    let mut foreign = events(&other, other_fence, 1, 1);
    foreign.inputs.push((input, InputState::Cancelled));
    let refused = store.append(foreign).await;
    assert!(
        matches!(refused, Err(Error::NotFound { .. })),
        "{refused:?}"
    );
    Ok(())
}

/// A hundred sessions at once, good and bad appends mixed: each caller gets his own result.
pub async fn many_sessions_append_at_once(Stores { store, .. }: Stores) -> Result<()> {
    let mut sessions = Vec::new();
    for _ in 0..100 {
        sessions.push(claimed(&store).await?);
    }
    let jobs = sessions
        .iter()
        .cloned()
        .enumerate()
        .map(|(number, (id, fence))| {
            let store = std::sync::Arc::clone(&store);
            let job: futures_util::future::BoxFuture<'static, _> = Box::pin(async move {
                for round in 0..5 {
                    let first = 1 + round * 3;
                    let wrong = store.append(events(&id, fence, first + 1, 3)).await;
                    if !matches!(wrong, Err(Error::WrongSequence { .. })) {
                        return Err(unexpected(wrong));
                    }
                    let head = store.append(events(&id, fence, first, 3)).await?;
                    if head != first + 2 {
                        return Err(unexpected((number, head)));
                    }
                }
                Ok(())
            });
            job
        });
    at_once(jobs).await?;
    for (id, _) in &sessions {
        let read = all_events(&store, id).await?;
        assert!(read.iter().map(|event| event.seq).eq(1..=15));
        assert!(read.iter().all(|row| row.json == event(row.seq).json));
    }
    Ok(())
}
