//! What rules say.

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// The call is not made.
    Deny,
    /// A person decides.
    Ask,
    /// The call is made.
    Allow,
}

impl Effect {
    /// The word for it in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}
