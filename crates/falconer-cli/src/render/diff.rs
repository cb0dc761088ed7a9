//! A replacement as lines with `-` and `+`.

use owo_colors::OwoColorize;

use super::plain::clean;

/// How many lines of each side are shown.
const LONGEST: usize = 12;

/// The old lines, then the new ones; lines both begin or end with are left out.
pub(super) fn replacement(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (clean(old), clean(new));
    let old: Vec<_> = old.lines().collect();
    let new: Vec<_> = new.lines().collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tails = old.iter().rev().zip(new.iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let removed = side(old, |line| format!("- {line}").red().to_string());
    let added = side(new, |line| format!("+ {line}").green().to_string());
    removed.into_iter().chain(added).collect()
}

fn side(lines: &[&str], styled: impl Fn(&str) -> String) -> Vec<String> {
    let mut shown: Vec<_> = lines
        .iter()
        .take(LONGEST)
        .map(|line| styled(line))
        .collect();
    let hidden = lines.len().saturating_sub(LONGEST);
    if hidden > 0 {
        shown.push(format!("… {hidden} more lines").dimmed().to_string());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::replacement;

    fn plain(old: &str, new: &str) -> Vec<String> {
        let lines = replacement(old, new);
        let lines = lines
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string());
        lines.collect()
    }

    #[test]
    fn only_what_differs_is_shown() {
        assert_eq!(plain("a\nb\nc", "a\nx\ny\nc"), ["- b", "+ x", "+ y"]);
        assert_eq!(plain("", "one\ntwo"), ["+ one", "+ two"]);
        assert_eq!(plain("a\na", "a"), ["- a"]);
        assert_eq!(plain("same", "same"), [""; 0]);
    }

    #[test]
    fn long_changes_are_cut() {
        let lines = plain("", &"x\n".repeat(40));
        assert_eq!(lines.len(), 13);
        assert_eq!(lines[12], "… 28 more lines");
    }
}
