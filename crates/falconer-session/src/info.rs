//! What an engine says about itself when it starts.

use falconer::protocol::control::InitializeResponse;

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

impl EngineInfo {
    pub(crate) fn of(hello: &InitializeResponse) -> Self {
        let commands = hello.commands.iter().map(|command| CommandInfo {
            name: command.name.clone(),
            description: command.description.clone().unwrap_or_default(),
            argument_hint: command.argument_hint.clone().unwrap_or_default(),
        });
        let models = hello.models.iter().map(|model| ModelInfo {
            id: model.value.clone(),
            name: (model.display_name.clone()).unwrap_or_else(|| model.value.clone()),
            description: model.description.clone().unwrap_or_default(),
        });
        Self {
            commands: commands.collect(),
            models: models.collect(),
        }
    }
}
