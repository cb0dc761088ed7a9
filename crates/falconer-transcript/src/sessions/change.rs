//! Changing a session: one appended line for a title or tag, removal of its files.

use std::fs;
use std::path::Path;

use falconer_protocol::SessionId;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::files::Root;
use super::locate::Located;
use super::prompt::trim;
use crate::append;
use crate::error::SessionError;
use crate::session_entry::SessionEntry;

/// Returns the entry that gives a session a title.
pub(crate) fn title_entry<'a>(
    session_id: &'a SessionId,
    title: &str,
) -> Result<SessionEntry<'a>, SessionError> {
    let title = trim(title);
    if title.is_empty() {
        return Err(SessionError::Empty { what: "title" });
    }
    Ok(SessionEntry::CustomTitle {
        custom_title: title.to_owned(),
        session_id,
        uuid: None,
        timestamp: None,
    })
}

/// Returns the entry that tags a session.
pub(crate) fn tag_entry<'a>(
    session_id: &'a SessionId,
    tag: &str,
) -> Result<SessionEntry<'a>, SessionError> {
    let visible = visible(tag);
    let tag = trim(&visible);
    if tag.is_empty() {
        return Err(SessionError::Empty { what: "tag" });
    }
    Ok(of_tag(session_id, tag))
}

/// Returns the entry that takes the tag off a session.
pub(crate) fn no_tag_entry(session_id: &SessionId) -> SessionEntry<'_> {
    of_tag(session_id, "")
}

fn of_tag<'a>(session_id: &'a SessionId, tag: &str) -> SessionEntry<'a> {
    SessionEntry::Tag {
        tag: tag.to_owned(),
        session_id,
        uuid: None,
        timestamp: None,
    }
}

/// The text in its compatible form without invisible, private and unassigned characters.
fn visible(text: &str) -> String {
    let mut text = text.to_owned();
    // Removing characters can bring others together that combine; a few rounds settle it.
    for _ in 0..10 {
        let next: String = text.nfkc().filter(|c| is_visible(*c)).collect();
        if next == text {
            break;
        }
        text = next;
    }
    text
}

fn is_visible(c: char) -> bool {
    !matches!(
        c.general_category(),
        GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
    )
}

/// Appends one entry to a transcript with a single write.
pub(crate) fn append(
    root: &Root,
    file: &Path,
    entry: &SessionEntry<'_>,
) -> Result<(), SessionError> {
    let appended = root
        .open_append(file)
        .and_then(|open| append::append(&open, &entry.to_line()));
    appended.map_err(SessionError::io("append to", file))
}

/// Removes a transcript and the directory beside it.
pub(crate) fn delete(located: &Located) -> Result<(), SessionError> {
    fs::remove_file(&located.file).map_err(SessionError::io("remove", &located.file))?;
    let beside = located.session_dir();
    // A link is removed itself; nothing is followed.
    let removed = match fs::symlink_metadata(&beside) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&beside),
        Ok(_) => fs::remove_file(&beside),
        Err(_) => return Ok(()),
    };
    removed.map_err(SessionError::io("remove", &beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_lose_what_cannot_be_seen() {
        let cases = [
            ("a\u{378}b", "ab"),
            ("a\u{e000}b", "ab"),
            ("a\u{ad}b", "ab"),
            ("a\u{e0041}b", "ab"),
            ("\u{fb01}\u{2460}", "fi1"),
            (" a  b ", "a  b"),
            ("😀", "😀"),
            ("\u{61c}b", "b"),
        ];
        let id = SessionId::new("s");
        for (tag, expect) in cases {
            let entry = tag_entry(&id, tag).expect("not empty").to_line();
            let expect = of_tag(&id, expect).to_line();
            assert_eq!(entry, expect, "{tag:?}");
        }
        assert!(tag_entry(&id, "\u{200b} ").is_err());
        assert!(title_entry(&id, " \n").is_err());
    }
}
