//! The machine: sandbox, directories, the server's port, disk.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::check::Check;
use crate::config::Config;
use crate::places;
use crate::remote::DEFAULT_URL;

const MEBIBYTE: u64 = 1 << 20;

/// Whether commands can be put into a sandbox here: it is tried.
pub(super) fn sandbox() -> Check {
    if !cfg!(target_os = "linux") {
        return Check::skipped("sandbox", "checked on Linux only");
    }
    let fix = "for `--isolation sandbox`, install bubblewrap (`apt install bubblewrap`) and socat, \
               and allow user namespaces";
    let tried = Command::new("bwrap")
        .args([
            "--ro-bind",
            "/",
            "/",
            "--unshare-net",
            "--die-with-parent",
            "true",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match tried {
        Ok(child) => child,
        Err(error) => {
            return Check::warning("sandbox", format!("bwrap cannot be started: {error}"), fix);
        }
    };
    match wait(&mut child, Duration::from_secs(10)) {
        // The official CLI reaches allowed hosts through it.
        Some(true) if !is_installed("socat") => {
            Check::warning("sandbox", "bwrap works, but socat is not installed", fix)
        }
        Some(true) => Check::ok(
            "sandbox",
            "bwrap works with its network closed, and socat is installed".to_owned(),
        ),
        Some(false) => {
            let mut said = String::new();
            if let Some(stderr) = &mut child.stderr {
                let _ = stderr.take(500).read_to_string(&mut said);
            }
            let said = said.lines().next().unwrap_or("no output").to_owned();
            Check::warning("sandbox", format!("bwrap does not work: {said}"), fix)
        }
        None => {
            let _ = child.kill();
            let _ = child.wait();
            Check::warning("sandbox", "bwrap did not exit", fix)
        }
    }
}

/// Which locks hold commands that run unasked because they only read: it is tried.
pub(super) fn confinement() -> Check {
    match falconer_engine::confinement() {
        Ok(_) => Check::ok(
            "confinement",
            "read-only commands are judged and confined by the kernel".to_owned(),
        ),
        Err(reason) => Check::warning(
            "confinement",
            format!("read-only commands are judged but not confined by the kernel: {reason}"),
            "use Linux 6.2 or newer with Landlock; until then falconer asks about more commands",
        ),
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether it succeeded; `None` if it does not end.
fn wait(child: &mut std::process::Child, within: Duration) -> Option<bool> {
    let deadline = Instant::now() + within;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Whether what we keep can be written, and what the engines keep.
pub(super) fn directories() -> Vec<Check> {
    let fix = "make it writable, or choose another with";
    let state = match places::state_directory() {
        Ok(path) => writable("state", &path, &format!("{fix} FALCONER_STATE_DIR")),
        Err(fault) => Check::failed("state", fault.text, fault.hint),
    };
    let sessions = match falconer::sessions::Sessions::from_env() {
        Ok(sessions) => {
            let path = sessions.projects_dir().to_owned();
            writable("sessions", &path, &format!("{fix} CLAUDE_CONFIG_DIR"))
        }
        Err(error) => Check::failed("sessions", error, "set HOME or CLAUDE_CONFIG_DIR"),
    };
    vec![
        state,
        sessions,
        writable(
            "temporary files",
            &std::env::temp_dir(),
            &format!("{fix} TMPDIR"),
        ),
    ]
}

/// Writes a file there, or in the nearest directory above that exists.
fn writable(name: &'static str, path: &Path, fix: &str) -> Check {
    let exists = path.ancestors().find(|place| place.exists());
    let place = exists.unwrap_or(path);
    match tempfile::NamedTempFile::new_in(place) {
        Ok(_) => Check::ok(name, format!("{} is writable", path.display())),
        Err(error) => Check::failed(
            name,
            format!("cannot write to {}: {error}", place.display()),
            fix,
        ),
    }
}

/// Whether our server answers, or could be started.
pub(super) fn server(config: &Config) -> Check {
    let url = config.server.url.as_deref().unwrap_or(DEFAULT_URL);
    let Some(authority) = url
        .strip_prefix("http://")
        .map(|rest| rest.trim_end_matches('/'))
    else {
        return Check::skipped("server", "not checked: its address is not plain http");
    };
    let address = authority
        .to_socket_addrs()
        .ok()
        .and_then(|mut all| all.next());
    let Some(address) = address else {
        let fix = "set server.url to http://ADDRESS:PORT";
        return Check::warning("server", format!("invalid address {url}"), fix);
    };
    let second = Duration::from_secs(1);
    match TcpStream::connect_timeout(&address, second) {
        Ok(stream) if is_healthy(&stream, authority) => {
            Check::ok("server", format!("one answers at {url}"))
        }
        Ok(_) => Check::warning(
            "server",
            format!("another program is listening on {address}"),
            "stop it, or choose another port for `falconer serve`",
        ),
        Err(_) => match address
            .ip()
            .is_loopback()
            .then(|| TcpListener::bind(address))
        {
            Some(Err(error)) => Check::warning(
                "server",
                format!("cannot listen on {address}: {error}"),
                "choose another port for `falconer serve`",
            ),
            _ => Check::ok("server", format!("none runs; {address} is free")),
        },
    }
}

fn is_healthy(mut stream: &TcpStream, authority: &str) -> bool {
    let second = Some(Duration::from_secs(1));
    let _ = (
        stream.set_read_timeout(second),
        stream.set_write_timeout(second),
    );
    let request = format!("GET /health HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    let mut answer = [0; 64];
    let read = stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.read(&mut answer));
    read.is_ok_and(|read| answer[..read].starts_with(b"HTTP/1.1 200"))
}

pub(super) fn disk() -> Check {
    let place = places::state_directory().unwrap_or_else(|_| std::env::temp_dir());
    let exists = place.ancestors().find(|path| path.exists());
    let place = exists.unwrap_or(Path::new("/")).to_owned();
    let free = match rustix::fs::statvfs(&place) {
        Ok(facts) => facts.f_bavail.saturating_mul(facts.f_frsize),
        Err(error) => {
            let fix = "check that the disk is mounted";
            return Check::warning(
                "disk",
                format!("cannot look at {}: {error}", place.display()),
                fix,
            );
        }
    };
    let text = format!("{} MiB free at {}", free / MEBIBYTE, place.display());
    match free / MEBIBYTE {
        0..100 => Check::failed("disk", text, "free disk space, or move FALCONER_STATE_DIR"),
        100..1024 => Check::warning("disk", text, "make room"),
        _ => Check::ok("disk", text),
    }
}
