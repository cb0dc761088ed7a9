//! The part of the disk this server may be asked about.
//!
//! A path counts by where it really leads: links are resolved first. A folder is listed through
//! the handle that was checked, so exchanging it for a link in between gains nothing.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};

use crate::problem::{Code, Problem};

/// More folders are not listed.
const MOST: usize = 1000;

/// The directories below which agents may work.
#[derive(Debug, Clone)]
pub(crate) struct Roots(Vec<PathBuf>);

/// A folder and those in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) path: Option<PathBuf>,
    pub(crate) folders: Vec<PathBuf>,
}

impl Roots {
    /// Roots that do not exist are left out.
    pub(crate) fn new(given: &[PathBuf]) -> Self {
        let resolved = given.iter().filter_map(|root| root.canonicalize().ok());
        Self(resolved.collect())
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// The directory a path really leads to, if it is below a root.
    pub(crate) fn directory(&self, path: &str) -> Result<PathBuf, Problem> {
        let path = Path::new(path);
        // The same words for what is missing and what is elsewhere: nobody learns what exists.
        let outside = || {
            let text = format!(
                "{} is not a directory below a configured root",
                path.display()
            );
            Problem::new(Code::OutsideRoots, text)
        };
        if !path.is_absolute() {
            return Err(Problem::new(
                Code::InvalidValue,
                "the path must be absolute",
            ));
        }
        let resolved = path.canonicalize().map_err(|_| outside())?;
        if self.contain(&resolved) && resolved.is_dir() {
            Ok(resolved)
        } else {
            Err(outside())
        }
    }

    /// Whether a path is below a root, as it is written and where it leads, as far as it exists.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        let has_parent = path.components().any(|part| part == Component::ParentDir);
        let existing = path.ancestors().find_map(|part| part.canonicalize().ok());
        !has_parent && self.contain(path) && existing.is_some_and(|real| self.contain(&real))
    }

    /// The folders in a folder; the roots if none is named.
    pub(crate) fn list(&self, path: Option<&str>) -> Result<Listing, Problem> {
        let Some(path) = path else {
            return Ok(Listing {
                path: None,
                folders: self.0.clone(),
            });
        };
        let wanted = self.directory(path)?;
        let unreadable = |error: std::io::Error| {
            let text = format!("failed to list {}: {error}", wanted.display());
            Problem::new(Code::OutsideRoots, text)
        };
        let handle = File::open(&wanted).map_err(unreadable)?;
        let through = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let opened = std::fs::read_link(&through).map_err(unreadable)?;
        if !self.contain(&opened) {
            let text = format!("{path} leads elsewhere now");
            return Err(Problem::new(Code::OutsideRoots, text));
        }
        let mut folders: Vec<PathBuf> = std::fs::read_dir(&through)
            .map_err(unreadable)?
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| opened.join(entry.file_name()))
            .take(MOST)
            .collect();
        folders.sort();
        Ok(Listing {
            path: Some(opened),
            folders,
        })
    }

    fn contain(&self, resolved: &Path) -> bool {
        self.0.iter().any(|root| resolved.starts_with(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_roots_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let root = place.join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir_all(place.join("rooted")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        symlink(&place, root.join("out")).unwrap();
        symlink(root.join("a"), root.join("in")).unwrap();
        let roots = Roots::new(std::slice::from_ref(&root));

        let text = |path: &Path| path.to_str().unwrap().to_owned();
        assert_eq!(
            roots.directory(&text(&root.join("a/b"))).unwrap(),
            root.join("a/b")
        );
        assert_eq!(
            roots.directory(&text(&root.join("in"))).unwrap(),
            root.join("a")
        );
        for path in [
            text(&place),
            text(&root.join("..")),
            text(&root.join("a/../..")),
            text(&root.join("out")),
            text(&root.join("out/rooted")),
            text(&place.join("rooted")),
            text(&root.join("file")),
            text(&root.join("missing")),
            "/etc".to_owned(),
            "relative".to_owned(),
            String::new(),
            format!("{}\0", root.display()),
        ] {
            assert!(roots.directory(&path).is_err(), "{path:?}");
            assert!(roots.list(Some(&path)).is_err(), "{path:?}");
        }
        let listing = roots.list(Some(&text(&root))).unwrap();
        assert_eq!(listing.folders, [root.join("a")], "links are not listed");
        assert_eq!(roots.list(None).unwrap().folders, [root]);
    }
}
