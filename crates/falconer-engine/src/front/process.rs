//! The executable: a process that behaves as the official CLI does without a terminal.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use falconer_secret::Environment;
use tokio::sync::oneshot;

use super::check::check;
use super::debug_log::{self, DebugLog};
use super::failure::StartupFailure;
use super::flags::{Flags, InputFormat, OutputFormat, Show};
use super::open::{self, Launch, Model, SessionEnd};
use super::refusal::{self, Refusal};
use super::render::Renderer;
use super::signals::{Signalled, Signals};
use super::stdin::{self, InputEnd, Piped};
use super::{help, stdout};
use crate::session::config::Input;

/// How long what a session left may take to be written after a signal.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The streams of the process.
#[allow(
    missing_debug_implementations,
    reason = "readers and writers of any kind"
)]
pub struct Streams {
    /// Read on a thread of its own, which may outlive the run.
    pub stdin: Box<dyn Read + Send>,
    /// Written on a thread of its own.
    pub stdout: Box<dyn Write + Send>,
    /// Written at once.
    pub stderr: Box<dyn Write + Send>,
    /// Who is at the other end of stdin.
    pub input_from: End,
    /// Who is at the other end of stdout.
    pub output_to: End,
    /// Starts the debug log, if one is asked for.
    pub debug: StartDebug,
}

/// Starts a debug log at a place, once.
pub type StartDebug = Box<dyn FnOnce(&DebugLog) -> std::io::Result<()> + Send>;

/// Who is at the other end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A person at a terminal.
    Terminal,
    /// A program or a file.
    Program,
}

/// Runs a session as a process and returns the exit code.
///
/// The process should exit at once then: a thread may still wait for stdin.
pub async fn run_process(launch: Launch, mut streams: Streams) -> i32 {
    let variables = launch.env.iter().cloned();
    let environment = Environment::with_redactor(variables, launch.redactor.clone());
    let environment = Arc::new(environment);
    let flags = match Flags::parse(launch.args.iter().cloned()) {
        Ok(flags) => flags,
        Err(problem) => {
            let refusal = Refusal {
                failure: problem.into(),
                format: OutputFormat::Text,
                input: refusal::input_format(&launch.args),
            };
            return refusal.tell(&environment, streams).await;
        }
    };
    if let Some(show) = flags.show {
        let text = match show {
            Show::Help => help::help(),
            Show::Version => help::version(),
        };
        return match streams.stdout.write_all(text.as_bytes()) {
            Ok(()) => 0,
            Err(_) => 1,
        };
    }
    let (format, input) = (flags.output_format, flags.input_format);
    match Box::pin(begin(flags, &environment, &launch, &mut streams)).await {
        Ok(begun) => Box::pin(begun.watch(streams.stderr)).await,
        Err(failure) => {
            let refusal = Refusal {
                failure,
                format,
                input,
            };
            refusal.tell(&environment, streams).await
        }
    }
}

/// A debug log that cannot be written is no reason not to start.
fn start_debug_log(
    flags: &mut Flags,
    environment: &Environment,
    launch: &Launch,
    streams: &mut Streams,
) {
    let Some(place) = debug_log::wanted(flags, environment, &launch.cwd) else {
        return;
    };
    let start = std::mem::replace(&mut streams.debug, Box::new(|_| Ok(())));
    match start(&place) {
        Ok(()) => {
            let version = env!("CARGO_PKG_VERSION");
            tracing::debug!(version, cwd = %launch.cwd.display(), "falconer-claude starts");
        }
        Err(error) => {
            let warning = format!("no debug log is written: {error}");
            warn(&mut streams.stderr, [warning]);
        }
    }
}

/// Reads stdin for a prompt, unless a person is there who does not know to type one.
async fn one_shot_prompt(flags: &Flags, streams: &mut Streams) -> Result<String, StartupFailure> {
    let mut text = String::new();
    if streams.input_from == End::Program {
        let reader = std::mem::replace(&mut streams.stdin, Box::new(std::io::empty()));
        match stdin::piped(reader).await? {
            Piped::Text(piped) => text = piped,
            Piped::Silence => {
                let _ = writeln!(
                    streams.stderr,
                    "Warning: no stdin data received in 3s, proceeding without it; redirect stdin \
                     with < /dev/null to say that nothing will come"
                );
            }
        }
    }
    stdin::prompt(flags.prompt.as_deref(), &text)
}

/// A session whose streams are connected.
struct Begun {
    end: SessionEnd,
    written: oneshot::Receiver<()>,
    input: Option<oneshot::Receiver<InputEnd>>,
    signals: Signals,
}

async fn begin(
    mut flags: Flags,
    environment: &Arc<Environment>,
    launch: &Launch,
    streams: &mut Streams,
) -> Result<Begun, StartupFailure> {
    warn(&mut streams.stderr, flags.warnings.drain(..));
    check(&flags)?;
    start_debug_log(&mut flags, environment, launch, streams);
    if !flags.print && streams.output_to == End::Terminal {
        return Err(StartupFailure::error(
            "falconer-claude has no interactive mode; use -p 'prompt', or see --help",
        ));
    }
    let renderer = Renderer::of(&flags);
    // Before anything is begun, so that no signal is missed.
    let signals = Signals::listen().map_err(cannot_start)?;
    let talks = flags.input_format == InputFormat::StreamJson;
    let input = if talks {
        Input::Lines {
            await_initialize: flags.await_initialize,
        }
    } else {
        Input::OneShot(one_shot_prompt(&flags, streams).await?)
    };
    let environment = Arc::clone(environment);
    let model = Model::FromEnvironment;
    let session = open::start(open::prepare(
        flags,
        input,
        environment,
        &launch.cwd,
        model,
    )?)?;
    warn(&mut streams.stderr, session.warnings);
    let stdout = std::mem::replace(&mut streams.stdout, Box::new(std::io::sink()));
    let written = stdout::pump(stdout, session.output, renderer).map_err(cannot_start)?;
    let mut input = None;
    if talks {
        let reader = std::mem::replace(&mut streams.stdin, Box::new(std::io::empty()));
        input = Some(stdin::pump(reader, session.input).map_err(cannot_start)?);
    }
    Ok(Begun {
        end: session.end,
        written,
        input,
        signals,
    })
}

fn warn(stderr: &mut impl Write, warnings: impl IntoIterator<Item = String>) {
    for warning in warnings {
        let _ = writeln!(stderr, "Warning: {warning}");
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn cannot_start(error: std::io::Error) -> StartupFailure {
    StartupFailure::error(format!("failed to start: {error}"))
}

impl Begun {
    /// Waits for the end of the session, which signals and bad input hasten.
    async fn watch(mut self, mut stderr: Box<dyn Write + Send>) -> i32 {
        let mut forced = None;
        let exit = loop {
            tokio::select! {
                exit = self.end.wait() => break exit,
                signal = self.signals.next() => {
                    self.hasten(signal, forced);
                    forced = Some(signal.code());
                }
                end = input_end(&mut self.input) => {
                    if let InputEnd::TooLong(_) | InputEnd::Failed(_) = end {
                        let _ = writeln!(stderr, "Error: {end}");
                        self.end.terminate();
                        forced = Some(1);
                    }
                }
            }
        };
        for line in &exit.stderr {
            let _ = writeln!(stderr, "{line}");
        }
        match forced {
            Some(code) => {
                let _ = tokio::time::timeout(LAST_WORDS, self.written).await;
                code
            }
            None => self.written_or_signalled(exit.code).await,
        }
    }

    /// The first SIGINT lets the turn tell its result; nothing else waits.
    fn hasten(&self, signal: Signalled, forced: Option<i32>) {
        match (signal, forced) {
            (Signalled::Interrupt, None) => self.end.interrupt(),
            _ => self.end.terminate(),
        }
    }

    /// A slow reader gets everything, unless somebody loses patience.
    async fn written_or_signalled(mut self, code: i32) -> i32 {
        tokio::select! {
            _ = self.written => code,
            signal = self.signals.next() => signal.code(),
        }
    }
}

/// The end of stdin, once; never if there is none or it has been told.
async fn input_end(input: &mut Option<oneshot::Receiver<InputEnd>>) -> InputEnd {
    match input {
        Some(receiver) => {
            let end = receiver.await.unwrap_or(InputEnd::End);
            *input = None;
            end
        }
        None => std::future::pending().await,
    }
}
