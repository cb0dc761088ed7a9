//! Which files hooks want to hear of: matchers of `FileChanged` name them, answers add to them.
//!
//! Only settings files have a say in this: hooks of the host are told of what is watched, but
//! neither their matchers nor their answers watch anything.

use falconer_protocol::hook::{HookOutput, HookSpecificOutput};
use serde_json::Value;

use super::registry::SettingsHooks;

/// How many paths are taken from matchers, and from an answer.
const MAX_PATHS: usize = 100;

/// The names in matchers of `FileChanged`, each once.
pub(super) fn names(settings: &SettingsHooks) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if settings.disabled {
        return names;
    }
    let groups = settings
        .layers
        .iter()
        .filter_map(|(_, hooks)| hooks.get("FileChanged")?.as_array())
        .flatten();
    let matchers = groups.filter_map(|group| group.get("matcher").and_then(Value::as_str));
    for name in matchers.flat_map(|matcher| matcher.split('|')) {
        let name = name.trim();
        let is_new = !name.is_empty() && names.iter().all(|known| known != name);
        if is_new && names.len() < MAX_PATHS {
            names.push(name.to_owned());
        }
    }
    names
}

/// The paths that an answer wants to be watched.
pub(super) fn paths(output: &HookOutput) -> impl Iterator<Item = String> + use<> {
    let paths = match &output.hook_specific_output {
        Some(HookSpecificOutput::SessionStart(output)) => output.watch_paths.clone(),
        Some(HookSpecificOutput::CwdChanged(output)) => output.watch_paths.clone(),
        Some(HookSpecificOutput::FileChanged(output)) => output.watch_paths.clone(),
        _ => None,
    };
    paths.into_iter().flatten().take(MAX_PATHS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_name_files() {
        let group = |matcher: Value| json!({"matcher": matcher, "hooks": []});
        let layer = |groups: Value| ("a file".to_owned(), json!({"FileChanged": groups}));
        let mut settings = SettingsHooks {
            layers: vec![
                layer(json!([group(json!(".env | .envrc||")), group(json!(7))])),
                layer(json!([group(json!(".env|sub/x")), {"hooks": []}])),
                layer(json!("no list")),
                (
                    "another".to_owned(),
                    json!({"Stop": [group(json!("other"))]}),
                ),
            ],
            ..SettingsHooks::default()
        };
        assert_eq!(names(&settings), [".env", ".envrc", "sub/x"]);
        settings.disabled = true;
        assert_eq!(names(&settings), [""; 0]);
    }
}
