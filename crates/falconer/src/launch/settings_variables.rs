//! Variables that settings files of the machine set.
//!
//! The CLI prefers the `env` section of its settings to its real environment. So a credential
//! chosen by the caller, or exported in the shell, could lose to one in a file, and somebody else
//! would be billed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::account::AUTH_VARIABLES;
use crate::account::document;
use crate::options::{LaunchOptions, SettingSource};

/// A variable in the `env` section of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsVariable {
    /// The file.
    pub file: PathBuf,
    /// The name of the variable; its value is not kept.
    pub name: String,
}

impl SettingsVariable {
    /// The variable `name` in `file`.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            name: name.into(),
        }
    }
}

/// Reads the settings files that the CLI will read.
pub(super) fn read(options: &LaunchOptions, env: &[(OsString, OsString)]) -> Vec<SettingsVariable> {
    let files = files(options, env).into_iter();
    files.flat_map(|file| variables(&file)).collect()
}

/// The files of the sources chosen.
fn files(options: &LaunchOptions, env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    use SettingSource::{Local, Project, User};
    let variable = |name: &str| {
        let found = env.iter().find(|(other, _)| other == OsStr::new(name));
        found.map(|(_, value)| PathBuf::from(value))
    };
    let home = variable("HOME").map(|home| home.join(".claude"));
    let user = variable("CLAUDE_CONFIG_DIR").or(home);
    let cwd = options.environment.cwd.clone().unwrap_or_default();
    let sources = options.settings.sources.clone();
    let sources = sources.unwrap_or_else(|| vec![User, Project, Local]);
    // An isolated run has settings of its own instead.
    let isolated = options.isolation.is_some();
    let user = user.filter(|_| !isolated);
    let file = |source: &SettingSource| match source {
        User => user.as_ref().map(|user| user.join("settings.json")),
        Project => Some(cwd.join(".claude/settings.json")),
        Local => Some(cwd.join(".claude/settings.local.json")),
    };
    sources.iter().filter_map(file).collect()
}

/// The variables for authentication in one file; a file that cannot be read has none.
fn variables(file: &Path) -> Vec<SettingsVariable> {
    let settings = Value::Object(document::object(file).unwrap_or_default());
    let names = AUTH_VARIABLES.into_iter().flatten();
    let set = names.filter(|name| settings["env"].get(**name).is_some());
    set.map(|name| SettingsVariable::new(file, *name)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{SettingsVariable, read};
    use crate::options::{Auth, Options, SettingSource};

    #[test]
    fn only_the_files_of_the_sources_chosen_are_read_and_no_value_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let user = write(
            "home/.claude/settings.json",
            r#"{"env": {"ANTHROPIC_API_KEY": "a"}}"#,
        );
        let other = r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1", "UNRELATED": "x"}}"#;
        let configured = write("config/settings.json", other);
        let project = write("work/.claude/settings.json", other);
        write("work/.claude/settings.local.json", "not json");
        let home = ("HOME".into(), root.join("home").into_os_string());
        let config = (
            "CLAUDE_CONFIG_DIR".into(),
            root.join("config").into_os_string(),
        );
        let options = || {
            let key = Auth::ApiKey("sk-ant-mine".into());
            Options::new().cwd(root.join("work")).auth(key)
        };
        let key = SettingsVariable::new(user, "ANTHROPIC_API_KEY");
        let bedrock = |file: PathBuf| SettingsVariable::new(file, "CLAUDE_CODE_USE_BEDROCK");
        let project = bedrock(project);
        let table = [
            (options(), vec![home.clone()], vec![key, project.clone()]),
            (
                options(),
                vec![home.clone(), config],
                vec![bedrock(configured), project.clone()],
            ),
            (options().setting_sources([]), vec![home.clone()], vec![]),
            (
                options().setting_sources([SettingSource::Project]),
                vec![home.clone()],
                vec![project],
            ),
            (
                options().auth(Auth::Inherit),
                vec![home],
                vec![
                    SettingsVariable::new(
                        root.join("home/.claude/settings.json"),
                        "ANTHROPIC_API_KEY",
                    ),
                    bedrock(root.join("work/.claude/settings.json")),
                ],
            ),
        ];
        for (options, env, expected) in table {
            assert_eq!(read(&options.launch, &env), expected);
        }
    }
}
