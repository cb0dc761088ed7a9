//! The directories in which commands are run, and what changed in them.
//!
//! A scene holds `work`, where commands start, `home`, and `outside`, which no command may read.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the contents and in a name below `outside`; whoever prints it has read there.
pub(super) const SECRET: &str = "TOPSECRET";

/// A file of the work tree and of the repository that a rule may hide, and its text.
pub(super) const HIDDEN: &str = "hidden";
pub(super) const HIDDEN_TEXT: &str = "NOBODY-READS-THIS-TEXT";

/// Files of a scene, beside those that all have.
struct Scene {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    furnished: Furnished,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Furnished {
    /// Links, a bare repository, and a repository of its own.
    Fully,
    /// A repository whose configuration names programs.
    HostileRepository,
    /// Files only: patterns match names that are options.
    Sparsely,
}

const SCENES: &[Scene] = &[
    Scene {
        name: "plain",
        files: &[],
        furnished: Furnished::Fully,
    },
    Scene {
        name: "repository",
        files: &[],
        furnished: Furnished::HostileRepository,
    },
    Scene {
        name: "output",
        files: &[("-oPWNED", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "compress",
        files: &[("--compress-program=bash", ""), ("-S1k", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "expression",
        files: &[("--expression=1e touch PWNED", ""), ("-i", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "delete",
        files: &[("-delete", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "files",
        files: &[("--files0-from=list0", ""), ("-flink", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "links",
        files: &[("-RL", ""), ("@list", "../outside/secret\n"), ("k/a", "")],
        furnished: Furnished::Sparsely,
    },
    Scene {
        name: "two",
        files: &[("b", "b\n")],
        furnished: Furnished::Sparsely,
    },
];

/// The names of all scenes.
pub(super) fn names() -> Vec<&'static str> {
    SCENES.iter().map(|scene| scene.name).collect()
}

/// Makes all scenes below a directory.
pub(super) fn build(base: &Path) {
    for scene in SCENES {
        let root = base.join(scene.name);
        for name in ["work", "home", "outside/dir"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        outside(&root);
        let work = root.join("work");
        write(&work, "in", "b\na\nc\na\n");
        for (name, content) in scene.files {
            write(&work, name, content);
        }
        match scene.furnished {
            Furnished::Fully => furnish(&work, ""),
            Furnished::HostileRepository => furnish(&work, HOSTILE),
            Furnished::Sparsely => {
                write(&work, "data", &"touch PWNED\n".repeat(400));
                write(&work, "list0", "../outside/secret\0");
                let (link, to) = if work.join("k").is_dir() {
                    ("k/out", "../../outside/dir")
                } else {
                    ("link", "../outside/secret")
                };
                symlink(to, work.join(link)).unwrap();
            }
        }
    }
}

fn outside(root: &Path) {
    write(&root.join("outside"), "secret", "TOPSECRET content\n");
    write(&root.join("outside/dir"), "secret.txt", "TOPSECRET below\n");
    write(&root.join("outside/dir"), "TOPSECRET-name", "");
    write(&root.join("home"), ".bashrc", "# mine\n");
}

fn write(directory: &Path, name: &str, content: &str) {
    let file = directory.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// A configuration that runs a program wherever git looks for one.
const HOSTILE: &str = "\
[core]
\tfsmonitor = touch PWNED
\tpager = touch PWNED
\teditor = touch PWNED
\tsshCommand = touch PWNED
\thooksPath = hooks
\talternateRefsCommand = touch PWNED
[diff]
\texternal = touch PWNED
[diff \"x\"]
\ttextconv = touch PWNED
\tcommand = touch PWNED
[filter \"x\"]
\tclean = touch PWNED
\tsmudge = touch PWNED
\tprocess = touch PWNED
[log]
\tshowSignature = true
[gpg]
\tprogram = touch PWNED
[pager]
\tlog = touch PWNED
[alias]
\tst = !touch PWNED
";

fn furnish(work: &Path, config: &str) {
    for (name, content) in [
        ("data", "1,x\n2,y\n"),
        ("list", "../outside/secret\n"),
        ("list0", "../outside/secret\0"),
        ("four", "4 ../outside/secret\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("d/a", "a\n"),
        ("e/a", "b\n"),
        (
            "package.json",
            r#"{"name":"x","scripts":{"test":"touch PWNED"}}"#,
        ),
        ("x.awk", "BEGIN { system(\"touch PWNED\") }\n"),
        ("x.sed", "1e touch PWNED\n"),
        ("x.jq", "."),
        ("script", "touch PWNED\n"),
        (".gitattributes", "* diff=x filter=x\n"),
        ("sub/HEAD", "ref: refs/heads/main\n"),
        (
            "sub/config",
            "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = touch PWNED\n",
        ),
        ("sub/objects/info/x", ""),
        ("sub/refs/heads/x", ""),
    ] {
        write(work, name, content);
    }
    for (link, to) in [
        ("link", "../outside/secret"),
        ("a\\l", "../outside/secret"),
        ("xé", "../outside/secret"),
        ("d/secret.txt", "../../outside/dir/secret.txt"),
        ("d/out", "../../outside/dir"),
        ("o", "../outside"),
    ] {
        symlink(to, work.join(link)).unwrap();
    }
    for program in ["0/whoami", "hooks/post-index-change", "hooks/pre-commit"] {
        write(work, program, "#!/bin/sh\necho >PWNED\n");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(work.join(program), executable).unwrap();
    }
    write(work, HIDDEN, &format!("{HIDDEN_TEXT}\n"));
    repository(work);
    let file = work.join(".git/config");
    let own = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, own + config).unwrap();
    // Known to git and changed since, so that it is compared.
    write(work, "src/main.rs", "fn main() { }\n");
}

fn repository(work: &Path) {
    for arguments in [
        "init --quiet --initial-branch=main",
        "add in data src d/a e/a package.json .gitattributes",
        "-c user.name=a -c user.email=a@example.invalid commit --quiet --message=first",
        "add hidden",
        "-c user.name=a -c user.email=a@example.invalid commit --quiet --message=second",
    ] {
        let done = Command::new("git")
            .args(arguments.split(' '))
            .current_dir(work)
            .env_clear()
            .envs([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", "/nonexistent"),
            ])
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments}: {done:?}");
    }
}

/// Everything that can be seen of the files below a directory without reading them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Seen>);

/// A change of a file's content, owner or mode shows in its `ctime`, which nobody can set.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    mode: u32,
    inode: u64,
    /// Zero for directories: programs that tidy up after themselves change those.
    size: u64,
    changed: (i64, i64),
}

impl Snapshot {
    pub(super) fn of(directory: &Path) -> Self {
        let mut seen = BTreeMap::new();
        look(directory, directory, &mut seen);
        Self(seen)
    }

    /// The names that are new, gone or changed.
    pub(super) fn differences(&self, after: &Self) -> Vec<String> {
        let gone = self.0.keys().filter(|name| !after.0.contains_key(*name));
        let changed = after
            .0
            .iter()
            .filter(|(name, seen)| self.0.get(*name) != Some(*seen));
        let names = gone.chain(changed.map(|(name, _)| name));
        names.map(|name| name.display().to_string()).collect()
    }
}

fn look(root: &Path, directory: &Path, seen: &mut BTreeMap<PathBuf, Seen>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let file = !metadata.is_dir();
        let about = Seen {
            mode: metadata.mode(),
            inode: metadata.ino(),
            size: if file { metadata.size() } else { 0 },
            changed: if file {
                (metadata.ctime(), metadata.ctime_nsec())
            } else {
                (0, 0)
            },
        };
        seen.insert(path.strip_prefix(root).unwrap().to_owned(), about);
        if !file {
            look(root, &path, seen);
        }
    }
}

/// Gives everything below a directory to a user.
pub(super) fn give(directory: &Path, user: u32) {
    std::os::unix::fs::lchown(directory, Some(user), Some(user)).unwrap();
    if directory.symlink_metadata().unwrap().is_dir() {
        for entry in std::fs::read_dir(directory).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

/// Replaces a scene with a fresh copy.
pub(super) fn restore(templates: &Path, base: &Path, scene: &str) {
    let place = base.join(scene);
    // A command may have taken our rights away from its directories.
    let _ = std::fs::remove_dir_all(&place);
    let copied = Command::new("cp")
        .args(
            [
                b"-a".as_slice(),
                templates.join(scene).as_os_str().as_bytes(),
            ]
            .map(os),
        )
        .arg(&place)
        .status()
        .unwrap();
    assert!(copied.success(), "could not restore the scene {scene}");
}

fn os(bytes: &[u8]) -> &std::ffi::OsStr {
    std::ffi::OsStr::from_bytes(bytes)
}
