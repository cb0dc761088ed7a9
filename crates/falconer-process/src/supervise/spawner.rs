//! The thread that starts processes, and the way to ask it.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::{oneshot, watch};

use super::child::{Child, ChildId};
use super::exec::{self, Image, Kind, Started, Step};
use super::guard_list::GuardList;
use super::handle::{Handle, Supervised};
use super::marker::{self, Marker};
use super::resolve;
use super::spec::Spec;
use super::supervisor::{self, Command, Inbox};
use super::tag::Tag;
use crate::confine::Cage;
use crate::error::SpawnError;

/// Starts a process under supervision. Works on any async runtime, or none.
///
/// Dropping the future before it is done ends the process if it was started.
///
/// ```
/// use falconer_process::{ExitStatus, Spec};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), falconer_process::SpawnError> {
/// let mut spec = Spec::new("sh");
/// spec.args = vec!["-c".into(), "setsid sleep 1000 & exit 3".into()];
/// let process = falconer_process::spawn(spec).await?;
/// let exit = process.handle.exited().await;
/// assert_eq!(exit.status, ExitStatus::Code(3));
/// assert!(exit.leftovers.is_empty()); // the sleep is gone, too
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`SpawnError`] says what about the program or its directory is wrong. Nothing is left
/// running then.
pub async fn spawn(spec: Spec) -> Result<Supervised, SpawnError> {
    let program = spec.program.clone();
    let lost = |source| SpawnError::Io {
        program: program.clone(),
        doing: "reach the supervisor thread",
        source,
    };
    let (reply, started) = oneshot::channel();
    let gone = || lost(io::ErrorKind::BrokenPipe.into());
    let request = Request { spec, reply };
    queue().map_err(lost)?.send(request).map_err(|_| gone())?;
    started.await.unwrap_or_else(|_| Err(gone()))
}

struct Request {
    spec: Spec,
    reply: oneshot::Sender<Result<Supervised, SpawnError>>,
}

/// The queue into the spawner thread, which is started by the first call.
///
/// It needs no bound: each entry is a caller who waits for its answer.
fn queue() -> io::Result<mpsc::Sender<Request>> {
    static QUEUE: Mutex<Option<mpsc::Sender<Request>>> = Mutex::new(None);
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = &*queue {
        return Ok(queue.clone());
    }
    let guarded = Arc::new(GuardList::new()?);
    let (inbox, ready) = supervisor::start(Arc::clone(&guarded))?;
    let (sender, requests) = mpsc::channel();
    std::thread::Builder::new()
        .name("falconer-spawner".to_owned())
        .spawn(move || {
            // Nobody ever says anything; the end of it is what counts.
            let _ = ready.recv();
            serve(&requests, &inbox, &guarded);
        })?;
    Ok(queue.insert(sender).clone())
}

/// Never ends while this process lives: the sender is in a static.
fn serve(requests: &mpsc::Receiver<Request>, inbox: &Arc<Inbox>, guarded: &GuardList) {
    exec::block_signals();
    for request in requests {
        // If the caller is gone the answer is dropped, and with it the handle.
        let _ = (request.reply).send(start(&request.spec, inbox, guarded));
        inbox.wake();
    }
}

fn start(spec: &Spec, inbox: &Arc<Inbox>, guarded: &GuardList) -> Result<Supervised, SpawnError> {
    let marker = Marker::new();
    let program = resolve::program(spec)?;
    let cage = cage(spec, marker)?;
    let (image, [stdin, stdout, stderr]) = prepare(spec, &program, marker, cage)?;
    let started = start_guarded(&image, marker, guarded)
        .map_err(|failure| explain(spec, &program, failure))?;
    let (exit_tx, exit) = watch::channel(None);
    let id = ChildId::new();
    let pid = started.pid.as_raw_nonzero().get().unsigned_abs();
    // Before anybody can hold the handle, so that no command overtakes it. The supervisor is
    // woken after the caller.
    let private = image.cage.map(Cage::into_private);
    let child = Child::new(id, started, marker, exit_tx, private);
    inbox.push_quietly(Command::Watch(child));
    Ok(Supervised {
        pid,
        stdin,
        stdout,
        stderr,
        handle: Handle {
            id,
            inbox: Arc::clone(inbox),
            exit,
            drop_grace: spec.drop_grace,
        },
    })
}

/// The watchdog knows of a process before there is one, so that no moment is left in which we
/// could be killed and it would survive.
fn start_guarded(
    image: &Image,
    marker: Marker,
    guarded: &GuardList,
) -> Result<Started, exec::Failure> {
    let unguarded = |source| exec::Failure {
        step: Step::Guard,
        source,
    };
    guarded.expect(marker).map_err(unguarded)?;
    let started = exec::start(image).inspect_err(|_| guarded.remove(marker))?;
    guarded.identify(marker, started.pid);
    Ok(started)
}

/// The rules for a program that is to be confined.
fn cage(spec: &Spec, marker: Marker) -> Result<Option<Cage>, SpawnError> {
    let build = |confinement| Cage::build(confinement, &marker.to_string());
    let cage = spec.confinement.map(build).transpose();
    cage.map_err(|source| SpawnError::NotConfined {
        program: spec.program.clone(),
        source,
    })
}

fn prepare(
    spec: &Spec,
    program: &Path,
    marker: Marker,
    cage: Option<Cage>,
) -> Result<(Image, [OwnedFd; 3]), SpawnError> {
    let failed = |doing| {
        move |source| SpawnError::Io {
            program: spec.program.clone(),
            doing,
            source,
        }
    };
    let (their_stdin, stdin) = pipe().map_err(failed("make a pipe"))?;
    let (stdout, their_stdout) = pipe().map_err(failed("make a pipe"))?;
    let (stderr, their_stderr) = pipe().map_err(failed("make a pipe"))?;
    let image = Image {
        program: c_string(program.as_os_str().as_bytes()).map_err(failed("use its path"))?,
        argv: argv(spec).map_err(failed("use its arguments"))?,
        envp: envp(spec, marker, cage.as_ref()).map_err(failed("use its environment"))?,
        cwd: (spec.cwd.as_ref())
            .map(|cwd| c_string(cwd.as_os_str().as_bytes()))
            .transpose()
            .map_err(failed("use its working directory"))?,
        stdio: [their_stdin, their_stdout, their_stderr],
        kind: Kind::Supervised,
        tag: Tag::of(marker),
        cage,
        attempts: None,
    };
    Ok((image, [stdin, stdout, stderr]))
}

/// A pipe (read end, write end) that does not occupy descriptors 0 to 2, even if the host has
/// closed its own.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((above_stdio(read)?, above_stdio(write)?))
}

pub(crate) fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd;
    if fd.as_raw_fd() > 2 {
        return Ok(fd);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&fd, 3)?)
}

fn argv(spec: &Spec) -> io::Result<Vec<CString>> {
    std::iter::once(spec.program.as_os_str())
        .chain(spec.args.iter().map(OsString::as_os_str))
        .map(|arg| c_string(arg.as_bytes()))
        .collect()
}

/// The variables that name the directory for temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

fn envp(spec: &Spec, marker: Marker, cage: Option<&Cage>) -> io::Result<Vec<CString>> {
    let own = [marker, marker::host()].map(|marker| (marker.to_string().into(), "1".into()));
    let given = spec.env.iter().filter(|(name, _)| {
        let is_replaced = cage.is_some() && TEMPORARY.iter().any(|it| name == it);
        !marker::is_marker(name) && !is_replaced
    });
    let private = cage.map(|cage| cage.private().as_os_str().to_owned());
    let temporary: Vec<(OsString, OsString)> = (private.into_iter())
        .flat_map(|path| TEMPORARY.map(|name| (name.into(), path.clone())))
        .collect();
    own.iter()
        .chain(marker::inherited())
        .chain(&temporary)
        .chain(given)
        .map(|(name, value)| {
            let mut entry = name.clone();
            entry.push("=");
            entry.push(value);
            c_string(entry.into_vec())
        })
        .collect()
}

fn c_string(bytes: impl Into<Vec<u8>>) -> io::Result<CString> {
    CString::new(bytes).map_err(io::Error::from)
}

fn explain(spec: &Spec, program: &Path, failure: exec::Failure) -> SpawnError {
    let exec::Failure { step, source } = failure;
    let program = program.to_owned();
    match (step, source.raw_os_error()) {
        (Step::Chdir, _) => SpawnError::WorkingDirectory {
            path: spec.cwd.clone().unwrap_or_default(),
            source,
        },
        (Step::Confine, _) => SpawnError::NotConfined { program, source },
        (Step::Exec, Some(libc::EACCES | libc::EPERM)) => {
            SpawnError::ProgramNotExecutable { program, source }
        }
        // The file is there, so what is missing is its interpreter or loader.
        (Step::Exec, Some(libc::ENOENT | libc::ENOTDIR)) if program.exists() => {
            SpawnError::ProgramFormat { program, source }
        }
        (Step::Exec, Some(libc::ENOENT | libc::ENOTDIR)) => SpawnError::ProgramMissing {
            program: spec.program.clone(),
            searched: None,
        },
        (Step::Exec, Some(libc::ENOEXEC | libc::ELIBBAD | libc::EINVAL)) => {
            SpawnError::ProgramFormat { program, source }
        }
        (Step::Guard | Step::Clone | Step::Prepare | Step::Exec, _) => SpawnError::Io {
            program,
            doing: match step {
                Step::Guard => "guard it",
                Step::Clone => "make a process",
                Step::Prepare => "set up the process",
                Step::Chdir | Step::Confine | Step::Exec => "execute it",
            },
            source,
        },
    }
}
