//! Every option in one table: where it can be given, and which engine honours it.
//!
//! `docs/options.md` is written from it, and tests hold it to the code.

mod table;
mod tests;

use table::TABLE;

/// One option, or several that belong together.
struct Row {
    name: &'static str,
    /// Methods of `Options`, or of `SessionSpec` where they begin with `spec.`.
    library: &'static [&'static str],
    flag: Way,
    key: Way,
    http: Way,
    claude: Honours,
    native: Honours,
}

/// How an option is given in one place.
#[derive(Clone, Copy)]
enum Way {
    By(&'static [&'static str]),
    /// Not at all, for this reason.
    Not(&'static str),
}

impl Way {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::By(names) => names,
            Self::Not(_) => &[],
        }
    }
}

/// What an engine makes of an option.
#[derive(Clone, Copy)]
enum Honours {
    Yes,
    /// The program around the engine honours it, whichever engine it is.
    Around,
    /// Left out with a warning.
    Warned(&'static str),
    /// The run does not start.
    Refused(&'static str),
}

const HEAD: &str = "\
# Options

Every option, where it can be given, and what the engines make of it. This page is written from the
table in `crates/falconer-cli/src/options/table.rs`; tests compare that with the library, the flags of
`falconer run` and `falconer chat`, the keys of the [configuration](configuration.md) and the fields of
`POST /v1/sessions`.

- A flag counts more than a key. A project's file can narrow a few keys only; see [configuration](configuration.md).
- Over HTTP nothing starts programs on the server, names an address, an account or a file, or widens what
  runs unasked without the scope `approve`. For those the owner of the server writes a profile, lists it in
  `serve.profiles`, and sessions choose it with `profile`.
- `yes` means that the engine does it, `around` that Falconer does it around either engine. What an engine does
  not honour is refused where leaving it out would allow more than was asked for, else left out with a
  warning; nothing is dropped in silence.

| option | library | flag | key | HTTP | claude | native |
|---|---|---|---|---|---|---|
";

/// `docs/options.md`.
fn page() -> String {
    let rows = TABLE.iter().map(|row| {
        let library = match row.library {
            [] => "–".to_owned(),
            names => code(names),
        };
        format!(
            "| {} | {library} | {} | {} | {} | {} | {} |\n",
            row.name,
            way(row.flag),
            way(row.key),
            way(row.http),
            honours(row.claude),
            honours(row.native)
        )
    });
    HEAD.to_owned() + &rows.collect::<String>()
}

fn code(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn way(way: Way) -> String {
    match way {
        Way::By(names) => code(names),
        Way::Not(reason) => format!("– {reason}"),
    }
}

fn honours(honours: Honours) -> String {
    match honours {
        Honours::Yes => "yes".to_owned(),
        Honours::Around => "around".to_owned(),
        Honours::Warned(reason) => format!("warned: {reason}"),
        Honours::Refused(reason) => format!("refused: {reason}"),
    }
}
