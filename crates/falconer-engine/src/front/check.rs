//! Flags that do not go together.

use super::failure::StartupFailure;
use super::flags::{Flags, InputFormat, OutputFormat};

/// Refuses contradictions, in the order in which the official CLI does.
pub(crate) fn check(flags: &Flags) -> Result<(), StartupFailure> {
    formats(flags)?;
    conversation(flags)
}

fn formats(flags: &Flags) -> Result<(), StartupFailure> {
    let streams_out = flags.output_format == OutputFormat::StreamJson;
    let streams_in = flags.input_format == InputFormat::StreamJson;
    let problem = if streams_in && !streams_out {
        "--input-format=stream-json requires output-format=stream-json."
    } else if streams_out && !flags.verbose {
        "When using --print, --output-format=stream-json requires --verbose"
    } else if flags.output.replay && !(streams_in && streams_out) {
        "--replay-user-messages requires both --input-format=stream-json and \
         --output-format=stream-json."
    } else if flags.output.partial && !streams_out {
        "--include-partial-messages requires --print and --output-format=stream-json."
    } else if flags.await_initialize && !streams_in {
        "--await-initialize requires --input-format=stream-json."
    } else {
        return Ok(());
    };
    Err(StartupFailure::error(problem))
}

fn conversation(flags: &Flags) -> Result<(), StartupFailure> {
    let goes_on = flags.resume.is_some() || flags.continue_latest;
    let problem = if flags.session_id.is_some() && goes_on && !flags.history.fork {
        "--session-id can only be used with --continue or --resume if --fork-session is also \
         specified."
    } else if flags.resume_at.is_some() && flags.resume.is_none() {
        "--resume-session-at requires --resume"
    } else if flags.resume_drops_turn.is_some() && flags.resume_at.is_none() {
        "--resume-drops-turn requires --resume-session-at"
    } else {
        return Ok(());
    };
    Err(StartupFailure::error(problem))
}
