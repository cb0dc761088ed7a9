//! Copying a conversation into the transcript of a new session.
//!
//! As the CLI does it: messages keep their ids, so that a host can go on naming them.

use std::io;

use falconer_protocol::{Object, SessionId};

use crate::error::SessionError;
use crate::lines::{FileLines, Lines, Span};
use crate::session_entry::{SessionEntry, object};

/// A conversation that waits to be copied.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) source: FileLines,
    pub(super) spans: Vec<Span>,
    pub(super) title: Option<String>,
    pub(super) tools_used: Vec<String>,
}

impl Copy {
    /// Hands out the entries of the copy, one at a time.
    pub(super) fn write(
        mut self,
        session_id: &SessionId,
        each: &mut dyn FnMut(Object) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for span in self.spans {
            let read = self.source.read(span, &mut line);
            read.map_err(SessionError::into_io)?;
            let Ok(mut entry) = serde_json::from_slice::<Object>(&line) else {
                continue;
            };
            entry.insert("sessionId".to_owned(), session_id.as_str().into());
            each(entry)?;
        }
        let title = self.title.map(|custom_title| SessionEntry::CustomTitle {
            custom_title,
            session_id,
            uuid: None,
            timestamp: None,
        });
        let tools = Some(self.tools_used).filter(|tools| !tools.is_empty());
        let tools = tools.map(|tools| SessionEntry::ToolsUsed { tools, session_id });
        for entry in title.iter().chain(&tools) {
            each(object(entry))?;
        }
        Ok(())
    }
}
