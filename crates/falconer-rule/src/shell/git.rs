//! The commands of git that only look, with the options they may be given.
//!
//! Left out on purpose: options that write, run programs (`--ext-diff`, `--textconv`, signatures),
//! read lists from files, leave the repository, or name another one.

use super::grammar::{Options, Parsed, options, parse};
use super::read_only::{Grade, Reading};
use super::word::Word;

pub(super) const LOG: Options = options(
    "pusRwbaWzigcmrtEFPqvD",
    "nSGLl",
    "--oneline --graph --all --branches? --tags? --remotes? --stat? --shortstat --numstat \
     --name-only --name-status --summary --patch --no-patch --patch-with-stat --cached --staged \
     --no-color --color? --color-words? --word-diff? --word-diff-regex= --decorate? --no-decorate \
     --abbrev-commit --no-abbrev-commit --abbrev? --no-abbrev --pretty? --format? --date= --since= \
     --until= --after= --before= --author= --committer= --grep= --all-match --invert-grep \
     --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges \
     --first-parent --reverse --topo-order --date-order --author-date-order --max-count= --skip= \
     --follow --full-history --left-right --left-only --right-only --cherry-pick --cherry-mark \
     --cherry --merge-base --no-ext-diff --no-textconv --ignore-all-space --ignore-space-change \
     --ignore-blank-lines --ignore-space-at-eol --unified? --diff-filter= --find-renames? \
     --find-copies? --relative? --no-relative --no-renames --minimal --patience --histogram \
     --diff-algorithm= --dirstat? --raw --full-index --binary --check --exit-code --quiet \
     --no-prefix --src-prefix= --dst-prefix= --inter-hunk-context= --function-context --text \
     --walk-reflogs --no-walk? --simplify-by-decoration --source --parents --children --boundary \
     --count --ignore-submodules? --pickaxe-all --pickaxe-regex --min-parents? --max-parents? \
     --ancestry-path --no-notes --compact-summary --no-mailmap --root --no-commit-id \
     --diff-merges= --cc --combined-all-paths --remerge-diff --show-pulls --ours --theirs --base \
     --objects --timestamp --header",
)
.glued("MCBUX")
.with_numbers();

const STATUS: Options = options(
    "sbvz",
    "",
    "--short --branch --porcelain? --long --verbose --untracked-files? --ignored? --show-stash \
     --ahead-behind --no-ahead-behind --renames --no-renames --column? --no-column \
     --find-renames? --ignore-submodules?",
)
.glued("uM");

const REV_PARSE: Options = options(
    "q",
    "",
    "--abbrev-ref? --short? --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir \
     --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository \
     --verify --quiet --symbolic-full-name --symbolic --all --absolute-git-dir \
     --show-superproject-working-tree --branches? --tags? --remotes? --revs-only --no-revs --flags \
     --no-flags --default=",
);

/// Lists of branches; `-d` would delete.
const BRANCH: Options = options(
    "arvlqi",
    "",
    "--list --all --remotes --show-current --verbose --contains* --no-contains* --merged* \
     --no-merged* --sort= --format= --points-at* --column? --no-column --color? --no-color \
     --ignore-case --abbrev? --no-abbrev --quiet",
);

/// Lists of tags; `-d` would delete, `-s` sign and `-v` verify.
const TAG: Options = options(
    "li",
    "",
    "--list --contains* --no-contains* --merged* --no-merged* --sort= --format= --points-at* \
     --column? --no-column --color? --no-color --ignore-case",
)
.glued("n");

const REFS: Options = options(
    "arvlsdqi",
    "",
    "--list --all --remotes --show-current --verbose --contains* --no-contains* --merged* \
     --no-merged* --sort= --format= --points-at* --column? --no-column --color? --no-color \
     --ignore-case --count= --head --heads --tags --hash? --verify --quiet --dereference --abbrev? \
     --no-abbrev",
)
.glued("n");

pub(super) const GREP: Options = options(
    "iIwvnlLcohHEFGPaWpqz",
    "eABCm",
    "--ignore-case --word-regexp --invert-match --line-number --files-with-matches --name-only \
     --files-without-match --count --extended-regexp --basic-regexp --fixed-strings --perl-regexp \
     --cached --untracked --heading --break --show-function --function-context --all-match --and \
     --or --not --max-depth= --max-count= --context= --after-context= --before-context= --color? \
     --no-color --quiet --text --full-name --column --only-matching --null --no-exclude-standard",
)
.with_numbers();

/// Commands whose operands are revisions and files.
const COMMANDS: &[(&str, Options)] = &[
    ("status", STATUS),
    ("log", LOG),
    ("show", LOG),
    ("diff", LOG),
    ("whatchanged", LOG),
    (
        "shortlog",
        options(
            "snec",
            "",
            "--numbered --summary --email --committer --all --since= --until= --after= --before= \
             --no-merges --author= --group= --branches? --tags?",
        )
        .with_numbers(),
    ),
    ("rev-list", LOG),
    ("diff-tree", LOG),
    ("diff-index", LOG),
    ("diff-files", LOG),
    ("rev-parse", REV_PARSE),
    ("grep", GREP),
    (
        "ls-files",
        options(
            "cdomsuktvz",
            "x",
            "--cached --deleted --others --modified --stage --unmerged --killed --exclude-standard \
             --full-name --error-unmatch --directory --eol --deduplicate --abbrev? --exclude= \
             --ignored --no-empty-directory --debug --format=",
        ),
    ),
    (
        "ls-tree",
        options(
            "drtlz",
            "",
            "--name-only --name-status --long --full-name --full-tree --object-only --abbrev? \
             --format=",
        ),
    ),
    (
        "blame",
        options(
            "bltfnscwpe",
            "L",
            "--date= --porcelain --line-porcelain --show-email --show-name --show-number --root \
             --since= --no-progress --abbrev? --ignore-rev= --show-stats --first-parent",
        )
        .glued("MC"),
    ),
    (
        "describe",
        options(
            "",
            "",
            "--tags --all --always --long --dirty? --broken? --abbrev? --match= --exclude= \
             --contains --exact-match --first-parent --candidates=",
        ),
    ),
    (
        "merge-base",
        options(
            "a",
            "",
            "--all --is-ancestor --octopus --independent --fork-point",
        ),
    ),
    (
        "name-rev",
        options(
            "",
            "",
            "--tags --name-only --always --all --refs= --exclude= --no-undefined",
        ),
    ),
    ("for-each-ref", REFS),
    ("show-ref", REFS),
    (
        "count-objects",
        options("vH", "", "--verbose --human-readable"),
    ),
    ("cat-file", options("ptse", "", "")),
    (
        "check-ignore",
        options("vqn", "", "--verbose --quiet --non-matching --no-index"),
    ),
    ("cherry", options("v", "", "--abbrev?")),
    ("branch", BRANCH),
    ("tag", TAG),
    ("reflog", LOG),
    ("stash", LOG),
    ("symbolic-ref", options("q", "", "--short --quiet")),
    ("remote", options("v", "", "--verbose")),
    ("worktree", options("vz", "", "--porcelain --verbose")),
    (
        "config",
        options(
            "z",
            "",
            "--get --local --global --system --show-origin --show-scope --null --type=",
        ),
    ),
];

/// Commands whose first operand says what to do.
const ORDERS: &[&str] = &["reflog", "remote", "stash", "worktree"];

/// Whether the first operand stands in front: `git stash -- list` saves the file `list`.
fn is_order_first(words: &[Word], operands: &[&str]) -> bool {
    let first = words.first().and_then(|word| word.literal.as_deref());
    operands.is_empty() || first == operands.first().copied()
}

/// What git looks at, if it only looks.
pub(super) fn git(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    reading.grade = Grade::Confined;
    let is_global = |word: &&Word| {
        let text = word.literal.as_deref();
        matches!(text, Some("--no-pager" | "-P" | "--no-optional-locks"))
    };
    let globals = arguments.iter().take_while(is_global).count();
    let (command, rest) = arguments[globals..].split_first()?;
    let command = command.literal.as_deref()?;
    let (_, options) = COMMANDS.iter().find(|(name, _)| *name == command)?;
    let parsed = parse(options, rest)?;
    let operands = parsed.operands.iter().map(|it| it.word.literal.as_deref());
    let operands: Vec<&str> = operands.collect::<Option<_>>()?;
    let has_order = !ORDERS.contains(&command) || is_order_first(rest, &operands);
    (has_order && allows_operands(command, &operands, &parsed) && !runs_programs(&parsed))
        .then_some(())?;
    // Git may know an option in another form, and take its value for a file to compare.
    let words = parsed.operands.iter().map(|it| it.word);
    let words = words.chain(parsed.separate.iter().copied());
    reading.files.extend(words.cloned());
    Some(())
}

/// Whether a command that can also change something only looks, given these operands.
fn allows_operands(command: &str, operands: &[&str], parsed: &Parsed<'_>) -> bool {
    let lists = || operands.is_empty() || parsed.has(&["list", "l"]);
    match command {
        "branch" | "tag" => lists(),
        "reflog" => matches!(operands, [] | ["show", ..]),
        "stash" => matches!(operands, ["list" | "show", ..]),
        "worktree" => matches!(operands, ["list"]),
        "remote" => matches!(operands, [] | ["get-url", _]),
        "symbolic-ref" => operands.len() == 1,
        "config" => {
            parsed.has(&["get"]) && matches!(operands, [key] if is_shown(key))
                || !parsed.has(&["get"]) && matches!(operands, ["get", key] if is_shown(key))
        }
        "cat-file" => !parsed.options.is_empty(),
        _ => true,
    }
}

/// Whether the value of a key holds no secret.
fn is_shown(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let sections = [
        "user.", "core.", "init.", "branch.", "pull.", "push.", "remote.", "commit.",
    ];
    sections.iter().any(|section| key.starts_with(section)) && !key.contains("proxy")
}

/// Formats that ask another program about signatures, or take their text from the configuration.
fn runs_programs(parsed: &Parsed<'_>) -> bool {
    const KNOWN: &[&str] = &[
        "oneline",
        "short",
        "medium",
        "full",
        "fuller",
        "reference",
        "email",
        "raw",
        "mboxrd",
    ];
    let mut formats = parsed.values(&["pretty", "format", "sort"]);
    let asks = formats.any(|format| format.contains("%G") || format.contains("signature"));
    let is_text = |format: &str| {
        format.starts_with("format:") || format.starts_with("tformat:") || format.contains('%')
    };
    let mut named = parsed.values(&["pretty", "format"]);
    let is_configured = named.any(|format| !KNOWN.contains(&format) && !is_text(format));
    asks || is_configured
}
