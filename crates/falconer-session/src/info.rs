//! What an engine says about itself when it starts.

/// What there is to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EngineInfo {
    /// The slash commands.
    pub commands: Vec<CommandInfo>,
    /// The models.
    pub models: Vec<ModelInfo>,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    pub argument_hint: String,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelInfo {
    /// What [`crate::SessionHandle::set_model`] takes.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it is good for.
    pub description: String,
}
