//! Whom the watchdog guards, in memory that it shares with us and reads when we are gone.
//!
//! A line of fixed length for each process, so that one write adds or removes one and the
//! watchdog, which would have to wake up for a message, need not know.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Pid;

use super::marker::Marker;
use super::tag;
use super::tree;

/// The length of a line. The longest, with 20 digits of start time, needs 100.
const LINE: usize = 128;

/// The processes that are guarded.
#[derive(Debug)]
pub(super) struct GuardList {
    file: OwnedFd,
    /// Marker on each line.
    lines: Mutex<Vec<Option<Marker>>>,
}

impl GuardList {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            file: memfd_create(c"falconer-guarded", MemfdFlags::CLOEXEC)?,
            lines: Mutex::default(),
        })
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Announces a process that is about to be started: we may be killed before we know its id.
    pub(super) fn expect(&self, marker: Marker) -> io::Result<()> {
        let mut lines = self.lines();
        let at = line_of(&lines, None).unwrap_or(lines.len());
        self.write(at, &format!("0 0 {marker} {}", tag::root_number(marker)))?;
        if at == lines.len() {
            lines.push(None);
        }
        lines[at] = Some(marker);
        Ok(())
    }

    /// Says which process it is.
    pub(super) fn identify(&self, marker: Marker, pid: Pid) {
        let start = tree::start_time(pid).unwrap_or_default();
        if let Some(at) = line_of(&self.lines(), Some(marker)) {
            // The line exists, so there is room; and if not, the marker is there.
            let number = tag::root_number(marker);
            let _ = self.write(at, &format!("{pid} {start} {marker} {number}"));
        }
    }

    pub(super) fn remove(&self, marker: Marker) {
        let mut lines = self.lines();
        if let Some(at) = line_of(&lines, Some(marker)) {
            // A name too many would do no harm: the watchdog looks at start times.
            let _ = self.write(at, "");
            lines[at] = None;
        }
    }

    fn lines(&self) -> MutexGuard<'_, Vec<Option<Marker>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, at: usize, text: &str) -> io::Result<()> {
        let line = format!("{text:<width$}\n", width = LINE - 1);
        // At a place, not at the position, which the watchdog shares and must find at 0.
        rustix::io::pwrite(&self.file, line.as_bytes(), (at * LINE) as u64)?;
        Ok(())
    }
}

fn line_of(lines: &[Option<Marker>], who: Option<Marker>) -> Option<usize> {
    lines.iter().position(|line| *line == who)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(list: &GuardList) -> Vec<String> {
        let mut text = vec![0; 10 * LINE];
        let length = rustix::io::pread(&list.file, &mut text, 0).expect("readable");
        let text = String::from_utf8_lossy(&text[..length]);
        text.lines().map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn lines_are_added_filled_in_blanked_and_used_again() {
        let this = rustix::process::getpid();
        let start = tree::start_time(this).expect("we are there");
        let (first, second, third) = (Marker::new(), Marker::new(), Marker::new());
        let list = GuardList::new().expect("memory");
        list.expect(first).expect("memory");
        list.expect(second).expect("memory");
        list.identify(second, this);
        let number = tag::root_number;
        let expected = |marker| format!("0 0 {marker} {}", number(marker));
        let known = format!("{this} {start} {second} {}", number(second));
        assert_eq!(lines(&list), [expected(first), known.clone()]);
        list.remove(first);
        assert_eq!(lines(&list), [String::new(), known.clone()]);
        list.expect(third).expect("memory");
        list.identify(first, this);
        assert_eq!(lines(&list), [expected(third), known]);
        list.remove(second);
        list.remove(third);
        assert_eq!(lines(&list), ["", ""]);
    }
}
