//! Notices that somebody else changed a settings file.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Settings, Source, Sources};

/// The files of a session's settings as they were when somebody last looked.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    sources: Option<Sources>,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    source: Source,
    path: PathBuf,
    /// None if it is not there.
    state: Option<State>,
}

/// What tells two versions of a file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

/// A file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) source: Source,
    pub(crate) path: PathBuf,
}

impl Watch {
    pub(crate) fn new(sources: Sources) -> Self {
        let files = sources.paths().into_iter().map(|(source, path)| File {
            source,
            state: state(&path),
            path,
        });
        Self {
            files: files.collect(),
            sources: Some(sources),
        }
    }

    /// The files that were changed, made or removed since the last look.
    pub(crate) fn look(&mut self) -> Vec<Changed> {
        let mut changed = Vec::new();
        for file in &mut self.files {
            let now = state(&file.path);
            if now != file.state {
                file.state = now;
                changed.push(Changed {
                    source: file.source,
                    path: file.path.clone(),
                });
            }
        }
        changed
    }

    /// Takes note of a file that the session itself wrote.
    pub(crate) fn accept(&mut self, path: &Path) {
        for file in self.files.iter_mut().filter(|file| file.path == path) {
            file.state = state(path);
        }
    }

    /// The settings as they are in the files now.
    pub(crate) fn read(&self) -> Settings {
        self.sources
            .as_ref()
            .map_or_else(Settings::default, Settings::load)
    }
}

fn state(path: &Path) -> Option<State> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(State {
        modified: metadata.modified().ok(),
        length: metadata.len(),
        inode: metadata.ino(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Enabled;
    use super::*;
    use crate::environment::Environment;

    #[test]
    fn files_that_are_changed_made_and_removed_are_noticed_once() {
        let project = tempfile::tempdir().unwrap();
        let file = project.path().join(".claude/settings.json");
        std::fs::create_dir(project.path().join(".claude")).unwrap();
        let mut sources = Sources::new(&Environment::default(), project.path().to_owned());
        sources.enabled = Enabled {
            local: false,
            ..Enabled::ALL
        };
        let mut watch = Watch::new(sources);
        assert_eq!(watch.look(), []);
        let expected = [Changed {
            source: Source::Project,
            path: file.clone(),
        }];
        for content in [Some("{}"), Some(r#"{"env": {}}"#), None] {
            match content {
                Some(content) => std::fs::write(&file, content).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            assert_eq!(watch.look(), expected, "{content:?}");
            assert_eq!(watch.look(), [], "{content:?}");
        }
        std::fs::write(&file, "{}").unwrap();
        watch.accept(&file);
        assert_eq!(watch.look(), [], "written by the session");
        std::fs::write(project.path().join(".claude/settings.local.json"), "{}").unwrap();
        assert_eq!(watch.look(), [], "this source is not read");
    }
}
