//! Code for interpreters among the words of a command: what is not known to compute and print
//! may do anything.

use super::Part;
use super::hatch::is_interpreter;
use super::stripped;
use super::word::Word;

/// Names with which code computes, prints, and asks for versions.
const HARMLESS: &[&str] = &[
    "False",
    "JSON",
    "Math",
    "None",
    "PI",
    "True",
    "a",
    "abs",
    "and",
    "arch",
    "b",
    "bool",
    "c",
    "ceil",
    "console",
    "const",
    "dict",
    "dumps",
    "echo",
    "elif",
    "else",
    "enumerate",
    "exit",
    "false",
    "float",
    "floor",
    "for",
    "i",
    "if",
    "import",
    "in",
    "int",
    "is",
    "j",
    "json",
    "k",
    "len",
    "length",
    "let",
    "list",
    "load",
    "loads",
    "log",
    "math",
    "max",
    "min",
    "my",
    "n",
    "nil",
    "not",
    "null",
    "or",
    "p",
    "pi",
    "platform",
    "pow",
    "print",
    "printf",
    "println",
    "process",
    "puts",
    "range",
    "return",
    "round",
    "s",
    "set",
    "sorted",
    "sqrt",
    "stdin",
    "str",
    "sum",
    "sys",
    "true",
    "undefined",
    "var",
    "version",
    "version_info",
    "versions",
    "while",
    "x",
    "y",
    "zip",
];

/// Parts of orders to databases that reach files and programs.
const DATABASE: &[&str] = &[
    "\\", "attach", "copy", "file", "import", "load", "once", "output", "outfile", "pg_",
    "program", "read", "shell", "source", "system", "write",
];

/// Whether an interpreter runs code that is among its words, which nobody here can read.
pub(crate) fn runs_code_of_words(part: &Part) -> bool {
    let part = stripped(part);
    let name = part.name().map(|it| it.rsplit('/').next().unwrap_or(it));
    let Some(name) = name else {
        return false;
    };
    let mut arguments = part.arguments().iter().map(Word::unquoted);
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => arguments.any(|text| {
            text.contains(['|', '@']) || text.contains("system") || text.contains("getline")
        }),
        // Their scripts are looked into.
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "csh" | "tcsh" | "busybox" => false,
        "less" | "more" | "man" | "bc" | "dc" => {
            arguments.any(|text| text.starts_with('+') || text.contains('!'))
        }
        "psql" | "mysql" | "sqlite3" => arguments.any(|text| {
            let text = text.to_lowercase();
            is_sentence(&text) && DATABASE.iter().any(|word| text.contains(word))
        }),
        _ if !is_interpreter(name) => false,
        _ => {
            let is_python = name.contains("python");
            let words: Vec<&str> = arguments.collect();
            let before = [""].into_iter().chain(words.iter().copied());
            let mut pairs = before.zip(words.iter());
            pairs.any(|(before, text)| {
                // A name alone is a file or an option, unless an option says otherwise.
                (is_sentence(text) || takes_code(before)) && !is_harmless(text, is_python)
            })
        }
    }
}

fn is_sentence(text: &str) -> bool {
    text.contains([' ', '(', '"', '\'', ';', '`', '\n', '\t'])
}

/// Whether an option is followed by code: `-e`, `-ne`, `--eval`.
fn takes_code(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|it| !it.starts_with('-'));
    matches!(option, "--eval" | "--print" | "--exec" | "--execute")
        || short.is_some_and(|letters| letters.ends_with(['c', 'e', 'E', 'p', 'r']))
}

/// Whether every name in the code is known to do no harm.
fn is_harmless(code: &str, is_python: bool) -> bool {
    let code = if is_python {
        without_texts(code)
    } else {
        code.to_owned()
    };
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut names = code
        .split(|letter| !is_letter(letter))
        .filter(|name| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()));
    !code.contains(['\\', '`', '%']) && names.all(|name| HARMLESS.contains(&name))
}

/// Python without its texts, which name nothing; but those that are code in part.
fn without_texts(code: &str) -> String {
    let mut rest = code;
    let mut left = String::new();
    while let Some(start) = rest.find(['"', '\'']) {
        let (before, text) = rest.split_at(start);
        let quote = &text[..1];
        let is_plain = !before.ends_with(|letter: char| letter.is_alphanumeric());
        match text[1..].split_once(quote) {
            Some((_, after)) if is_plain => {
                left.push_str(before);
                // What is around a text does not become one name.
                left.push(' ');
                rest = after;
            }
            _ => return code.to_owned(),
        }
    }
    left.push_str(rest);
    left
}
