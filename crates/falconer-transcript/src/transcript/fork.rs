//! Copying a conversation into the transcript of a new session.
//!
//! As the CLI does it: messages keep their ids, so that a host can go on naming them.

use std::fs::File;
use std::io;

use falconer_protocol::{Object, SessionId};
use serde_json::{Value, json};

use super::lines::Span;

/// A conversation that waits to be copied.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) source: File,
    pub(super) spans: Vec<Span>,
    pub(super) title: Option<String>,
    pub(super) tools_used: Vec<String>,
}

impl Copy {
    /// Hands out the entries of the copy, one at a time.
    pub(super) fn write(
        &self,
        session: &SessionId,
        each: &mut dyn FnMut(Object) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for span in &self.spans {
            span.read(&self.source, &mut line)?;
            let Ok(mut entry) = serde_json::from_slice::<Object>(&line) else {
                continue;
            };
            entry.insert("sessionId".to_owned(), json!(session));
            each(entry)?;
        }
        let title = self.title.as_ref().map(
            |title| json!({ "type": "custom-title", "customTitle": title, "sessionId": session }),
        );
        let tools = (!self.tools_used.is_empty()).then(
            || json!({ "type": "tools-used", "tools": self.tools_used, "sessionId": session }),
        );
        for entry in [title, tools].into_iter().flatten() {
            if let Value::Object(entry) = entry {
                each(entry)?;
            }
        }
        Ok(())
    }
}
