//! `Read`, `Write` and `Edit`.

use serde_json::Value;

use crate::wire::wire_struct;

wire_struct! {
    /// Which file, and which part of it.
    pub struct ReadInput {
        pub file_path: String,
        pub offset ? u64,
        pub limit ? u64,
        pub pages ? String,
        pub allow_large ? bool,
    }
}

wire_struct! {
    /// What was read.
    pub struct ReadOutput {
        /// `text`, `image`, `notebook`, `pdf` or `parts`.
        pub kind: String => "type",
        pub file: ReadFile,
        pub first_page ? u64 => "firstPage",
        pub pages ? Vec<Value>,
    }
}

wire_struct! {
    /// A file that was read. Which fields there are depends on its kind.
    pub struct ReadFile {
        pub file_path ? String => "filePath",
        pub content ? String,
        pub num_lines ? u64 => "numLines",
        pub start_line ? u64 => "startLine",
        pub total_lines ? u64 => "totalLines",
        pub truncated_by_token_cap ? bool => "truncatedByTokenCap",
        pub base64 ? String,
        pub media_type ? String => "type",
        pub original_size ? u64 => "originalSize",
        pub dimensions ? Value,
        pub cells ? Vec<Value>,
        pub count ? u64,
        pub output_dir ? String => "outputDir",
    }
}

wire_struct! {
    /// A file to write.
    pub struct WriteInput {
        pub file_path: String,
        pub content: String,
    }
}

wire_struct! {
    /// What writing changed.
    pub struct WriteOutput {
        /// `create` or `update`.
        pub kind: String => "type",
        pub file_path: String => "filePath",
        pub content ? String,
        pub structured_patch * Vec<PatchHunk> => "structuredPatch",
        /// The whole file before; may be very large.
        pub original_file ? String => "originalFile",
        pub git_diff ? GitDiff => "gitDiff",
        pub user_modified ? bool => "userModified",
        pub staged ? bool,
    }
}

wire_struct! {
    /// A text to replace.
    pub struct EditInput {
        pub file_path: String,
        pub old_string: String,
        pub new_string: String,
        pub replace_all ? bool,
    }
}

wire_struct! {
    /// What replacing changed.
    pub struct EditOutput {
        pub file_path: String => "filePath",
        pub old_string ? String => "oldString",
        pub new_string ? String => "newString",
        /// The whole file before; may be very large.
        pub original_file ? String => "originalFile",
        pub structured_patch * Vec<PatchHunk> => "structuredPatch",
        pub user_modified ? bool => "userModified",
        pub replace_all ? bool => "replaceAll",
        pub git_diff ? GitDiff => "gitDiff",
        pub staged ? bool,
    }
}

wire_struct! {
    /// Lines that changed, each with `+`, `-` or a space before it.
    pub struct PatchHunk {
        pub old_start: u64 => "oldStart",
        pub old_lines: u64 => "oldLines",
        pub new_start: u64 => "newStart",
        pub new_lines: u64 => "newLines",
        pub lines: Vec<String>,
    }
}

wire_struct! {
    /// The change as git shows it.
    pub struct GitDiff {
        pub filename: String,
        pub status ? String,
        pub additions ? u64,
        pub deletions ? u64,
        pub changes ? u64,
        pub patch ? String,
        pub repository ? String,
    }
}
