//! A search as it was asked for, checked and made ready.

use std::path::{Path, PathBuf};

use falconer_protocol::tool::GrepInput;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use regex_automata::nfa::thompson::NFA;

use super::{Call, place};
use crate::permission::Hidden;

const DEFAULT_LIMIT: usize = 250;
/// "All" has an end as well.
const MOST: usize = 20_000;
const MOST_CONTEXT: usize = 1_000;

/// Bytes a compiled pattern may take, and again what is worked out of it while searching.
const PATTERN: usize = 4 << 20;
/// Steps that one line may take: states of the pattern times bytes of the line, when the search
/// falls back to its slowest way. Some ten seconds.
const STEPS: usize = 2_000_000_000;
/// Lines of this length are searched whatever the pattern.
const SHORT_LINE: usize = 64 << 10;
/// Memory for a line, or for a file that is searched across lines.
const HEAP: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) cwd: PathBuf,
    pub(super) root: PathBuf,
    pub(super) scope: Scope,
    pub(super) matcher: RegexMatcher,
    pub(super) globs: Override,
    pub(super) types: Types,
    pub(super) mode: Mode,
    pub(super) lines: Lines,
    pub(super) multiline: bool,
    pub(super) limit: usize,
    pub(super) offset: usize,
    /// The longest line that is searched; a file with a longer one is left out.
    pub(super) longest_line: usize,
    /// What may not be shown.
    pub(super) hidden: Hidden,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    File,
    Tree,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Content,
    Files,
    Count,
}

/// How lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) numbered: bool,
    pub(super) only_matching: bool,
}

impl Lines {
    pub(super) fn have_context(&self) -> bool {
        self.before + self.after > 0
    }
}

impl Request {
    /// Reads an input; the text of a failure goes to the model.
    pub(super) fn new(input: &GrepInput, call: &Call) -> Result<Self, String> {
        let cwd = call.workbench.cwd();
        let written = input.path.as_deref().unwrap_or("");
        let root = place::absolute(written, &call.workbench);
        let metadata = std::fs::metadata(&root).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "Path does not exist: {}. The current working directory is {}.",
                root.display(),
                cwd.display()
            ),
            _ => format!("Failed to look at {}: {error}", root.display()),
        })?;
        let scope = if metadata.is_dir() {
            Scope::Tree
        } else if metadata.is_file() {
            Scope::File
        } else {
            return Err(format!(
                "{} is not a file that can be searched",
                root.display()
            ));
        };
        let multiline = input.multiline.unwrap_or_default();
        let limit = size(input.head_limit).unwrap_or(DEFAULT_LIMIT);
        Ok(Self {
            matcher: matcher(input, multiline)?,
            longest_line: longest_line(&input.pattern),
            globs: globs(&root, input.glob.as_deref())?,
            types: types(input.file_type.as_deref())?,
            mode: mode(input),
            lines: lines(input),
            limit: if limit == 0 { MOST } else { limit.min(MOST) },
            offset: size(input.offset).unwrap_or(0),
            hidden: call.bounds.hidden.clone().below(&root),
            cwd,
            root,
            scope,
            multiline,
        })
    }
}

fn size(count: Option<u64>) -> Option<usize> {
    count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

fn mode(input: &GrepInput) -> Mode {
    match input.output_mode.as_deref() {
        Some("content") => Mode::Content,
        Some("count") => Mode::Count,
        _ => Mode::Files,
    }
}

fn lines(input: &GrepInput) -> Lines {
    let around = size(input.context.or(input.around)).unwrap_or(0);
    Lines {
        before: size(input.before).unwrap_or(around).min(MOST_CONTEXT),
        after: size(input.after).unwrap_or(around).min(MOST_CONTEXT),
        numbered: input.line_numbers.unwrap_or(true),
        only_matching: input.only_matching.unwrap_or_default(),
    }
}

fn matcher(input: &GrepInput, multiline: bool) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(input.ignore_case.unwrap_or_default())
        .dot_matches_new_line(multiline)
        .size_limit(PATTERN)
        .dfa_size_limit(PATTERN);
    if !multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&input.pattern).map_err(|error| {
        let hint = match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => "\nSet `multiline` to search across lines.",
            _ => "",
        };
        format!("The parameter `pattern` is not a valid regular expression: {error}{hint}")
    })
}

/// How long a line may be, so that the worst pattern takes a bounded time for it: a search within
/// a line cannot be interrupted.
fn longest_line(pattern: &str) -> usize {
    let config = NFA::config().nfa_size_limit(Some(PATTERN));
    let states = NFA::compiler().configure(config).build(pattern);
    let states = states.map_or(usize::MAX, |nfa| nfa.states().len().max(1));
    (STEPS / states).clamp(SHORT_LINE, HEAP)
}

fn types(name: Option<&str>) -> Result<Types, String> {
    let mut types = TypesBuilder::new();
    if let Some(name) = name {
        types.add_defaults().select(name);
    }
    types
        .build()
        .map_err(|error| format!("The parameter `type` is not known: {error}"))
}

fn globs(root: &Path, written: Option<&str>) -> Result<Override, String> {
    let invalid = |error| format!("The parameter `glob` is not a valid pattern: {error}");
    let mut globs = OverrideBuilder::new(root);
    for glob in separate(written.unwrap_or("")) {
        globs.add(&glob).map_err(invalid)?;
    }
    globs.build().map_err(invalid)
}

/// Several patterns may be written in one text, with commas or spaces between them.
fn separate(written: &str) -> Vec<String> {
    let mut globs = vec![String::new()];
    let mut depth = 0_usize;
    for letter in written.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0 && (letter == ',' || letter.is_whitespace());
        match globs.last_mut() {
            Some(glob) if !ends => glob.push(letter),
            _ => globs.push(String::new()),
        }
    }
    globs.retain(|glob| !glob.is_empty());
    globs
}

#[cfg(test)]
mod tests {
    use super::separate;

    #[test]
    fn patterns_are_separated_outside_of_braces() {
        let check = |written, expect: &[&str]| assert_eq!(separate(written), expect, "{written}");
        check("", &[]);
        check("*.rs", &["*.rs"]);
        check("*.{ts,tsx}", &["*.{ts,tsx}"]);
        check("*.log, *.txt  !a", &["*.log", "*.txt", "!a"]);
        check("{a,b", &["{a,b"]);
        check("a},b", &["a}", "b"]);
    }
}
