//! Options, as programs recognise them.

/// Whether a word is an option, also when abbreviated as many programs allow.
pub(super) fn is_long_option(word: &str, options: &[&str]) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.len() > 2
        && name.starts_with("--")
        && options.iter().any(|option| option.starts_with(name))
}

/// Whether a cluster of short options contains one of these letters.
pub(super) fn has_short_option(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|cluster| {
        !cluster.starts_with('-') && cluster.chars().any(|letter| letters.contains(letter))
    })
}
