//! The programs that only read, with the options they may be given.
//!
//! Left out on purpose: options that write, run programs, read lists of files or options from
//! files, and follow links below the directories they are given.

use super::grammar::{Operand, Options, options, parse};
use super::read_only::{Grade, Reading};
use super::word::Word;

/// What the words of a program are that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    None,
    /// No files.
    Texts,
    Files,
    /// Files, or the current directory if there are none.
    FilesOrHere,
    /// Files, whatever their names: no option does harm, not even one from a pattern.
    AnyFiles,
    /// Files; directories are compared through the links in them.
    FilesThroughLinks,
    /// At most one: the second would be written.
    OneFile,
    /// A pattern or program first, unless an option gives it, then files.
    PatternThenFiles,
}

pub(super) struct Program {
    name: &'static str,
    grade: Grade,
    operands: Operands,
    pub(super) options: Options,
}

const fn smallest(name: &'static str, operands: Operands, options: Options) -> Program {
    Program {
        name,
        grade: Grade::Smallest,
        operands,
        options,
    }
}

const fn confined(name: &'static str, operands: Operands, options: Options) -> Program {
    Program {
        name,
        grade: Grade::Confined,
        operands,
        options,
    }
}

const GREP: Options = options(
    "EFGPivwxcLlqsoabHhnTUzrIy",
    "ABCmeD",
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case \
     --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? \
     --files-without-match --files-with-matches --max-count= --only-matching --quiet --silent \
     --no-messages --byte-offset --with-filename --no-filename --label= --line-number \
     --initial-tab --null --null-data --after-context= --before-context= --context= --text \
     --binary-files= --exclude= --exclude-dir= --include= --recursive --line-buffered --regexp=",
)
.with_numbers();

const SUM: Options = options("btz", "", "--binary --text --tag --zero");

const PROGRAMS: &[Program] = &[
    smallest("arch", Operands::None, options("", "", "")),
    confined("base32", Operands::Files, options("di", "w", "--decode --wrap=")),
    confined("base64", Operands::Files, options("di", "w", "--decode --wrap=")),
    smallest(
        "basename",
        Operands::Texts,
        options("az", "s", "--multiple --suffix= --zero"),
    ),
    confined("b2sum", Operands::Files, SUM),
    confined("cal", Operands::Texts, options("13jmyhswN", "", "")),
    smallest(
        "cat",
        Operands::AnyFiles,
        options(
            "AbeEnstTuv",
            "",
            "--number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting \
             --squeeze-blank",
        ),
    ),
    confined("cksum", Operands::Files, options("", "a", "--algorithm=")),
    confined(
        "cmp",
        Operands::Files,
        options("bls", "ni", "--print-bytes --verbose --quiet --silent --bytes="),
    ),
    confined(
        "column",
        Operands::Files,
        options("tnexJ", "scoNR", "--table --json --separator= --output-separator="),
    ),
    confined(
        "comm",
        Operands::Files,
        options(
            "123z",
            "",
            "--check-order --nocheck-order --total --output-delimiter= --zero-terminated",
        ),
    ),
    confined(
        "cut",
        Operands::Files,
        options(
            "snz",
            "bcdf",
            "--bytes= --characters= --delimiter= --fields= --only-delimited --complement \
             --output-delimiter= --zero-terminated",
        ),
    ),
    confined(
        "df",
        Operands::Files,
        options(
            "ahHiklPTv",
            "Bxt",
            "--all --human-readable --inodes --local --portability --print-type --total --type= \
             --exclude-type= --block-size= --si --output?",
        ),
    ),
    confined(
        "diff",
        Operands::FilesThroughLinks,
        options(
            "uqwbBciyNatTpsEZde",
            "UCWIFx",
            "--unified? --context? --brief --side-by-side --color? --ignore-case \
             --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-tab-expansion \
             --ignore-trailing-space --ignore-matching-lines= --new-file --text --minimal --width= \
             --label= --strip-trailing-cr --suppress-common-lines --show-c-function \
             --report-identical-files --no-dereference --exclude= --left-column --normal --ed --rcs",
        )
        .with_numbers(),
    ),
    smallest("dirname", Operands::Texts, options("z", "", "--zero")),
    confined(
        "du",
        Operands::FilesOrHere,
        options(
            "abchkmsxS0l",
            "dBt",
            "--all --apparent-size --bytes --total --human-readable --max-depth= --separate-dirs \
             --si --summarize --threshold= --exclude= --one-file-system --block-size= --inodes",
        ),
    ),
    confined("egrep", Operands::PatternThenFiles, GREP),
    confined("expand", Operands::Files, options("i", "t", "--initial --tabs=")),
    confined("fgrep", Operands::PatternThenFiles, GREP),
    smallest(
        "file",
        Operands::Files,
        options(
            "bihkNnr0",
            "F",
            "--brief --mime --mime-type --mime-encoding --no-dereference --separator= --keep-going",
        ),
    ),
    confined("fmt", Operands::Files, options("csu", "wp", "--width=").with_numbers()),
    confined("fold", Operands::Files, options("bs", "w", "--width= --bytes --spaces").with_numbers()),
    confined("free", Operands::None, options("bkmghltwv", "", "--human --mega --giga --total --wide --si")),
    confined("grep", Operands::PatternThenFiles, GREP),
    confined("groups", Operands::Texts, options("", "", "")),
    smallest(
        "head",
        Operands::Files,
        options("qvz", "nc", "--lines= --bytes= --quiet --silent --verbose --zero-terminated").with_numbers(),
    ),
    confined("hexdump", Operands::Files, options("bcCdovx", "ns", "--canonical --length= --skip=")),
    smallest("hostname", Operands::None, options("", "", "")),
    smallest("id", Operands::Texts, options("ugGnrz", "", "--user --group --groups --name --real")),
    confined("join", Operands::Files, options("i", "12taeojv", "--ignore-case --header")),
    smallest(
        "ls",
        Operands::Files,
        options(
            "aAbBcCdfFghiGklmnNopqQrRsStuUvxX1Z",
            "ITw",
            "--all --almost-all --author --color? --directory --full-time \
             --group-directories-first --human-readable --ignore= --ignore-backups --inode \
             --no-group --numeric-uid-gid --recursive --reverse --size --sort= --time= \
             --time-style= --format= --hide= --classify? --file-type --escape --quote-name \
             --literal --block-size= --si --width= --indicator-style= --zero",
        ),
    ),
    confined("md5sum", Operands::Files, SUM),
    confined(
        "nl",
        Operands::Files,
        options("p", "bdfhilnsvw", "--body-numbering= --number-width= --number-format= --starting-line-number="),
    ),
    smallest("nproc", Operands::None, options("", "", "--all --ignore=")),
    confined(
        "od",
        Operands::Files,
        options("abcdfilosxv", "AjNt", "--address-radix= --format= --read-bytes= --skip-bytes= --output-duplicates"),
    ),
    confined("paste", Operands::Files, options("sz", "d", "--serial --delimiters= --zero-terminated")),
    smallest("pwd", Operands::None, options("LP", "", "")),
    confined("readlink", Operands::Files, options("efmnqsvz", "", "--canonicalize --canonicalize-existing --canonicalize-missing --no-newline")),
    confined("realpath", Operands::Files, options("emPqsz", "", "--canonicalize-existing --canonicalize-missing --no-symlinks --quiet")),
    confined("rev", Operands::Files, options("", "", "")),
    confined(
        "rg",
        Operands::PatternThenFiles,
        options(
            "iSsvwxclnNoqHIFaPu0U.p",
            "eABCmgtTMdjEr",
            "--files --hidden --no-ignore --no-ignore-vcs --ignore-case --smart-case \
             --case-sensitive --count --count-matches --files-with-matches --files-without-match \
             --line-number --no-line-number --heading --no-heading --with-filename --no-filename \
             --only-matching --invert-match --word-regexp --line-regexp --fixed-strings --multiline \
             --multiline-dotall --json --stats --trim --vimgrep --column --null --pcre2 --text \
             --type-list --unrestricted --no-messages --passthru --no-config --pretty --quiet \
             --glob= --iglob= --type= --type-not= --max-count= --max-depth= --max-filesize= \
             --max-columns= --after-context= --before-context= --context= --color= --colors= \
             --replace= --regexp= --sort= --sortr= --threads= --encoding=",
        ),
    ),
    confined("sha1sum", Operands::Files, SUM),
    confined("sha224sum", Operands::Files, SUM),
    confined("sha256sum", Operands::Files, SUM),
    confined("sha384sum", Operands::Files, SUM),
    confined("sha512sum", Operands::Files, SUM),
    confined("shasum", Operands::Files, options("bt", "a", "--algorithm=")),
    confined(
        "sort",
        Operands::Files,
        options(
            "bdfgiMhnRrVcCmsuz",
            "kt",
            "--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort \
             --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort \
             --reverse --sort= --version-sort --check? --key= --merge --stable --field-separator= \
             --unique --zero-terminated",
        ),
    ),
    smallest(
        "stat",
        Operands::Files,
        options("tf", "c", "--format= --printf= --terse --file-system"),
    ),
    confined("strings", Operands::Files, options("af", "nte", "--all --bytes= --radix= --encoding= --print-file-name")),
    confined("tac", Operands::Files, options("br", "s", "--before --regex --separator=")),
    smallest(
        "tail",
        Operands::Files,
        options("qvz", "nc", "--lines= --bytes= --quiet --silent --verbose --zero-terminated").with_numbers(),
    ),
    confined("tr", Operands::Texts, options("cCdst", "", "--complement --delete --squeeze-repeats --truncate-set1")),
    confined(
        "tree",
        Operands::FilesOrHere,
        options(
            "adfipsugDhFqNQtrcUnACJX",
            "",
            "--dirsfirst --du --noreport --gitignore --prune --sort= --filelimit= --charset= --inodes --device",
        )
        // In `-Lo 2 x` the level is 2, and the output goes to x.
        .apart("LPI"),
    ),
    smallest("tty", Operands::None, options("s", "", "")),
    smallest("type", Operands::Texts, options("aptP", "", "")),
    smallest(
        "uname",
        Operands::None,
        options("asnrvmpio", "", "--all --kernel-name --kernel-release --machine --operating-system"),
    ),
    confined("unexpand", Operands::Files, options("a", "t", "--all --tabs=")),
    confined(
        "uniq",
        Operands::OneFile,
        options(
            "cdDiuz",
            "fsw",
            "--count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars= \
             --zero-terminated --all-repeated? --group?",
        ),
    ),
    smallest("uptime", Operands::None, options("ps", "", "--pretty --since")),
    smallest(
        "wc",
        Operands::Files,
        options("clmwL", "", "--lines --words --chars --bytes --max-line-length"),
    ),
    smallest("which", Operands::Texts, options("as", "", "")),
    smallest("whoami", Operands::None, options("", "", "")),
];

pub(super) fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|known| known.name == name)
}

/// What a program looks at, if it is known and does nothing else.
pub(super) fn check(name: &str, arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let known = find(name)?;
    if name == "strings" && arguments.iter().any(may_be_list) {
        return None;
    }
    let parsed = parse(&known.options, arguments)?;
    reading.grade = reading.grade.max(known.grade);
    let gives_pattern = parsed.has(&["e", "regexp", "files", "type-list"]);
    let searches_trees = matches!(name, "rg") || parsed.has(&["r", "recursive"]);
    let operands = parsed.operands.as_slice();
    let files = match known.operands {
        Operands::None if operands.is_empty() => return Some(()),
        Operands::Texts if operands.iter().all(|it| it.word.literal.is_some()) => return Some(()),
        Operands::None | Operands::Texts => return None,
        Operands::OneFile => match operands {
            [] => operands,
            [one] if one.word.literal.is_some() => operands,
            _ => return None,
        },
        Operands::PatternThenFiles if gives_pattern => operands,
        Operands::PatternThenFiles => {
            let (pattern, files) = operands.split_first()?;
            pattern.word.literal.as_ref()?;
            files
        }
        _ => operands,
    };
    let is_here = known.operands == Operands::FilesOrHere
        || known.operands == Operands::PatternThenFiles && searches_trees;
    if is_here && files.is_empty() {
        reading.files.push(Word::plain("."));
    }
    reading.follows_links |= known.operands == Operands::FilesThroughLinks;
    let is_any = known.operands == Operands::AnyFiles;
    files
        .iter()
        .try_for_each(|file| take_file(*file, is_any, reading))
}

/// `@file` is replaced by the words in the file, wherever it stands.
fn may_be_list(word: &Word) -> bool {
    word.unquoted().starts_with(['@', '*', '?', '['])
}

/// Takes note of a file, unless it could be an option, or a list of them.
pub(super) fn take_file(file: Operand<'_>, is_any: bool, reading: &mut Reading) -> Option<()> {
    let text = file.word.literal.as_deref().or(file.word.glob.as_deref())?;
    if text == "-" {
        return Some(());
    }
    let may_be_option = text.starts_with(['*', '?', '[']) && file.word.glob.is_some();
    if may_be_option && !is_any && !file.is_after_dashes || text.starts_with('@') {
        return None;
    }
    reading.files.push(file.word.clone());
    Some(())
}
