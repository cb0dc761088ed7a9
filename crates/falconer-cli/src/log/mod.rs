//! The log of `falconer`: warnings on stderr, more on request, a file for servers.

mod lines;
pub(crate) mod screen;

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::config::{LogConfig, LogFormat};
use crate::exit::Fault;
use crate::here;
use lines::{Format, LARGEST, Lines, LogFile, PANIC, log_panics};

/// What is logged, and where.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct Log {
    /// Log more to stderr: -v for progress, -vv for details, -vvv for everything
    #[arg(long, short, action = ArgAction::Count, global = true)]
    verbose: u8,
    /// Log filter: a level, or levels by target such as `warn,falconer_engine=debug`
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
    /// Log format: text, or one JSON object per line
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

/// Starts logging. With a file of its own, a command logs warnings to stderr as well.
pub(crate) fn start(log: &Log, config: &LogConfig, own_file: Option<&Path>) -> Result<(), Fault> {
    let format = log.log_format.or(config.format);
    let named = log.log_file.clone();
    let named = named.or_else(|| config.file.as_ref().map(PathBuf::from));
    let chosen = chosen(log, config)?;
    let wanted = |verbose| chosen.clone().unwrap_or_else(|| by_count(verbose));
    let (on_stderr, in_file) = match (own_file, &named) {
        (Some(_), _) => (
            Some(by_count(log.verbose)),
            Some(wanted(log.verbose.max(1))),
        ),
        (None, Some(_)) => (None, Some(wanted(log.verbose))),
        (None, None) => (Some(wanted(log.verbose)), None),
    };
    let on_stderr = on_stderr.map(|filter| {
        let format = match (format, log.verbose) {
            (Some(LogFormat::Json), _) => Format::Json,
            (Some(LogFormat::Text), _) | (None, 1..) => Format::Full,
            (None, 0) => Format::Brief,
        };
        // A panic is on stderr already.
        let filter = filter.with_target(PANIC, LevelFilter::OFF);
        lines(format, screen::add).with_filter(filter)
    });
    let in_file = match in_file.zip(named.as_deref().or(own_file)) {
        Some((filter, path)) => {
            let file = open(path)?;
            let format = match format {
                Some(LogFormat::Json) => Format::Json,
                Some(LogFormat::Text) | None => Format::Full,
            };
            let filter = filter.with_target(PANIC, LevelFilter::ERROR);
            Some(lines(format, move |line: &str| file.add(line)).with_filter(filter))
        }
        None => None,
    };
    let layers = tracing_subscriber::registry().with(on_stderr).with(in_file);
    // There is one already only if this is called twice.
    let _ = tracing::subscriber::set_global_default(layers);
    log_panics();
    Ok(())
}

fn lines<W: Fn(&str)>(format: Format, write: W) -> Lines<W> {
    Lines {
        format,
        redactor: here::redactor().clone(),
        write,
    }
}

fn open(path: &Path) -> Result<LogFile, Fault> {
    LogFile::open(path, LARGEST).map_err(|error| {
        let text = format!("cannot write the log file {}: {error}", path.display());
        Fault::setup(text, "choose another file with `--log-file` or `log.file`")
    })
}

/// The filter somebody wrote down: `--log` or its variable, else, without `-v`, the user's file.
fn chosen(log: &Log, config: &LogConfig) -> Result<Option<Targets>, Fault> {
    let configured = config.filter.as_ref().filter(|_| log.verbose == 0);
    let text = log.log.as_ref().or(configured);
    text.map(|text| filter(text)).transpose()
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

    /// Set in the process that panics: where it logs to.
    const LOG: &str = "FALCONER_TEST_PANIC_LOG";

    #[test]
    fn a_panic_is_in_the_log_and_once_on_stderr() {
        if let Some(path) = std::env::var_os(LOG) {
            let log = Log {
                log: Some("off".to_owned()),
                ..Log::default()
            };
            start(&log, &LogConfig::default(), Some(Path::new(&path))).unwrap();
            let worker = std::thread::Builder::new().name("worker".to_owned());
            let died = worker
                .spawn(|| panic!("the worker\nfell over"))
                .unwrap()
                .join();
            assert!(died.is_err());
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("serve.log");
        let test = "log::tests::a_panic_is_in_the_log_and_once_on_stderr";
        let ended = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(LOG, &path)
            .output()
            .unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{stderr}");
        assert_eq!(stderr.matches("fell over").count(), 1, "{stderr}");
        let log = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 1, "{log}");
        assert!(lines[0].contains(" ERROR panic: panicked at "), "{log}");
        assert!(
            lines[0].contains("the worker\\nfell over thread=worker"),
            "{log}"
        );
    }
}
