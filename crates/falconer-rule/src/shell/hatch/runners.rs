//! Programs that build and test: the options a pattern covers are those that name no file to write,
//! no program to run and no other configuration.

use super::super::grammar::{Options, options, unknown_option};
use super::super::word::Word;

/// The first word of `pytest` that is not covered.
pub(super) fn pytest(arguments: &[Word]) -> Option<&Word> {
    const OPTIONS: Options = options(
        "vqxslh",
        "kmnr",
        "--verbose --quiet --exitfirst --maxfail= --tb= --capture= --showlocals --durations= \
         --durations-min= --last-failed --lf --failed-first --ff --new-first --nf --stepwise --sw \
         --collect-only --co --no-header --no-summary --disable-warnings --color= --markers \
         --fixtures --setup-show --strict-markers --strict-config --cov? --cov-branch --no-cov \
         --cov-fail-under= --numprocesses= --dist= --ignore= --deselect= --doctest-modules \
         --cache-clear --timeout= --help --version",
    );
    match unknown_option(&OPTIONS, arguments) {
        Err(word) => Some(word),
        // `@file` holds more words.
        Ok(parsed) => {
            let mut operands = parsed.operands.iter().map(|it| it.word);
            operands.find(|word| word.unquoted().starts_with('@'))
        }
    }
}

/// The first word of `cargo` that is not covered.
pub(super) fn cargo(arguments: &[Word]) -> Option<&Word> {
    const OPTIONS: Options = options(
        "rqvhn",
        "pjFie",
        "--package= --workspace --all --exclude= --lib --bin= --bins --example= --examples --test= \
         --tests --bench= --benches --all-targets --features= --all-features \
         --no-default-features --release --profile= --no-run --no-fail-fast --jobs= --quiet \
         --verbose --color= --message-format= --locked --offline --frozen --keep-going --doc \
         --no-deps --document-private-items --fix --allow-dirty --allow-staged --allow-no-vcs \
         --check --dry-run --precise= --aggressive --recursive --depth= --edges= --invert= \
         --duplicates --build --dev --optional --rename= --vers= --version --help --list \
         --timings? --future-incompat-report --format-version= --name= --edition=",
    );
    // What follows goes to the compiler, a formatter or the tests.
    const REFUSED: &[&str] = &[
        "-C",
        "-Z",
        "-o",
        "--codegen",
        "--config",
        "--config-path",
        "--emit",
        "--extern",
        "--logfile",
        "--out-dir",
        "--print",
        "--sysroot",
    ];
    let end = arguments.iter().position(|word| word.text == "--");
    let (own, passed) = arguments.split_at(end.unwrap_or(arguments.len()));
    let is_path = |word: &Word| word.unquoted().starts_with('+') && word.unquoted().contains('/');
    if let Some(toolchain) = own.first().filter(|word| is_path(word)) {
        return Some(toolchain);
    }
    let parsed = match unknown_option(&OPTIONS, own) {
        Ok(parsed) => parsed,
        Err(word) => return Some(word),
    };
    let is_outside = |text: &str| text.starts_with(['/', '~']) || text.contains("..");
    let mut operands = parsed.operands.iter().map(|it| it.word);
    if let Some("new" | "init") = own.first().map(Word::unquoted)
        && let Some(place) = operands.find(|word| is_outside(word.unquoted()))
    {
        return Some(place);
    }
    passed.iter().find(|word| {
        let text = word.unquoted();
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        REFUSED.contains(&name) || ["-C", "-Z", "-o"].iter().any(|it| text.starts_with(it))
    })
}

/// The first word of `go` that is not covered; it takes one dash for two.
pub(super) fn go(arguments: &[Word]) -> Option<&Word> {
    const KNOWN: &[&str] = &[
        "a",
        "bench",
        "benchmem",
        "benchtime",
        "count",
        "cover",
        "covermode",
        "coverpkg",
        "cpu",
        "d",
        "e",
        "f",
        "failfast",
        "fullpath",
        "h",
        "help",
        "json",
        "list",
        "m",
        "n",
        "p",
        "parallel",
        "race",
        "run",
        "short",
        "shuffle",
        "skip",
        "t",
        "tags",
        "timeout",
        "trimpath",
        "u",
        "v",
        "vet",
        "w",
        "x",
    ];
    let is_args = |word: &&Word| matches!(word.text.as_str(), "-args" | "--args");
    if let Some(passed) = arguments.iter().find(is_args) {
        return Some(passed);
    }
    arguments.iter().find(|word| {
        let text = word.unquoted();
        let Some(option) = text.strip_prefix('-') else {
            return word.literal.is_none() && word.glob.is_none();
        };
        let option = option.strip_prefix('-').unwrap_or(option);
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        word.literal.is_none() || !KNOWN.contains(&name)
    })
}
