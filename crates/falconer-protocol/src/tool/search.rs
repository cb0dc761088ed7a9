//! `Glob` and `Grep`.

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A search for files by name.
    pub struct GlobInput {
        /// Glob such as `**/*.rs`.
        pub pattern: String,
        /// Directory to search; absent for the working directory.
        pub path ? String,
    }
}

wire_struct! {
    /// The files.
    pub struct GlobOutput {
        /// Milliseconds the search took.
        pub duration_ms ? Number => "durationMs",
        /// Number of files in `filenames`.
        pub num_files: u64 => "numFiles",
        /// Paths, the most recently changed first.
        pub filenames: Vec<String>,
        /// `true` if there were more than 100 files.
        pub truncated ? bool,
        /// Number of files before the list was cut.
        pub total_matches ? u64 => "totalMatches",
        /// `false` if `total_matches` is a lower bound.
        pub count_is_complete ? bool => "countIsComplete",
        /// `true` if the search was cut short by its time limit.
        pub timed_out ? bool => "timedOut",
    }
}

wire_struct! {
    /// A search for lines in files.
    pub struct GrepInput {
        /// Regular expression in ripgrep's syntax.
        pub pattern: String,
        /// File or directory to search; absent for the working directory.
        pub path ? String,
        /// Glob that file names have to match.
        pub glob ? String,
        /// `content`, `files_with_matches` or `count`; absent for the second.
        pub output_mode ? String,
        /// Lines to show before each match, with `content`.
        pub before ? u64 => "-B",
        /// Lines to show after each match, with `content`.
        pub after ? u64 => "-A",
        /// Lines to show on both sides of each match; another name for `context`.
        pub around ? u64 => "-C",
        /// Lines to show on both sides of each match, with `content`.
        pub context ? u64,
        /// `false` to leave out line numbers, with `content`.
        pub line_numbers ? bool => "-n",
        /// `true` to ignore case.
        pub ignore_case ? bool => "-i",
        /// `true` to show the matching part of each line only.
        pub only_matching ? bool => "-o",
        /// File type as ripgrep knows it, such as `rust`.
        pub file_type ? String => "type",
        /// Number of lines or files to return; 0 for no limit.
        pub head_limit ? u64,
        /// Number of lines or files to skip first.
        pub offset ? u64,
        /// `true` to let matches span lines.
        pub multiline ? bool,
    }
}

wire_struct! {
    /// The lines, the files or the counts.
    pub struct GrepOutput {
        /// Mode of the search, as in [`GrepInput::output_mode`].
        pub mode ? String,
        /// Number of files with a match.
        pub num_files: u64 => "numFiles",
        /// Paths; empty with `content`.
        pub filenames * Vec<String>,
        /// Lines or counts as text; absent with `files_with_matches`.
        pub content ? String,
        /// Number of lines in `content`.
        pub num_lines ? u64 => "numLines",
        /// Number of matches, with `count`.
        pub num_matches ? u64 => "numMatches",
        /// Number of files before the list was cut.
        pub total_files ? u64 => "totalFiles",
        /// Number of lines before the text was cut.
        pub total_lines ? u64 => "totalLines",
        /// Limit that cut the output; absent if none did.
        pub applied_limit ? u64 => "appliedLimit",
        /// Number of entries that were skipped.
        pub applied_offset ? u64 => "appliedOffset",
        /// `true` if the search was cut short by its time limit.
        pub timed_out ? bool => "timedOut",
    }
}
