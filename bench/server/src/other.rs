//! Another server of agents, if there is one to compare with: `sandbox-agent` of npm's package
//! `@sandbox-agent/cli`, named by `FALCONER_SANDBOX_AGENT`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::role::{memory, status};

const VARIABLE: &str = "FALCONER_SANDBOX_AGENT";
const LIMIT: Duration = Duration::from_secs(60);

/// Where it is, if it is to be measured.
pub(crate) fn program() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

/// What it says it is.
pub(crate) fn version(program: &Path) -> String {
    let said = Command::new(program).arg("--version").output();
    let said = said.expect("it says its version").stdout;
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// From its start until it has answered, and its memory in KB then.
pub(crate) fn start(program: &Path, home: &Path) -> (Duration, f64) {
    // It takes no port 0; one that was free a moment ago has to do.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let address = free.expect("a free port");
    let before = Instant::now();
    let child = Command::new(program)
        .args(["server", "--no-token", "--no-telemetry", "--port"])
        .arg(address.port().to_string())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let child = Killed(child.expect("a process"));
    let address = address.to_string();
    while status(&address, "/v1/health").as_deref() != Some("200") {
        assert!(before.elapsed() < LIMIT, "it answers in time");
        std::thread::sleep(Duration::from_millis(1));
    }
    (before.elapsed(), memory(child.0.id()))
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
