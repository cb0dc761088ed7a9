//! Lines that begin with a slash: commands of ours. What is not ours may be the engine's.

use falconer_session::EngineInfo;

use crate::config::Mode;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A message for the agent, or a command of the engine.
    Message(String),
    /// The agent reads it along the way.
    Steer(String),
    Help,
    Quit,
    Model(Option<String>),
    Mode(Mode),
    Interrupt,
    /// Take back the newest message that still waits.
    Cancel,
    Nothing,
    /// It is nobody's.
    Unknown {
        said: String,
        nearest: String,
    },
}

/// Our commands, and what they do.
pub(super) const OURS: [(&str, &str); 8] = [
    ("help", "list these and the engine's commands"),
    ("quit", "quit; also Ctrl-D"),
    (
        "model",
        "NAME: use this model from the next turn; without NAME: list models",
    ),
    (
        "mode",
        "NAME: switch permission mode, such as plan or acceptEdits",
    ),
    (
        "interrupt",
        "stop the turn and run what is queued; also Ctrl-C",
    ),
    ("steer", "TEXT: tell the agent something while it works"),
    ("cancel", "take back the newest queued message"),
    ("exit", "same as /quit"),
];

/// Reads a line.
pub(super) fn read(line: &str, engine: &EngineInfo) -> Line {
    let text = joined(line);
    let text = text.trim();
    let Some(command) = text.strip_prefix('/') else {
        return if text.is_empty() {
            Line::Nothing
        } else {
            Line::Message(text.to_owned())
        };
    };
    let (name, rest) = command
        .split_once(char::is_whitespace)
        .unwrap_or((command, ""));
    let rest = rest.trim();
    match name {
        "help" | "?" => Line::Help,
        "quit" | "exit" => Line::Quit,
        "model" => Line::Model((!rest.is_empty()).then(|| rest.to_owned())),
        "mode" => match <Mode as clap::ValueEnum>::from_str(rest, true) {
            Ok(mode) => Line::Mode(mode),
            Err(_) => Line::Unknown {
                said: format!("/mode {rest}"),
                nearest: "/mode default".to_owned(),
            },
        },
        "interrupt" | "stop" => Line::Interrupt,
        "steer" if !rest.is_empty() => Line::Steer(rest.to_owned()),
        "cancel" => Line::Cancel,
        _ if engine.commands.iter().any(|known| known.name == name) => {
            Line::Message(text.to_owned())
        }
        _ => {
            let engines = engine.commands.iter().map(|known| known.name.as_str());
            let known = OURS.iter().map(|(name, _)| *name).chain(engines);
            let nearest = crate::config::nearest(name, known);
            Line::Unknown {
                said: format!("/{name}"),
                nearest: format!("/{nearest}"),
            }
        }
    }
}

/// Whether more of a line is to come: a backslash at its end, or an open block of code.
pub(super) fn is_unfinished(text: &str) -> bool {
    let fences = text
        .lines()
        .filter(|line| line.trim_start().starts_with("```"))
        .count();
    text.ends_with('\\') || fences % 2 == 1
}

/// Several lines typed as one.
fn joined(text: &str) -> String {
    text.replace("\\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        let engine = EngineInfo::default();
        let message = |text: &str| Line::Message(text.to_owned());
        let table = [
            ("hello", message("hello")),
            ("  ", Line::Nothing),
            ("one\\\ntwo", message("one\ntwo")),
            ("/quit", Line::Quit),
            ("/model opus", Line::Model(Some("opus".to_owned()))),
            ("/model", Line::Model(None)),
            ("/mode plan", Line::Mode(Mode::Plan)),
            ("/mode acceptedits", Line::Mode(Mode::AcceptEdits)),
            (
                "/steer also the docs",
                Line::Steer("also the docs".to_owned()),
            ),
        ];
        for (line, expected) in table {
            assert_eq!(read(line, &engine), expected, "{line:?}");
        }
        for (line, near) in [
            ("/qiut", "/quit"),
            ("/hlep", "/help"),
            ("/mode fast", "/mode default"),
        ] {
            let Line::Unknown { nearest, .. } = read(line, &engine) else {
                panic!("{line} was understood");
            };
            assert_eq!(nearest, near);
        }
    }

    #[test]
    fn a_line_goes_on_after_a_backslash_and_in_a_block_of_code() {
        for text in ["a\\", "```", "```rust\nfn x() {"] {
            assert!(is_unfinished(text), "{text:?}");
        }
        for text in ["", "a", "```\nx\n```", "say ```x```"] {
            assert!(!is_unfinished(text), "{text:?}");
        }
    }
}
