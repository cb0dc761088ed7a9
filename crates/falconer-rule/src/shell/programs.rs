//! The programs that only read, with the options that would make them do more.

use super::option::{has_short_option, is_long_option};
use super::read_only::{Reading, glues_path, option_value};
use super::word::Word;

/// What a program looks at, if it is known and does nothing else.
pub(super) fn check(name: &str, arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let known = PROGRAMS.iter().find(|known| known.name == name)?;
    known.check(arguments, reading)
}

/// What the words of a program are that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// No files.
    Texts,
    Files,
    /// At most one: the second would be written.
    OneFile,
    /// A pattern or program first, then files.
    PatternThenFiles,
    None,
}

struct Known {
    name: &'static str,
    operands: Operands,
    /// Letters that are refused.
    short: &'static str,
    /// Options that are refused.
    long: &'static [&'static str],
}

const fn known(
    name: &'static str,
    operands: Operands,
    short: &'static str,
    long: &'static [&'static str],
) -> Known {
    Known {
        name,
        operands,
        short,
        long,
    }
}

const PROGRAMS: &[Known] = &[
    known("arch", Operands::None, "", &[]),
    known("basename", Operands::Texts, "", &[]),
    known("cat", Operands::Files, "", &[]),
    known("cksum", Operands::Files, "c", &["--check", "--files0-from"]),
    known("cmp", Operands::Files, "", &[]),
    known("comm", Operands::Files, "", &[]),
    known("cut", Operands::Files, "", &[]),
    known(
        "date",
        Operands::Texts,
        "sfr",
        &["--set", "--file", "--reference"],
    ),
    known("df", Operands::Files, "", &[]),
    known(
        "diff",
        Operands::Files,
        "",
        &["--from-file", "--to-file", "--exclude-from"],
    ),
    known("dirname", Operands::Texts, "", &[]),
    known(
        "du",
        Operands::Files,
        "X",
        &["--files0-from", "--exclude-from"],
    ),
    known(
        "egrep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known("expr", Operands::Texts, "", &[]),
    known(
        "fgrep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known(
        "file",
        Operands::Files,
        "Cfmz",
        &["--compile", "--files-from", "--magic-file", "--uncompress"],
    ),
    known("fold", Operands::Files, "", &[]),
    known("free", Operands::None, "", &[]),
    known(
        "grep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known("head", Operands::Files, "", &[]),
    known("id", Operands::Texts, "", &[]),
    known("ls", Operands::Files, "", &[]),
    known("md5sum", Operands::Files, "c", &["--check"]),
    known("nl", Operands::Files, "", &[]),
    known("nproc", Operands::None, "", &[]),
    known("od", Operands::Files, "", &[]),
    known("paste", Operands::Files, "", &[]),
    known("printf", Operands::Texts, "v", &[]),
    known("pwd", Operands::None, "", &[]),
    known("readlink", Operands::Files, "", &[]),
    known("realpath", Operands::Files, "", &[]),
    known("rev", Operands::Files, "", &[]),
    known(
        "rg",
        Operands::PatternThenFiles,
        "fz",
        &[
            "--file",
            "--pre",
            "--pre-glob",
            "--hostname-bin",
            "--search-zip",
            "--ignore-file",
        ],
    ),
    known("seq", Operands::Texts, "", &[]),
    known("sha1sum", Operands::Files, "c", &["--check"]),
    known("sha256sum", Operands::Files, "c", &["--check"]),
    known("sha512sum", Operands::Files, "c", &["--check"]),
    known("sleep", Operands::Texts, "", &[]),
    known(
        "sort",
        Operands::Files,
        "oTS",
        &[
            "--output",
            "--compress-program",
            "--files0-from",
            "--temporary-directory",
            "--buffer-size",
            "--random-source",
        ],
    ),
    known("stat", Operands::Files, "", &[]),
    known("strings", Operands::Files, "T", &["--target"]),
    known("tac", Operands::Files, "", &[]),
    known("tail", Operands::Files, "", &[]),
    known("tr", Operands::Texts, "", &[]),
    known(
        "tree",
        Operands::Files,
        "oR",
        &["--fromfile", "--gitfile", "--infofile"],
    ),
    known("uname", Operands::None, "", &[]),
    known("uniq", Operands::OneFile, "", &[]),
    known("uptime", Operands::None, "", &[]),
    known("wc", Operands::Files, "", &["--files0-from"]),
    known("which", Operands::Texts, "", &[]),
    known("whoami", Operands::None, "", &[]),
];

impl Known {
    fn check(&self, arguments: &[Word], reading: &mut Reading) -> Option<()> {
        let mut operands = Vec::new();
        let mut options_end = false;
        let mut pattern_is_option = false;
        for word in arguments {
            let text = word.literal.as_deref().or(word.glob.as_deref())?;
            if options_end || text == "-" || !text.starts_with('-') {
                operands.push(word);
                continue;
            }
            options_end = text == "--";
            // An option that only a pattern would produce, or with a path glued to it.
            if word.glob.is_some() || has_short_option(text, self.short) || glues_path(text) {
                return None;
            }
            if is_long_option(text, self.long) {
                return None;
            }
            reading.files.extend(option_value(text));
            pattern_is_option |=
                has_short_option(text, "ef") || text.starts_with("--r") || text.starts_with("--f");
        }
        self.take_operands(&operands, pattern_is_option, reading)
    }

    fn take_operands(
        &self,
        operands: &[&Word],
        pattern_is_option: bool,
        reading: &mut Reading,
    ) -> Option<()> {
        let files = match self.operands {
            Operands::None if !operands.is_empty() => return None,
            Operands::OneFile if operands.len() > 1 => return None,
            Operands::Texts if operands.iter().all(|word| word.glob.is_none()) => &[],
            Operands::PatternThenFiles if !pattern_is_option => {
                operands.get(1..).unwrap_or_default()
            }
            _ => operands,
        };
        // Both `pattern` and `-` are not files.
        let files = files.iter().filter(|word| word.text != "-");
        reading.files.extend(files.map(|word| (*word).clone()));
        Some(())
    }
}
