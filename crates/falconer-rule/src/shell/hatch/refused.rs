//! Options of many programs that a pattern with a star does not cover.

use crate::shell::option::is_long_option;
use crate::shell::word::Word;

/// Options of other programs that run programs, write files or read orders, as far as known.
const REFUSED: &[(&str, &[&str])] = &[
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("ag", &["--pager"]),
    ("ack", &["--pager", "--output", "--ackrc"]),
    (
        "make",
        &[
            "-f",
            "-C",
            "-I",
            "-E",
            "--file",
            "--makefile",
            "--directory",
            "--eval",
            "--include-dir",
        ],
    ),
    (
        "gmake",
        &[
            "-f",
            "-C",
            "-I",
            "-E",
            "--file",
            "--makefile",
            "--directory",
            "--eval",
        ],
    ),
    (
        "ssh",
        &[
            "-o", "-F", "-E", "-S", "-I", "-J", "-D", "-L", "-R", "-W", "-w", "-O",
        ],
    ),
    ("scp", &["-o", "-F", "-S", "-D", "-J"]),
    ("sftp", &["-o", "-F", "-S", "-D", "-J", "-b"]),
    (
        "rsync",
        &[
            "-e",
            "--rsh",
            "--rsync-path",
            "--daemon",
            "--config",
            "--log-file",
            "-M",
        ],
    ),
    (
        "wget",
        &[
            "-O",
            "-P",
            "-o",
            "-a",
            "-i",
            "-e",
            "--output-document",
            "--directory-prefix",
            "--output-file",
            "--execute",
            "--config",
            "--use-askpass",
            "--post-file",
            "--body-file",
            "--input-file",
        ],
    ),
    (
        "zip",
        &[
            "-T",
            "-TT",
            "-O",
            "--test",
            "--unzip-command",
            "--out",
            "--output-file",
        ],
    ),
    ("7z", &["-o"]),
    ("tcpdump", &["-z", "-w", "-Z"]),
    (
        "nmap",
        &["--script", "-oN", "-oX", "-oG", "-oA", "-iL", "--datadir"],
    ),
    ("gcc", &["-wrapper", "-fplugin", "-specs", "-B"]),
    ("clang", &["-fplugin", "-load", "-B"]),
    ("docker", &["-H", "--host", "--config", "-c", "--context"]),
    (
        "kubectl",
        &["--kubeconfig", "--cache-dir", "--server", "-s"],
    ),
    (
        "file",
        &[
            "-C",
            "-m",
            "-f",
            "--compile",
            "--magic-file",
            "--files-from",
        ],
    ),
    ("tee", &["--output-error"]),
    (
        "dpkg",
        &[
            "--pre-invoke",
            "--post-invoke",
            "--admindir",
            "--root",
            "--instdir",
        ],
    ),
    ("apt-get", &["-o", "-c", "--option", "--config-file"]),
    ("apt", &["-o", "-c", "--option", "--config-file"]),
    (
        "pip",
        &[
            "--python",
            "--config-settings",
            "--global-option",
            "--build-option",
            "--log",
            "--target",
            "-t",
            "--prefix",
            "--root",
        ],
    ),
    (
        "pip3",
        &[
            "--python",
            "--config-settings",
            "--global-option",
            "--build-option",
            "--log",
            "--target",
            "-t",
            "--prefix",
            "--root",
        ],
    ),
];

/// The first option with which a program leaves its frame.
pub(super) fn refused_option<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w Word> {
    const WITH_OPTION_FILES: &[&str] = &[
        "ar", "c++", "cc", "clang", "clang++", "g++", "gcc", "jar", "java", "javac", "ld",
    ];
    // `@file` is replaced by the words in the file.
    if WITH_OPTION_FILES.contains(&name)
        && let Some(list) = arguments.iter().find(|it| it.unquoted().starts_with('@'))
    {
        return Some(list);
    }
    let (_, refused) = REFUSED.iter().find(|(known, _)| *known == name)?;
    let own = arguments.iter().take_while(|word| word.text != "--");
    own.into_iter().find(|word| {
        let text = word.unquoted();
        let sets_variable = matches!(name, "make" | "gmake") && text.contains('=');
        sets_variable || is_refused(text, refused)
    })
}

/// Whether an option is meant, also shortened, glued to its value or in a cluster.
fn is_refused(text: &str, refused: &[&str]) -> bool {
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let in_cluster = |option: &str| {
        let letter = option.strip_prefix('-').filter(|rest| rest.len() == 1);
        letter.is_some_and(|letter| short.is_some_and(|cluster| cluster.contains(letter)))
    };
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    is_long_option(text, refused)
        || refused.iter().any(|option| {
            let is_word = option.len() > 2 && !option.starts_with("--");
            in_cluster(option) || is_word && (name == *option || name == format!("-{option}"))
        })
}
