//! A directory per test: its processes are those that have it as working directory, whatever
//! session, group, parent or environment they have given themselves.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use falconer_process::{Exit, ExitStatus, Ladder, SpawnError, Spec, Supervised};
use tempfile::TempDir;

pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) const KILL_NOW: Ladder = Ladder {
    exit: Duration::ZERO,
    term: Duration::ZERO,
};

pub(crate) const TERM_NOW: Ladder = Ladder {
    exit: Duration::ZERO,
    term: LIMIT,
};

/// Starts a process and waits until it becomes another program again and again.
///
/// With as many arguments to lay out as the kernel takes, each time is tens of milliseconds, in
/// which it has no environment.
pub(crate) const RESTLESS: &str = r#"
    (ulimit -s 24576; set -- $(yes env | head -n 100)
     exec setsid sh -c ': >ready; exec "$@"' sh "$@" sleep $(yes 0 | head -n 550000) 1000) &
    until [ -e ready ]; do sleep 0.01; done
"#;

/// Where a test's processes live.
pub(crate) struct Den(TempDir);

impl Den {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `sh -c script` in this directory.
    pub(crate) fn spec(&self, script: &str) -> Spec {
        let mut spec = Spec::new("sh");
        spec.args = vec!["-c".into(), script.into()];
        spec.env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
        spec.cwd = Some(self.path().to_owned());
        spec
    }

    pub(crate) fn spawn(&self, script: &str) -> Supervised {
        spawn(self.spec(script)).unwrap()
    }

    /// Starts `script` and waits until it has created the file `ready` and `count` processes.
    pub(crate) fn spawn_ready(&self, script: &str, count: usize) -> Supervised {
        let supervised = self.spawn(script);
        self.wait_for_file("ready");
        until(&format!("{count} processes are there"), || {
            self.processes().len() >= count
        });
        supervised
    }

    pub(crate) fn wait_for_file(&self, name: &str) {
        until(&format!("{name} exists"), || {
            self.path().join(name).exists()
        });
    }

    /// The living processes of this directory.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_where(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == self.path())
        })
    }
}

pub(crate) fn processes_where(keep: impl Fn(u32) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| keep(*pid) && !is_zombie(*pid))
        .collect()
}

fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

pub(crate) fn spawn(spec: Spec) -> Result<Supervised, SpawnError> {
    block_on(falconer_process::spawn(spec))
}

pub(crate) fn exited(supervised: &Supervised) -> Exit {
    block_on(supervised.handle.exited())
}

/// The status of a process after which nothing was left.
pub(crate) fn clean_status(supervised: &Supervised) -> ExitStatus {
    let exit = exited(supervised);
    assert_eq!(exit.leftovers, [0; 0]);
    exit.status
}

/// Waits for a condition that will come true.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a future without any runtime.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(Instant::now() < deadline, "the future was not done in time");
        std::thread::park_timeout(LIMIT);
    }
}
