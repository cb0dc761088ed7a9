//! Tables for `locate`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{ExecutableProblem, FileKind, HostView, NamedBy, locate};
use crate::error::Error;

#[derive(Default)]
struct Machine {
    variables: HashMap<&'static str, &'static str>,
    files: HashMap<&'static str, FileKind>,
}

impl HostView for Machine {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).map(OsString::from)
    }

    fn kind(&self, path: &Path) -> FileKind {
        let known = path.to_str().and_then(|path| self.files.get(path));
        known.copied().unwrap_or(FileKind::Missing)
    }
}

fn machine(
    variables: &[(&'static str, &'static str)],
    files: &[(&'static str, FileKind)],
) -> Machine {
    Machine {
        variables: variables.iter().copied().collect(),
        files: files.iter().copied().collect(),
    }
}

const HOME: (&str, &str) = ("HOME", "/home/u");

#[test]
fn the_first_place_of_the_documented_order_wins() {
    use FileKind::{Directory, Executable, NotExecutable};
    type Row = (
        Option<&'static str>,
        &'static [(&'static str, &'static str)],
        &'static [(&'static str, FileKind)],
        &'static str,
    );
    let table: &[Row] = &[
        (
            Some("/opt/x/claude"),
            &[("FALCONER_CLAUDE_PATH", "/env/claude"), ("PATH", "/bin")],
            &[("/opt/x/claude", Executable), ("/env/claude", Executable)],
            "/opt/x/claude",
        ),
        (
            None,
            &[("FALCONER_CLAUDE_PATH", "/env/claude"), ("PATH", "/bin")],
            &[("/env/claude", Executable), ("/bin/claude", Executable)],
            "/env/claude",
        ),
        (
            None,
            &[("FALCONER_CLAUDE_PATH", ""), ("PATH", "/a:/b")],
            &[("/a/claude", NotExecutable), ("/b/claude", Executable)],
            "/b/claude",
        ),
        (
            None,
            &[("PATH", "/a:/b"), HOME],
            &[
                ("/a/claude", Directory),
                ("/home/u/.local/bin/claude", Executable),
            ],
            "/home/u/.local/bin/claude",
        ),
        (
            None,
            &[HOME],
            &[
                ("/home/u/.claude/local/claude", Executable),
                ("/home/u/.local/bin/claude", Executable),
            ],
            "/home/u/.claude/local/claude",
        ),
        (
            None,
            &[HOME],
            &[("/home/u/.bun/bin/claude", Executable)],
            "/home/u/.bun/bin/claude",
        ),
        (
            None,
            &[HOME],
            &[("/home/u/.yarn/bin/claude", Executable)],
            "/home/u/.yarn/bin/claude",
        ),
        (
            None,
            &[HOME],
            &[("/home/u/node_modules/.bin/claude", Executable)],
            "/home/u/node_modules/.bin/claude",
        ),
        (
            None,
            &[HOME],
            &[("/home/u/.npm-global/bin/claude", Executable)],
            "/home/u/.npm-global/bin/claude",
        ),
        (
            None,
            &[],
            &[("/usr/local/bin/claude", Executable)],
            "/usr/local/bin/claude",
        ),
        (
            None,
            &[],
            &[("/opt/homebrew/bin/claude", Executable)],
            "/opt/homebrew/bin/claude",
        ),
    ];
    for (explicit, variables, files, expected) in table {
        let found = locate(explicit.map(Path::new), &machine(variables, files)).unwrap();
        assert_eq!(found, PathBuf::from(expected));
    }
}

#[test]
fn a_named_path_is_refused_and_never_replaced_by_another_one() {
    use FileKind::{Directory, Executable, Missing, NotExecutable};
    let table = [
        (Missing, ExecutableProblem::Missing, "no such file"),
        (Directory, ExecutableProblem::Directory, "it is a directory"),
        (NotExecutable, ExecutableProblem::NotExecutable, "chmod +x"),
    ];
    for (kind, expected, text) in table {
        for named_by in [NamedBy::Option, NamedBy::Variable] {
            let variables: &[_] = match named_by {
                NamedBy::Option => &[("PATH", "/bin")],
                NamedBy::Variable => &[("PATH", "/bin"), ("FALCONER_CLAUDE_PATH", "/x/claude")],
            };
            let host = machine(
                variables,
                &[("/x/claude", kind), ("/bin/claude", Executable)],
            );
            let explicit = (named_by == NamedBy::Option).then(|| Path::new("/x/claude"));
            let error = locate(explicit, &host).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
            assert!(error.to_string().contains("/x/claude"), "{error}");
            assert!(error.to_string().contains(&named_by.to_string()), "{error}");
            let Error::CliUnusable {
                problem,
                named_by: by,
                ..
            } = error
            else {
                panic!("another error")
            };
            assert_eq!((problem, by), (expected, named_by));
        }
    }
}

#[test]
fn a_miss_names_every_place_and_what_to_do() {
    let host = machine(&[("PATH", "/a:relative::/b"), HOME], &[]);
    let error = locate(None, &host).unwrap_err();
    let text = error.to_string();
    let Error::CliNotFound { searched } = error else {
        panic!("another error")
    };
    assert!(searched.len() > 10, "{searched:?}");
    for place in &searched {
        assert!(text.contains(&place.display().to_string()), "{text}");
        assert!(place.is_absolute(), "{}", place.display());
    }
    for advice in [
        "npm install -g @anthropic-ai/claude-code",
        "/login",
        "ANTHROPIC_API_KEY",
    ] {
        assert!(text.contains(advice), "{text}");
    }
}

#[test]
fn a_place_is_searched_once() {
    let host = machine(&[("PATH", "/usr/local/bin:/usr/local/bin"), HOME], &[]);
    let Error::CliNotFound { searched } = locate(None, &host).unwrap_err() else {
        panic!("another error")
    };
    let mut unique = searched.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), searched.len());
}
