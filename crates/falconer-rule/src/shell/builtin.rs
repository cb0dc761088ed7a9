//! Programs with a grammar of their own: `printf`, `test`, `sleep`, `seq`, `date`, `ps`, `jq`,
//! and versions of anything.

use super::grammar::{Options, options, parse};
use super::programs::take_file;
use super::read_only::{Grade, Reading};
use super::word::Word;

/// Seconds that nobody minds.
const MAX_SLEEP: f64 = 60.0;
/// Lines that `seq` may print.
const MAX_LINES: f64 = 100_000.0;

fn literals(words: &[Word]) -> Option<Vec<&str>> {
    words.iter().map(|word| word.literal.as_deref()).collect()
}

/// Text to be printed; patterns list files.
pub(super) fn echo(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    for word in arguments {
        match (&word.literal, &word.glob) {
            (Some(_), _) => {}
            (None, Some(_)) => reading.files.push(word.clone()),
            (None, None) if word.shows_variables => {}
            (None, None) => return None,
        }
    }
    Some(())
}

/// `printf` without `-v` and `%n`, which set variables.
pub(super) fn printf(arguments: &[Word]) -> Option<()> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => arguments,
    };
    let (format, values) = arguments.split_first()?;
    let format = format.literal.as_deref()?;
    let are_known = values
        .iter()
        .all(|word| word.literal.is_some() || word.shows_variables);
    (are_known && !format.starts_with('-') && !counts(format)).then_some(())
}

fn counts(format: &str) -> bool {
    let without_signs = format.replace("%%", "");
    let mut conversions = without_signs.split('%').skip(1);
    conversions.any(|text| {
        let rest = text.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #0.*'hlLqjzt".contains(letter)
        });
        rest.starts_with('n') || rest.is_empty()
    })
}

/// `test` and `[` with one test on files, texts or numbers.
pub(super) fn test(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    const FILE: &[&str] = &[
        "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b", "-c", "-p", "-S", "-g", "-u",
        "-k", "-O", "-G", "-N",
    ];
    const BOTH: &[&str] = &["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    const FILES: &[&str] = &["-nt", "-ot", "-ef"];
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.text == "!" => rest,
        _ => arguments,
    };
    match literals(arguments)?.as_slice() {
        [_] => {}
        ["-n" | "-z", _] => {}
        [test, _] if FILE.contains(test) => reading.files.push(arguments[1].clone()),
        [_, test, _] if BOTH.contains(test) => {}
        [_, test, _] if FILES.contains(test) => {
            reading
                .files
                .extend([arguments[0].clone(), arguments[2].clone()]);
        }
        _ => return None,
    }
    Some(())
}

pub(super) fn sleep(arguments: &[Word]) -> Option<()> {
    let [seconds] = literals(arguments)?[..] else {
        return None;
    };
    let seconds = number(seconds.strip_suffix('s').unwrap_or(seconds))?;
    (seconds <= MAX_SLEEP).then_some(())
}

/// `seq` with an end that is near.
pub(super) fn seq(arguments: &[Word]) -> Option<()> {
    let parsed = parse(&options("w", "s", "--separator= --equal-width"), arguments)?;
    let numbers = parsed.operands.iter();
    let numbers = numbers.map(|it| number(it.word.literal.as_deref()?));
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    let lines = match numbers[..] {
        [last] => last,
        [first, last] => last - first,
        [first, step, last] if step != 0.0 => (last - first) / step,
        _ => return None,
    };
    (lines <= MAX_LINES).then_some(())
}

fn number(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

/// `date` that shows a time; a word without `+` would set it.
pub(super) fn date(arguments: &[Word]) -> Option<()> {
    const OPTIONS: Options = options(
        "uR",
        "d",
        "--utc --universal --date= --iso-8601? --rfc-3339= --rfc-email",
    )
    .glued("I");
    let parsed = parse(&OPTIONS, arguments)?;
    let mut operands = parsed.operands.iter();
    operands
        .all(|it| {
            it.word
                .literal
                .as_deref()
                .is_some_and(|text| text.starts_with('+'))
        })
        .then_some(())
}

/// `ps` without the environments of processes.
pub(super) fn ps(arguments: &[Word]) -> Option<()> {
    const WORDS: &[&str] = &[
        "aux",
        "axu",
        "ax",
        "auxf",
        "auxww",
        "-ef",
        "-e",
        "-A",
        "-f",
        "-a",
        "-ax",
        "-aux",
        "-eF",
        "-ww",
        "-efww",
        "--no-headers",
        "--forest",
    ];
    const FIELDS: &[&str] = &[
        "pid", "ppid", "pgid", "user", "uid", "cmd", "comm", "args", "command", "%cpu", "%mem",
        "pcpu", "pmem", "etime", "etimes", "stat", "state", "time", "tty", "rss", "vsz", "start",
        "lstart", "nlwp", "ni",
    ];
    let is_fields = |text: &str| {
        text.split(',')
            .all(|field| FIELDS.contains(&field.trim_end_matches('=')))
    };
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_,.-".contains(&byte))
    };
    let mut words = literals(arguments)?.into_iter();
    while let Some(word) = words.next() {
        let is_known = match word {
            "-o" => words.next().is_some_and(is_fields),
            "-p" | "-u" | "-C" | "--pid" => words.next().is_some_and(is_name),
            _ => {
                WORDS.contains(&word)
                    || word
                        .strip_prefix("--sort=")
                        .is_some_and(|key| is_fields(key.trim_start_matches(['-', '+'])))
            }
        };
        is_known.then_some(())?;
    }
    Some(())
}

/// `jq` with a filter that looks at its input only.
pub(super) fn jq(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    const OPTIONS: Options = options(
        "ncrajsSeCMR",
        "",
        "--null-input --compact-output --raw-output --ascii-output --join-output --slurp \
         --sort-keys --exit-status --color-output --monochrome-output --raw-input --tab --seq \
         --stream --indent=",
    );
    const REACHES_OUT: &[&str] = &[
        "env",
        "ENV",
        "import",
        "include",
        "modulemeta",
        "get_search_list",
    ];
    let parsed = parse(&OPTIONS, arguments)?;
    let (filter, files) = parsed.operands.split_first()?;
    let filter = filter.word.literal.as_deref()?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut names = filter.split(|letter| !is_letter(letter));
    if names.any(|name| REACHES_OUT.contains(&name)) {
        return None;
    }
    files
        .iter()
        .try_for_each(|file| take_file(*file, false, reading))
}

/// Words with which programs tell their version or list what is installed, and do nothing else.
///
/// Not here: programs that take another version of themselves from the project they run in
/// (`cargo`, `yarn`, `pnpm`, `bundle`, `go`), or tell the version of one that does (`rustup`).
const VERSIONS: &[(&str, &[&str])] = &[
    ("node npm npx", &["--version", "-v"]),
    ("python python3 ruby", &["--version", "-V"]),
    ("pip pip3", &["--version", "list"]),
    ("perl php", &["-v", "--version"]),
    (
        "bash cmake curl docker gcc g++ cc clang gh grep jq kubectl ls make rg sed sort tar tree \
         wget zsh",
        &["--version"],
    ),
    ("git", &["--version", "version"]),
];

pub(super) fn tells_version(name: &str, arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let words = literals(arguments)?.join(" ");
    let mut known = VERSIONS.iter();
    let is_known = known.any(|(names, forms)| {
        names.split_whitespace().any(|one| one == name) && forms.contains(&words.as_str())
    });
    let shows_package = matches!(name, "pip" | "pip3") && is_show(arguments);
    if !is_known && !shows_package {
        return None;
    }
    reading.grade = Grade::Confined;
    Some(())
}

/// `pip show NAME`
fn is_show(arguments: &[Word]) -> bool {
    let is_name = |word: &Word| {
        word.text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    };
    arguments.len() == 2 && arguments[0].text == "show" && is_name(&arguments[1])
}
