//! A memory in a directory: one small file per key, replaced as a whole.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Remembered, SessionKey, SessionMemory};

/// A file that is larger is none of ours.
const LARGEST: u64 = 1 << 20;

/// Remembers sessions in a directory, which is made when it is needed. Files can be read by
/// their owner only.
#[derive(Debug, Clone)]
pub struct FileMemory {
    directory: PathBuf,
}

/// The content of a file; the key is there for people, and because hashes may meet.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    key: SessionKey,
    remembered: Remembered,
}

impl FileMemory {
    /// A memory in this directory.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        Self {
            directory: directory.as_ref().to_owned(),
        }
    }

    fn path(&self, key: &SessionKey) -> io::Result<PathBuf> {
        let name = blake3::hash(&serde_json::to_vec(key)?).to_hex();
        Ok(self.directory.join(format!("{}.json", &name[..32])))
    }

    /// Written aside, made durable, then put in place: a crash leaves the old one or the new.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let aside = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&aside)?;
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&aside, path));
        if let Err(error) = written {
            let _ = std::fs::remove_file(&aside);
            return Err(error);
        }
        File::open(&self.directory)?.sync_all()
    }
}

impl SessionMemory for FileMemory {
    fn remember(&self, key: &SessionKey, remembered: &Remembered) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        let stored = Stored {
            key: key.clone(),
            remembered: remembered.clone(),
        };
        self.replace(&self.path(key)?, &serde_json::to_vec(&stored)?)
    }

    fn recall(&self, key: &SessionKey) -> io::Result<Option<Remembered>> {
        let file = match File::open(self.path(key)?) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut content = Vec::new();
        file.take(LARGEST).read_to_end(&mut content)?;
        let stored: Stored = serde_json::from_slice(&content)?;
        Ok((stored.key == *key).then_some(stored.remembered))
    }

    fn forget(&self, key: &SessionKey) -> io::Result<()> {
        match std::fs::remove_file(self.path(key)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Exchange;

    #[test]
    fn every_part_of_a_key_counts() {
        let folder = tempfile::tempdir().unwrap();
        let memory = FileMemory::new(folder.path().join("sessions"));
        let base = || {
            SessionKey::new("claude", "/p")
                .chat("c")
                .topic("t")
                .sender("s")
        };
        let keys = [
            base(),
            SessionKey::new("native", "/p")
                .chat("c")
                .topic("t")
                .sender("s"),
            SessionKey::new("claude", "/q")
                .chat("c")
                .topic("t")
                .sender("s"),
            SessionKey::new("claude", "/p")
                .chat("d")
                .topic("t")
                .sender("s"),
            SessionKey::new("claude", "/p")
                .chat("c")
                .topic("u")
                .sender("s"),
            SessionKey::new("claude", "/p")
                .chat("c")
                .topic("t")
                .sender("v"),
            SessionKey::new("claude", "/p").chat("c").topic("t"),
            SessionKey::new("claude", "/p"),
        ];
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(memory.recall(key).unwrap(), None);
            let remembered = Remembered::new(format!("session-{number}"));
            memory.remember(key, &remembered).unwrap();
        }
        for (number, key) in keys.iter().enumerate() {
            let recalled = memory.recall(key).unwrap().unwrap();
            assert_eq!(recalled.session, format!("session-{number}"));
        }
        memory.forget(&keys[0]).unwrap();
        memory.forget(&keys[0]).unwrap();
        assert_eq!(memory.recall(&keys[0]).unwrap(), None);
        assert!(memory.recall(&keys[1]).unwrap().is_some());
    }

    #[test]
    fn a_failed_write_keeps_what_was_there_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let memory = FileMemory::new(folder.path());
        let key = SessionKey::new("claude", "/p");
        let mut first = Remembered::new("one");
        first.last = Some(Exchange::new("hello", &"long ".repeat(1000)));
        memory.remember(&key, &first).unwrap();
        assert_eq!(memory.recall(&key).unwrap(), Some(first.clone()));
        // A directory in the place of the file cannot be replaced by a file.
        let path = memory.path(&key).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir_all(path.join("full")).unwrap();
        assert!(memory.remember(&key, &Remembered::new("two")).is_err());
        let names = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 1);
        // Nonsense is an error, not a session.
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::write(&path, "{\"key\":").unwrap();
        assert!(memory.recall(&key).is_err());
    }
}
