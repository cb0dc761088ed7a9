//! Keeps the watchdog process running and informed: it cleans up when we are killed.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::exec::{self, Image, Kind, Started};
use super::guard_list::GuardList;
use super::marker::{self, Marker};
use super::spawner;
use crate::confine;

const SCRIPT: &str = include_str!("watchdog.sh");
/// The whole script as an argument would make the output of `ps` unreadable.
const RUN_SCRIPT: &str = "eval \"$FALCONER_WATCHDOG\"";

/// Pause before starting another, at first and at most.
const RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// The watchdog, from the supervisor's side. Never blocks.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// Whom it guards; it reads this when we are gone.
    guarded: Arc<GuardList>,
    running: Option<Running>,
    /// Starts that failed or ended.
    failures: u32,
    retry_at: Option<Instant>,
}

#[derive(Debug)]
struct Running {
    /// Its end is our end.
    _stdin: OwnedFd,
    process: Started,
}

impl Watchdog {
    pub(super) fn new(guarded: Arc<GuardList>) -> Self {
        Self {
            guarded,
            running: None,
            failures: 0,
            retry_at: None,
        }
    }

    pub(super) fn release(&mut self, marker: Marker) {
        self.guarded.remove(marker);
    }

    /// Returns the time to call [`Watchdog::attend`] even if nothing happens.
    pub(super) fn next(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Starts it if it does not run. Returns its descriptor if it is new.
    pub(super) fn attend(&mut self, now: Instant) -> Option<BorrowedFd<'_>> {
        if self.running.is_some() || self.retry_at.is_some_and(|at| now < at) {
            return None;
        }
        self.retry_at = None;
        match launch(self.guarded.file()) {
            Ok(running) => Some(self.running.insert(running).process.pidfd.as_fd()),
            Err(error) => {
                tracing::error!(
                    %error,
                    "cannot start the watchdog: processes may survive if this one is killed"
                );
                self.fail(now);
                None
            }
        }
    }

    /// Its descriptor says it has ended; make sure, and start another one soon.
    pub(super) fn has_ended(&mut self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let Some(running) = &self.running else { return };
        let pidfd = running.process.pidfd.as_fd();
        if let Ok(None) = waitid(WaitId::PidFd(pidfd), options) {
            return;
        }
        tracing::warn!(pid = %running.process.pid, "the watchdog process has ended, starting another");
        self.running = None;
        self.fail(Instant::now());
    }

    fn fail(&mut self, now: Instant) {
        let pause = RETRY * 2u32.saturating_pow(self.failures.min(16));
        self.failures += 1;
        self.retry_at = Some(now + pause.min(LONGEST_RETRY));
    }
}

/// Starts `/bin/sh` in a session of its own, in `/`, with nothing of ours but a pipe and the
/// list.
fn launch(list: BorrowedFd<'_>) -> io::Result<Running> {
    let (theirs, stdin) = spawner::pipe()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let argv = ["sh", "-c", RUN_SCRIPT, "falconer-watchdog"];
    let image = Image {
        program: c"/bin/sh".to_owned(),
        argv: argv
            .into_iter()
            .map(CString::new)
            .collect::<Result<_, _>>()?,
        envp: environment()?,
        cwd: Some(c"/".to_owned()),
        stdio: [
            theirs,
            spawner::above_stdio(list.try_clone_to_owned()?)?,
            spawner::above_stdio(null.into())?,
        ],
        kind: Kind::Detached,
        tag: None,
        cage: None,
        attempts: None,
    };
    let process = exec::start(&image).map_err(|failure| failure.source)?;
    Ok(Running {
        _stdin: stdin,
        process,
    })
}

/// The script, a search path, where private directories are, and the markers of whoever supervises us.
fn environment() -> io::Result<Vec<CString>> {
    let mut environment = vec![
        CString::new(format!("FALCONER_WATCHDOG={SCRIPT}"))?,
        c"PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
        c"LC_ALL=C".to_owned(),
    ];
    let private = confine::private_base();
    let private = [b"FALCONER_PRIVATE=", private.as_os_str().as_bytes()].concat();
    environment.push(CString::new(private)?);
    for (name, _) in marker::inherited() {
        let entry = [name.as_encoded_bytes(), b"=1"].concat();
        environment.push(CString::new(entry)?);
    }
    Ok(environment)
}
