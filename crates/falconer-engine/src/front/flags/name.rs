//! How a flag may be spelled: `--allowed-tools` and `--allowedTools` are the same.

/// The spelling with dashes.
pub(super) fn canonical(name: &str) -> String {
    let mut canonical = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !canonical.is_empty() {
            canonical.push('-');
        }
        canonical.push(character.to_ascii_lowercase());
    }
    canonical
}
