//! An engine that will not go by itself: it does not notice that stdin is
//! closed, and it has a child in a session of its own, as a tool would.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::payload;
use crate::report;

/// Starts the grandchild and notes both ids.
pub(crate) fn grow() -> io::Result<()> {
    let child = Command::new("setsid")
        .args(["sleep", "60"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    report(&format!(
        r#"{{"engine":{},"grandchild":{}}}"#,
        std::process::id(),
        child.id()
    ))
}

/// Writes some messages, then does nothing for a minute.
pub(crate) fn linger(output: &mut impl Write) -> io::Result<()> {
    for index in 0..100 {
        output.write_all(payload::message(index).as_bytes())?;
    }
    output.flush()?;
    std::thread::sleep(std::time::Duration::from_secs(60));
    Ok(())
}
