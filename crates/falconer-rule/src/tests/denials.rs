//! Denials cannot be evaded: what may reach them is asked about.

use serde_json::json;

use super::{command, judged, judged_in};
use crate::{Effect, Outcome};

#[test]
fn a_denied_command_is_not_reached_in_another_way() {
    use Outcome::{Allow, Ask, Deny};
    let table = [
        ("git push", Deny),
        ("GIT push", Deny),
        ("git-push", Deny),
        ("/usr/lib/git-core/git-push origin", Deny),
        ("gi\\\nt push", Deny),
        ("git pu\\\nsh", Deny),
        ("git --attr-source x push", Ask),
        ("fakeroot git push", Ask),
        ("setarch x86_64 /usr/bin/git push", Ask),
        ("/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", Ask),
        ("tmux new -d 'git push'", Ask),
        ("ssh localhost git push", Ask),
        ("npx -c 'git push'", Ask),
        ("npm exec -- git push", Ask),
        ("docker run x git push", Ask),
        ("concurrently 'ls' 'git  push'", Ask),
        ("at now <<< 'git push'", Ask),
        ("crontab - <<E\n* * * * * git push\nE", Ask),
        ("make -f - <<< 'all:; git push'", Ask),
        ("make --eval='all:; git push'", Ask),
        ("echo 'git push' > x; sh x", Ask),
        ("echo push | xargs -I{} git {}", Ask),
        ("echo git push | xargs -I{} sh -c '{}'", Ask),
        ("parallel git ::: push", Ask),
        ("alias g=git\ng push", Ask),
        ("git config alias.x push", Ask),
        ("git x", Ask),
        ("git submodule foreach 'git push'", Ask),
        ("git rebase -x 'git push' main", Ask),
        ("git bisect run git push", Ask),
        ("git for-each-repo --config=x push", Ask),
        ("cp /usr/bin/git g; ./g push", Ask),
        ("ln -s /usr/bin/git g", Ask),
        ("readarray -C 'git push' -c 1 a < in", Ask),
        ("python3 -c 'import os; os.system(\"gi\"+\"t push\")'", Ask),
        ("awk 'BEGIN{system(\"gi\" \"t push\")}'", Ask),
        // Found by hand.
        ("env -vS'git push'", Ask),
        ("bash -c 'gi$()t push'", Ask),
        ("bash -c 'if'", Ask),
        ("php -r 'passthru(\"gi\".\"t push\");'", Ask),
        ("node -e '[][\"filter\"][\"constructor\"](\"x\")()'", Ask),
        ("perl -e system+lc+X", Ask),
        ("python3 -c 'print(f\"{x.y}\")'", Ask),
        ("dc -e '!x'", Ask),
        ("less '+!x' in", Ask),
        ("sqlite3 x '.shell y'", Ask),
        ("rsync -e 'git push' a b:", Ask),
        ("x='a[$(git push)]'; y[x]=1", Ask),
        ("y[$x]=1", Ask),
        ("printf 'git\\0push' | xargs -0 env", Ask),
        ("echo git | xargs -I% % push", Ask),
        ("echo 'git push' | xargs sudo", Ask),
        ("y[1]=1", Allow),
        ("python3 -c 'print(\"hello world\")'", Allow),
        ("python3 -c 'import sys; print(sys.version)'", Allow),
        ("node -p process.version", Allow),
        ("node script.js", Allow),
        ("sqlite3 x 'select 1'", Allow),
        ("echo a | xargs -n 1 echo", Allow),
        ("git stash push", Allow),
        ("git config --get user.name", Allow),
        ("echo 'never git push'", Allow),
        ("rg 'git push' src", Allow),
        ("git commit -m 'do not git push'", Allow),
        ("cargo test push", Allow),
        ("git push origin main", Deny),
        ("git <&0 push", Deny),
        ("git <<E push\nx\nE", Deny),
        ("git -C . push", Deny),
        ("git --no-pager push", Deny),
        ("git --git-dir=.git push", Deny),
        ("git --git-dir .git push", Deny),
        ("/usr/bin/git push", Deny),
        ("env git push", Deny),
        ("sudo -u me git push", Deny),
        ("find . -exec git push ';'", Deny),
        ("bash -c 'git push'", Deny),
        ("bash -c 'cd x; git -C . push'", Deny),
        ("timeout 5 sh -c 'git push'", Deny),
        ("trap 'git push' EXIT", Deny),
        ("env -S 'git push'", Deny),
        ("'git' \"push\"", Deny),
        ("git $'push'", Ask),
        ("git \"$(echo push)\"", Ask),
        ("git `echo push`", Ask),
        ("for x in push; do git $x; done", Ask),
        ("g() { git \"$@\"; }; g push", Ask),
        ("ls() { git push; }; ls", Deny),
        ("xargs git <<< push", Ask),
        ("echo push | xargs git", Ask),
        ("echo push | xargs -n 1 git", Ask),
        ("bash <<< 'git push'", Ask),
        ("echo 'git push' | sh", Ask),
        ("echo 'git push' | bash -s", Ask),
        ("bash /dev/stdin <<< 'git push'", Ask),
        ("bash <(echo git push)", Ask),
        ("cat <<E | bash\ngit push\nE", Ask),
        ("bash -c \"$x\"", Ask),
        ("bash -c 'git $1' _ push", Ask),
        ("eval \"$x\"", Ask),
        ("$x push", Ask),
        ("g{it,} push", Ask),
        ("git -c alias.p=push p", Ask),
        ("python3 -c 'import os; os.system(\"git push\")'", Ask),
        ("python3 <<E\nx\nE", Ask),
        ("awk 'BEGIN{system(\"git push\")}'", Ask),
        ("git --exec-path /x push", Deny),
        ("git p?sh", Ask),
        ("[[ a =~ ^(`git push`)$ ]]", Deny),
        ("echo =~&git push ]", Deny),
        ("let 'a[$(git push)]'", Ask),
        ("declare -i 'x=a[$(git push)]'", Ask),
        ("test -v 'a[$(git push)]'", Ask),
        ("printf -v 'a[$(git push)]' x", Ask),
        ("read 'a[$(git push)]' <<< x", Ask),
        ("unset 'a[$(git push)]'", Ask),
        ("PS4='$(git push)'; set -x; ls", Ask),
        ("PROMPT_COMMAND='git push' ls", Ask),
        ("export BASH_ENV=x; ls", Ask),
        ("hash -p /usr/bin/git ls; ls push", Ask),
        // The rest is not in question.
        ("export A=1", Allow),
        ("set -e; ls", Allow),
        ("[ -f a ] && ls", Allow),
        ("printf '%s\\n' 'a[0]'", Allow),
        ("git status", Allow),
        ("git commit -m \"$x\"", Allow),
        ("git log -- $x", Allow),
        ("echo $x", Allow),
        ("make $x", Allow),
        ("for x in a b; do echo $x; done", Allow),
        ("bash script.sh", Allow),
        ("python3 -c 'print(1)'", Allow),
        ("ls | xargs -n 1 echo", Allow),
        ("npm run x", Allow),
    ];
    for (text, expected) in table {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Bash(git push:*)")];
        assert_eq!(command(&rules, text), expected, "{text}");
        let asked = [(Effect::Allow, "Bash"), (Effect::Ask, "Bash(git push:*)")];
        let expected = if expected == Deny { Ask } else { expected };
        assert_eq!(command(&asked, text), expected, "ask: {text}");
    }
}

#[test]
fn a_denied_file_is_not_reached_by_a_tool_of_a_server() {
    let table = [
        (json!({"path": ".env"}), Outcome::Deny),
        (json!({"paths": ["a", "./.env"]}), Outcome::Deny),
        (json!({"move": {"to": "x/../.env"}}), Outcome::Deny),
        (json!({"uri": "file:///srv/project/.env"}), Outcome::Deny),
        (json!({"text": "see .env there"}), Outcome::Allow),
        (json!({"url": "https://a.invalid/.env"}), Outcome::Allow),
    ];
    for (input, expected) in table {
        let rules = [(Effect::Allow, "mcp__fs"), (Effect::Deny, "Read(**/.env)")];
        let found = judged(&rules, "mcp__fs__get", &input);
        assert_eq!(found.effect, expected, "{input}");
    }
}

#[test]
fn a_denied_program_is_not_started_by_another() {
    use Outcome::{Allow, Ask, Deny};
    let table = [
        ("rm x", Deny),
        ("fakeroot rm x", Ask),
        ("xargs rm < list", Deny),
        ("ssh h rm x", Ask),
        ("git rm x", Allow),
        ("docker run --rm x", Allow),
        ("docker rm x", Allow),
        ("cat rm", Allow),
        ("npm run build", Allow),
    ];
    for (text, expected) in table {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Bash(rm:*)")];
        assert_eq!(command(&rules, text), expected, "{text}");
    }
}

/// A program has many names; a rule that forbids it means all of them.
#[test]
fn a_denial_counts_however_the_rule_is_written() {
    use Outcome::{Allow, Deny};
    for (rule, text, expected) in [
        ("Bash(/bin/rm:*)", "rm x", Deny),
        ("Bash(/bin/rm:*)", "/usr/bin/rm x", Deny),
        ("Bash(/bin/rm *)", "env rm x", Deny),
        ("Bash(./deploy.sh:*)", "bash -c './deploy.sh x'", Deny),
        ("Bash(rm:**)", "rm x", Deny),
        ("Bash(rm **)", "rm x", Deny),
        ("Bash(/bin/rm:*)", "ls rm", Allow),
        ("Bash(rm:**)", "rmdir x", Allow),
    ] {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, rule)];
        assert_eq!(command(&rules, text), expected, "{rule}: {text}");
    }
}

/// What is unpacked, patched or taken from the repository may be the file.
#[test]
fn a_file_that_must_not_be_edited_is_not_overwritten_unnamed() {
    use Outcome::{Allow, Ask};
    let root = tempfile::tempdir().unwrap();
    for file in ["conf/x", "clean/a", "src/a"] {
        let file = root.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    for (text, expected) in [
        ("tar xf a.tar", Ask),
        ("tar -xf a.tar", Ask),
        ("tar tf a.tar", Allow),
        ("unzip a.zip", Ask),
        ("patch -p0 < p", Ask),
        ("git apply p", Ask),
        ("git clean -fdx", Ask),
        ("git reset --hard HEAD~1", Ask),
        ("git reset HEAD a", Allow),
        ("git stash", Ask),
        ("git merge x", Ask),
        ("git -C . pull", Ask),
        ("git commit -m x", Allow),
        ("git clean -fdx src", Allow),
        ("cargo build", Allow),
    ] {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Edit(./conf/**)")];
        let found = judged_in(root.path(), &rules, "Bash", &json!({"command": text}));
        assert_eq!(found.effect, expected, "{text}: {}", found.because);
    }
}

#[test]
fn a_file_that_must_not_be_edited_is_not_written_by_any_program() {
    use Outcome::{Allow, Ask, Deny};
    let table = [
        ("echo a > conf/x", Deny),
        ("cp in conf/x", Deny),
        ("cp -t conf in", Ask),
        ("cp --target-directory=conf in", Ask),
        ("rsync in conf/x", Ask),
        ("sed -n 'w conf/x' in", Ask),
        ("sort -o conf/x in", Ask),
        ("sort --output=conf/x in", Ask),
        ("awk '{print > \"conf/x\"}' in", Ask),
        ("curl -oconf/x http://h", Ask),
        ("tar -C conf -xf a.tar", Ask),
        ("tar --directory=conf -xf a.tar", Ask),
        ("git checkout -- conf/x", Ask),
        ("git mv in conf/x", Ask),
        ("patch conf/x p.diff", Ask),
        ("vim conf/x", Ask),
        ("python3 -c 'open(\"conf/x\",\"w\")'", Ask),
        ("python3 w.py conf/x", Ask),
        ("find conf -delete", Ask),
        ("echo conf/x | xargs rm", Ask),
        ("gcc -o conf/x x.c", Ask),
        ("gzip conf/x", Ask),
        ("prettier --write conf/x", Ask),
        ("sudo tee conf/x", Ask),
        ("shopt -s globstar; tee con*/x", Ask),
        ("cat conf/x", Allow),
        ("grep -n a conf/x", Allow),
        ("cargo build", Allow),
        ("cp in src/x", Allow),
    ];
    for (text, expected) in table {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Edit(./conf/**)")];
        assert_eq!(command(&rules, text), expected, "{text}");
    }
}

#[test]
fn a_denied_file_is_not_read_in_another_way() {
    use Outcome::{Allow, Ask, Deny};
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("clean/sub")).unwrap();
    std::fs::write(root.path().join(".env"), "").unwrap();
    std::fs::write(root.path().join("clean/sub/a"), "").unwrap();
    let here = root.path().display();
    let table = [
        (format!("cat {here}/.env"), Deny),
        (format!("bash -c 'cat {here}/.env'"), Deny),
        (format!("sh -c \"cd /; cat {here}/.env\""), Deny),
        (format!("cat <<E {here}/.env\nx\nE"), Deny),
        (format!("cat <&0 {here}/.env"), Deny),
        (format!("grep -r KEY {here}"), Ask),
        (format!("grep -d recurse KEY {here}"), Ask),
        (format!("grep --directories=recurse KEY {here}"), Ask),
        (format!("bash -c 'grep -r KEY {here}'"), Ask),
        (format!("diff -r {here} {here}/clean"), Ask),
        (format!("tar cf - {here}"), Ask),
        (format!("cp -r {here} /tmp/x"), Ask),
        (format!("rg KEY {here}"), Ask),
        (format!("bash -c 'cat {here}/.e$()nv'"), Ask),
        (format!("bash -c 'x={here}/.e; cat ${{x}}nv'"), Ask),
        (format!("bash <<< 'cat {here}/.env'"), Ask),
        (format!("echo 'cat {here}/.env' | sh"), Ask),
        (format!("x='a[$(cat {here}/.env)]'; y[x]=1"), Ask),
        (format!("sed '1r{here}/.env' x"), Deny),
        (format!("find {here} | cpio -o"), Ask),
        (format!("pax -w {here}"), Ask),
        ("tar cf - -T list".to_owned(), Ask),
        ("wc --files0-from=list".to_owned(), Ask),
        ("rsync --files-from=list a b".to_owned(), Ask),
        (format!("7za a x {here}"), Ask),
        (format!("jar cf x.jar {here}"), Ask),
        (format!("fd -x cat . {here}"), Ask),
        (format!("python3 -m tarfile -c x.tar {here}"), Ask),
        (format!("rclone copy {here} x:"), Ask),
        (format!("bash -c 'cat {here}/clean/sub/a'"), Allow),
        (format!("grep -r KEY {here}/clean"), Allow),
        (format!("grep KEY {here}/clean/sub/a"), Allow),
    ];
    for (text, expected) in table {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Read(//**/.env)")];
        let found = judged(&rules, "Bash", &json!({"command": text}));
        assert_eq!(found.effect, expected, "{text}: {}", found.because);
    }
}

/// Git shows what was in a file without reading it.
#[test]
fn a_denied_file_is_not_shown_out_of_the_repository() {
    let root = tempfile::tempdir().unwrap();
    for directory in [".git", "src"] {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    for file in ["a", "src/s.rs"] {
        std::fs::write(root.path().join(file), "").unwrap();
    }
    let asked = [
        "git show",
        "git show HEAD",
        "git show HEAD~1",
        "git show stash@{0}",
        "git show :/fix",
        "git show :0:a",
        "git show HEAD HEAD:a",
        "git show --stat 1234567",
        "git show -s HEAD@{1}:x",
        "git show HEAD -- src",
        "git show HEAD -- ':(top)a'",
        "git cat-file -p 1234567",
        "git cat-file blob 1234567",
        "git cat-file --batch",
        "git log -p",
        "git log -1 -u",
        "git log --patch",
        "git log -U5",
        "git log -c",
        "git log --cc",
        "git log --word-diff",
        "git log --remerge-diff",
        "git log -p src",
        "git log -p -- src",
        "git log -p -- :^src",
        "git log -p --follow a",
        "git log -p --full-diff a",
        "git -C . log -p",
        "env git log -p",
        "bash -c 'git log -p'",
        "git diff",
        "git diff HEAD~1 HEAD",
        "git diff a src",
        "git diff a 's*'",
        "git diff --cached",
        "git diff main...feature",
        "git diff --stat -p",
        "git stash show -p",
        "git stash list -p",
        "git grep KEY HEAD",
        "git grep --cached KEY",
        "git grep -e KEY HEAD -- a",
        "git diff-tree -p HEAD",
        "git diff-index -p HEAD",
        "git diff-files -p",
        "git whatchanged -p",
        "git reflog -p",
        "git archive HEAD",
        "git fast-export --all",
        "git bundle create x HEAD",
        "git format-patch -1 --stdout",
        "git worktree add ../x",
        "git clone . ../x",
        "git unpack-file 1234",
        "git range-diff a b c",
        "git rerere diff",
        "git difftool",
        "git add -p",
        "git status -v",
        "git commit -v --dry-run",
        "git rebase --show-current-patch",
        "git for-each-ref --format='%(raw)'",
        "git mine",
    ];
    let allowed = [
        "git status",
        "git log",
        "git log --oneline -5",
        "git log --stat",
        "git log -S KEY",
        "git log --format=%B",
        "git log -p -- a",
        "git log -p HEAD~3..HEAD -- a src/s.rs",
        "git log -L1,5:a",
        "git show --stat",
        "git show -s HEAD",
        "git show HEAD:a",
        "git show HEAD:src/s.rs",
        "git show HEAD:./a",
        "git show HEAD -- a",
        "git cat-file -t 1234567",
        "git cat-file -p HEAD:a",
        "git diff --stat",
        "git diff --name-only HEAD~1",
        "git diff a",
        "git diff HEAD -- a",
        "git grep KEY",
        "git grep KEY src",
        "git grep KEY -- src",
        "git stash list",
        "git stash show",
        "git stash push -m x",
        "git commit -mverbose",
        "git clone https://h.invalid/r",
        "git branch -a",
        "git push",
        "git config --get user.name",
        "git blame a",
        "git ls-files",
    ];
    let judge = |command: &str| {
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, "Read(.env)")];
        judged_in(root.path(), &rules, "Bash", &json!({ "command": command })).effect
    };
    for command in asked {
        assert_eq!(judge(command), Outcome::Ask, "{command}");
    }
    for command in allowed {
        assert_eq!(judge(command), Outcome::Allow, "{command}");
    }
    for command in ["git show HEAD:.env", "git show :.env", "git log -p -- .env"] {
        assert_eq!(judge(command), Outcome::Deny, "{command}");
    }
    // From the top of the work tree, not from here.
    let inner = root.path().join("src");
    let rules = [
        (Effect::Allow, "Bash"),
        (Effect::Deny, "Read(//**/conf/**)"),
    ];
    let input = json!({"command": "git show HEAD:conf/x"});
    assert_eq!(
        judged_in(&inner, &rules, "Bash", &input).effect,
        Outcome::Deny
    );
    let input = json!({"command": "git show HEAD:x"});
    assert_eq!(
        judged_in(&inner, &rules, "Bash", &input).effect,
        Outcome::Ask
    );
}
