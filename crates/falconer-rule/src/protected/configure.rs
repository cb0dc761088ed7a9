//! Programs that write a protected place without naming it.

use crate::shell::{Part, Word};

/// A program, the first words with which it writes, and what. No words: whatever it is given. A
/// word with a dash counts wherever it stands.
type Writer = (&'static str, &'static [&'static str], &'static str);

const WRITERS: &[Writer] = &[
    ("asdf", &["plugin", "plugin-add"], ".asdfrc"),
    ("at", &[], "jobs of at"),
    ("aws", &["configure"], ".aws"),
    ("az", &["config", "login", "logout"], ".azure"),
    ("batch", &[], "jobs of at"),
    ("bundle", &["config"], ".bundle/config"),
    ("cargo", &["login", "logout"], ".cargo/credentials.toml"),
    ("chsh", &[], "/etc/passwd"),
    (
        "claude",
        &["config", "mcp", "plugin", "setup-token"],
        ".claude",
    ),
    ("code", &["--install-extension"], ".vscode"),
    ("codex", &["login", "logout", "mcp"], ".codex"),
    ("composer", &["config", "global"], ".config/composer"),
    ("conda", &["config"], ".condarc"),
    ("crontab", &[], "crontab"),
    ("cursor", &["--install-extension"], ".cursor"),
    (
        "direnv",
        &["allow", "permit", "edit", "grant"],
        ".config/direnv",
    ),
    ("docker", &["login", "logout"], ".docker"),
    ("gcloud", &["auth", "config"], ".config/gcloud"),
    ("gemini", &["extensions", "mcp"], ".gemini"),
    (
        "gh",
        &["auth", "config", "alias", "extension"],
        ".config/gh",
    ),
    (
        "git",
        &[
            "config",
            "credential",
            "credential-store",
            "lfs install",
            "lfs update",
            "maintenance register",
            "maintenance start",
            "submodule add",
            "submodule set-url",
        ],
        ".git/config",
    ),
    (
        "gpg",
        &[
            "--delete-keys",
            "--edit-key",
            "--full-generate-key",
            "--gen-key",
            "--import",
            "--quick-generate-key",
            "--receive-keys",
            "--recv-keys",
        ],
        ".gnupg",
    ),
    ("go", &["-w"], ".config/go"),
    ("helm", &["plugin", "registry", "repo"], ".config/helm"),
    ("husky", &[], ".husky"),
    ("kubectl", &["config"], ".kube"),
    ("launchctl", &[], "Library/LaunchAgents"),
    ("lefthook", &["add", "install"], ".git/hooks"),
    ("loginctl", &["enable-linger"], "services"),
    ("mise", &["settings", "trust", "use"], ".config/mise"),
    (
        "npm",
        &["c", "config", "set", "login", "adduser", "logout"],
        ".npmrc",
    ),
    ("overcommit", &["--install", "-i"], ".git/hooks"),
    ("passwd", &[], "/etc/passwd"),
    ("pip", &["config"], ".config/pip"),
    ("pip3", &["config"], ".config/pip"),
    ("pnpm", &["c", "config", "set", "login"], ".npmrc"),
    ("poetry", &["config"], ".config/pypoetry"),
    ("pre-commit", &["init-templatedir", "install"], ".git/hooks"),
    ("simple-git-hooks", &[], ".git/hooks"),
    ("ssh-copy-id", &[], ".ssh"),
    ("ssh-keygen", &[], ".ssh"),
    (
        "systemctl",
        &["enable", "disable", "link", "edit", "mask", "set-default"],
        "services",
    ),
    ("terraform", &["login", "logout"], ".terraform.d"),
    ("useradd", &[], "/etc/passwd"),
    ("usermod", &[], "/etc/passwd"),
    ("visudo", &[], "/etc/sudoers"),
    ("yarn", &["config", "set"], ".yarnrc.yml"),
];

/// Words behind the order with which these programs only show something.
const SHOWS: &[&str] = &[
    "current-context",
    "get",
    "get-contexts",
    "list",
    "ls",
    "status",
    "view",
];

/// Options with which a program only shows something, whatever else is said.
const SHOWING: &[(&str, &[&str])] = &[
    ("at", &["-l"]),
    ("crontab", &["-l"]),
    (
        "git",
        &["--get", "--get-all", "--get-regexp", "--list", "-l"],
    ),
    ("ssh-keygen", &["-F", "-l", "-lf"]),
];

/// Programs that run one of a package by its name.
const RUNNERS: &[&str] = &["bunx", "npm", "npx", "pnpm", "pnpx", "yarn"];

/// What a part that may stand for these commands writes, if it is such a program, or starts one.
pub(super) fn written_by(part: &Part, forms: &[Part]) -> Option<&'static str> {
    let mut started = Vec::new();
    if part.name().is_some_and(|name| RUNNERS.contains(&name)) {
        started.extend((1..part.words.len()).map(|start| Part {
            words: part.words[start..].to_vec(),
            ..Part::default()
        }));
    }
    // Without its options, a form does not say that it only shows something.
    let forms = || forms.iter().chain(&started);
    let showing: Vec<&str> = forms()
        .filter(|it| shows(it))
        .filter_map(base_name)
        .collect();
    let writing = |form: &&Part| base_name(form).is_none_or(|name| !showing.contains(&name));
    forms().filter(writing).find_map(written_by_itself)
}

fn base_name(part: &Part) -> Option<&str> {
    let name = part.name()?;
    Some(name.rsplit('/').next().unwrap_or(name))
}

/// Whether an option keeps the program from writing.
fn shows(part: &Part) -> bool {
    let name = base_name(part);
    let known = SHOWING.iter().find(|(known, _)| Some(*known) == name);
    let mut words = part.arguments().iter().map(Word::unquoted);
    words.any(|word| word == "--help" || known.is_some_and(|(_, all)| all.contains(&word)))
}

fn written_by_itself(part: &Part) -> Option<&'static str> {
    let name = base_name(part)?;
    let words: Vec<&str> = part.arguments().iter().map(Word::unquoted).collect();
    if name == "git" && makes_configured(&words) {
        return Some(".git/config");
    }
    let (_, orders, file) = WRITERS.iter().find(|(known, ..)| *known == name)?;
    let is_own = |word: &&str| !word.starts_with('-');
    let own: Vec<&str> = words.iter().copied().filter(is_own).collect();
    // A word behind an option may be its value.
    let before = [""].into_iter().chain(words.iter().copied());
    let pairs = before.zip(words.iter().copied());
    let free =
        pairs.filter(|(before, word)| is_own(word) && (is_own(before) || before.contains('=')));
    let free: Vec<&str> = free.map(|(_, word)| word).collect();
    let writes = [own, free].iter().any(|own| {
        let order = |order: &&str| {
            if order.starts_with('-') {
                words.contains(order).then_some(0)
            } else {
                let order: Vec<&str> = order.split(' ').collect();
                own.starts_with(&order).then_some(order.len())
            }
        };
        let length = if orders.is_empty() {
            Some(0)
        } else {
            orders.iter().find_map(order)
        };
        let shows = |length: usize| own.get(length).is_some_and(|word| SHOWS.contains(word));
        length.is_some_and(|length| !shows(length))
    });
    writes.then_some(*file)
}

/// Whether git makes a repository that is configured, or has hooks, from the start.
fn makes_configured(words: &[&str]) -> bool {
    let has = |options: &[&str]| {
        let is_one = |word: &&&str| options.iter().any(|option| word.starts_with(option));
        words.iter().find(is_one).is_some()
    };
    match words.first() {
        Some(&"clone") => has(&["-c", "--conf", "--templ"]),
        Some(&"init") => has(&["--templ"]),
        _ => false,
    }
}
