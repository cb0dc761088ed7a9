//! Whom the watchdog guards, in memory that it shares with us and reads when we are gone.
//!
//! A line of fixed length for each process, so that one write adds or removes one and the
//! watchdog, which would have to wake up for a message, need not know.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Pid;

use super::marker::Marker;

/// The length of a line. The longest, with 20 digits of start time, needs 80.
const LINE: usize = 96;

/// The processes that are guarded.
#[derive(Debug, Default)]
pub(super) struct GuardList {
    file: Option<OwnedFd>,
    /// Who is on which line.
    lines: Vec<Option<Marker>>,
}

impl GuardList {
    /// The file, if anybody is on the list.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        let anybody = self.lines.iter().any(Option::is_some);
        self.file.as_ref().filter(|_| anybody).map(AsFd::as_fd)
    }

    pub(super) fn add(&mut self, pid: Pid, start: u64, marker: Marker) -> io::Result<()> {
        let free = self.lines.iter().position(Option::is_none);
        let at = free.unwrap_or(self.lines.len());
        self.write(at, &format!("{pid} {start} {marker}"))?;
        if at == self.lines.len() {
            self.lines.push(None);
        }
        self.lines[at] = Some(marker);
        Ok(())
    }

    pub(super) fn remove(&mut self, marker: Marker) {
        let Some(at) = self.lines.iter().position(|line| *line == Some(marker)) else {
            return;
        };
        self.lines[at] = None;
        // The line exists, so there is room; and a name too many would do no harm: the
        // watchdog looks at start times.
        let _ = self.write(at, "");
    }

    fn write(&mut self, at: usize, text: &str) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self
                .file
                .insert(memfd_create(c"falconer-guarded", MemfdFlags::CLOEXEC)?),
        };
        let line = format!("{text:<width$}\n", width = LINE - 1);
        // At a place, not at the position, which the watchdog shares and must find at 0.
        rustix::io::pwrite(file, line.as_bytes(), (at * LINE) as u64)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(list: &GuardList) -> String {
        let mut text = vec![0; 10 * LINE];
        let file = list.file.as_ref().expect("a file");
        let length = rustix::io::pread(file, &mut text, 0).expect("readable");
        String::from_utf8_lossy(&text[..length]).into_owned()
    }

    #[test]
    fn lines_are_added_blanked_and_used_again() {
        let pid = Pid::from_raw(4711).expect("not zero");
        let (first, second, third) = (Marker::new(), Marker::new(), Marker::new());
        let mut list = GuardList::default();
        assert!(list.file().is_none());
        list.add(pid, u64::MAX, first).expect("memory");
        list.add(pid, 2, second).expect("memory");
        list.remove(first);
        assert!(list.file().is_some());
        list.add(pid, 3, third).expect("memory");
        let lines: Vec<_> = text(&list).lines().map(|l| l.trim().to_owned()).collect();
        assert_eq!(
            lines,
            [format!("4711 3 {third}"), format!("4711 2 {second}")]
        );
        list.remove(second);
        list.remove(third);
        assert!(list.file().is_none());
        assert_eq!(text(&list).trim(), "");
    }
}
