//! Programs that only start another one, and variables in front of a command.

use std::borrow::Cow;

use super::variable::{harmless, is_harmless};
use super::word::Word;
use super::{Assignment, Part};

/// The command that is really run, when that is certain.
pub fn stripped(part: &Part) -> Cow<'_, Part> {
    if part.words.is_empty() {
        return Cow::Borrowed(part);
    }
    let mut start = 0;
    while let Some(count) = wrapper_length(&part.words[start..])
        && start + count < part.words.len()
    {
        start += count;
    }
    let words = &part.words[start..];
    let opaque = if is_unknown(words, part.opaque) {
        Some("the program to run is only known when it runs")
    } else {
        part.opaque
    };
    let is_set = |one: &Assignment| harmless(&Word::plain(&one.text)).is_some();
    let is_harmless = part.assignments.iter().all(is_set);
    if start == 0 && opaque == part.opaque && (part.assignments.is_empty() || !is_harmless) {
        return Cow::Borrowed(part);
    }
    Cow::Owned(Part {
        assignments: if is_harmless {
            Vec::new()
        } else {
            part.assignments.clone()
        },
        words: words.to_vec(),
        redirects: part.redirects.clone(),
        is_attached: part.is_attached,
        opaque,
    })
}

/// Returns whether the program of a command, or what it starts, is only known when it runs.
fn is_unknown(words: &[Word], opaque: Option<&'static str>) -> bool {
    let name = words.first().and_then(|name| name.literal.as_deref());
    let is_nameless = name.is_none_or(str::is_empty) && opaque.is_none();
    let starts_others = name.is_some_and(|name| is_starter(file_name(name)));
    is_nameless || starts_others && words.iter().skip(1).any(|word| word.literal.is_none())
}

/// Whether the program of a part only starts another one.
pub(crate) fn starts_others(part: &Part) -> bool {
    base_name(part).is_some_and(is_starter)
}

/// Whether a part adds words from its input to what it runs.
pub(crate) fn takes_more(part: &Part) -> bool {
    takes_more_as(&stripped_for_denial(part))
}

/// The same for the commands that a part may stand for.
pub(super) fn takes_more_as(forms: &[Part]) -> bool {
    let mut forms = forms.iter();
    forms.any(|form| matches!(base_name(form), Some("xargs" | "parallel")))
}

/// Whether a program only starts another one.
pub(super) fn is_starter(name: &str) -> bool {
    matches!(
        name,
        "." | "builtin"
            | "busybox"
            | "caffeinate"
            | "chpst"
            | "chroot"
            | "chrt"
            | "command"
            | "dbus-run-session"
            | "doas"
            | "env"
            | "eval"
            | "exec"
            | "firejail"
            | "flock"
            | "ionice"
            | "ltrace"
            | "nice"
            | "nohup"
            | "nsenter"
            | "parallel"
            | "pkexec"
            | "prlimit"
            | "proot"
            | "runuser"
            | "script"
            | "setpriv"
            | "setsid"
            | "source"
            | "ssh-agent"
            | "start-stop-daemon"
            | "stdbuf"
            | "strace"
            | "su"
            | "sudo"
            | "systemd-run"
            | "taskset"
            | "time"
            | "timeout"
            | "toybox"
            | "unbuffer"
            | "unshare"
            | "valgrind"
            | "watch"
            | "xargs"
            | "xvfb-run"
    )
}

/// The name of the program without its directory.
fn base_name(part: &Part) -> Option<&str> {
    part.name().map(file_name)
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a program is a shell.
fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "csh" | "tcsh" | "busybox" | "toybox"
    )
}

/// The text that a part hands to a shell: `sh -c TEXT`, `eval TEXT`.
pub fn script(part: &Part) -> Option<String> {
    let arguments = part.arguments().iter().map(Word::unquoted);
    match base_name(part)? {
        "eval" => Some(arguments.collect::<Vec<_>>().join(" ")),
        name if is_shell(name) => {
            let mut rest =
                arguments.skip_while(|word| !(word.starts_with('-') && word.contains('c')));
            rest.nth(1).map(str::to_owned)
        }
        _ => None,
    }
}

/// Every text that a part may hand to a shell, now or later.
pub fn scripts(part: &Part) -> Vec<String> {
    scripts_of(&stripped_for_denial(part))
}

/// The same for the commands that a part may stand for.
pub(super) fn scripts_of(forms: &[Part]) -> Vec<String> {
    let mut found = Vec::new();
    for form in forms {
        found.extend(script(form));
        let is_text = |word: &&Word| word.unquoted().contains([' ', '\t', '\n', ';']);
        let texts = form.arguments().iter().filter(is_text).map(Word::unquoted);
        match base_name(form) {
            Some("trap") => found.extend(form.arguments().first().map(|it| it.unquoted().into())),
            Some("alias") => found.extend(texts.filter_map(|text| {
                let (_, value) = text.split_once('=')?;
                Some(value.to_owned())
            })),
            Some(name) if is_starter(name) => found.extend(texts.map(str::to_owned)),
            _ => {}
        }
    }
    found
}

/// Whether a part runs what only turns up when it runs: a shell or an interpreter that reads its
/// orders from its input, or from words that are not known.
pub fn runs_unknown(part: &Part) -> bool {
    runs_unknown_as(part, &stripped_for_denial(part))
}

/// The same for a part and the commands that it may stand for.
pub(super) fn runs_unknown_as(part: &Part, forms: &[Part]) -> bool {
    let is_long = part.words.len() > MAX_STARTED && starts_others(part);
    if is_long || evaluates_text(part) || sets_hook(part) {
        return true;
    }
    let mut forms = forms.iter();
    forms.any(|form| {
        let Some(name) = base_name(form) else {
            return !form.words.is_empty();
        };
        if !is_shell(name) && !super::hatch::is_interpreter(name) {
            return false;
        }
        let is_fed = |word: &Word| {
            let text = word.unquoted();
            text.starts_with("/dev/") || text.starts_with("/proc/") || matches!(text, "-" | "-s")
        };
        let mut arguments = form.arguments().iter();
        let has_file = form
            .arguments()
            .iter()
            .any(|word| !word.unquoted().starts_with(['-', '+']));
        let is_unknown = form.arguments().iter().any(|word| word.literal.is_none());
        let tells_version = matches!(
            form.arguments(),
            [only] if matches!(only.text.as_str(), "--version" | "-V" | "-v" | "--help")
        );
        !tells_version && (!has_file || is_unknown || arguments.any(is_fed))
    })
}

/// Builtins that compute with their words, and so run what is in an index: `let 'a[$(x)]'`.
fn evaluates_text(part: &Part) -> bool {
    const EVALUATE: &[&str] = &[
        "let",
        "declare",
        "typeset",
        "local",
        "export",
        "readonly",
        "read",
        "unset",
        "mapfile",
        "readarray",
        "wait",
        "compgen",
        "complete",
        "printf",
        "test",
        "[",
        "getopts",
        "shift",
        "return",
        "exit",
        "break",
        "continue",
        "enable",
        "hash",
        "bind",
        "set",
        "shopt",
    ];
    let is_plain = |word: &Word| {
        word.unquoted()
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_./=:,@%+ !-]".contains(&byte))
    };
    // `y[x]=1` computes with what is in `x`.
    let computes = |one: &Assignment| {
        let name = one.text.split_once('=').map_or("", |(name, _)| name);
        let index = name
            .split_once('[')
            .map(|(_, index)| index.trim_end_matches(['+', ']']));
        index.is_some_and(|index| !index.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if part.assignments.iter().any(computes) {
        return true;
    }
    let may_run = match base_name(part) {
        Some("printf") => part
            .arguments()
            .iter()
            .any(|word| word.text.starts_with("-v")),
        // These load code or change what a name means.
        Some("enable" | "hash" | "bind" | "complete" | "compgen") => return true,
        name => name.is_some_and(|name| EVALUATE.contains(&name)),
    };
    may_run && !part.arguments().iter().all(is_plain)
}

/// Variables whose text the shell or a program runs later.
fn sets_hook(part: &Part) -> bool {
    const HOOKS: &[&str] = &[
        "BASH_ENV",
        "EDITOR",
        "ENV",
        "IFS",
        "PAGER",
        "PATH",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS4",
        "SHELL",
        "VISUAL",
    ];
    let is_hook = |name: &str| {
        HOOKS.contains(&name)
            || ["GIT_", "LD_", "BASH_"]
                .iter()
                .any(|it| name.starts_with(it))
    };
    let declared = part.arguments().iter().filter_map(|word| {
        let (name, _) = word.text.split_once('=')?;
        Some(name)
    });
    let is_declaration = matches!(
        base_name(part),
        Some("export" | "declare" | "typeset" | "local" | "readonly" | "env")
    );
    part.assignments.iter().any(|one| is_hook(&one.name))
        || is_declaration && declared.into_iter().any(is_hook)
}

/// How many words a wrapper in front takes, its own name included.
fn wrapper_length(words: &[Word]) -> Option<usize> {
    let literal = |index: usize| words.get(index)?.literal.as_deref();
    match literal(0)? {
        "nohup" => Some(1).filter(|_| is_program(literal(1))),
        "command" => Some(1).filter(|_| is_program(literal(1))),
        "time" => match literal(1)? {
            "-p" => Some(2).filter(|_| is_program(literal(2))),
            _ => Some(1).filter(|_| is_program(literal(1))),
        },
        "nice" => match literal(1)? {
            "-n" => Some(3).filter(|_| is_number(literal(2)) && is_program(literal(3))),
            adjustment if is_number(adjustment.strip_prefix('-')) => {
                Some(2).filter(|_| is_program(literal(2)))
            }
            _ => Some(1).filter(|_| is_program(literal(1))),
        },
        "timeout" => timeout_length(words),
        "env" => {
            let variables = words[1..]
                .iter()
                .take_while(|word| {
                    let assignment = word.literal.as_deref().and_then(|it| it.split_once('='));
                    assignment.is_some_and(|(name, value)| is_harmless(name, value))
                })
                .count();
            Some(variables + 1).filter(|next| is_program(literal(*next)))
        }
        _ => None,
    }
}

fn timeout_length(words: &[Word]) -> Option<usize> {
    let mut index = 1;
    loop {
        match words.get(index)?.literal.as_deref()? {
            "-k" | "-s" | "--kill-after" | "--signal" => index += 2,
            "--preserve-status" | "--foreground" | "-v" | "--verbose" => index += 1,
            option if option.starts_with("--kill-after=") || option.starts_with("--signal=") => {
                index += 1;
            }
            duration if duration.starts_with(|first: char| first.is_ascii_digit()) => {
                let next = words.get(index + 1)?.literal.as_deref();
                return Some(index + 1).filter(|_| is_program(next));
            }
            _ => return None,
        }
    }
}

fn is_program(word: Option<&str>) -> bool {
    word.is_some_and(|word| !word.is_empty() && !word.starts_with('-') && !word.contains('='))
}

fn is_number(word: Option<&str>) -> bool {
    word.map(|word| word.trim_start_matches('-'))
        .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Words behind a program that starts others; with more, nobody looks for the real command.
const MAX_STARTED: usize = 64;

/// Everything that may be the real command: what a rule forbids must not slip through behind a
/// program that starts others, or behind options.
pub fn stripped_for_denial(part: &Part) -> Vec<Part> {
    let bare = Part {
        assignments: Vec::new(),
        words: part.words.clone(),
        redirects: part.redirects.clone(),
        is_attached: part.is_attached,
        opaque: part.opaque,
    };
    let mut found = Vec::new();
    if let Some(base) = bare.name().and_then(|name| name.rsplit_once('/')) {
        let mut named = bare.clone();
        named.words[0] = Word::plain(base.1);
        found.push(named);
    }
    // Some disks take capitals for small letters, and `git-push` is `git push`.
    let name = found.last().unwrap_or(&bare).name();
    if let Some(name) = name.filter(|name| may_be_spelled_otherwise(name)) {
        let small = name.to_ascii_lowercase();
        let command = small.strip_prefix("git-").map(str::to_owned);
        if small != name {
            let mut named = bare.clone();
            named.words[0] = Word::plain(&small);
            found.push(named);
        }
        if let Some(command) = command {
            let mut named = bare.clone();
            named.words[0] = Word::plain(&command);
            named.words.insert(0, Word::plain("git"));
            found.push(named);
        }
    }
    let takes_commands = matches!(base_name(&bare), Some("find" | "fd" | "busybox" | "toybox"));
    if bare.words.len() <= MAX_STARTED && (starts_others(&bare) || takes_commands) {
        for start in 1..bare.words.len() {
            let mut inner = bare.clone();
            inner.words.drain(..start);
            found.push(inner);
        }
    }
    found.insert(0, bare);
    let without_options: Vec<Part> = found.iter().filter_map(without_options).collect();
    found.extend(without_options);
    found
}

fn may_be_spelled_otherwise(name: &str) -> bool {
    name.contains('-') || name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// The command without the options in front of its first argument.
fn without_options(part: &Part) -> Option<Part> {
    const GIT_VALUED: &[&str] = &[
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
        "--super-prefix",
    ];
    let is_git = base_name(part) == Some("git");
    let mut count = 0;
    while let Some(word) = part.arguments().get(count) {
        let text = word.unquoted();
        if !text.starts_with(['-', '+']) || text.len() < 2 {
            break;
        }
        count += 1 + usize::from(is_git && GIT_VALUED.contains(&text));
    }
    if count == 0 {
        return None;
    }
    let mut part = part.clone();
    let end = (count + 1).min(part.words.len());
    part.words.drain(1..end);
    Some(part)
}
