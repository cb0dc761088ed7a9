//! Which variables a command gets: the session's, without the keys of the engine.
//!
//! A command is written by a model that reads untrusted text, so it does not get what would let
//! it act as the engine.

use std::ffi::{OsStr, OsString};

use crate::environment::{Variables, for_children};

/// Set for every command, so that programs know who calls them and do not open an editor.
const MARKS: &[(&str, &str)] = &[("CLAUDECODE", "1"), ("GIT_EDITOR", "true")];

pub(super) fn for_commands(variables: &Variables) -> Vec<(OsString, OsString)> {
    let mut passed = for_children(variables);
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

/// The variables of a command that only reads: nothing in them makes a program start another.
pub(crate) fn for_reading(variables: &Variables) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        let is_git = name.starts_with("GIT_") && name != "GIT_EDITOR";
        let starts = ["LD_", "DYLD_", "LESS", "BASH_", "GREP_"];
        let names = [
            "ENV",
            "MANPAGER",
            "PAGER",
            "RIPGREP_CONFIG_PATH",
            "NODE_OPTIONS",
        ];
        !is_git && !starts.iter().any(|start| name.starts_with(start)) && !names.contains(&&*name)
    };
    let mut passed = for_commands(variables);
    passed.retain(|(name, _)| is_passed(name));
    let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
    passed.extend(READING.iter().map(owned));
    passed.push(("GIT_CONFIG_COUNT".into(), GIT.len().to_string().into()));
    for (index, (key, value)) in GIT.iter().enumerate() {
        passed.push((format!("GIT_CONFIG_KEY_{index}").into(), key.into()));
        passed.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.into()));
    }
    passed
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
            ("PATH", "/bin"),
            ("ANTHROPIC_API_KEY", "evil"),
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
    fn keys_are_taken_out_and_marks_are_set() {
        let given = [("ANTHROPIC_API_KEY", "k"), ("GIT_EDITOR", "vi"), ("A", "1")];
        let variables = given.map(|(name, value)| (name.into(), value.into()));
        let expected = [("A", "1"), ("CLAUDECODE", "1"), ("GIT_EDITOR", "true")];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(for_commands(&variables.into()), expected);
    }
}
