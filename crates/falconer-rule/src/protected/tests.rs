//! Tests of protected places.

use std::path::Path;

use serde_json::{Value, json};

use super::{MOST_NAMES, TABLE, is_named, mentioned, names, protected_by};
use crate::call::Call;

/// A project with a repository, a repository without a work tree, and links.
fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for directory in [".git/hooks", "bare/objects", "src", "home"] {
        std::fs::create_dir_all(root.path().join(directory)).expect("a directory");
    }
    for file in [".git/config", "bare/HEAD", "bare/config", "in"] {
        std::fs::write(root.path().join(file), "").expect("a file");
    }
    std::os::unix::fs::symlink(".git", root.path().join("link")).expect("a link");
    root
}

fn is_asked(root: &Path, tool: &str, input: &Value) -> bool {
    let home = root.join("home");
    protected_by(&Call::new(tool, input, root).home(&home)).is_some()
}

#[test]
fn every_name_of_the_table_is_protected_with_everything_below() {
    for name in names::LISTS.iter().copied().flatten() {
        assert_eq!(name.to_lowercase(), **name, "{name}");
        assert!(name.split('/').count() <= MOST_NAMES, "{name}");
        for path in [
            format!("/a/{name}"),
            format!("/a/{name}/b/c"),
            format!("/a/{}", name.to_uppercase()),
        ] {
            assert!(is_named(Path::new(&path)), "{path}");
        }
        assert!(mentioned(&format!("x {name} y")).is_some(), "{name}");
    }
    let count: usize = names::LISTS.iter().map(|list| list.len()).sum();
    assert_eq!(count, TABLE.len(), "a name is in the table twice");
    for path in [
        "/a/src/main.rs",
        "/a/.gitignore",
        "/a/.github/x",
        "/a/config.toml",
        "/a/workflows/x",
    ] {
        assert!(!is_named(Path::new(path)), "{path}");
    }
}

#[test]
fn file_tools_are_asked_about_protected_places() {
    let root = project();
    let table = [
        (".git/config", true),
        (".claude-x/settings.json", true),
        (".config/falconer/config.toml", true),
        (".local/state/falconer/token", true),
        ("xdg/falconer/token", true),
        ("link/hooks/x", true),
        ("bare/config", true),
        ("bare/hooks/post-merge", true),
        ("bare/objects/x", true),
        ("new/HEAD", true),
        ("new/config", false),
        ("src/config", false),
        ("src/head", false),
    ];
    for (path, expected) in table {
        let input = json!({"file_path": path});
        assert_eq!(is_asked(root.path(), "Write", &input), expected, "{path}");
        assert!(!is_asked(root.path(), "Read", &input), "Read {path}");
        let input = json!({"path": path});
        assert_eq!(
            is_asked(root.path(), "mcp__disk__save", &input),
            expected,
            "a server and {path}"
        );
    }
}

#[test]
fn commands_are_asked_about_protected_places_whatever_program_writes() {
    let root = project();
    let asked = [
        "sed -i s/a/b/ .git/config",
        "sed -n 'w .git/hooks/pre-commit' in",
        "sort -o .git/hooks/x in",
        "sort -o.git/hooks/x in",
        "sort -uo.git/hooks/x in",
        "sort --output=.git/hooks/x in",
        "cp -t .git/hooks in",
        "cp -vt.git/hooks in",
        "cp --target-directory=.git/hooks in",
        "cp in .g*/config",
        "cp in link/config",
        "cp in .GIT/config",
        "mv in bare/hooks/x",
        "cp in new/HEAD",
        "curl -o .git/hooks/x http://a",
        "curl http://a -o.git/hooks/x",
        "perl -i -pe s/a/b/ .git/config",
        "git mv in .mcp.json",
        "git checkout -- .github/workflows/x.yml",
        "git -C .git add x",
        "dd if=in of=.git/config",
        "tar xf in -C .git",
        "python3 -c \"open('.git/config', 'w')\"",
        "bash -c 'echo x > .git/config'",
        "tee .envrc",
        "ln -s in ~/.bashrc",
        "sudo tee ~/.profile",
        "xargs rm .npmrc",
        "F=.git/config make",
        "echo x > .git/config",
        "echo x >> ./link/config",
        "cd .git && make",
        "cd .git/hooks; make post-merge",
        "make --file=$X/.git/config",
        "make .*/config",
        "rsync in host:.ssh/authorized_keys",
        "falconer trust grant --yes --digest x",
        "/usr/bin/falconer approve id yes",
        "env -i falconer config set run.mode x",
        "timeout 9 nice falconer trust grant",
        "falconer $X grant",
        "falconer login --json",
        "x=$(falconer trust grant)",
        "sh -c 'falconer trust grant'",
    ];
    let free = [
        "cat .git/config",
        "ls .git/hooks",
        "grep -r x .github/workflows",
        "git add .github/workflows/ci.yml",
        "git commit -m 'change .git/config' .gitmodules",
        "git reset --hard HEAD",
        "git diff HEAD~2 -- src",
        "git push origin HEAD",
        "make all",
        "cp in src/out",
        "echo .git/config",
        "sed -i s/a/b/ src/main.rs",
        "prettier --write src/**/*.ts",
        "cargo test --manifest-path src/Cargo.toml",
        "rm -f *.o",
        "falconer doctor",
        "cargo test -p falconer trust-me",
        "rm crates/falconer/approve/x",
    ];
    for (commands, expected) in [(&asked[..], true), (&free[..], false)] {
        for command in commands {
            let input = json!({ "command": command });
            assert_eq!(is_asked(root.path(), "Bash", &input), expected, "{command}");
        }
    }
}

#[test]
fn protected_names_are_found_in_commands_that_cannot_be_taken_apart() {
    let root = project();
    let words = "a ".repeat(5_000);
    for name in [
        ".git/config",
        ".g''it/config",
        ".g\\it/config",
        "\".git\"/config",
    ] {
        let input = json!({ "command": format!("cp {words} {name}") });
        assert!(is_asked(root.path(), "Bash", &input), "{name}");
    }
}

#[test]
fn shells_in_shells_hide_nothing() {
    let root = project();
    let nested = |command: &str, shells: usize| {
        (0..shells).fold(command.to_owned(), |inner, _| {
            let escaped: String = inner
                .chars()
                .flat_map(|it| match it {
                    '\\' | '"' | '$' | '`' => vec!['\\', it],
                    _ => vec![it],
                })
                .collect();
            format!("sh -c \"{escaped}\"")
        })
    };
    for shells in 0..8 {
        for (command, expected) in [("cp in .g''it/config", true), ("cp in out", false)] {
            let input = json!({ "command": nested(command, shells) });
            let asked = is_asked(root.path(), "Bash", &input);
            assert_eq!(asked, expected, "{command} in {shells} shells");
        }
    }
}

#[test]
fn commands_that_reach_protected_places_in_other_ways_are_asked_about() {
    let root = project();
    let table = [
        ("bash -c 'echo > .g\"i\"t/config'", true),
        ("sh -c \"cp in .g''it/config\"", true),
        ("eval \"cp in .g'i't/config\"", true),
        ("echo 'cp in .git/config' | sh", true),
        ("echo .git/config | xargs tee", true),
        ("printf .git/config | xargs -I{} cp in {}", true),
        ("ls -d .g* | xargs rm -rf", true),
        ("rm -rf .", true),
        ("rm -rf ..", true),
        ("rm -rf src", false),
        ("rm -r ./", true),
        ("mv . ../x", true),
        ("chmod -R 777 .", true),
        ("cp -r . /tmp/x", true),
        ("cp -r src /tmp/x", false),
        ("rsync -a src/ .", true),
        ("find . -delete", true),
        ("find . -name config -delete", true),
        ("find . -name '*' -delete", true),
        ("find . -name '*.pyc' -delete", false),
        ("find . -name '*.pyc' -o -type f -delete", true),
        ("find . -name '*.rs' -exec sed -i s/a/b/ {} +", false),
        ("cp in .g\u{131}t/config", true),
        ("cp in git~1/config", true),
        ("cp in .\u{17f}sh/x", true),
        ("git config core.hooksPath x", true),
        ("git config --get user.name", false),
        ("git config --list", false),
        ("crontab x", true),
        ("crontab -l", false),
        ("npm config set script-shell x", true),
        ("npm test", false),
        ("falconer approve", true),
        ("falconer trust --yes", true),
        ("/usr/bin/falconer token create", true),
        ("env falconer serve", true),
        ("falconer explain 'Bash(ls)'", false),
        ("ls | xargs wc", false),
        ("npm run build", false),
        ("echo done", false),
        // Configuration behind options, starters and runners.
        ("git -C . config core.hooksPath x", true),
        ("git -c a=b config core.hooksPath x", true),
        ("env -C . git config core.hooksPath x", true),
        ("sudo -u me git config --system core.hooksPath x", true),
        ("git config core.hooksPath list", true),
        ("git config core.hooksPath get", true),
        ("git config get user.name", false),
        ("git -C src config --list", false),
        ("git clone -c core.hooksPath=/x https://h.invalid/r", true),
        ("git clone --template=x https://h.invalid/r", true),
        ("git clone https://h.invalid/r", false),
        ("git init --template=x y", true),
        ("git init y", false),
        ("git lfs install", true),
        ("git lfs ls-files", false),
        ("git maintenance start", true),
        ("git submodule add ./x y", true),
        ("git submodule update", false),
        ("pre-commit install", true),
        ("pre-commit run", false),
        ("npx husky init", true),
        ("lefthook install", true),
        ("npm c set script-shell x", true),
        ("npm config set a b -l", true),
        ("npm config get registry", false),
        ("npm --prefix x config set a b", true),
        ("npm --prefix x test", false),
        ("npm install", false),
        ("conda config --add channels x", true),
        ("code --install-extension x", true),
        ("code src/main.rs", false),
        ("gpg --import x", true),
        ("gpg --verify x", false),
        ("ssh-keygen -t ed25519", true),
        ("ssh-keygen -lf x", false),
        ("mise trust", true),
        ("mise install", false),
        ("go env -w CC=x", true),
        ("go env CC", false),
        ("codex mcp add x", true),
        // Files in the scripts of sed.
        ("sed -n 'w.git/config' in", true),
        ("sed 's/a/b/w.git/config' in", true),
        ("sed -n '1w.git/hooks/pre-commit' in", true),
        ("sed -n 's/raw/row/p' in", false),
        ("sed -i 's/a/b/' in", false),
        // Words that come from elsewhere.
        ("xargs -I{} cp in {} <<< .git/config", true),
        ("xargs tee <<E\n.git/config\nE", true),
        ("f=falconer; $f trust grant", true),
        ("echo trust grant | xargs falconer", true),
        ("echo 'falconer trust grant' | sh", true),
        ("sh <<< 'falconer trust grant'", true),
        ("fakeroot falconer trust grant", true),
        ("falconer-claude -p x", true),
        ("falconer demo", false),
        ("cd falconer && make", false),
        ("cat <<E > notes\nsee .git/config\nE", false),
    ];
    for (command, expected) in table {
        let input = json!({ "command": command });
        assert_eq!(is_asked(root.path(), "Bash", &input), expected, "{command}");
    }
}

#[test]
fn guarded_files_are_asked_about_like_protected_ones() {
    use crate::location::Location;
    use crate::place::Place;

    let root = project();
    std::fs::create_dir(root.path().join("tools")).expect("a directory");
    let guarded = [Place::of(&root.path().join("tools/hook.sh"))];
    let table = [
        ("echo x > tools/hook.sh", true),
        ("cp in tools/hook.sh", true),
        ("python3 w.py tools/hook.sh", true),
        ("cd tools && tee hook.sh", true),
        ("sed -i s/a/b/ tools/hook.sh", true),
        ("rm -r tools", true),
        ("mv tools old", true),
        ("cat tools/hook.sh", false),
        ("cp in tools/other.sh", false),
        ("rm -r src", false),
    ];
    for (command, expected) in table {
        let script = crate::shell::read(command).expect("a command");
        let location = Location::new(root.path(), None);
        let found = super::protected_write(&script, command, location, &guarded);
        assert_eq!(found.is_some(), expected, "{command}");
    }
}
