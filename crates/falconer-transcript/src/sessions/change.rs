//! Changing a session: one appended line for a title or tag, removal of its files.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::error::SessionError;
use super::files::Root;
use super::id::SessionId;
use super::locate::Located;
use super::prompt::trim;

/// The entry that gives a session a title.
pub(crate) fn title_entry(id: &SessionId, title: &str) -> Result<Value, SessionError> {
    let title = trim(title);
    if title.is_empty() {
        return Err(SessionError::Empty { what: "title" });
    }
    Ok(json!({"type": "custom-title", "customTitle": title, "sessionId": id}))
}

/// The entry that tags a session.
pub(crate) fn tag_entry(id: &SessionId, tag: &str) -> Result<Value, SessionError> {
    let visible = visible(tag);
    let tag = trim(&visible);
    if tag.is_empty() {
        return Err(SessionError::Empty { what: "tag" });
    }
    Ok(json!({"type": "tag", "tag": tag, "sessionId": id}))
}

/// The entry that takes the tag off a session.
pub(crate) fn no_tag_entry(id: &SessionId) -> Value {
    json!({"type": "tag", "tag": "", "sessionId": id})
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
pub(crate) fn append(root: &Root, file: &Path, entry: &Value) -> Result<(), SessionError> {
    let failed = || SessionError::io("append to", file);
    let mut open = root.open_append(file).map_err(failed())?;
    let before = open.metadata().map_err(failed())?.len();
    let mut line = format!("{entry}\n");
    if !ends_with_newline(root, file, before) {
        line.insert(0, '\n');
    }
    match open.write(line.as_bytes()) {
        Ok(written) if written == line.len() => Ok(()),
        Ok(written) => {
            // A disk that fills up takes half a line; take it back unless others wrote too.
            let after = before + written as u64;
            if open.metadata().is_ok_and(|meta| meta.len() == after) {
                open.set_len(before).map_err(failed())?;
            }
            Err(failed()(io::ErrorKind::StorageFull.into()))
        }
        Err(error) => Err(failed()(error)),
    }
}

/// Whether the last line is whole; a crash may have cut it.
fn ends_with_newline(root: &Root, file: &Path, size: u64) -> bool {
    let mut last = [b'\n'];
    let read = root
        .open(file)
        .and_then(|open| open.read_exact_at(&mut last, size.saturating_sub(1)));
    read.is_err() || last == [b'\n']
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
        let id = SessionId::random();
        for (tag, expect) in cases {
            let entry = tag_entry(&id, tag).expect("not empty");
            assert_eq!(entry["tag"], expect, "{tag:?}");
        }
        assert!(tag_entry(&id, "\u{200b} ").is_err());
        assert!(title_entry(&id, " \n").is_err());
    }
}
