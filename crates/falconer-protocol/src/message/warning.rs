//! Warnings of the host's own library about the lines it read.

use crate::wire::wire_struct;

wire_struct! {
    /// Something went wrong between the engine and the host. No engine sends it: the library
    /// puts it where the caller would otherwise miss something.
    pub struct WarningMessage ["type" = "falconer_warning"] {
        /// `line_too_long`, `malformed_line`, `messages_lost`, `mirror_error`, `protocol`.
        pub kind: String,
        /// For people.
        pub text: String,
        /// The first bytes of the line it is about.
        pub head ? String,
    }
}
