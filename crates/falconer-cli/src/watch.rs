//! A run on the screen: messages as they come, questions when their call has been shown.

use std::io::{self, Write};
use std::time::Duration;

use falconer::{Error, Message, ResultMessage, Run};
use tokio::sync::mpsc;

use crate::ask::{Answering, Asked};
use crate::render::Screen;

/// How long a question waits for the message that shows its call.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Watched {
    /// With a result, good or bad.
    Result(Box<ResultMessage>),
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// Why a run could not be shown to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WatchError {
    #[error(transparent)]
    Run(#[from] Error),
    #[error("failed to write to the terminal: {0}")]
    Screen(#[from] io::Error),
}

/// Shows a run until it ends or the user interrupts it.
pub(crate) async fn watch<W: Write>(
    run: &mut Run,
    mut asked: mpsc::Receiver<Asked>,
    screen: &mut Screen<W>,
    answering: Answering,
) -> Result<Watched, WatchError> {
    let shown = show(run, &mut asked, screen, answering);
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            Ok(Watched::Interrupted)
        }
        shown = shown => shown,
    }
}

async fn show<W: Write>(
    run: &mut Run,
    asked: &mut mpsc::Receiver<Asked>,
    screen: &mut Screen<W>,
    answering: Answering,
) -> Result<Watched, WatchError> {
    let mut waiting: Option<Asked> = None;
    let mut result = None;
    loop {
        let is_shown =
            |asked: &mut Asked| asked.tool_use_id().is_none_or(|id| screen.has_shown(id));
        if let Some(asked) = waiting.take_if(is_shown) {
            asked.settle(screen, answering).await?;
            continue;
        }
        tokio::select! {
            biased;
            message = run.next() => match message {
                Some(message) => {
                    let message = message?;
                    screen.message(&message)?;
                    if let Message::Result(last) = message {
                        result = Some(last);
                    }
                }
                None => break,
            },
            Some(next) = asked.recv(), if waiting.is_none() => waiting = Some(next),
            () = tokio::time::sleep(PATIENCE), if waiting.is_some() => {
                if let Some(asked) = waiting.take() {
                    asked.settle(screen, answering).await?;
                }
            }
        }
    }
    match result {
        Some(result) => Ok(Watched::Result(result)),
        None => Err(Error::NoResult {
            stderr: run.client().stderr_tail(),
        }
        .into()),
    }
}
