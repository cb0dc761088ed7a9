//! What the hub and the store say, as a problem a client can read.

use falconer_hub::{Error as HubError, LaunchError};
use falconer_store::Error as StoreError;

use super::{Code, Problem};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { .. } => Self::new(Code::NotFound, text),
            StoreError::Conflict { .. } => Self::new(Code::Conflict, text),
            StoreError::Held { .. } => Self::new(Code::SessionHeld, text),
            StoreError::TooLarge { .. } => Self::new(Code::TooLarge, text),
            StoreError::Invalid(_) => Self::new(Code::InvalidValue, text),
            StoreError::Full { .. } | StoreError::Busy { .. } | StoreError::Closed => {
                tracing::warn!(%error, "the store is not available");
                Self::new(
                    Code::Unavailable,
                    "the store is not available at the moment",
                )
            }
            StoreError::StaleFence { .. } => Self::new(Code::SessionHeld, text),
            _ => Self::internal("use the store", error),
        }
    }
}

impl From<HubError> for Problem {
    fn from(error: HubError) -> Self {
        let text = error.to_string();
        match error {
            HubError::Store(error) => error.into(),
            HubError::Launch(error) => {
                let code = match error.code.as_str() {
                    LaunchError::ISOLATION => Code::IsolationNotAvailable,
                    LaunchError::UNKNOWN | LaunchError::PROFILE => Code::InvalidValue,
                    _ => Code::EngineFailed,
                };
                Self::new(code, text).hint(error.hint)
            }
            HubError::Session(error) => session(&error),
            HubError::NotRunning(_) | HubError::Closed(_) | HubError::Copied { .. } => {
                Self::new(Code::WrongState, text)
            }
            HubError::Elsewhere { at, .. } => {
                let problem = Self::new(Code::SessionHeld, text);
                match at {
                    Some(node) => problem.held_by(*node),
                    None => problem,
                }
            }
            HubError::Lock(_) => Self::new(Code::SessionHeld, text),
            HubError::BadRule(_)
            | HubError::WrongAnswer(_)
            | HubError::Invalid(_)
            | HubError::Directory { .. } => Self::new(Code::InvalidValue, text),
            HubError::BypassRefused(_) => Self::new(Code::BypassNotAllowed, text),
            HubError::ShuttingDown => Self::new(Code::Unavailable, text),
            _ => Self::internal("do this", text),
        }
    }
}

fn session(error: &falconer_session::Error) -> Problem {
    use falconer_session::{AnswerError, Error};
    let text = error.to_string();
    match error {
        Error::Lock(_) => Problem::new(Code::SessionHeld, text),
        Error::Over | Error::WindingDown(_) | Error::QueueFull(_) => {
            Problem::new(Code::WrongState, text)
        }
        Error::Answer(AnswerError::NotOpen(_)) => Problem::new(Code::Expired, text),
        Error::Answer(AnswerError::Changed(_)) => Problem::new(Code::Changed, text),
        Error::Answer(_) => Problem::new(Code::InvalidValue, text),
        Error::Engine(_) => Problem::new(Code::EngineFailed, text),
        _ => Problem::internal("do this", text),
    }
}
