//! Commands that a user can type.

use crate::wire::wire_struct;

wire_struct! {
    /// A slash command or a skill.
    pub struct SlashCommand {
        /// Name without the slash.
        pub name: String,
        /// Line for people.
        pub description ? String,
        /// Placeholder for the arguments, such as `<file>`; empty if it takes none.
        pub argument_hint ? String => "argumentHint",
        /// Further names of the same command.
        pub aliases ? Vec<String>,
        /// `true` for the engine's own; absent for those of users, projects, plugins and MCP
        /// servers.
        pub builtin ? bool,
    }
}
