//! Tools of MCP servers: the server behind one, and a name for people.

/// The MCP server a tool belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolOrigin {
    pub(crate) server: String,
    /// How the server came into the session: `sdk`, or the scope of its configuration.
    pub(crate) source: String,
    /// The name of the tool towards the server.
    pub(crate) own_name: String,
    /// The name of the tool for people.
    pub(crate) title: String,
}

/// `add_numbers` for people: `Add numbers`.
pub(crate) fn readable(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => spaced,
    }
}
