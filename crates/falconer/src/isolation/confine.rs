//! Keeping directories inside a root.

use std::io;
use std::path::{Path, PathBuf};

/// A path that is not inside its root, or could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Escape {
    /// It leads outside.
    #[error("{} is outside of {}", path.display(), root.display())]
    Outside {
        /// The path, resolved.
        path: PathBuf,
        /// The root, resolved.
        root: PathBuf,
    },
    /// It cannot be resolved.
    #[error("failed to resolve {}: {source}", path.display())]
    Unresolved {
        /// The path.
        path: PathBuf,
        /// Reason for the failure.
        source: io::Error,
    },
}

/// The real path of `path`, which must be `root` or below it once every `..` and symbolic link
/// is resolved. A relative path starts at the root.
///
/// # Errors
///
/// [`Escape`] if it is outside or does not exist.
///
/// ```
/// use falconer::isolation::confine;
///
/// let root = tempfile::tempdir()?;
/// std::fs::create_dir(root.path().join("project"))?;
/// assert!(confine(root.path(), "project").is_ok());
/// assert!(confine(root.path(), "project/../..").is_err());
/// assert!(confine(root.path(), "/etc").is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn confine(root: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<PathBuf, Escape> {
    let resolve = |path: &Path| {
        path.canonicalize().map_err(|source| Escape::Unresolved {
            path: path.to_owned(),
            source,
        })
    };
    let root = resolve(root.as_ref())?;
    let path = resolve(&root.join(path))?;
    if path.starts_with(&root) {
        Ok(path)
    } else {
        Err(Escape::Outside { path, root })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::{Escape, confine};

    #[test]
    fn only_what_is_really_inside_is_inside() {
        let directory = tempfile::tempdir().unwrap();
        let outer = directory.path().canonicalize().unwrap();
        let root = outer.join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir_all(outer.join("root-other")).unwrap();
        symlink(&outer, root.join("out")).unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink(&root, outer.join("alias")).unwrap();
        symlink("..", root.join("a/up")).unwrap();
        symlink("../..", root.join("a/far")).unwrap();
        symlink("/etc", root.join("a/etc")).unwrap();
        let inside = |path: &str| confine(&root, path).ok();
        let table = [
            ("", Some(root.clone())),
            (".", Some(root.clone())),
            ("a/b", Some(root.join("a/b"))),
            ("a/../a/b", Some(root.join("a/b"))),
            ("in", Some(root.join("a/b"))),
            ("in/../..", Some(root.clone())),
            ("out/root/a", Some(root.join("a"))),
            ("..", None),
            ("a/../..", None),
            ("out", None),
            ("out/root-other", None),
            ("in/../../..", None),
            ("../root-other", None),
            ("/", None),
            ("/etc", None),
            ("loop", None),
            ("missing", None),
            ("./a/./b/.", Some(root.join("a/b"))),
            ("a//b", Some(root.join("a/b"))),
            ("a/b/../../a", Some(root.join("a"))),
            ("in/.", Some(root.join("a/b"))),
            ("in/../b", Some(root.join("a/b"))),
            ("out/alias/a", Some(root.join("a"))),
            ("out/root/in", Some(root.join("a/b"))),
            ("a/up", Some(root.clone())),
            ("a/up/a", Some(root.join("a"))),
            ("a/far", None),
            ("a/up/..", None),
            ("a/b/../../..", None),
            ("in/../../../root-other", None),
            ("out/root/..", None),
            ("out/alias/..", None),
            ("a/etc", None),
            ("a/etc/passwd", None),
            ("loop/a", None),
            ("/proc/self/cwd", None),
            ("/tmp/..", None),
            ("a/missing/..", None),
        ];
        assert!(table.len() >= 30);
        for (path, expected) in table {
            assert_eq!(inside(path), expected, "{path}");
        }
        let absolute = root.join("a");
        assert_eq!(confine(&root, &absolute).unwrap(), absolute);
        assert_eq!(confine(outer.join("alias"), "a").unwrap(), absolute);
        let other = confine(&root, outer.join("root-other"));
        assert!(matches!(other, Err(Escape::Outside { .. })));
    }

    proptest! {
        #[test]
        fn whatever_passes_is_below_the_root(
            parts in proptest::collection::vec("(\\.\\.|\\.|a|b|out|in|/)", 0..8)
        ) {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().canonicalize().unwrap().join("root");
            std::fs::create_dir_all(root.join("a/b")).unwrap();
            symlink(directory.path(), root.join("out")).unwrap();
            symlink("a", root.join("in")).unwrap();
            let path: PathBuf = parts.iter().collect();
            if let Ok(resolved) = confine(&root, path) {
                prop_assert!(resolved.starts_with(&root));
                prop_assert_eq!(resolved.canonicalize().unwrap(), resolved);
            }
        }
    }
}
