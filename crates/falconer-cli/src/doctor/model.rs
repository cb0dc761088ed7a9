//! Whether the model answers, if that is asked for: it costs a little.

use std::time::Duration;

use falconer_event::Body;
use falconer_session::Session;

use super::check::Check;
use crate::drive;
use crate::exit::Fault;
use crate::run::start::{self, Start};
use crate::trust::Asking;

const NAME: &str = "model";

pub(super) async fn check(online: bool) -> Check {
    if !online {
        return Check::skipped(
            NAME,
            "not checked; `falconer doctor --online` asks it for one word",
        );
    }
    match Box::pin(ask()).await {
        Ok(check) => check,
        Err(fault) => Check::failed(NAME, &fault.text, &fault.hint),
    }
}

async fn ask() -> Result<Check, Fault> {
    let start = Start {
        deadline: Some(Duration::from_secs(120)),
        ..Start::default()
    };
    let mut prepared = start::prepare(&start, Asking::Nobody)?;
    prepared.options = prepared
        .options
        .without_persistence()
        .only_tools::<String>([]);
    let (session, mut events) = Session::start(prepared.into_spec()?.until_idle()).await?;
    drive::send(&session, "Reply with the word ready and nothing else.").await?;
    let mut model = None;
    let mut check = Check::failed(NAME, "the run ended without an answer", "run it again");
    while let Some(event) = events.next().await {
        match event.body {
            Body::RunStarted(started) => model = started.model,
            Body::RunCompleted(completed) => {
                let model = model.take().unwrap_or_else(|| "the model".to_owned());
                check = match completed.failure {
                    None => Check::ok(
                        NAME,
                        format!("{model} answers (${:.4})", completed.cost_usd),
                    ),
                    Some(failure) => Check::failed(
                        NAME,
                        format!("{model} did not answer: {}", failure.text),
                        "check the key, the account's credit and the network",
                    ),
                };
            }
            _ => {}
        }
    }
    session.ended().await;
    Ok(check)
}
