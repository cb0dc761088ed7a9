//! Behaviour that no engine should show.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use falconer_testkit::GrandchildOutput;
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};

use crate::Stop;

/// Set in the environment once the process ignores SIGTERM.
pub(crate) const RESTARTED: &str = "FALCONER_FAKE_RESTARTED";

/// Never returns.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// Dies of a signal, without a core file.
pub(crate) fn crash(signal: i32) -> Result<(), Stop> {
    let wrong = || Stop::Wrong(format!("{signal} is not a signal"));
    let signal = Signal::from_named_raw(signal).ok_or_else(wrong)?;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none).map_err(io::Error::from)?;
    loop {
        // Rust's own handler for SIGSEGV swallows the first one and then removes itself.
        kill_process(getpid(), signal).map_err(io::Error::from)?;
    }
}

/// Starts a process that no group or session of ours reaches; its id.
pub(crate) fn grandchild(seconds: u64, output: GrandchildOutput) -> io::Result<u32> {
    let output = match output {
        GrandchildOutput::Inherited => Stdio::inherit(),
        _ => Stdio::null(),
    };
    // `setsid` does not fork here, so the id is the one of the sleeping process.
    let child = Command::new("setsid")
        .args(["sleep", &seconds.to_string()])
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()?;
    Ok(child.id())
}

/// Starts this program anew, in place, with SIGTERM ignored, unless that was done.
///
/// Ignored signals stay ignored in the program that replaces a shell; there is no way to
/// ignore one in safe Rust without a dependency.
pub(crate) fn ignore_sigterm(argv: &[String]) -> Result<(), Stop> {
    if std::env::var_os(RESTARTED).is_some() {
        return Ok(());
    }
    let failed = Command::new("/bin/sh")
        .args(["-c", "trap '' TERM; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe()?)
        .args(argv)
        .env(RESTARTED, "1")
        .exec();
    Err(Stop::Io(failed))
}
