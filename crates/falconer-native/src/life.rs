//! The life of a session in this process.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use falconer::{Ending, Engine, EngineExit, EngineLaunch, StderrCallback};
use falconer_engine::SessionEnd;
use futures_util::future::BoxFuture;
use tokio::time::timeout;

/// What would be written to stderr.
pub(crate) struct Stderr {
    lines: Mutex<Vec<String>>,
    kept: usize,
    callback: Option<StderrCallback>,
}

impl Stderr {
    pub(crate) fn of(launch: &EngineLaunch) -> Self {
        Self {
            lines: Mutex::default(),
            kept: launch.stderr_lines,
            callback: launch.on_stderr.clone(),
        }
    }

    pub(crate) fn say(&self, said: impl IntoIterator<Item = String>) {
        for line in said {
            if let Some(callback) = &self.callback {
                callback(&line);
            }
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push(line);
            let surplus = lines.len().saturating_sub(self.kept);
            lines.drain(..surplus);
        }
    }
}

/// The handle of the host.
pub(crate) struct Life {
    end: SessionEnd,
    stderr: Stderr,
    /// The last words have been said.
    told: Mutex<bool>,
}

impl Life {
    pub(crate) fn new(end: SessionEnd, stderr: Stderr) -> Self {
        Self {
            end,
            stderr,
            told: Mutex::default(),
        }
    }

    async fn ended_within(&self, limit: Duration) -> Option<EngineExit> {
        let exit = timeout(limit, self.end.wait()).await.ok()?;
        let told = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *told, true)
        };
        if !told {
            self.stderr.say(exit.stderr);
        }
        Some(EngineExit::Code(exit.code))
    }

    async fn end_now(&self, limit: Duration) -> EngineExit {
        self.end.terminate();
        let exit = self.ended_within(limit).await;
        exit.unwrap_or(EngineExit::Closed)
    }
}

impl Engine for Life {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn stderr_tail(&self) -> Vec<String> {
        let lines = self.stderr.lines.lock();
        lines.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end(&self, ending: Ending) -> BoxFuture<'_, EngineExit> {
        Box::pin(async move {
            match ending {
                Ending::AfterInput { input, term } => match self.ended_within(input).await {
                    Some(exit) => exit,
                    None => self.end_now(term).await,
                },
                Ending::Now { term } => self.end_now(term).await,
                _ => self.end_now(Duration::ZERO).await,
            }
        })
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.end.terminate();
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life").finish_non_exhaustive()
    }
}
