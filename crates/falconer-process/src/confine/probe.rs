//! Tries whether a confined process is held back, in a child that attempts what it must not.

use std::ffi::{CString, c_char, c_int};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{WaitId, WaitIdOptions, waitid};
use uuid::Uuid;

use super::private::PrivateDirectory;
use super::{Cage, Confinement, Unconfined};
use crate::supervise::{Image, Kind, start};

const CONTENT: &[u8] = b"unchanged";

/// The attempts of the child, prepared so that it has nothing to allocate.
#[derive(Debug)]
pub(crate) struct Attempts {
    /// A file that it may not change.
    file: CString,
    /// A name that it may not create.
    name: CString,
    /// A name that it may create.
    own: CString,
    /// A process that it may not signal.
    parent: c_int,
}

/// The attempts by the code that the child exits with; the first one is none.
const LEAKS: &[&str] = &[
    "",
    "it opened a file for writing",
    "it truncated a file",
    "it created a file",
    "it renamed a file",
    "it removed a file",
    "it changed the mode of a file",
    "it changed the times of a file",
    "it opened an internet socket",
    "it opened a datagram socket",
    "it opened a unix socket",
    "it opened a pair of datagram sockets",
    "it signalled its parent",
    "it made a namespace",
    "it could not write to its private directory",
    "it could not write to /dev/null",
];

/// Confines a child and looks what it can do.
pub(super) fn run(confinement: Confinement) -> Result<(), Unconfined> {
    let failed = |error: io::Error| Unconfined::Failed(error.to_string());
    let name = || format!("falconer-probe-{}", Uuid::new_v4().simple());
    let outside = PrivateDirectory::make(&name()).map_err(failed)?;
    let file = outside.path().join("file");
    fs::write(&file, CONTENT).map_err(failed)?;
    let before = fs::metadata(&file).map_err(failed)?;
    let cage = Cage::build(confinement, &name()).map_err(failed)?;
    let code = attempt(cage, &file).map_err(failed)?;
    if let Some(leak) = usize::try_from(code).ok().and_then(|code| LEAKS.get(code)) {
        if code != 0 {
            return Err(Unconfined::Leaky(leak));
        }
    } else {
        return Err(Unconfined::Failed(format!("it ended with code {code}")));
    }
    // The child says that it was held back; the file has the last word.
    let after = fs::metadata(&file).map_err(failed)?;
    let same = (before.mode(), before.mtime_nsec()) == (after.mode(), after.mtime_nsec());
    if same && fs::read(&file).map_err(failed)? == CONTENT {
        Ok(())
    } else {
        Err(Unconfined::Leaky("a file was changed"))
    }
}

fn attempt(cage: Cage, file: &Path) -> io::Result<i32> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let null = || File::options().read(true).write(true).open("/dev/null");
    let above = |file: File| crate::supervise::above_stdio(file.into());
    let attempts = Attempts {
        file: text(file)?,
        name: text(&file.with_file_name("new"))?,
        own: text(&cage.private().join("own"))?,
        parent: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let image = Image {
        program: CString::default(),
        argv: Vec::new(),
        envp: Vec::new(),
        cwd: None,
        stdio: [above(null()?)?, above(null()?)?, above(null()?)?],
        kind: Kind::Supervised,
        tag: None,
        cage: Some(cage),
        attempts: Some(attempts),
    };
    let child = start(&image).map_err(|failure| failure.source)?;
    let pidfd = WaitId::PidFd(child.pidfd.as_fd());
    let ended = rustix::io::retry_on_intr(|| waitid(pidfd.clone(), WaitIdOptions::EXITED))?;
    let code = ended.and_then(|status| status.exit_status());
    code.ok_or_else(|| io::Error::other("it was ended by a signal"))
}

impl Attempts {
    /// Returns the number of the first attempt that should have failed and did not.
    ///
    /// # Safety
    /// Only in a child that ends afterwards.
    pub(crate) unsafe fn make(&self) -> c_int {
        let (file, name, own) = (self.file.as_ptr(), self.name.as_ptr(), self.own.as_ptr());
        let stream = libc::SOCK_STREAM;
        let datagram = libc::SOCK_DGRAM;
        let mut pair = [0; 2];
        // SAFETY: plain system calls with NUL-terminated strings.
        let refused = unsafe {
            [
                open(file, libc::O_WRONLY) < 0,
                open(file, libc::O_RDONLY | libc::O_TRUNC) < 0,
                open(name, libc::O_WRONLY | libc::O_CREAT) < 0,
                libc::rename(file, name) < 0,
                libc::unlink(file) < 0,
                libc::chmod(file, 0o777) < 0,
                libc::utimensat(libc::AT_FDCWD, file, std::ptr::null(), 0) < 0,
                libc::socket(libc::AF_INET, stream, 0) < 0,
                libc::socket(libc::AF_INET, datagram, 0) < 0,
                libc::socket(libc::AF_UNIX, stream, 0) < 0,
                libc::socketpair(libc::AF_UNIX, datagram, 0, pair.as_mut_ptr()) < 0,
                libc::kill(self.parent, 0) < 0,
                libc::unshare(libc::CLONE_NEWUSER) < 0,
                open(own, libc::O_WRONLY | libc::O_CREAT) >= 0,
                open(c"/dev/null".as_ptr(), libc::O_WRONLY) >= 0,
            ]
        };
        let leak = refused.iter().position(|as_it_must| !as_it_must);
        leak.map_or(0, |leak| c_int::try_from(leak + 1).unwrap_or(c_int::MAX))
    }
}

/// # Safety
/// The path must be NUL-terminated.
unsafe fn open(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::open(path, flags | libc::O_CLOEXEC, 0o600 as libc::c_uint) }
}
