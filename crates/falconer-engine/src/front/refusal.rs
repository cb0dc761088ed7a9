//! Telling why there is no session, also to a host that has not written anything yet.
//!
//! A host starts the process and then writes its first request. If the process has ended by
//! then, the write fails, and many hosts report that instead of the reason. So a refused start
//! reads the first request and answers it before the process exits.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use falconer_secret::Environment;
use tokio::sync::mpsc;

use super::failure::StartupFailure;
use super::flags::{InputFormat, OutputFormat};
use super::process::{End, Streams};
use super::{open, stdin};
use crate::frame::reply::Reply;
use crate::session::line::{self, Line};

/// How long to wait for the first request of a host.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// A start that is refused, and how the host wanted to talk.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) failure: StartupFailure,
    pub(super) format: OutputFormat,
    pub(super) input: InputFormat,
}

impl Refusal {
    /// Writes the reason to stdout and stderr, and returns the exit code.
    pub(super) async fn tell(self, environment: &Environment, mut streams: Streams) -> i32 {
        let stdout = &mut streams.stdout;
        if self.format != OutputFormat::Text
            && let Some(line) = self.failure.result(open::failure_results(environment))
        {
            let _ = stdout.write_all(&line);
            let _ = stdout.flush();
        }
        let _ = writeln!(streams.stderr, "{}", self.failure.stderr);
        let talks = self.input == InputFormat::StreamJson && streams.input_from == End::Program;
        if talks && let Some(answer) = self.answer(first_line(streams.stdin).await) {
            let _ = stdout.write_all(&answer);
            let _ = stdout.flush();
        }
        1
    }

    /// The answer to the first line of the host, if it is a request.
    fn answer(&self, line: Option<Bytes>) -> Option<Bytes> {
        let Ok(Line::Request(request)) = line::read(&line?) else {
            return None;
        };
        let reply = Reply::failure(&self.failure.stderr);
        falconer_protocol::to_line(&reply.frame(request.id.as_ref())).ok()
    }
}

/// Returns the first line, unless stdin ends or nobody writes one in time.
async fn first_line(reader: Box<dyn std::io::Read + Send>) -> Option<Bytes> {
    let (sender, mut lines) = mpsc::channel(1);
    let _end = stdin::pump(reader, sender).ok()?;
    let line = tokio::time::timeout(FIRST_REQUEST, lines.recv()).await;
    line.ok().flatten()
}

/// The input format of arguments that could not be read as a whole.
pub(super) fn input_format(args: &[OsString]) -> InputFormat {
    let mut words = args.iter().filter_map(|word| word.to_str());
    let talks = words.any(|word| word == "--input-format=stream-json")
        || args
            .windows(2)
            .any(|pair| pair[0] == "--input-format" && pair[1] == "stream-json");
    if talks {
        InputFormat::StreamJson
    } else {
        InputFormat::Text
    }
}
