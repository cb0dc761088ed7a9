//! The log of `falconer`: warnings on stderr, more on request, a file for servers.

mod lines;
pub(crate) mod screen;

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::exit::Fault;
use crate::here;
use lines::{Format, LARGEST, Lines, LogFile, PANIC, log_panics};

/// What is logged, and where.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct Log {
    /// Log more to stderr: -v what happens, -vv details, -vvv everything
    #[arg(long, short, action = ArgAction::Count, global = true)]
    verbose: u8,
    /// What to log: a level, or levels by target such as `warn,falconer_engine=debug`
    #[arg(
        long,
        value_name = "FILTER",
        env = "FALCONER_LOG",
        global = true,
        hide_env_values = true,
        hide_short_help = true
    )]
    log: Option<String>,
    /// Log to this file instead of stderr
    #[arg(
        long,
        value_name = "FILE",
        env = "FALCONER_LOG_FILE",
        global = true,
        hide_env_values = true,
        hide_short_help = true
    )]
    log_file: Option<PathBuf>,
    /// Lines for people, or one JSON object per line
    #[arg(
        long,
        value_name = "FORMAT",
        env = "FALCONER_LOG_FORMAT",
        global = true,
        hide_env_values = true,
        hide_short_help = true
    )]
    log_format: Option<LogFormat>,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Starts logging. With a file of its own, a command logs warnings to stderr as well.
pub(crate) fn start(log: &Log, own_file: Option<&Path>) -> Result<(), Fault> {
    let chosen = log.log.as_deref().map(filter).transpose()?;
    let by_count = || by_count(log.verbose);
    let lines = |path: &Path| lines_of(path, log.log_format);
    let (stderr, to_file) = match (&log.log_file, own_file) {
        (Some(path), None) => (None, Some((chosen.unwrap_or_else(by_count), lines(path)?))),
        (None, None) => (Some(chosen.unwrap_or_else(by_count)), None),
        (named, Some(own)) => {
            let path = named.as_deref().unwrap_or(own);
            let detail = chosen.unwrap_or_else(|| self::by_count(log.verbose.max(1)));
            (Some(by_count()), Some((detail, lines(path)?)))
        }
    };
    let stderr = stderr.map(|filter| {
        let format = match (log.log_format, log.verbose) {
            (Some(LogFormat::Json), _) => Format::Json,
            (Some(LogFormat::Text), _) | (None, 1..) => Format::Full,
            (None, 0) => Format::Brief,
        };
        let lines = Lines {
            format,
            redactor: here::redactor().clone(),
            write: screen::add,
        };
        // A panic is on stderr already.
        lines.with_filter(filter.with_target(PANIC, LevelFilter::OFF))
    });
    let to_file = to_file
        .map(|(filter, lines)| lines.with_filter(filter.with_target(PANIC, LevelFilter::ERROR)));
    let layers = tracing_subscriber::registry().with(stderr).with(to_file);
    // There is one already only if this is called twice.
    let _ = tracing::subscriber::set_global_default(layers);
    log_panics();
    Ok(())
}

fn lines_of(path: &Path, format: Option<LogFormat>) -> Result<Lines<impl Fn(&str) + use<>>, Fault> {
    let opened = LogFile::open(path, LARGEST).map_err(|error| {
        let text = format!("cannot write the log file {}: {error}", path.display());
        Fault::setup(text, "name another file with `--log-file`")
    })?;
    Ok(Lines {
        format: match format {
            Some(LogFormat::Json) => Format::Json,
            Some(LogFormat::Text) | None => Format::Full,
        },
        redactor: here::redactor().clone(),
        write: move |line: &str| opened.add(line),
    })
}

/// The terminal shows these in their place among what happens.
const SHOWN: &str = "falconer::connection::notice";

/// Our own crates begin with `falconer`; others are only heard when something is broken.
fn by_count(verbose: u8) -> Targets {
    let (ours, others) = match verbose {
        0 => (LevelFilter::WARN, LevelFilter::ERROR),
        1 => (LevelFilter::INFO, LevelFilter::WARN),
        2 => (LevelFilter::DEBUG, LevelFilter::WARN),
        _ => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    let targets = Targets::new()
        .with_default(others)
        .with_target("falconer", ours);
    match verbose {
        0 => targets.with_target(SHOWN, LevelFilter::ERROR),
        _ => targets,
    }
}

fn filter(text: &str) -> Result<Targets, Fault> {
    text.parse().map_err(|_| {
        let hint = "use error, warn, info, debug, trace or off, or `target=level` with commas";
        Fault::usage(format!("invalid log filter `{text}`"), hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn more_flags_log_more_and_other_crates_stay_quiet() {
        let heard = |count, target: &str, level| by_count(count).would_enable(target, &level);
        assert!(heard(0, "falconer_engine::turn", Level::WARN));
        assert!(!heard(0, "falconer_engine::turn", Level::INFO));
        assert!(heard(1, "falconer_engine::turn", Level::INFO));
        assert!(heard(2, "falconer", Level::DEBUG));
        assert!(!heard(2, "hyper::proto", Level::DEBUG));
        assert!(!heard(0, "sqlx::query", Level::WARN));
        assert!(filter("warn,falconer_engine=loud").is_err());
    }
}
