//! Which models the engines named when they were last started.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use falconer_session::ModelInfo;

/// Which models the engines named, by the name of the engine. There are a handful of engines.
#[derive(Debug, Default)]
pub(crate) struct KnownModels(Mutex<HashMap<String, Vec<ModelInfo>>>);

impl KnownModels {
    fn engines(&self) -> MutexGuard<'_, HashMap<String, Vec<ModelInfo>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, engine: &str) -> Option<Vec<ModelInfo>> {
        self.engines().get(engine).cloned()
    }

    /// An engine that names none has said nothing.
    pub(crate) fn said(&self, engines: [String; 2], models: &[ModelInfo]) {
        if models.is_empty() {
            return;
        }
        let mut known = self.engines();
        for engine in engines {
            known.insert(engine, models.to_vec());
        }
    }
}
