//! The numbers that documents repeat, and the code that decides them.

/// Where a number is decided, and who repeats it.
pub(super) struct Number {
    /// The file that decides.
    pub(super) source: &'static str,
    /// What stands before the number there.
    pub(super) before: &'static str,
    /// Sentences with `{}` for the number, each with its document.
    pub(super) said: &'static [(&'static str, &'static str)],
}

pub(super) const fn number(
    source: &'static str,
    before: &'static str,
    said: &'static [(&'static str, &'static str)],
) -> Number {
    Number {
        source,
        before,
        said,
    }
}

const STRICT: &str = "crates/falconer-rule/src/shell/strict.rs";
const SERVER: &str = "crates/falconer-server/src/config.rs";
const STORE: &str = "crates/falconer-store/src/store.rs";
const WRITER: &str = "crates/falconer-store/src/sqlite/writer.rs";
const RETRY: &str = "crates/falconer-session/src/limits/retry.rs";
const LIMITS: &str = "crates/falconer-session/src/limits/mod.rs";
const WATCH: &str = "crates/falconer-session/src/limits/watch.rs";
const IMAGE: &str = "crates/falconer-event/src/image.rs";
const SCRIPT: &str = "crates/falconer-engine/src/trust/script.rs";
const TIMEOUTS: &str = "crates/falconer/src/options/timeouts.rs";
/// Its tests are the scenarios that run on both engines.
const SCENARIOS: &str = "crates/falconer-cli/tests/it/differential/";

const SECURITY: &str = "docs/security.md";
const LIMITS_PAGE: &str = "docs/limits.md";
const STORE_PAGE: &str = "docs/store.md";
const EVENTS: &str = "docs/events.md";

pub(super) const NUMBERS: &[Number] = &[
    number(
        "crates/falconer-rule/src/shell/script.rs",
        "const MAX_COMMAND: usize = ",
        &[(SECURITY, "A command of more than {} KiB")],
    ),
    number(
        STRICT,
        "const MAX_WORDS: usize = ",
        &[(SECURITY, "KiB, {} words or")],
    ),
    number(
        STRICT,
        "const MAX_PARTS: usize = ",
        &[(SECURITY, "or {} parts is asked")],
    ),
    number(
        "crates/falconer-hub/src/deltas.rs",
        "const MOST_REMEMBERED: usize = ",
        &[(EVENTS, "under way of more than {} MiB")],
    ),
    number(SERVER, " body: ", &[(SECURITY, "Body {} MiB")]),
    number(SERVER, " attachment: ", &[(SECURITY, "attachment {} MiB")]),
    number(SERVER, " headers: ", &[(SECURITY, "headers {} KiB")]),
    number(SERVER, " header_time: ", &[(SECURITY, "KiB in {} s")]),
    number(SERVER, " body_time: ", &[(SECURITY, "body in {} s")]),
    number(SERVER, " connections: ", &[(SECURITY, "{} connections")]),
    number(SERVER, " streams: ", &[(SECURITY, "{} streams")]),
    number(
        SERVER,
        " write_time: ",
        &[
            (SECURITY, "takes nothing for {} s is cut"),
            (
                "docs/server.md",
                "reads nothing for {} seconds is disconnected",
            ),
        ],
    ),
    number(SERVER, " ping: ", &[("docs/server.md", "every {} seconds")]),
    number(
        SERVER,
        " failures: ",
        &[(SECURITY, "after {} within a minute")],
    ),
    number(
        SERVER,
        " code_life: ",
        &[
            (SECURITY, "good for {} minutes"),
            ("docs/server.md", "this link within {} minutes"),
            ("docs/operations.md", "once, within {} minutes"),
        ],
    ),
    number(
        "crates/falconer-cli/src/serve/mod.rs",
        "#[arg(long, value_name = \"SECONDS\", default_value_t = ",
        &[("docs/operations.md", "`--lease` ({} seconds by default)")],
    ),
    number(
        STORE,
        "MAX_EVENT_BYTES: usize = ",
        &[(STORE_PAGE, "one event | {} MiB")],
    ),
    number(
        STORE,
        "MAX_TEXT_BYTES: usize = ",
        &[(STORE_PAGE, "or rule | {} MiB")],
    ),
    number(
        STORE,
        "MAX_BLOB_BYTES: usize = ",
        &[(STORE_PAGE, "a blob | {} MiB")],
    ),
    number(
        STORE,
        "MAX_PAGE: usize = ",
        &[(STORE_PAGE, "a page | {} rows")],
    ),
    number(
        STORE,
        "MAX_PAGE_BYTES: usize = ",
        &[(STORE_PAGE, "rows, about {} MiB")],
    ),
    number(
        WRITER,
        "WAITING: usize = ",
        &[(STORE_PAGE, "writer | {} changes")],
    ),
    number(
        WRITER,
        "WAITING_KILOBYTES: u32 = ",
        &[(STORE_PAGE, "changes, {} MiB")],
    ),
    number(
        "crates/falconer-store/src/sqlite/options.rs",
        " busy_timeout: ",
        &[(STORE_PAGE, "A write waits {} seconds")],
    ),
    number(
        IMAGE,
        "pub const LARGEST: usize = ",
        &[(EVENTS, "most {} MiB each"), (SECURITY, "{} MiB each")],
    ),
    number(
        IMAGE,
        "const MOST: usize = ",
        &[(EVENTS, "MiB each, {} and")],
    ),
    number(
        IMAGE,
        "const MOST_BYTES: usize = ",
        &[(EVENTS, "and {} MiB in one result")],
    ),
    number(
        "crates/falconer-hub/src/keeper/images.rs",
        "Self(",
        &[
            (EVENTS, "has room for {} MiB"),
            (SECURITY, "{} MiB in a run"),
        ],
    ),
    number(
        "crates/falconer-session/src/stream.rs",
        "HEAVY: usize = ",
        &[(EVENTS, "{} KiB of them count like one event")],
    ),
    number(
        "crates/falconer-session/src/spec.rs",
        " backlog: ",
        &[(EVENTS, "when {} events wait")],
    ),
    number(
        "crates/falconer-session/src/spec.rs",
        " answer_within: ",
        &[(EVENTS, "within {} seconds")],
    ),
    number(
        "crates/falconer-event/src/preview.rs",
        "pub const LONGEST: usize = ",
        &[(EVENTS, "at most {} characters")],
    ),
    number(
        WATCH,
        "TOOL_MARGIN: Duration = ",
        &[(LIMITS_PAGE, "gets it and {} s more")],
    ),
    number(
        WATCH,
        "SHELL_TIMEOUT: Duration = ",
        &[(LIMITS_PAGE, "the shell {} s unless")],
    ),
    number(
        LIMITS,
        "grace: Some(",
        &[(LIMITS_PAGE, "is idle; {} s by default")],
    ),
    number(
        LIMITS,
        " wind_down: ",
        &[(LIMITS_PAGE, "After `wind_down` ({} s)")],
    ),
    number(
        RETRY,
        " attempts: ",
        &[(LIMITS_PAGE, "up to {} attempts in all")],
    ),
    number(
        RETRY,
        " base: ",
        &[(LIMITS_PAGE, "a random part of {} s, 1 s, 2 s")],
    ),
    number(RETRY, " longest: ", &[(LIMITS_PAGE, "at most {} s each")]),
    number(RETRY, " total: ", &[(LIMITS_PAGE, "and {} s together")]),
    number(
        "crates/falconer-session/src/policy/search.rs",
        "const MOST: usize = ",
        &[(LIMITS_PAGE, "Beyond {} files and directories")],
    ),
    number(
        "crates/falconer-cli/src/log/file.rs",
        "LARGEST: u64 = ",
        &[("docs/logs.md", "At {} MiB it is renamed")],
    ),
    number(
        "crates/falconer-cli/src/ask/desk.rs",
        "MOMENT: Duration = ",
        &[
            (SECURITY, "({} s in the terminal"),
            ("docs/run.md", "on screen for {} second"),
        ],
    ),
    number(
        "crates/falconer-server/page/view/guard.js",
        "MOMENT_MS = ",
        &[
            (SECURITY, "; {} s in sight and unmoved"),
            ("docs/page.md", "visible and still for {} seconds"),
        ],
    ),
    number(
        "crates/falconer-server/page/net/stream.js",
        "SILENCE_MS = ",
        &[("docs/page.md", "*stale* after {} seconds")],
    ),
    number(
        "crates/falconer-server/page/app.js",
        "HIDDEN_MS = ",
        &[("docs/page.md", "A tab hidden for {} seconds")],
    ),
    number(
        SCRIPT,
        "MAX_FILES: usize = ",
        &[("docs/trust.md", "names more than {} files")],
    ),
    number(
        SCRIPT,
        "MAX_WORDS: usize = ",
        &[("docs/trust.md", "has more than {} words")],
    ),
    number(
        "crates/falconer-engine/src/session/lookout.rs",
        "MAX_FILES: usize = ",
        &[("docs/engines.md", "At most {} files")],
    ),
    number(
        "crates/falconer-engine/src/session/lookout/survey.rs",
        "MAX_DIRECTORIES: usize = ",
        &[("docs/engines.md", "files in {} directories")],
    ),
    number(
        "crates/falconer/src/isolation/config.rs",
        "Self(",
        &[("docs/isolation.md", "is remembered for {} minutes")],
    ),
    number(
        TIMEOUTS,
        " memory_bytes: ",
        &[("ARCHITECTURE.md", "reads them: {} KiB in memory")],
    ),
    number(
        "crates/falconer-process/src/supervise/sweep.rs",
        "SWEEP_LIMIT: Duration = ",
        &[("ARCHITECTURE.md", "({} seconds at most)")],
    ),
    number(
        SCENARIOS,
        "#[test]",
        &[
            ("README.md", "more than {} scenarios"),
            ("docs/differences.md", "more than {} scenarios"),
        ],
    ),
];

/// Measured once on some machine, or shown as an example: no line of code decides these.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (LIMITS_PAGE, ", 1 s, 2 s …"),
    (STORE_PAGE, "whose disk takes 5 ms for a flush"),
];
