//! `Read`, `Write` and `Edit`.

use serde_json::Value;

use crate::wire::wire_struct;

wire_struct! {
    /// A file to read, and the part of it.
    pub struct ReadInput {
        /// Absolute path.
        pub file_path: String,
        /// First line to read, counted from one.
        pub offset ? u64,
        /// Number of lines to read.
        pub limit ? u64,
        /// Pages of a PDF, such as `1-5`.
        pub pages ? String,
        /// `true` to read a text file beyond the usual limit.
        pub allow_large ? bool,
    }
}

wire_struct! {
    /// The contents of a file.
    pub struct ReadOutput {
        /// `text`, `image`, `notebook`, `pdf` or `parts`.
        pub kind: String => "type",
        /// Contents.
        pub file: ReadFile,
        /// Number of the first page, for `parts`.
        pub first_page ? u64 => "firstPage",
        /// Pages as pictures, for `parts`; usually absent, as the pictures are in the result's
        /// content.
        pub pages ? Vec<Value>,
    }
}

wire_struct! {
    /// A file that was read. Its kind decides on the fields.
    pub struct ReadFile {
        /// Path of the file; absent for pictures.
        pub file_path ? String => "filePath",
        /// Text of the lines that were read, without line numbers.
        pub content ? String,
        /// Number of lines in `content`.
        pub num_lines ? u64 => "numLines",
        /// Number of the first line in `content`, counted from one.
        pub start_line ? u64 => "startLine",
        /// Number of lines in the file.
        pub total_lines ? u64 => "totalLines",
        /// `true` if the file was too long and only its beginning was read.
        pub truncated_by_token_cap ? bool => "truncatedByTokenCap",
        /// Bytes of a picture or PDF, in base64.
        pub base64 ? String,
        /// MIME type of a picture.
        pub media_type ? String => "type",
        /// Size of the file in bytes, before a picture is scaled.
        pub original_size ? u64 => "originalSize",
        /// Width and height of a picture before and after scaling.
        pub dimensions ? Value,
        /// Cells of a notebook.
        pub cells ? Vec<Value>,
        /// Number of pages that were extracted, for `parts`.
        pub count ? u64,
        /// Directory with the extracted pages, for `parts`.
        pub output_dir ? String => "outputDir",
    }
}

wire_struct! {
    /// A file to write.
    pub struct WriteInput {
        /// Absolute path.
        pub file_path: String,
        /// Whole new content.
        pub content: String,
    }
}

wire_struct! {
    /// The effect of writing a file.
    pub struct WriteOutput {
        /// `create` or `update`.
        pub kind: String => "type",
        /// Path of the file.
        pub file_path: String => "filePath",
        /// Content that was written.
        pub content ? String,
        /// Changed lines; empty for a new file.
        pub structured_patch * Vec<PatchHunk> => "structuredPatch",
        /// Whole file before; `null` for a new file. May be very large.
        pub original_file ? String => "originalFile",
        /// Change as git shows it; absent outside a repository.
        pub git_diff ? GitDiff => "gitDiff",
        /// `true` if the user changed the content before allowing it.
        pub user_modified ? bool => "userModified",
        /// `true` if the change awaits a review and the file is unchanged.
        pub staged ? bool,
    }
}

wire_struct! {
    /// A text to replace.
    pub struct EditInput {
        /// Absolute path.
        pub file_path: String,
        /// Text to replace; must be unique in the file unless `replace_all` is set.
        pub old_string: String,
        /// Text to put in its place.
        pub new_string: String,
        /// `true` to replace every occurrence.
        pub replace_all ? bool,
    }
}

wire_struct! {
    /// The effect of replacing text.
    pub struct EditOutput {
        /// Path of the file.
        pub file_path: String => "filePath",
        /// Text that was replaced, as it stood in the file.
        pub old_string ? String => "oldString",
        /// Text that took its place.
        pub new_string ? String => "newString",
        /// Whole file before; may be very large.
        pub original_file ? String => "originalFile",
        /// Changed lines.
        pub structured_patch * Vec<PatchHunk> => "structuredPatch",
        /// `true` if the user changed the text before allowing it.
        pub user_modified ? bool => "userModified",
        /// `true` if every occurrence was replaced.
        pub replace_all ? bool => "replaceAll",
        /// Change as git shows it; absent outside a repository.
        pub git_diff ? GitDiff => "gitDiff",
        /// `true` if the change awaits a review and the file is unchanged.
        pub staged ? bool,
    }
}

wire_struct! {
    /// Lines that changed, each with `+`, `-` or a space before it.
    pub struct PatchHunk {
        /// First line before the change, counted from one.
        pub old_start: u64 => "oldStart",
        /// Number of lines before the change.
        pub old_lines: u64 => "oldLines",
        /// First line after the change, counted from one.
        pub new_start: u64 => "newStart",
        /// Number of lines after the change.
        pub new_lines: u64 => "newLines",
        /// Lines with their mark, context included.
        pub lines: Vec<String>,
    }
}

wire_struct! {
    /// The change as git shows it.
    pub struct GitDiff {
        /// Path in the repository.
        pub filename: String,
        /// `modified` or `added`.
        pub status ? String,
        /// Number of lines added.
        pub additions ? u64,
        /// Number of lines removed.
        pub deletions ? u64,
        /// Both together.
        pub changes ? u64,
        /// Hunks as text.
        pub patch ? String,
        /// `OWNER/NAME` on GitHub; `null` if unknown.
        pub repository ? String,
    }
}
