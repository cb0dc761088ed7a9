//! The configuration of a server that runs: read again when the user's file changes.
//!
//! What changes counts for runs that start afterwards; a run under way keeps what it began with. A
//! file that cannot be used changes nothing: the one before stays in force, and the server says so.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::config::{self, Config, Mode, Origin};
use crate::exit::{Fault, say};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The last text of the user's file that could be used.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    text: Arc<Mutex<Option<String>>>,
}

impl Settings {
    /// The file as it is now; one that cannot be used keeps a server from starting.
    pub(crate) fn load(directory: &Path) -> Result<Self, Fault> {
        // Old files are brought up to date, projects and variables are looked at.
        config::look(directory)?;
        let text = Arc::new(Mutex::new(config::usable_text()?));
        Ok(Self { text })
    }

    /// What is in force in a directory. The project's file is read now, and narrows.
    pub(crate) fn within(&self, directory: &Path, profile: Option<&str>) -> Result<Config, Fault> {
        let text = self.current();
        Ok(config::resolve(directory, text.as_deref(), profile)?.config)
    }

    /// The widest mode somebody has set for a directory; `None` if nobody has.
    pub(crate) fn widest_mode(
        &self,
        directory: &Path,
        profile: Option<&str>,
    ) -> Result<Option<Mode>, Fault> {
        let text = self.current();
        let effective = config::resolve(directory, text.as_deref(), profile)?;
        let is_set = effective.origin("run.permission_mode") != Origin::Default;
        Ok(is_set.then_some(effective.config.run.permission_mode))
    }

    fn current(&self) -> Option<String> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }

    /// Looks at the file for ever.
    pub(crate) async fn follow(&self) -> std::convert::Infallible {
        let mut told: Option<String> = None;
        loop {
            tokio::time::sleep(EVERY).await;
            match self.look_again() {
                Ok(Looked::Same) => {}
                Ok(Looked::Changed) => {
                    say("note:", "configuration changed; new runs use it");
                }
                // Told once, not every second.
                Err(fault) if told.as_ref() == Some(&fault.text) => continue,
                Err(fault) => {
                    say("warning:", format!("{}; the one before stays", fault.text));
                    say("hint:", &fault.hint);
                    told = Some(fault.text);
                    continue;
                }
            }
            told = None;
        }
    }

    fn look_again(&self) -> Result<Looked, Fault> {
        let new = config::usable_text()?;
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        if *text == new {
            Ok(Looked::Same)
        } else {
            *text = new;
            Ok(Looked::Changed)
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Looked {
    Same,
    Changed,
}
