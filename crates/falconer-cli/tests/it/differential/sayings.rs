//! What engines say among the data that tools give the model: each in its own words, known by its
//! shape. Everything else in a result has to be the same, byte for byte.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Something both say in other words.
struct Saying {
    /// What it means, which stands in its place.
    meaning: &'static str,
    /// How it is known.
    shape: &'static str,
}

const SAYINGS: &[Saying] = &[
    Saying {
        meaning: "<a command without output>",
        shape: r"^\([^()\n]* output\)$",
    },
    Saying {
        meaning: "<a command in the background, and the file of its output>",
        shape: r"^[^\n]*background[^\n]*/tasks/[a-z0-9]+\.output[^\n]*$",
    },
    Saying {
        meaning: "<output that is too long, in part, and the file with all of it>",
        shape: r"(?s)^<persisted-output>.*</persisted-output>$",
    },
    Saying {
        meaning: "<a remark on a file without lines to show>",
        shape: r"^<system-reminder>[^<\n]*</system-reminder>$",
    },
    Saying {
        meaning: "\n\n<a remark on the encoding>",
        shape: r"\n\n\[[^\n]*UTF-8[^\n]*U\+FFFD[^\n]*\]$",
    },
    Saying {
        meaning: "<the sum of matches and files>",
        shape: r"(?m)^(Found )?2 [a-z ]+ 1 files?\.?$",
    },
    Saying {
        meaning: "$line <process> ",
        shape: r"(?m)^(?<line>/bin/bash: line [0-9]+:) +[0-9]+ ",
    },
    Saying {
        meaning: "<a document> (",
        shape: r"^PDF [^(\n]*\(",
    },
    Saying {
        meaning: "<where an image was put>",
        shape: r"^\[[^\]\n]*[Ii]mage[^\]\n]*\.png\]$",
    },
    Saying {
        meaning: "<the name of a resource> ",
        shape: r"^\[Resource [^\]\n]*\]\s",
    },
];

static SHAPES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let shape = |saying: &Saying| (Regex::new(saying.shape).unwrap(), saying.meaning);
    SAYINGS.iter().map(shape).collect()
});

/// Replaces what is said by what it means, in every text of a result.
pub(super) fn mean(result: &mut Value) {
    match result {
        Value::String(text) => {
            for (shape, meaning) in SHAPES.iter() {
                let replaced = shape.replace(text, *meaning).into_owned();
                *text = replaced;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mean),
        Value::Object(fields) => fields.values_mut().for_each(mean),
        _ => {}
    }
}

#[test]
fn only_sayings_are_replaced() {
    let table = [
        (
            "(nothing came out, no output)",
            "<a command without output>",
        ),
        ("(no output) and more", "(no output) and more"),
        ("a line\n(no output)", "a line\n(no output)"),
        (
            "<system-reminder>It is empty.</system-reminder>",
            "<a remark on a file without lines to show>",
        ),
        (
            "1\tone\n<system-reminder>x</system-reminder>",
            "1\tone\n<system-reminder>x</system-reminder>",
        ),
        ("[Resource a] text", "<the name of a resource> text"),
    ];
    for (said, meant) in table {
        let mut value = Value::from(said);
        mean(&mut value);
        assert_eq!(value, meant);
    }
}
