//! Files, folders, engines: what sessions are made of.

use falconer_hub::EngineName;
use falconer_session::ModelInfo;
use falconer_store::BlobRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the server is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`, or what is wrong.
    pub(crate) status: String,
    pub(crate) version: String,
}

/// A file that can go with a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoredFile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
}

impl From<BlobRecord> for StoredFile {
    fn from(record: BlobRecord) -> Self {
        Self {
            id: record.id.to_string(),
            name: record.name.unwrap_or_default(),
            media_type: record.media_type,
            bytes: record.size,
        }
    }
}

/// A folder and those in it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FolderList {
    /// Where links were resolved to; missing for the list of roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    pub(crate) folders: Vec<Folder>,
}

/// A folder.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) path: String,
}

/// Markdown texts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Render {
    pub(crate) texts: Vec<String>,
}

/// Safe HTML, in the order of the texts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rendered {
    pub(crate) html: Vec<String>,
}

/// The engines, best first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EngineList {
    pub(crate) engines: Vec<EngineName>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Model {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

impl From<ModelInfo> for Model {
    fn from(model: ModelInfo) -> Self {
        Self {
            id: model.id,
            name: said(model.name),
            description: said(model.description),
        }
    }
}

/// An empty text is none.
pub(crate) fn said(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Models that can be asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelList {
    /// Of this engine.
    pub(crate) engine: String,
    pub(crate) models: Vec<Model>,
}

/// A command the agent understands when a message starts with `/` and its name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Command {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) argument_hint: Option<String>,
}

/// What the engine of a session offers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Commands {
    pub(crate) commands: Vec<Command>,
    pub(crate) models: Vec<Model>,
}
