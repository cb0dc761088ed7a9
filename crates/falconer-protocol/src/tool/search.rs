//! `Glob` and `Grep`.

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// Which files.
    pub struct GlobInput {
        pub pattern: String,
        pub path ? String,
    }
}

wire_struct! {
    /// The files.
    pub struct GlobOutput {
        pub duration_ms ? Number => "durationMs",
        pub num_files: u64 => "numFiles",
        pub filenames: Vec<String>,
        pub truncated ? bool,
        pub total_matches ? u64 => "totalMatches",
        pub count_is_complete ? bool => "countIsComplete",
        pub timed_out ? bool => "timedOut",
    }
}

wire_struct! {
    /// Which lines of which files.
    pub struct GrepInput {
        pub pattern: String,
        pub path ? String,
        pub glob ? String,
        /// `content`, `files_with_matches` or `count`.
        pub output_mode ? String,
        pub before ? u64 => "-B",
        pub after ? u64 => "-A",
        pub around ? u64 => "-C",
        pub context ? u64,
        pub line_numbers ? bool => "-n",
        pub ignore_case ? bool => "-i",
        pub only_matching ? bool => "-o",
        pub file_type ? String => "type",
        pub head_limit ? u64,
        pub offset ? u64,
        pub multiline ? bool,
    }
}

wire_struct! {
    /// The lines, the files or the counts.
    pub struct GrepOutput {
        pub mode ? String,
        pub num_files: u64 => "numFiles",
        pub filenames * Vec<String>,
        pub content ? String,
        pub num_lines ? u64 => "numLines",
        pub num_matches ? u64 => "numMatches",
        pub total_files ? u64 => "totalFiles",
        pub total_lines ? u64 => "totalLines",
        pub applied_limit ? u64 => "appliedLimit",
        pub applied_offset ? u64 => "appliedOffset",
        pub timed_out ? bool => "timedOut",
    }
}
