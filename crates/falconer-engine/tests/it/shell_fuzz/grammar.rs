//! Commands made at random: programs with their options, and all the ways of bash to hide more.

use super::chance::Chance;
use super::options::{Program, programs};

/// Commands that leave a trace if they are run.
const PAYLOADS: &[&str] = &[
    "touch PWNED",
    ">PWNED",
    "cp in PWNED",
    "tee PWNED",
    "rm in",
    "sh script",
    "mkdir PWNED",
    "cat ../outside/secret",
    "cat link",
    "echo x >PWNED",
    "echo >/dev/tcp/127.0.0.1/7",
    "touch ../outside/PWNED",
    "sleep 9 &",
    "ln -s in PWNED",
];

const FILES: &[&str] = &[
    "in",
    "data",
    "list",
    "src/main.rs",
    "d/a",
    "e",
    "d",
    ".",
    "./in",
    "src",
    "link",
    "a\\\\*",
    "'a\\'*",
    "x?",
    "PWNED",
    "../outside/secret",
    "d/out/secret.txt",
    "o/secret",
    "sub",
    "x.awk",
    "x.sed",
    "script",
    "package.json",
    "/dev/null",
    "-",
    "--",
    "~",
    "0",
    "HEAD",
    "main",
    "README",
];

const GLOBS: &[&str] = &[
    "*",
    "l*",
    "[l]ink",
    "?n",
    "d/*",
    "d/*/secret.txt",
    "*/",
    "./*",
    "{in,data}",
    "l?nk",
    "[#-]*",
    "-*",
    "o/*",
    "**",
    "*.rs",
    "[!a]*",
    "~/*",
    "{-o,PWNED}",
    "li{n,}k",
];

const TEXTS: &[&str] = &[
    "a",
    "x",
    "1",
    "-1",
    "5",
    ".",
    "%s",
    "%n",
    "PATH",
    "a=b",
    "=~",
    "==",
    "=",
    "!=",
    "]",
    "}",
    "{",
    "[",
    "!",
    "^",
    ",",
    "#",
    "%",
    "+",
    "TODO",
    "fn main",
    "s/a/b/",
    "1p",
    "1,3p",
    "w PWNED",
    "1e touch PWNED",
    "{print $1}",
    "BEGIN{system(\"touch PWNED\")}",
    "input",
    "env",
    "$__loc__",
    "-exec",
    "-delete",
    "-o",
    "-oPWNED",
    "--output=PWNED",
    "-fprint",
    "-name",
    "-type",
    "f",
    "-eq",
    "-lt",
    "a[$(touch PWNED)]",
    "y",
    "{}",
    ";",
    "-C",
    "sub",
    "-c",
    "core.fsmonitor=touch PWNED",
];

/// Pieces that make one thing look like another.
pub(super) const SOUP: &[&str] = &[
    " ",
    "  ",
    "\t",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "!",
    "#",
    " #",
    "$",
    "$ ",
    "$ $",
    "$$",
    "$(",
    "$((",
    "))",
    ")",
    "(",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    "=~",
    "==",
    "=~&",
    "<",
    ">",
    "<<",
    "<<<",
    ">>",
    "<&0",
    "<&-",
    "2>&1",
    ">&2",
    "&>",
    ">|",
    "<>",
    "<(",
    ">(",
    "<<E",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "$'",
    "$\"",
    "${",
    "}",
    "*(",
    "@(",
    "?(",
    "+(",
    "!(",
    "~",
    "*",
    "?",
    "=",
    "+=",
    "\r",
    "\u{b}",
    "\u{a0}",
    "\u{200b}",
    "\u{7f}",
    "\\'",
    "\\\"",
    "x=",
    "a[",
    "&>>",
    "1>",
    ";;",
    "-o",
    "-exec",
    "if ",
    "then ",
    "fi",
    "for ",
    "do ",
    "done",
    "in ",
    "case ",
    "esac",
    "while ",
    "time ",
    "coproc ",
    "function ",
    "touch PWNED",
    "PWNED",
    "-eq",
    "%n",
    "((",
    "let ",
    "[ ",
    " ]",
    "[[ ",
    " ]]",
    "é",
    "\u{ff0d}",
    "{a,b}",
    "<&3",
    "0",
    "{x}>",
];

const OPERATORS: &[&str] = &["; ", " && ", " || ", " | ", "\n", " & ", ";", "|"];

const REDIRECTIONS: &[&str] = &[
    "<&0",
    "< in",
    "<in",
    "2>&1",
    "2>/dev/null",
    ">/dev/null",
    "&>/dev/null",
    "<<E",
    "<<< x",
    "<<'E'",
    "> PWNED",
    ">>PWNED",
    "<&-",
    "<link",
    "<>PWNED",
    ">|PWNED",
    "3<in",
    ">&2",
    "&> PWNED",
    "< ../outside/secret",
];

const VALUES: &[&str] = &[
    "PWNED",
    "in",
    "1",
    "link",
    "bash",
    "list",
    "list0",
    "x",
    "../outside/secret",
    "touch PWNED",
    "*",
    "sub",
    "script",
    "0",
    ".",
    "always",
    "d",
    "x.awk",
];

/// Makes commands.
#[derive(Debug)]
pub(super) struct Grammar {
    programs: Vec<Program>,
}

impl Grammar {
    pub(super) fn new() -> Self {
        Self {
            programs: programs(),
        }
    }

    /// Returns a command at random.
    pub(super) fn command(&self, chance: &mut Chance) -> String {
        let mut command = self.part(chance, 0);
        while chance.one_in(3) {
            command += *chance.pick(OPERATORS);
            command += &self.part(chance, 0);
        }
        close_heredocs(command, chance)
    }

    fn part(&self, chance: &mut Chance, depth: usize) -> String {
        if depth > 2 {
            return self.simple(chance);
        }
        let below = |chance: &mut Chance| self.part(chance, depth + 1);
        match chance.below(24) {
            0 => test(chance, "[ ", " ]"),
            1 => test(chance, "[[ ", " ]]"),
            2 => test(chance, "test ", ""),
            3 => {
                let words = self.words(chance, 2);
                format!("for y in {words}; do {}; done", below(chance))
            }
            4 => format!("if {}; then {}; fi", below(chance), below(chance)),
            5 => match chance.below(6) {
                0 => format!("{{ {}; }}", below(chance)),
                1 => format!("( {} )", below(chance)),
                2 => format!("! {}", below(chance)),
                3 => format!("time {}", below(chance)),
                4 => format!("ls() {{ {}; }}; ls", below(chance)),
                _ => format!(
                    "case {} in {}) {};; esac",
                    word(chance),
                    word(chance),
                    below(chance)
                ),
            },
            6 => format!("cd {} && {}", chance.pick(FILES), below(chance)),
            7 => format!(
                "{}={} {}",
                chance.pick(&["x", "PATH", "IFS", "y"]),
                word(chance),
                below(chance)
            ),
            _ => self.simple(chance),
        }
    }

    /// A program with options, operands and redirections in any order.
    fn simple(&self, chance: &mut Chance) -> String {
        let program = chance.pick(&self.programs);
        let mut words = vec![program.words.clone()];
        for _ in 0..chance.below(6) {
            words.push(match chance.below(10) {
                0..4 if !program.options.is_empty() => option(chance, program),
                4 => (*chance.pick(REDIRECTIONS)).to_owned(),
                5..8 => (*chance.pick(FILES)).to_owned(),
                _ => word(chance),
            });
        }
        words.join(" ")
    }

    fn words(&self, chance: &mut Chance, most: usize) -> String {
        let words: Vec<String> = (0..=chance.below(most)).map(|_| word(chance)).collect();
        words.join(" ")
    }

    /// An option of the program that a command begins with.
    pub(super) fn option_for(&self, chance: &mut Chance, command: &str) -> Option<String> {
        let fits = |program: &&Program| {
            let rest = command.strip_prefix(program.words.as_str());
            !program.options.is_empty()
                && rest.is_some_and(|it| it.is_empty() || it.starts_with(' '))
        };
        let program = self.programs.iter().rev().find(fits)?;
        Some(option(chance, program))
    }
}

fn option(chance: &mut Chance, program: &Program) -> String {
    let option = chance.pick(&program.options).clone();
    let name = option.split('=').next().unwrap_or_default().to_owned();
    let value = chance.pick(VALUES);
    match chance.below(8) {
        0..3 => option,
        3 => format!("{name}={value}"),
        4 => format!("{name} {value}"),
        5 => format!("{name}{value}"),
        6 if name.len() > 5 => name[..name.floor_char_boundary(name.len() - 2)].to_owned(),
        _ => name,
    }
}

/// A word, perhaps in quotes, perhaps with something in it.
pub(super) fn word(chance: &mut Chance) -> String {
    let plain = |chance: &mut Chance| match chance.below(3) {
        0 => (*chance.pick(FILES)).to_owned(),
        _ => (*chance.pick(TEXTS)).to_owned(),
    };
    let payload = *chance.pick(PAYLOADS);
    let inner = plain(chance);
    match chance.below(22) {
        0 => format!("'{inner}'"),
        1 => format!("\"{inner}\""),
        2 => format!("$(<{inner})"),
        3 => format!("$({payload})"),
        4 => format!("`{payload}`"),
        5 => format!("\"{inner} $ $({payload})\""),
        6 => format!("\"{inner}$({payload})\""),
        7 => format!("<({payload})"),
        8 => format!("=~`{payload}`]"),
        9 => format!("=~&{payload} ]"),
        10 => format!("${{x:-{inner}}}"),
        11 => format!("$'{inner}'"),
        12 => format!("'{inner}[$({payload})]'"),
        13..15 => (*chance.pick(GLOBS)).to_owned(),
        _ => inner,
    }
}

fn test(chance: &mut Chance, begin: &str, end: &str) -> String {
    let one = test_word(chance);
    let operator = chance.pick(&[
        "=", "==", "=~", "!=", "<", ">", "-eq", "-lt", "-nt", "-a", "-o",
    ]);
    match chance.below(4) {
        0 => format!(
            "{begin}{} {one}{end}",
            chance.pick(&["-f", "-n", "-z", "-v", "-d", "!", "-R"])
        ),
        _ => format!("{begin}{one} {operator} {}{end}", test_word(chance)),
    }
}

fn test_word(chance: &mut Chance) -> String {
    let payload = *chance.pick(PAYLOADS);
    match chance.below(10) {
        0 => format!("^(`{payload}`)$"),
        1 => format!("*(]];#((`{payload}`)))"),
        2 => format!("^$({payload})"),
        3 => format!("<({payload})"),
        4 => (*chance.pick(GLOBS)).to_owned(),
        5..8 => word(chance),
        _ => (*chance.pick(&["a", "y", "1", "PWNED", "in"])).to_owned(),
    }
}

/// Gives heredocs their bodies.
fn close_heredocs(mut command: String, chance: &mut Chance) -> String {
    let here = command.replace("<<<", "").matches("<<").count();
    for _ in 0..here {
        let body = chance.pick(&[
            "x",
            "$ $(touch PWNED)",
            "$(touch PWNED)",
            "`touch PWNED`",
            "$x",
            "\\",
        ]);
        command += &format!("\n{body}\nE");
    }
    command
}
