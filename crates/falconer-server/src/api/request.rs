//! Permissions and questions.

use falconer_hub::Verdict;
use falconer_store::RequestRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something the agent waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Request(pub RequestRecord);

/// Some requests, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RequestList {
    pub(crate) requests: Vec<Request>,
}

/// An answer to exactly what was shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct AnswerRequest {
    /// The digest of the request that was shown.
    pub(crate) digest: String,
    pub(crate) verdict: Verdict,
}

/// The request with its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answered {
    pub(crate) request: Request,
}
