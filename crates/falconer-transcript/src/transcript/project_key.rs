//! The name of a project's directory, computed as the CLI does.

use std::path::{Component, Path, PathBuf};

/// The longest key without a hash; a longer one is cut here and gets one.
const LONGEST: usize = 200;

/// The name of the directory that holds the sessions of a working directory.
///
/// Symbolic links are resolved first; a directory that does not exist is taken as it is
/// written, which has to be absolute.
pub(super) fn project_key(directory: &Path) -> String {
    let real = std::fs::canonicalize(directory).unwrap_or_else(|_| without_dots(directory));
    sanitize(&real.to_string_lossy())
}

/// Removes `.` and `..` without looking at the disk.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => clean.push(part),
        }
    }
    clean
}

/// Replaces everything but ASCII letters and digits; counts in UTF-16 as the CLI does.
fn sanitize(path: &str) -> String {
    let letter = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    let mut key: String = path.encode_utf16().map(letter).collect();
    if key.len() > LONGEST {
        key.truncate(LONGEST);
        key.push('-');
        key.push_str(&base36(hash(path)));
    }
    key
}

/// The 32-bit `hash * 31 + unit` over UTF-16 units, without its sign.
fn hash(text: &str) -> u32 {
    let mix = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, mix).unsigned_abs()
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
            (&long, format!("-nonexist-{}-ew24a2", "-".repeat(190))),
        ];
        for (path, expect) in cases {
            assert_eq!(sanitize(path), expect, "{path}");
        }
        assert_eq!(project_key(Path::new("/no/such/../dir_1")), "-no-dir-1");
    }
}
