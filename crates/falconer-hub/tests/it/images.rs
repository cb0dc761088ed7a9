//! Images that tools return: kept as blobs, named by events, gone with their session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_event::{Event, Image};
use falconer_hub::Hub;
use falconer_store::{BlobRecord, EventQuery, SessionId, SessionState};

use crate::adopted::{adopt, spec, told};
use crate::place::{DOT, Place, events, send, state};

fn images(events: &[Event]) -> Vec<Image> {
    let all = events.iter().flat_map(|event| event.body.images());
    all.cloned().collect()
}

async fn blob(hub: &Hub, image: &Image) -> Result<BlobRecord, falconer_store::Error> {
    let id = image.id.as_deref().unwrap();
    hub.store().blob(&id.into()).await
}

/// A session that has looked at a picture.
async fn looked(place: &Place, hub: &Hub) -> SessionId {
    std::fs::write(place.work().join("dot.png"), STANDARD.decode(DOT).unwrap()).unwrap();
    let session = place.session(hub).await;
    send(hub, &session, "look at the picture").await;
    state(hub, &session, SessionState::Ready).await;
    session
}

#[tokio::test]
async fn an_image_is_a_blob_that_its_event_names_and_that_goes_with_the_session() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = looked(&place, &hub).await;
    let shown = images(&events(&hub, &session).await);
    let [image] = shown.as_slice() else {
        panic!("{shown:?}")
    };
    let bytes = STANDARD.decode(DOT).unwrap();
    let kept = blob(&hub, image).await.unwrap();
    assert_eq!(
        (kept.media_type.as_str(), kept.size),
        ("image/png", bytes.len() as u64)
    );
    assert_eq!((&*image.media_type, image.bytes), ("image/png", kept.size));
    assert_eq!(hub.store().blob_bytes(&kept.hash).await.unwrap(), bytes);
    let rows = hub.store().events(&session, EventQuery::after(0)).await;
    for row in rows.unwrap().events {
        assert!(!row.json.contains(&DOT[..40]), "{}", row.json);
    }
    hub.delete(&session).await.unwrap();
    let gone = blob(&hub, image).await;
    assert!(matches!(gone, Err(falconer_store::Error::NotFound { .. })));
}

#[tokio::test]
async fn a_fork_keeps_its_images_when_the_original_is_deleted() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = looked(&place, &hub).await;
    let fork = hub.fork(&session, None).await.unwrap().id;
    let (ours, theirs) = (events(&hub, &session).await, events(&hub, &fork).await);
    let (ours, theirs) = (images(&ours), images(&theirs));
    assert_eq!((ours.len(), theirs.len()), (1, 1));
    assert_ne!(ours[0].id, theirs[0].id);
    hub.delete(&session).await.unwrap();
    let kept = blob(&hub, &theirs[0]).await.unwrap();
    let bytes = hub.store().blob_bytes(&kept.hash).await.unwrap();
    assert_eq!(bytes, STANDARD.decode(DOT).unwrap());
}

#[tokio::test]
async fn who_started_the_session_has_the_bytes_and_the_store_has_them_too() {
    let place = Place::new();
    let hub = place.hub().await;
    std::fs::write(place.work().join("dot.png"), STANDARD.decode(DOT).unwrap()).unwrap();
    let mut adopted = adopt(&place, &hub, spec(&place)).await;
    adopted.session.send("look at the picture").await.unwrap();
    let told = images(&told(&mut adopted.events, "turn.completed").await);
    assert_eq!(told.len(), 1);
    let data = told[0].data.as_deref();
    assert_eq!(data, Some(&*STANDARD.decode(DOT).unwrap()));
    assert_eq!(blob(&hub, &told[0]).await.unwrap().size, told[0].bytes);
}
