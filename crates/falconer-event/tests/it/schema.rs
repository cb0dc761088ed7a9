//! The schema is published, and events survive being stored.

use falconer_event::{Event, RunId, Sequence, json_schema};

use crate::cassettes::{Recorded, all, events};

#[test]
fn the_schema_is_the_published_one() {
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
        insta::assert_json_snapshot!("event.schema", json_schema());
    });
}

#[test]
fn events_are_numbered_without_gaps_and_read_back_as_they_were() {
    for Recorded { name, messages, .. } in all() {
        let mut sequence = Sequence::new("s");
        let run = RunId::from("r");
        let mut durable = 0;
        for draft in events(messages) {
            let event = sequence.stamp(&run, "2026-01-01T00:00:00Z", draft);
            // A delta takes no number.
            durable += u64::from(!event.body.is_ephemeral());
            assert_eq!(event.seq, durable, "{name}");
            let text = serde_json::to_string(&event).unwrap();
            let back: Event = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
            assert_eq!(back, event, "{name}");
        }
    }
}

#[test]
fn a_type_that_does_not_exist_is_named() {
    let line = r#"{"seq":1,"time":"t","session":"s","run":"r","source":"agent","type":"nonsense","data":{}}"#;
    let error = serde_json::from_str::<Event>(line).unwrap_err().to_string();
    assert!(error.contains("nonsense"), "{error}");
}
