//! What was perhaps meant by a word that is not known.

/// The word that is written most alike.
pub fn nearest<'w>(word: &str, among: &[&'w str]) -> Option<&'w str> {
    among
        .iter()
        .copied()
        .min_by_key(|other| distance(word, other))
}

/// How many letters have to be changed, added or taken out.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
