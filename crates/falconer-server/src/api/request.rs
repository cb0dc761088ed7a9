//! Permissions and questions.

use falconer_event::Shown;
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
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRequest {
    /// The digest of the request that was shown.
    pub(crate) digest: String,
    pub(crate) verdict: Verdict,
    /// How the request was shown to the person who answers; `api` if nothing is said.
    #[serde(default = "by_api")]
    pub(crate) shown: Shown,
}

pub(crate) fn by_api() -> Shown {
    Shown::Api
}

/// The request with its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answered {
    pub(crate) request: Request,
}
