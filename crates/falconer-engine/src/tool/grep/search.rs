//! The search itself: files in parallel, hits collected in the order of their paths.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use ignore::WalkState;

use super::folder::Folder;
use super::request::{Lines, Mode, Request, Scope};
use super::{Interrupt, place};
use crate::tool::interrupt::Interruptible;
use crate::tool::walk;

/// Longer lines say so instead of being shown.
const LONG: usize = 500;
/// Files below this size are read in one go.
const START: usize = 64 << 10;
/// How many files are looked at before it is asked again whether anybody still waits.
const BETWEEN_STOPS: usize = 32;

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Hit {
    /// The first lines as they are shown.
    pub(super) lines: Vec<String>,
    /// How many lines there are to show.
    pub(super) total: usize,
    pub(super) matches: u64,
    pub(super) changed: Option<SystemTime>,
}

/// The files with hits, by path; of lines only those that can be shown.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) files: BTreeMap<PathBuf, Hit>,
    /// Lines of all files, kept or not.
    pub(super) total: usize,
    /// Files with hits, kept or not.
    pub(super) count: usize,
    kept: usize,
    /// Files that could not be searched, most likely for a line that is too long.
    pub(super) unread: usize,
}

impl Hits {
    fn add(&mut self, path: PathBuf, hit: Hit) {
        self.count += 1;
        self.total += hit.total;
        self.kept += hit.lines.len();
        self.files.insert(path, hit);
    }

    /// Forgets files whose lines come after the first `wanted` ones.
    fn forget_beyond(&mut self, wanted: usize) {
        while let Some(last) = self.files.last_entry() {
            let lines = last.get().lines.len();
            if self.kept - lines < wanted {
                break;
            }
            self.kept -= lines;
            last.remove();
        }
    }

    /// Whether the lines of this file would come after the first `wanted` ones.
    fn is_beyond(&self, path: &Path, wanted: usize) -> bool {
        let last = self.files.last_key_value();
        self.kept >= wanted && last.is_some_and(|(last, _)| path > last.as_path())
    }
}

pub(super) fn search(request: &Request, interrupt: &Interrupt) -> Hits {
    let hits = Mutex::new(Hits::default());
    match request.scope {
        Scope::File => Worker::new(request, interrupt, &hits).look_into(&request.root),
        Scope::Tree => {
            let mut walk = walk::below(&request.root, request.hidden.clone());
            walk.overrides(request.globs.clone())
                .types(request.types.clone());
            walk.build_parallel().run(|| {
                let mut worker = Worker::new(request, interrupt, &hits);
                Box::new(move |entry| {
                    if worker.has_to_stop() {
                        return WalkState::Quit;
                    }
                    // What vanished or may not be read holds nothing for us.
                    if let Ok(entry) = entry
                        && entry.file_type().is_some_and(|kind| kind.is_file())
                    {
                        worker.look_into(entry.path());
                    }
                    WalkState::Continue
                })
            });
        }
    }
    hits.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What one thread needs.
struct Worker<'a> {
    request: &'a Request,
    interrupt: &'a Interrupt,
    hits: &'a Mutex<Hits>,
    searcher: Searcher,
    matcher: RegexMatcher,
    folder: Folder,
    /// The beginning of a file; most fit.
    start: Vec<u8>,
    /// How many files were looked at.
    seen: usize,
}

impl<'a> Worker<'a> {
    fn new(request: &'a Request, interrupt: &'a Interrupt, hits: &'a Mutex<Hits>) -> Self {
        let lines = request.lines;
        let is_content = request.mode == Mode::Content;
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_number(is_content && lines.numbered)
            .multi_line(request.multiline)
            .heap_limit(Some(request.longest_line))
            .binary_detection(match request.scope {
                Scope::Tree => BinaryDetection::quit(0),
                Scope::File => BinaryDetection::none(),
            });
        if is_content {
            searcher
                .before_context(lines.before)
                .after_context(lines.after);
        }
        Self {
            request,
            interrupt,
            hits,
            searcher: searcher.build(),
            matcher: request.matcher.clone(),
            folder: Folder::default(),
            start: vec![0; START],
            seen: 0,
        }
    }

    /// Asked for every file, but looked up for some: the answer is behind a lock that all
    /// threads share.
    fn has_to_stop(&mut self) -> bool {
        self.seen += 1;
        self.interrupt.is_late()
            || self.seen % BETWEEN_STOPS == 1 && self.interrupt.stop().is_some()
    }

    fn look_into(&mut self, path: &Path) {
        let mut hit = Hit::default();
        if let Err(error) = self.read(path, &mut hit) {
            tracing::debug!(path = %path.display(), %error, "a file could not be searched");
            if error.kind() != io::ErrorKind::TimedOut {
                let mut hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
                hits.unread += 1;
            }
        }
        if hit.matches == 0 {
            return;
        }
        if self.request.mode == Mode::Files {
            hit.changed = std::fs::metadata(path)
                .ok()
                .and_then(|it| it.modified().ok());
        }
        let wanted = self.request.offset.saturating_add(self.request.limit);
        let mut hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        hits.add(path.to_owned(), hit);
        if self.request.mode == Mode::Content {
            hits.forget_beyond(wanted);
        }
    }

    /// How many lines of a file are worth keeping.
    fn wanted(&self, path: &Path) -> usize {
        if self.request.mode != Mode::Content {
            return 0;
        }
        let wanted = self.request.offset.saturating_add(self.request.limit);
        let hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        if hits.is_beyond(path, wanted) {
            0
        } else {
            wanted
        }
    }

    fn read(&mut self, path: &Path, hit: &mut Hit) -> io::Result<()> {
        let wanted = self.wanted(path);
        let collector = Collector {
            mode: self.request.mode,
            style: self.request.lines,
            multiline: self.request.multiline,
            // Only made when there is something to show.
            label: None,
            path,
            request: self.request,
            matcher: &self.matcher,
            wanted,
            hit,
        };
        match self.request.scope {
            Scope::File => {
                // A file that became a pipe in the meantime must not be waited for.
                let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
                let mut file = OpenOptions::new();
                let file = file.read(true).custom_flags(flags).open(path)?;
                let file = Interruptible {
                    reader: file,
                    interrupt: self.interrupt,
                };
                self.searcher.search_reader(&self.matcher, file, collector)
            }
            Scope::Tree => {
                let mut file = File::from(self.folder.open(path)?);
                let length = fill(&mut file, &mut self.start)?;
                let start = &self.start[..length];
                if length < self.start.len() && !has_mark(start) {
                    return self.searcher.search_slice(&self.matcher, start, collector);
                }
                let rest = Interruptible {
                    reader: file,
                    interrupt: self.interrupt,
                };
                self.searcher
                    .search_reader(&self.matcher, start.chain(rest), collector)
            }
        }
    }
}

/// Reads until the file ends or the buffer is full.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Whether a file says that it is in another encoding.
fn has_mark(start: &[u8]) -> bool {
    matches!(
        start,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0xef, 0xbb, 0xbf, ..]
    )
}

/// Takes what the searcher finds in one file.
struct Collector<'a> {
    mode: Mode,
    style: Lines,
    multiline: bool,
    label: Option<String>,
    path: &'a Path,
    request: &'a Request,
    matcher: &'a RegexMatcher,
    wanted: usize,
    hit: &'a mut Hit,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.mode {
            Mode::Files => {
                self.hit.matches = 1;
                return Ok(false);
            }
            Mode::Count if self.multiline => self.hit.matches += self.count(found.bytes()),
            Mode::Count => self.hit.matches += 1,
            Mode::Content => {
                self.hit.matches += 1;
                if self.style.only_matching {
                    self.push_matches(found);
                } else {
                    for (number, line) in (0..).zip(found.lines()) {
                        let number = found.line_number().map(|first| first + number);
                        self.push(':', number, line, "[Omitted long matching line]");
                    }
                }
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number();
        self.push('-', number, context.bytes(), "[Omitted long context line]");
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push_line("--".to_owned());
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        Ok(())
    }
}

impl Collector<'_> {
    fn count(&self, bytes: &[u8]) -> u64 {
        let mut count = 0;
        let _ = self.matcher.find_iter(bytes, |_| {
            count += 1;
            true
        });
        count
    }

    fn push_matches(&mut self, found: &SinkMatch<'_>) {
        let bytes = found.bytes();
        let mut matches = Vec::new();
        let _ = self.matcher.find_iter(bytes, |found| {
            matches.push(found);
            true
        });
        for one in matches.iter().filter(|one| !one.is_empty()) {
            let above = memchr::memchr_iter(b'\n', &bytes[..one.start()]).count() as u64;
            let lines = bytes[one.start()..one.end()].split(|byte| *byte == b'\n');
            for (below, line) in (0..).zip(lines) {
                let number = found.line_number().map(|first| first + above + below);
                self.push(':', number, line, "[Omitted long matching line]");
            }
        }
    }

    fn push(&mut self, sign: char, number: Option<u64>, line: &[u8], omitted: &str) {
        if self.hit.lines.len() >= self.wanted {
            self.hit.total += 1;
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if line.len() > LONG {
            omitted.into()
        } else {
            String::from_utf8_lossy(line)
        };
        let mut shown = String::new();
        if self.request.scope == Scope::Tree {
            shown.push_str(self.label());
            shown.push(sign);
        }
        if let Some(number) = number {
            shown.push_str(&number.to_string());
            shown.push(sign);
        }
        shown.push_str(&line);
        self.push_line(shown);
    }

    fn push_line(&mut self, line: String) {
        self.hit.total += 1;
        if self.hit.lines.len() < self.wanted {
            self.hit.lines.push(line);
        }
    }

    fn label(&mut self) -> &str {
        let (path, cwd) = (self.path, &self.request.cwd);
        self.label.get_or_insert_with(|| place::shown(path, cwd))
    }
}
