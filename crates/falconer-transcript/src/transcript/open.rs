//! A session's transcript: which one it is, and everything that is added to it.

mod flush;
mod sink;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use falconer_protocol::message::TranscriptMirrorMessage;
use falconer_protocol::{MessageUuid, SessionId};

use super::entry::Entry;
use super::fork::Copy;
use super::load::{Cut, Loaded, has_conversation, load, load_up_to};
use super::place::SessionPlace;
use super::stamp::Stamp;
use crate::append::Writer;
use crate::error::SessionError;
use crate::id::{is_uuid, new_session_id};
use crate::lines::FileLines;
use sink::{Prelude, Sink};

/// A request for a session.
#[derive(Debug, Clone, Default)]
pub struct OpenRequest {
    /// The conversation that the session begins with.
    pub origin: Beginning,
    /// The id for a new session or a fork.
    pub session_id: Option<SessionId>,
    /// Continues the earlier session, or copies it.
    pub fork: Fork,
    /// The last message that is still to count.
    pub resume_at: Option<MessageUuid>,
    /// The only turn that may be after it.
    pub drops_turn: Option<String>,
    /// Keeps the session on disk, or not.
    pub persistence: Persistence,
    /// Collects entries for [`Transcript::take_mirror`].
    pub mirrored: bool,
}

/// The beginning of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Beginning {
    /// A new conversation.
    #[default]
    New,
    /// That of an earlier session.
    Resume(SessionId),
    /// The newest session of the working directory, or a new one if there is none.
    Continue,
}

/// The choice between continuing and copying an earlier session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fork {
    /// The earlier session goes on.
    #[default]
    Off,
    /// A copy of it goes on.
    On,
}

/// The choice between keeping a session and not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// It is written to disk.
    #[default]
    Kept,
    /// Nothing is written. Earlier sessions can still be read.
    Off,
}

/// A session that cannot be had. The texts are those the official SDKs know.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("No conversation found with session ID: {0}")]
    SessionNotFound(SessionId),
    #[error("No message found with message.uuid of: {0}")]
    MessageNotFound(MessageUuid),
    #[error("Resume rejected by --resume-drops-turn: {0}")]
    DropsMore(String),
    #[error("Invalid session ID. Must be a valid UUID.")]
    InvalidId(SessionId),
    #[error("Session ID {0} is already in use.")]
    IdInUse(SessionId),
    #[error(
        "--session-id can only be used with --continue or --resume if --fork-session is also \
         specified."
    )]
    IdWithoutFork,
    #[error("session {0} is in use by another process; end that one first, or fork the session")]
    Busy(SessionId),
    #[error("failed to open session file {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

impl OpenError {
    /// Returns whether the host gets a result that says so; the others are only on standard error.
    pub fn is_told_in_a_result(&self) -> bool {
        match self {
            Self::SessionNotFound(_)
            | Self::MessageNotFound(_)
            | Self::DropsMore(_)
            | Self::Busy(_)
            | Self::Io { .. } => true,
            Self::InvalidId(_) | Self::IdInUse(_) | Self::IdWithoutFork => false,
        }
    }
}

/// A session that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The way to add to it.
    pub transcript: Transcript,
    /// Its id.
    pub session: SessionId,
    /// The earlier conversation; empty for a new session.
    pub loaded: Loaded,
    /// The session this one is a copy of.
    pub forked_from: Option<SessionId>,
}

/// The transcript of one session. All additions go through here, in order.
///
/// The file is created with the first entry, so that a session in which nothing was said
/// leaves nothing behind. While it is open nobody else can open it for writing.
#[derive(Debug)]
pub struct Transcript {
    sink: Mutex<Sink>,
}

impl Transcript {
    /// Finds or begins the session. Without a place nothing is kept.
    pub fn open(
        request: &OpenRequest,
        place: Option<&SessionPlace>,
        stamp: Stamp,
    ) -> Result<Opened, OpenError> {
        check_id(request, place)?;
        let mut opened = match earlier(request, place)? {
            None => begin(request, place, stamp),
            Some((source, path)) => take_up(request, place, stamp, source, &path)?,
        };
        if request.mirrored {
            let sink = opened.transcript.sink.get_mut();
            sink.unwrap_or_else(PoisonError::into_inner).mirror();
        }
        Ok(opened)
    }

    /// Adds an entry. A failure shows in [`Transcript::take_warnings`], once.
    pub fn append(&self, entry: Entry) {
        self.sink().append(entry);
    }

    /// Brings what was added to the disk, in the background. Call it when a turn ends.
    pub fn flush(&self) {
        self.sink().flush();
    }

    /// Brings everything to the disk and waits for it.
    pub async fn close(&self) {
        let last = self.sink().last_flush();
        if let Some(last) = last {
            let outcome = last.await;
            self.sink().flushed(outcome);
        }
    }

    /// The file, whether or not it exists yet; none without persistence.
    pub fn path(&self) -> Option<PathBuf> {
        self.sink().path().map(Path::to_path_buf)
    }

    #[cfg(test)]
    /// The end of the conversation.
    pub fn leaf(&self) -> Option<MessageUuid> {
        self.sink().leaf().cloned()
    }

    /// Where shell commands run now: entries say so.
    pub fn change_cwd(&self, cwd: &Path) {
        self.sink().stamp.cwd = cwd.to_path_buf();
    }

    /// Goes on in the transcript of another, empty session.
    pub fn restart(&self, place: Option<&SessionPlace>, session: &SessionId) {
        let mut sink = self.sink();
        let path = sink.path().and(place).map(|place| place.file(session));
        sink.restart(session.clone(), path);
    }

    /// What was added since the last call, for the host's copy; none if there is no copy.
    pub fn take_mirror(&self) -> Option<TranscriptMirrorMessage> {
        self.sink().take_mirror()
    }

    /// What went wrong since the last call, in sentences for a person.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.sink().warnings)
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses ids that a new session cannot have.
fn check_id(request: &OpenRequest, place: Option<&SessionPlace>) -> Result<(), OpenError> {
    let Some(id) = &request.session_id else {
        return Ok(());
    };
    if !is_uuid(id.as_str()) {
        return Err(OpenError::InvalidId(id.clone()));
    }
    if request.origin != Beginning::New && request.fork == Fork::Off {
        return Err(OpenError::IdWithoutFork);
    }
    match place.and_then(|place| place.find(id)) {
        Some(_) => Err(OpenError::IdInUse(id.clone())),
        None => Ok(()),
    }
}

/// The session to go on with.
fn earlier(
    request: &OpenRequest,
    place: Option<&SessionPlace>,
) -> Result<Option<(SessionId, PathBuf)>, OpenError> {
    match &request.origin {
        Beginning::New => Ok(None),
        Beginning::Resume(id) => {
            let path = place.and_then(|place| place.find(id));
            let found = path.map(|path| Some((id.clone(), path)));
            found.ok_or_else(|| OpenError::SessionNotFound(id.clone()))
        }
        Beginning::Continue => {
            let all = place.map(SessionPlace::newest_first).unwrap_or_default();
            Ok(all.into_iter().find(|(_, path)| has_conversation(path)))
        }
    }
}

fn begin(request: &OpenRequest, place: Option<&SessionPlace>, stamp: Stamp) -> Opened {
    let session = request.session_id.clone().unwrap_or_else(new_session_id);
    let kept = place.filter(|_| request.persistence == Persistence::Kept);
    let prelude = kept.map(|place| Prelude::New(place.file(&session)));
    Opened {
        transcript: Transcript {
            sink: Mutex::new(Sink::new(session.clone(), stamp, prelude, None)),
        },
        session,
        loaded: Loaded::default(),
        forked_from: None,
    }
}

fn take_up(
    request: &OpenRequest,
    place: Option<&SessionPlace>,
    stamp: Stamp,
    source: SessionId,
    path: &Path,
) -> Result<Opened, OpenError> {
    let kept = place.filter(|_| request.persistence == Persistence::Kept);
    let forks = request.fork == Fork::On;
    // Locked before it is read: what is read must still be the end when we add to it.
    let writer = match kept {
        Some(_) if !forks => Some(lock(path, &source)?),
        _ => None,
    };
    let mut loaded = read(request, &source, path)?;
    let session = if forks {
        request.session_id.clone().unwrap_or_else(new_session_id)
    } else {
        source.clone()
    };
    let prelude = match (writer, kept) {
        (Some(writer), _) => Some(Prelude::Resume {
            writer,
            closing: std::mem::take(&mut loaded.open_calls),
        }),
        (None, Some(place)) => Some(fork(path, place.file(&session), &mut loaded)?),
        (None, None) => None,
    };
    let mut sink = Sink::new(session.clone(), stamp, prelude, loaded.leaf.clone());
    sink.title.clone_from(&loaded.title);
    loaded.spans = Vec::new();
    Ok(Opened {
        transcript: Transcript {
            sink: Mutex::new(sink),
        },
        session,
        loaded,
        forked_from: forks.then_some(source),
    })
}

/// The conversation up to where it is taken up.
fn read(request: &OpenRequest, source: &SessionId, path: &Path) -> Result<Loaded, OpenError> {
    let loaded = match &request.resume_at {
        None => load(path).map_err(failed_to_read(path))?,
        Some(at) => {
            let cut = load_up_to(path, at, request.drops_turn.as_deref());
            match cut.map_err(failed_to_read(path))? {
                Cut::Made(loaded) => *loaded,
                Cut::NoSuchMessage => return Err(OpenError::MessageNotFound(at.clone())),
                Cut::Refused(why) => return Err(OpenError::DropsMore(why)),
            }
        }
    };
    match loaded.leaf {
        Some(_) => Ok(loaded),
        None => Err(OpenError::SessionNotFound(source.clone())),
    }
}

/// The copy that a fork begins with.
fn fork(source: &Path, path: PathBuf, loaded: &mut Loaded) -> Result<Prelude, OpenError> {
    Ok(Prelude::Fork {
        path,
        copy: Copy {
            source: FileLines::open(source).map_err(failed_to_read(source))?,
            spans: std::mem::take(&mut loaded.spans),
            title: loaded.title.clone(),
            tools_used: loaded.tools_used.clone(),
        },
        closing: std::mem::take(&mut loaded.open_calls),
    })
}

fn lock(path: &Path, session: &SessionId) -> Result<Writer, OpenError> {
    Writer::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => OpenError::Busy(session.clone()),
        _ => failed_to_open(path)(source),
    })
}

fn failed_to_open(path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::Io {
        path: path.to_path_buf(),
        source,
    }
}

fn failed_to_read(path: &Path) -> impl Fn(SessionError) -> OpenError {
    move |error| failed_to_open(path)(error.into_io())
}
