//! Words with which a program leaves the frame that a pattern such as `git *` draws: it runs
//! other programs, writes where it is told, or takes its orders from a file.
//!
//! For programs made to run others, and for those whose options are known, the words that a
//! pattern covers are listed, not those that it does not.

mod refused;
mod runners;

use super::Part;
use super::grammar::{Options, options, unknown_option};
use super::word::Word;
use super::wrapper::is_starter;
use super::{git_hatch, programs, search, sed};

/// A word that only a rule which spells it out permits.
pub fn escape_hatch(part: &Part) -> Option<String> {
    let arguments = part.arguments();
    let name = part.name()?;
    let name = name.rsplit('/').next().unwrap_or(name);
    let found = match name {
        "git" => git_hatch::git(arguments),
        "find" => search::unknown_word(arguments, |_| {}),
        "sed" => sed_word(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        "npm" | "pnpm" | "yarn" | "npx" | "bunx" => runner(arguments),
        "tar" | "bsdtar" => tar(arguments),
        "pytest" | "py.test" => runners::pytest(arguments),
        "cargo" => runners::cargo(arguments),
        "go" => runners::go(arguments),
        "curl" => curl(arguments),
        "xargs" => xargs(arguments),
        "sort" | "rg" | "tree" | "date" | "uniq" => known(name, arguments),
        "busybox" | "toybox" => arguments.first(),
        _ if is_interpreter(name) => interpreter(arguments),
        _ if is_starter(name) => arguments.first(),
        _ => refused::refused_option(name, arguments),
    };
    found
        .or_else(|| unknown_word(arguments))
        .map(spelled)
        .or_else(|| (is_interpreter(name) && arguments.is_empty()).then(|| "-".to_owned()))
}

/// What has to be in the rule: an option without its value.
pub(crate) fn spelled(word: &Word) -> String {
    let text = word.unquoted();
    let is_option = text.starts_with('-');
    text.split_once('=')
        .filter(|_| is_option)
        .map_or(text, |(name, _)| name)
        .to_owned()
}

/// A word that nobody knows, or a pattern that may mean a file which is called like an option.
fn unknown_word(arguments: &[Word]) -> Option<&Word> {
    let options_end = arguments.iter().position(|word| word.text == "--");
    let mut words = arguments.iter().enumerate();
    words
        .find(|(index, word)| match (&word.literal, &word.glob) {
            (Some(_), _) => false,
            (None, Some(glob)) => {
                let is_late = options_end.is_some_and(|end| *index > end);
                glob.starts_with(['*', '?', '[', '-']) && !is_late
            }
            (None, None) => true,
        })
        .map(|(_, word)| word)
}

/// Programs that run what they are given as text, or a file of it.
pub(super) fn is_interpreter(name: &str) -> bool {
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    names_interpreter(name) || base.len() < name.len() && names_interpreter(base)
}

fn names_interpreter(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "fish"
            | "csh"
            | "tcsh"
            | "busybox"
            | "python"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "perl"
            | "ruby"
            | "php"
            | "lua"
            | "luajit"
            | "tclsh"
            | "wish"
            | "expect"
            | "Rscript"
            | "R"
            | "pwsh"
            | "powershell"
            | "osascript"
            | "ghci"
            | "runghc"
            | "scala"
            | "groovy"
            | "julia"
            | "elixir"
            | "iex"
            | "erl"
            | "guile"
            | "racket"
            | "sbcl"
            | "ipython"
            | "irb"
            | "tsx"
            | "ts-node"
            | "psql"
            | "mysql"
            | "sqlite3"
            | "gdb"
            | "lldb"
            | "ed"
            | "ex"
            | "vi"
            | "vim"
            | "nvim"
            | "emacs"
            | "nano"
            | "less"
            | "more"
            | "man"
            | "m4"
            | "bc"
            | "dc"
    )
}

/// Whether a program runs code that is among its words.
pub fn runs_code(name: &str) -> bool {
    is_interpreter(name) || matches!(name, "awk" | "gawk" | "mawk" | "nawk" | "sed" | "jshell")
}

/// Options in front of the file to run; without a file, the program reads its orders.
fn interpreter(arguments: &[Word]) -> Option<&Word> {
    let is_version = |word: &Word| matches!(word.text.as_str(), "--version" | "-V" | "-v");
    match arguments {
        [only] if is_version(only) => None,
        [first, ..] if first.unquoted().starts_with(['-', '+', '@']) => Some(first),
        _ => None,
    }
}

/// The first word that the grammar of a program that only reads does not know.
fn known<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w Word> {
    const DATE: Options = options("uR", "dr", "--utc --date= --iso-8601? --rfc-3339=");
    let options = match programs::find(name) {
        Some(program) => &program.options,
        None => &DATE,
    };
    let parsed = match unknown_option(options, arguments) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    let mut operands = parsed.operands.iter();
    match name {
        "date" => operands.find(|it| !it.word.unquoted().starts_with('+')),
        "uniq" => operands.nth(1),
        _ => None,
    }
    .map(|it| it.word)
}

fn sed_word(arguments: &[Word]) -> Option<&Word> {
    let parsed = match unknown_option(&sed::OPTIONS, arguments) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    let scripts: Vec<&str> = parsed.values(&["e", "expression"]).collect();
    if !scripts.is_empty() {
        let is_harmless = sed::is_harmless(&scripts.join("\n"));
        return arguments.first().filter(|_| !is_harmless);
    }
    let script = parsed.operands.first()?.word;
    let is_harmless = script.literal.as_deref().is_some_and(sed::is_harmless);
    Some(script).filter(|_| !is_harmless)
}

/// Programs in awk that open no files and run nothing.
fn awk(arguments: &[Word]) -> Option<&Word> {
    const OPTIONS: Options = options("", "Fv", "--field-separator= --assign=");
    let parsed = match unknown_option(&OPTIONS, arguments) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    let program = parsed.operands.first()?.word;
    let is_harmless = program.literal.as_deref().is_some_and(|text| {
        !text.contains(['|', '>', '<', '@', '\\'])
            && !text.contains("system")
            && !text.contains("getline")
    });
    Some(program).filter(|_| !is_harmless)
}

fn tar(arguments: &[Word]) -> Option<&Word> {
    const OPTIONS: Options = options(
        "cxtvzjJapk",
        "f",
        "--create --extract --list --verbose --gzip --bzip2 --xz --file= --auto-compress --exclude= \
         --strip-components= --keep-old-files",
    );
    // The first word may lack its dash.
    let is_bundle = |word: &Word| {
        word.literal.as_deref().is_some_and(|text| {
            !text.is_empty() && text.bytes().all(|byte| b"cxtvzjJapkf".contains(&byte))
        })
    };
    let arguments = match arguments {
        [first, rest @ ..] if is_bundle(first) => rest,
        // Whatever it is, its letters are options: `tar xfI archive program`.
        [first, ..] if !first.unquoted().starts_with('-') => return Some(first),
        _ => arguments,
    };
    let parsed = match unknown_option(&OPTIONS, arguments) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    // `host:file` is fetched with a remote shell.
    let is_remote = |text: &str| text.contains(':');
    let mut words = arguments.iter();
    if parsed.values(&["f", "file"]).any(is_remote) {
        return arguments.first();
    }
    words.find(|word| is_remote(word.unquoted()))
}

fn curl(arguments: &[Word]) -> Option<&Word> {
    const OPTIONS: Options = options(
        "sSLfiIvkGg46#",
        "HXdAmeur",
        "--silent --show-error --location --fail --include --head --verbose --compressed --get \
         --header= --request= --data= --data-raw= --data-urlencode= --json= --user-agent= \
         --max-time= --connect-timeout= --retry= --retry-delay= --url= --http1.1 --http2 --globoff",
    );
    let parsed = match unknown_option(&OPTIONS, arguments) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    // `@file` is sent or read.
    let mut values = parsed
        .options
        .iter()
        .filter_map(|(_, value)| value.as_deref());
    if values.any(|value| value.contains('@')) {
        return arguments.first();
    }
    let is_web = |text: &str| match text.split_once("://") {
        Some((scheme, _)) => matches!(scheme, "http" | "https"),
        None => !text.contains(':') || text.starts_with("localhost:"),
    };
    if !parsed.values(&["url"]).all(is_web) {
        return arguments.first();
    }
    let mut operands = parsed.operands.iter();
    operands
        .find(|it| !is_web(it.word.unquoted()))
        .map(|it| it.word)
}

/// The program that `xargs` runs has to be spelled out.
fn xargs(arguments: &[Word]) -> Option<&Word> {
    const ALONE: &[&str] = &["-0", "-r", "-t", "--null", "--no-run-if-empty"];
    const VALUED: &[&str] = &["-n", "-I", "-P", "-L", "-d"];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.literal.as_deref() {
            Some(text) if ALONE.contains(&text) => {}
            Some(text) if VALUED.contains(&text) => {
                words.next();
            }
            _ => return Some(word),
        }
    }
    None
}

/// Options of npm and its like; it takes one dash for two, and shortens names.
fn runner(arguments: &[Word]) -> Option<&Word> {
    const KNOWN: &[&str] = &[
        "-D",
        "-E",
        "-O",
        "-P",
        "-S",
        "-y",
        "-s",
        "-w",
        "-g",
        "-h",
        "-v",
        "--all",
        "--dev",
        "--depth",
        "--exact",
        "--force",
        "--frozen-lockfile",
        "--help",
        "--if-present",
        "--ignore-scripts",
        "--immutable",
        "--json",
        "--latest",
        "--legacy-peer-deps",
        "--long",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--offline",
        "--omit",
        "--only",
        "--parseable",
        "--prefer-offline",
        "--prod",
        "--production",
        "--recursive",
        "--save",
        "--save-dev",
        "--save-exact",
        "--silent",
        "--version",
        "--workspace",
        "--workspaces",
        "--yes",
    ];
    let own = arguments.iter().take_while(|word| word.text != "--");
    own.into_iter().find(|word| match word.literal.as_deref() {
        Some(text) if text.starts_with('-') => {
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            !KNOWN.contains(&name)
        }
        Some(_) => false,
        None => true,
    })
}
