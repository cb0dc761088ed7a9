//! Notices that somebody else changed a settings file.

use std::path::{Path, PathBuf};

use super::{Settings, Source, Sources};
use crate::file_state::FileState;

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
    state: Option<FileState>,
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
            state: FileState::of(&path),
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
            let now = FileState::of(&file.path);
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
            file.state = FileState::of(path);
        }
    }

    /// The settings as they are in the files now.
    pub(crate) fn read(&self) -> Settings {
        self.sources
            .as_ref()
            .map_or_else(Settings::default, Settings::load)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Enabled;
    use super::*;
    use falconer_secret::Environment;

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
