//! Trust in what a project brings along.

use falconer_hub::TrustVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a project wants, and whether somebody trusts it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct TrustReport(pub(crate) falconer_hub::ProjectTrust);

/// A decision about the content of a project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecideTrust {
    /// The directory of the project.
    pub(crate) cwd: String,
    /// The digest of the content that was shown.
    pub(crate) digest: String,
    /// Grant or revoke.
    pub(crate) verdict: TrustVerdict,
}
