//! Text that was piped into a command.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc;
use std::time::Duration;

/// How long to wait for the first byte when there is a prompt already: the pipe may be one that
/// nobody writes to or closes.
const PATIENCE: Duration = Duration::from_secs(3);

/// Whether there is something to do without the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

/// Everything on stdin; nothing if it is a terminal, or silent and not needed.
pub(crate) fn read(need: Need) -> io::Result<String> {
    if io::stdin().is_terminal() {
        return Ok(String::new());
    }
    match need {
        Need::Required => read_all(),
        Need::Optional => read_if_any(),
    }
}

fn read_all() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn read_if_any() -> io::Result<String> {
    let (begun, begins) = mpsc::sync_channel(1);
    // Left behind if nothing comes; it ends with the process.
    let reader = std::thread::spawn(move || {
        io::stdin().lock().fill_buf()?;
        let _ = begun.send(());
        read_all()
    });
    match begins.recv_timeout(PATIENCE) {
        Err(mpsc::RecvTimeoutError::Timeout) => {
            anstream::eprintln!(
                "warning: nothing came on stdin in {} s; going on without it (use `< /dev/null` \
                 to say so)",
                PATIENCE.as_secs()
            );
            Ok(String::new())
        }
        _ => reader
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the reader panicked"))),
    }
}
