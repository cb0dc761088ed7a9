//! The name of a project's directory, computed as the CLI does.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The longest key without a hash; a longer one is cut here and gets one.
pub(crate) const LONGEST: usize = 200;

/// The project key of a working directory: the directory name the CLI uses for it.
///
/// Symbolic links are resolved first; a directory that does not exist is made absolute.
///
/// ```
/// use falconer::sessions::project_key;
///
/// assert_eq!(project_key("/no/such/dir_1"), "-no-such-dir-1");
/// ```
pub fn project_key(directory: impl AsRef<Path>) -> String {
    sanitize(&canonical(directory.as_ref()).to_string_lossy())
}

/// The directory with symbolic links resolved, or just made absolute if it is not there.
pub(crate) fn canonical(directory: &Path) -> PathBuf {
    std::fs::canonicalize(directory).unwrap_or_else(|_| {
        let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
        without_dots(&absolute)
    })
}

/// Removes `.` and `..` without looking at the disk.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            std::path::Component::Normal(_)
            | std::path::Component::RootDir
            | std::path::Component::Prefix(_) => clean.push(part),
        }
    }
    clean
}

/// Replaces everything but ASCII letters and digits; counts in UTF-16 as the CLI does.
pub(crate) fn sanitize(path: &str) -> String {
    let mut key = String::with_capacity(path.len());
    for unit in path.encode_utf16() {
        key.push(match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        });
    }
    if key.len() > LONGEST {
        key.truncate(LONGEST);
        key.push('-');
        key.push_str(&base36(hash(path)));
    }
    key
}

/// What all keys of a path begin with if it is too long to be exact.
pub(crate) fn long_prefix(key: &str) -> Option<Cow<'_, str>> {
    (key.len() > LONGEST).then(|| Cow::Borrowed(&key[..=LONGEST]))
}

/// The 32-bit `hash * 31 + unit` over UTF-16 units, without its sign.
fn hash(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(i32::from(unit))
        })
        .unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_the_cli_was_seen_to_use() {
        let long = format!("/nonexist/{}", "é😀".repeat(120));
        let cases = [
            ("/srv/web app", "-srv-web-app".to_owned()),
            // An emoji is two UTF-16 units, so it becomes two dashes.
            ("/uni/ä b😀_é.c", "-uni---b-----c".to_owned()),
            ("/uni/e\u{301}", "-uni-e-".to_owned()),
            (&long, format!("-nonexist-{}-ew24a2", "-".repeat(190))),
        ];
        for (path, expect) in cases {
            assert_eq!(sanitize(path), expect, "{path}");
        }
    }

    #[test]
    fn the_hash_starts_right_after_two_hundred_characters() {
        assert_eq!(sanitize(&"a".repeat(200)).len(), 200);
        let key = sanitize(&"a".repeat(201));
        assert_eq!(long_prefix(&key).as_deref(), Some(&key[..201]));
        assert_eq!(long_prefix("short"), None);
    }
}
