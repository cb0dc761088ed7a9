//! Patterns over paths, in the syntax of `.gitignore`, with four places to hang them on.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::place::Place;
use crate::text::RuleProblem;

/// What the beginnings of patterns stand for.
#[derive(Debug, Clone)]
pub struct Anchors {
    /// Where the session was started: `x`, `./x`, and `/x`.
    pub project: PathBuf,
    /// `~/x`
    pub home: Option<PathBuf>,
}

/// Whether capitals matter. For rules that forbid they do not: the disk may not care, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capitals {
    /// For rules that allow.
    Matter,
    /// For rules that forbid.
    Ignored,
}

/// A pattern.
#[derive(Debug, Clone)]
pub struct PathPattern {
    /// The place it hangs on, as given and with links resolved.
    roots: Vec<PathBuf>,
    lines: Vec<String>,
    capitals: Capitals,
    /// A piece of text that every path has which it covers, if there is one.
    needed: Option<String>,
    /// Made when it is first needed: most sessions never look.
    matcher: OnceLock<Option<Gitignore>>,
}

impl PathPattern {
    /// Reads a pattern; it hangs on the places the anchors name.
    pub fn new(written: &str, anchors: &Anchors, capitals: Capitals) -> Result<Self, RuleProblem> {
        let (root, glob) = anchor(written, anchors)?;
        if glob.starts_with('!') || glob.trim_matches('/').is_empty() {
            let text = "it would take something out or match nothing".to_owned();
            return Err(RuleProblem::Pattern(text));
        }
        let lines = lines(glob, capitals);
        builder(&lines, capitals).map_err(|error| RuleProblem::Pattern(error.to_string()))?;
        let place = Place::of(&root);
        let mut roots = vec![place.spelled, place.real];
        roots.dedup();
        Ok(Self {
            roots,
            needed: needed(&lines),
            lines,
            capitals,
            matcher: OnceLock::new(),
        })
    }

    fn matcher(&self) -> Option<&Gitignore> {
        let made = self.matcher.get_or_init(|| {
            let builder = builder(&self.lines, self.capitals).ok()?;
            builder.build().ok().filter(|matcher| !matcher.is_empty())
        });
        made.as_ref()
    }

    /// Whether it covers any name of the place: as spelled, or with links resolved.
    ///
    /// A pattern that cannot be used after all touches everything.
    pub fn touches(&self, place: &Place) -> bool {
        let Some(matcher) = self.matcher() else {
            return true;
        };
        place
            .different_names()
            .any(|name| self.covers_name(matcher, name, place.is_dir))
    }

    /// Whether it covers all names of the place.
    pub fn covers(&self, place: &Place) -> bool {
        let Some(matcher) = self.matcher() else {
            return false;
        };
        let mut names = place.different_names();
        place.is_clear && names.all(|name| self.covers_name(matcher, name, place.is_dir))
    }

    /// Returns whether a path has what every covered path has, whatever its capitals.
    fn may_cover(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_encoded_bytes();
        let Some(needed) = self.needed.as_deref().filter(|_| path.is_ascii()) else {
            return true;
        };
        let mut windows = path.windows(needed.len());
        windows.any(|window| window.eq_ignore_ascii_case(needed.as_bytes()))
    }

    fn covers_name(&self, matcher: &Gitignore, name: &Path, is_dir: bool) -> bool {
        let is_below = |root: &PathBuf| {
            let below = name.strip_prefix(root).ok();
            below
                .filter(|below| !below.as_os_str().is_empty())
                .is_some_and(|below| {
                    let found = matcher.matched_path_or_any_parents(below, is_dir);
                    found.is_ignore()
                })
        };
        self.may_cover(name) && self.roots.iter().any(is_below)
    }
}

/// The longest piece of a pattern that stands for itself.
fn needed(lines: &[String]) -> Option<String> {
    let last = lines.last()?;
    let may_vary = |line: &String| !line.is_ascii() || line.contains(['[', '{', '\\', '!']);
    if lines.iter().any(may_vary) {
        return None;
    }
    let pieces = last.split(['*', '?', '/', '#', ' ']);
    let longest = pieces.max_by_key(|piece| piece.len())?;
    let is_everywhere = lines.iter().all(|line| line.contains(longest));
    (is_everywhere && !longest.is_empty()).then(|| longest.to_owned())
}

fn builder(lines: &[String], capitals: Capitals) -> Result<GitignoreBuilder, ignore::Error> {
    let mut builder = GitignoreBuilder::new("/");
    builder.case_insensitive(capitals == Capitals::Ignored)?;
    for line in lines {
        builder.add_line(None, line)?;
    }
    Ok(builder)
}

/// The pattern, and for one that forbids all there is in a directory, the directory, too.
fn lines(glob: String, capitals: Capitals) -> Vec<String> {
    let glob = if glob.starts_with('#') {
        format!("\\{glob}")
    } else {
        glob
    };
    let directory = glob
        .strip_suffix("/**")
        .filter(|directory| capitals == Capitals::Ignored && !directory.is_empty())
        .map(|directory| format!("/{}", directory.trim_start_matches('/')));
    std::iter::once(glob).chain(directory).collect()
}

fn anchor(written: &str, anchors: &Anchors) -> Result<(PathBuf, String), RuleProblem> {
    let written = written.trim();
    if let Some(rest) = written.strip_prefix("//") {
        return Ok((PathBuf::from("/"), format!("/{rest}")));
    }
    if let Some(rest) = written.strip_prefix("~/") {
        let home = anchors.home.clone().ok_or_else(|| {
            RuleProblem::Pattern("there is no home directory to start from".to_owned())
        })?;
        return Ok((home, format!("/{rest}")));
    }
    let mut rest = written;
    let mut root = anchors.project.clone();
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter;
    }
    // Upwards from the directory: a pattern knows no `..`.
    while let Some(shorter) = rest.strip_prefix("../") {
        root.pop();
        rest = shorter;
    }
    if rest.split('/').any(|name| name == "..") {
        let text = "`..` may only stand at its beginning".to_owned();
        return Err(RuleProblem::Pattern(text));
    }
    Ok((root, rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Capitals, lines, needed};

    #[test]
    fn a_piece_is_needed_only_if_every_path_has_it() {
        let table = [
            (".env", Some(".env")),
            ("secrets/**", Some("secrets")),
            ("a/**/my-keys?.pem", Some("my-keys")),
            ("/etc/*", Some("etc")),
            ("**", None),
            ("{a,b}.txt", None),
            ("[s]ecret", None),
            ("a\\*b", None),
            ("schl\u{fc}ssel", None),
        ];
        for (glob, piece) in table {
            let lines = lines(glob.to_owned(), Capitals::Ignored);
            assert_eq!(needed(&lines).as_deref(), piece, "{glob}");
        }
    }
}
