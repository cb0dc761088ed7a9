//! Which variables a command gets: the session's, without the keys of the engine.
//!
//! A command is written by a model that reads untrusted text, so it does not get what would let
//! it act as the engine.

use std::ffi::{OsStr, OsString};

use falconer_secret::{Variables, for_children};

/// Set for every command, so that programs know who calls them and do not open an editor.
const MARKS: &[(&str, &str)] = &[("CLAUDECODE", "1"), ("GIT_EDITOR", "true")];

/// Variables with which the shell reads a command, or goes to a directory, other than judged.
const MISLEADING: &[&str] = &["BASHOPTS", "CDPATH", "SHELLOPTS"];

pub(super) fn for_commands(variables: &Variables) -> Vec<(OsString, OsString)> {
    let mut passed = for_children(variables);
    passed.retain(|(name, _)| !MISLEADING.iter().any(|misleading| name == misleading));
    passed.retain(|(name, _)| !MARKS.iter().any(|(mark, _)| name == mark));
    let mark = |&(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
    passed.extend(MARKS.iter().map(mark));
    passed
}

/// Set for commands that only read, so that git starts no program, asks nobody, writes nothing
/// and leaves submodules and repositories without a work tree alone.
const READING: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
];

/// Configuration of git that wins over every file.
const GIT: &[(&str, &str)] = &[
    ("core.askPass", "true"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("diff.autoRefreshIndex", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("gc.auto", "0"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Variables that commands which only read get from the session. Any other could make a program
/// start or load another one, or make the shell read a command differently.
const PASSED: &[&str] = &[
    "CI",
    "CLAUDECODE",
    "COLORTERM",
    "COLUMNS",
    "CONDA_PREFIX",
    "EDITOR",
    "EMAIL",
    "FORCE_COLOR",
    "GIT_EDITOR",
    "HOME",
    "HOSTNAME",
    "JQ_COLORS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOCALE_ARCHIVE",
    "LOGNAME",
    "LS_COLORS",
    "NO_COLOR",
    "OLDPWD",
    "PWD",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "TZDIR",
    "USER",
    "VIRTUAL_ENV",
];

/// Beginnings of more of them: locales, directories of the user, managers of versions.
const PASSED_BEGINNINGS: &[&str] = &[
    "LC_", "XDG_", "ASDF_", "MISE_", "NODENV_", "NVM_", "PYENV_", "RBENV_", "VOLTA_",
];

/// For a session without `PATH`: what shells take then may begin in the current directory.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The variables of a command that only reads: nothing in them makes a program start another.
pub(crate) fn for_reading(variables: &Variables) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        let mut beginnings = PASSED_BEGINNINGS.iter();
        PASSED.contains(&&*name) || beginnings.any(|beginning| name.starts_with(beginning))
    };
    let mut passed = for_commands(variables);
    passed.retain(|(name, _)| is_passed(name));
    let path = variables.get(OsStr::new("PATH"));
    let path = path.and_then(|path| absolute(path));
    passed.push(("PATH".into(), path.unwrap_or_else(|| USUAL_PATH.into())));
    let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
    passed.extend(READING.iter().map(owned));
    passed.push(("GIT_CONFIG_COUNT".into(), GIT.len().to_string().into()));
    for (index, (key, value)) in GIT.iter().enumerate() {
        passed.push((format!("GIT_CONFIG_KEY_{index}").into(), key.into()));
        passed.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.into()));
    }
    passed
}

/// The absolute directories of a `PATH`, if it has any: others would be those of the project.
fn absolute(path: &OsStr) -> Option<OsString> {
    let directories = std::env::split_paths(path).filter(|it| it.is_absolute());
    let path = std::env::join_paths(directories).ok()?;
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_that_only_reads_obeys_no_variable_and_is_told_what_not_to_do() {
        let given = [
            ("GIT_DIR", "evil"),
            ("GIT_EXTERNAL_DIFF", "evil"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_0", "evil"),
            ("LESSOPEN", "|evil"),
            ("BASH_ENV", "evil"),
            ("LD_PRELOAD", "evil"),
            ("PATH", ".:/bin:node_modules/.bin::"),
            ("ANTHROPIC_API_KEY", "evil"),
            ("BASHOPTS", "evil"),
            ("CDPATH", "evil"),
            ("GCONV_PATH", "evil"),
            ("PERL5OPT", "evil"),
            ("POSIXLY_CORRECT", "evil"),
            ("PS4", "evil"),
            ("PYTHONPATH", "evil"),
            ("RUBYOPT", "evil"),
            ("SHELLOPTS", "evil"),
            ("npm_config_node_options", "evil"),
            ("LC_ALL", "C.UTF-8"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let passed = for_reading(&given.into_iter().collect());
        assert!(
            passed
                .iter()
                .all(|(_, value)| value != "evil" && value != "|evil")
        );
        let value = |wanted: &str| {
            let mut all = passed.iter().filter(|(name, _)| name == wanted);
            let found = all.next().map(|(_, value)| value.to_str().unwrap());
            assert!(all.next().is_none(), "{wanted} twice");
            found.map(str::to_owned)
        };
        assert_eq!(value("PATH").as_deref(), Some("/bin"));
        assert_eq!(value("LC_ALL").as_deref(), Some("C.UTF-8"));
        assert_eq!(value("GIT_OPTIONAL_LOCKS").as_deref(), Some("0"));
        let count: usize = value("GIT_CONFIG_COUNT").unwrap().parse().unwrap();
        let told = (0..count).map(|index| {
            let key = value(&format!("GIT_CONFIG_KEY_{index}")).unwrap();
            (key, value(&format!("GIT_CONFIG_VALUE_{index}")).unwrap())
        });
        let told: std::collections::BTreeMap<String, String> = told.collect();
        assert_eq!(told.len(), GIT.len());
        assert_eq!(told["core.fsmonitor"], "false");
        assert_eq!(told["safe.bareRepository"], "explicit");
    }

    #[test]
    fn programs_are_not_looked_for_in_the_current_directory() {
        for given in [None, Some(""), Some("."), Some(":"), Some("bin:./x")] {
            let given = given.map(|path| ("PATH".into(), path.into()));
            let passed = for_reading(&given.into_iter().collect());
            let paths: Vec<_> = passed.iter().filter(|(name, _)| name == "PATH").collect();
            assert_eq!(paths, [&("PATH".into(), USUAL_PATH.into())]);
        }
    }

    #[test]
    fn keys_are_taken_out_and_marks_are_set() {
        let given = [
            ("ANTHROPIC_API_KEY", "k"),
            ("GIT_EDITOR", "vi"),
            ("A", "1"),
            ("CDPATH", "/x"),
            ("SHELLOPTS", "noglob"),
        ];
        let variables = given.map(|(name, value)| (name.into(), value.into()));
        let expected = [("A", "1"), ("CLAUDECODE", "1"), ("GIT_EDITOR", "true")];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(for_commands(&variables.into()), expected);
    }
}
