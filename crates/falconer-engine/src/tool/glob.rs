//! `Glob`: files by name, newest first.

mod sweep;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use falconer_protocol::tool::{GlobInput, GlobOutput};
use falconer_protocol::{Number, Object};
use falconer_rule::Found;
use futures_util::future::BoxFuture;
use ignore::overrides::{Override, OverrideBuilder};
use serde_json::Value;

use self::sweep::{Newest, Search};
use super::failure::Failure;
use super::input::{self, Field, Kind};
use super::interrupt::{self, Interrupt, Stop};
use super::{Call, Describe, Outcome, Target, TypedTool, place, walk};
use crate::permission::Hidden;
use crate::workbench::Workbench;

const MOST: usize = 100;
const LIMIT: Duration = Duration::from_secs(20);

const FIELDS: &[Field] = &[
    Field::required(
        "pattern",
        Kind::Text,
        "Pattern for the paths of files, such as `src/**/*.rs`",
    ),
    Field::optional(
        "path",
        Kind::Text,
        "Directory to look in; leave it out for the working directory",
    ),
];

/// Finds files by name.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Glob;

impl Describe for Glob {
    fn name(&self) -> &str {
        "Glob"
    }

    fn description(&self) -> String {
        "Finds files by the pattern of their path, the most recently changed first.\n\n\
         - `*.rs` finds files in all directories below, `src/*.rs` only those in `src`, \
         `src/**/*.rs` those below `src`; `{a,b}` and `[0-9]` work too.\n\
         - Hidden and ignored files are included, the inside of `.git` is not.\n\
         - At most 100 files are shown: narrow the pattern when there are more.\n\
         - To look into files, use Grep."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

impl TypedTool for Glob {
    type Input = GlobInput;

    fn parse(&self, input: &Object) -> Result<GlobInput, String> {
        let input: GlobInput = input::read(FIELDS, input)?;
        if input.pattern.is_empty() {
            return Err("The parameter `pattern` must not be empty".to_owned());
        }
        Ok(input)
    }

    fn target(&self, input: &GlobInput, workbench: &Workbench) -> Target {
        Target::Read(Hunt::new(input, workbench).root)
    }

    fn run(&self, input: Arc<GlobInput>, call: Call) -> BoxFuture<'_, Outcome> {
        let cancelled = call.cancelled.clone();
        Box::pin(interrupt::reading(cancelled, move || {
            find(&input, &call, LIMIT).unwrap_or_else(Outcome::from)
        }))
    }
}

/// Where to look for what.
#[derive(Debug, PartialEq, Eq)]
struct Hunt {
    /// The directory that must exist.
    base: PathBuf,
    /// Where the walk begins: `base` and those parts of the pattern that are plain names.
    root: PathBuf,
    pattern: String,
}

impl Hunt {
    fn new(input: &GlobInput, workbench: &Workbench) -> Self {
        let base = place::absolute(input.path.as_deref().unwrap_or(""), workbench);
        let pattern = input.pattern.as_str();
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        // A name without a directory is looked for at any depth; the others are anchored.
        let (plain, rest) = plain_directories(pattern);
        let (root, pattern) = if plain.is_empty() {
            (base.clone(), pattern.to_owned())
        } else {
            (base.join(plain), format!("/{rest}"))
        };
        let base = if plain.starts_with('/') {
            root.clone()
        } else {
            base
        };
        Self {
            base,
            root,
            pattern,
        }
    }
}

/// Splits off the leading directories without special characters: `src/a/*.rs` → `src/a/`, `*.rs`.
fn plain_directories(pattern: &str) -> (&str, &str) {
    let special = pattern
        .find(['*', '?', '[', '{', '\\', '!'])
        .unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(at) => pattern.split_at(at + 1),
        None => ("", pattern),
    }
}

/// What is looked for: only the pattern decides, and rules that hide files.
struct Quarry<'a> {
    rules: Override,
    hidden: Hidden,
    interrupt: &'a Interrupt,
}

impl Search for Quarry<'_> {
    fn enters(&self, directory: &Path, name: &OsStr) -> bool {
        !walk::is_version_control(name)
            && !self.rules.matched(directory, true).is_ignore()
            && !self.hidden.hides(directory, Found::Directory)
    }

    fn wants(&self, file: &Path) -> bool {
        !self.rules.matched(file, false).is_ignore() && !self.hidden.hides(file, Found::File)
    }

    fn is_over(&self) -> bool {
        self.interrupt.stop().is_some()
    }
}

fn find(input: &GlobInput, call: &Call, limit: Duration) -> Result<Outcome, Failure> {
    let began = Instant::now();
    let cwd = call.workbench.cwd();
    let hunt = Hunt::new(input, &call.workbench);
    if !hunt.base.exists() {
        return Err(Failure::failed(format!(
            "Directory does not exist: {}. The current working directory is {}.",
            hunt.base.display(),
            cwd.display()
        )));
    }
    if !hunt.base.is_dir() {
        return Err(Failure::failed(format!(
            "Not a directory: {}",
            hunt.base.display()
        )));
    }
    let rules = rules(&hunt).map_err(|error| {
        Failure::failed(format!(
            "The parameter `pattern` is not a valid pattern: {error}"
        ))
    })?;
    let interrupt = Interrupt::new(call.cancelled.clone(), limit);
    let hidden = call.bounds.hidden.clone().below(&hunt.root);
    let quarry = Quarry {
        rules,
        hidden,
        interrupt: &interrupt,
    };
    let newest = sweep::newest(&hunt.root, &quarry, walk::threads(), MOST);
    let timed_out = interrupt.stop() == Some(Stop::TimedOut);
    Ok(show(newest, &cwd, began.elapsed(), timed_out))
}

fn rules(hunt: &Hunt) -> Result<Override, ignore::Error> {
    let mut rules = OverrideBuilder::new(&hunt.root);
    rules.add(&hunt.pattern)?;
    rules.build()
}

fn show(newest: Newest, cwd: &Path, took: Duration, timed_out: bool) -> Outcome {
    let total = newest.total;
    let paths = newest.into_paths();
    let files: Vec<String> = paths.iter().map(|path| place::shown(path, cwd)).collect();
    let truncated = total > files.len();
    let mut text = if files.is_empty() {
        "No files found".to_owned()
    } else {
        files.join("\n")
    };
    if truncated {
        text.push_str(&format!(
            "\n\n[The {} newest of {total} files; use a narrower pattern for the others.]",
            files.len()
        ));
    }
    if timed_out {
        text.push_str("\n\n[The search took too long and was ended; there may be more.]");
    }
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let output = GlobOutput {
        duration_ms: Some(Number::from(millis)),
        num_files: files.len() as u64,
        filenames: files,
        truncated: Some(truncated),
        total_matches: Some(total as u64),
        count_is_complete: Some(!timed_out),
        timed_out: timed_out.then_some(true),
        ..GlobOutput::default()
    };
    Outcome::text(text, output)
}
