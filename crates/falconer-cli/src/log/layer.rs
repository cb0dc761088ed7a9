//! Events of `tracing` as lines, without secrets. Both executables use it.
//!
//! Not for choosing where lines go; that differs between the two.

use std::fmt::{self, Write as _};

use falconer_secret::Redactor;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "each executable has its own")]
pub(crate) enum Format {
    /// Time, level, target, text, fields.
    Full,
    /// One JSON object.
    Json,
    /// For people who only want to know what is wrong: `warning: text (key=value)`.
    Brief,
    /// Time, level in brackets, text: as debug logs of the official CLI are.
    Bracketed,
}

/// Hands each event as a line, with its newline, to a function.
pub(crate) struct Lines<W> {
    pub(crate) format: Format,
    pub(crate) redactor: Redactor,
    pub(crate) write: W,
}

impl<S: Subscriber, W: Fn(&str) + 'static> Layer<S> for Lines<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let mut line = match self.format {
            Format::Json => {
                let mut value = json!({
                    "time": now(), "level": metadata.level().as_str(),
                    "target": metadata.target(), "message": fields.message,
                });
                if !fields.rest.is_empty() {
                    value["fields"] = Value::Object(fields.rest);
                }
                self.redactor.value(&mut value);
                value.to_string()
            }
            format => {
                let text = plain(format, metadata.level(), metadata.target(), &fields);
                one_line(&self.redactor.clean(text))
            }
        };
        line.push('\n');
        (self.write)(&line);
    }
}

fn plain(format: Format, level: &Level, target: &str, fields: &Fields) -> String {
    let pairs: Vec<String> = fields.rest.iter().map(pair).collect();
    let pairs = pairs.join(" ");
    let mut text = match format {
        Format::Brief => format!("{}: {}", word(level), fields.message),
        Format::Bracketed => format!("{} [{level}] {}", now(), fields.message),
        Format::Full | Format::Json => format!("{} {level:>5} {target}: {}", now(), fields.message),
    };
    if !pairs.is_empty() {
        let _ = match format {
            Format::Brief => write!(text, " ({pairs})"),
            _ => write!(text, " {pairs}"),
        };
    }
    text
}

fn pair((name, value): (&String, &Value)) -> String {
    match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    }
}

fn word(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// An event is one line, and nothing in it moves the cursor.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => drop(self.rest.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, json!(format!("{value:?}")));
    }
}

/// The target of panics, which stderr shows without a log.
pub(crate) const PANIC: &str = "panic";

/// Has panics of all threads and tasks logged, beside what is done about them already.
pub(crate) fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("unnamed");
        tracing::error!(target: PANIC, thread, "{panic}");
        before(panic);
    }));
}
