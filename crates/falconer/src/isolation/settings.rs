//! The settings of an isolated run, with the keys the CLI reads.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use falconer_protocol::sandbox::{
    CredentialEnvVar, CredentialMode, SandboxCredentials, SandboxFilesystem, SandboxSettings,
};
use serde_json::{Value, json};

use super::environment::TEMPORARY;
use super::{IsolationConfig, Nesting, Sandbox, SandboxConfig};
use crate::options::API_CREDENTIALS;

/// Secrets besides those of [`API_CREDENTIALS`] that commands must not see.
const OTHER_SECRETS: &[&str] = &[
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
];

/// The paths that settings speak of.
#[derive(Debug)]
pub(super) struct Places<'a> {
    pub(super) home: &'a Path,
    pub(super) host_home: Option<&'a Path>,
    pub(super) cwd: Option<&'a Path>,
    pub(super) program: &'a Path,
    pub(super) path: Option<&'a OsStr>,
}

/// The whole file.
pub(super) fn document(config: &IsolationConfig, places: &Places<'_>) -> Value {
    let (allow, deny) = config.network.rules();
    json!({
        "env": { "DISABLE_AUTOUPDATER": "1" },
        "permissions": { "allow": allow, "deny": deny },
        "sandbox": serde_json::to_value(sandbox(config, places)).unwrap_or_default(),
    })
}

/// The sandbox section. It also goes to the command line, above what a project may say.
pub(super) fn sandbox(config: &IsolationConfig, places: &Places<'_>) -> SandboxSettings {
    let base = SandboxSettings {
        // Even where the sandbox is off: another source must not switch half of it on.
        fail_if_unavailable: Some(true),
        ..SandboxSettings::default()
    };
    let Sandbox::Required(sandbox) = &config.sandbox else {
        return SandboxSettings {
            enabled: Some(false),
            ..base
        };
    };
    let excluded = &sandbox.excluded_commands;
    SandboxSettings {
        enabled: Some(true),
        auto_allow_bash_if_sandboxed: Some(!sandbox.asks_for_commands),
        // On the command line this also keeps a project from loosening the rest.
        allow_unsandboxed_commands: Some(false),
        network: Some(config.network.settings()),
        filesystem: Some(filesystem(sandbox, places)),
        credentials: Some(hidden_variables()),
        enable_weaker_nested_sandbox: (sandbox.nesting == Nesting::WeakerByChoice).then_some(true),
        excluded_commands: (!excluded.is_empty()).then(|| excluded.clone()),
        ..base
    }
}

fn filesystem(sandbox: &SandboxConfig, places: &Places<'_>) -> SandboxFilesystem {
    let home = places.home;
    let secrets = [".aws", ".claude/.credentials.json"].map(|name| home.join(name));
    let hidden = places.host_home.map(Path::to_owned).into_iter();
    let hidden = hidden
        .chain(secrets)
        .chain(sandbox.unreadable.iter().cloned());
    let writable = std::iter::once(home.join(TEMPORARY)).chain(sandbox.writable.iter().cloned());
    let unwritable = sandbox.unwritable.iter().cloned();
    let readable = needed(places)
        .into_iter()
        .chain(sandbox.readable.iter().cloned());
    SandboxFilesystem {
        allow_write: Some(texts(writable)),
        deny_write: some(texts(unwritable)),
        deny_read: Some(texts(hidden)),
        allow_read: some(texts(readable)),
        ..SandboxFilesystem::default()
    }
}

/// Returns paths in the hidden home of the host that are needed all the same: the project, the
/// engine, programs in `PATH`, and our own home if it was made there.
fn needed(places: &Places<'_>) -> Vec<PathBuf> {
    let Some(host_home) = places.host_home else {
        return Vec::new();
    };
    let programs: Vec<PathBuf> = places
        .path
        .map(|path| std::env::split_paths(path).collect())
        .unwrap_or_default();
    let own = [
        TEMPORARY,
        ".claude/skills",
        ".claude/shell-snapshots",
        ".claude/session-env",
    ];
    let own = own.map(|name| places.home.join(name));
    let cwd = places.cwd.map(Path::to_owned);
    let engine = places.program.parent().map(Path::to_owned);
    let all = cwd.into_iter().chain(engine).chain(programs).chain(own);
    all.filter(|path| path.starts_with(host_home) && path != host_home)
        .collect()
}

fn hidden_variables() -> SandboxCredentials {
    let names = API_CREDENTIALS.iter().chain(OTHER_SECRETS);
    let hidden = names.map(|name| CredentialEnvVar {
        name: (*name).to_owned(),
        mode: CredentialMode::Deny,
        ..CredentialEnvVar::default()
    });
    SandboxCredentials {
        env_vars: Some(hidden.collect()),
        ..SandboxCredentials::default()
    }
}

fn texts(paths: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let texts = paths.map(|path| path.to_string_lossy().into_owned());
    texts.collect()
}

fn some(list: Vec<String>) -> Option<Vec<String>> {
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{Places, document};
    use crate::isolation::{IsolationConfig, Nesting, NetworkPolicy, Sandbox, SandboxConfig};

    fn settings(config: &IsolationConfig) -> Value {
        let places = Places {
            home: Path::new("/tmp/h"),
            host_home: Some(Path::new("/home/me")),
            cwd: Some(Path::new("/home/me/project")),
            program: Path::new("/home/me/.local/bin/claude"),
            path: Some("/usr/bin:/home/me/.cargo/bin".as_ref()),
        };
        document(config, &places)
    }

    #[test]
    fn the_default_is_a_sandbox_that_must_be_there_with_a_closed_network() {
        let settings = settings(&IsolationConfig::new());
        let sandbox = &settings["sandbox"];
        let table = [
            ("/enabled", json!(true)),
            ("/failIfUnavailable", json!(true)),
            ("/allowUnsandboxedCommands", json!(false)),
            ("/autoAllowBashIfSandboxed", json!(true)),
            (
                "/network",
                json!({"allowedDomains": [], "strictAllowlist": true}),
            ),
            ("/filesystem/allowWrite", json!(["/tmp/h/tmp"])),
            (
                "/filesystem/denyRead",
                json!([
                    "/home/me",
                    "/tmp/h/.aws",
                    "/tmp/h/.claude/.credentials.json"
                ]),
            ),
            (
                "/filesystem/allowRead",
                json!([
                    "/home/me/project",
                    "/home/me/.local/bin",
                    "/home/me/.cargo/bin"
                ]),
            ),
            (
                "/credentials/envVars/0",
                json!({"name": "ANTHROPIC_API_KEY", "mode": "deny"}),
            ),
        ];
        for (pointer, value) in table {
            assert_eq!(sandbox.pointer(pointer), Some(&value), "{pointer}");
        }
        assert_eq!(
            settings["permissions"]["deny"],
            json!(["WebFetch", "WebSearch"])
        );
    }

    #[test]
    fn every_choice_shows_in_the_keys_the_cli_reads() {
        let sandbox = SandboxConfig::new()
            .writable_path("/w")
            .deny_write("/w/no")
            .readable_path("/r")
            .deny_read("/s")
            .exclude_command("docker *")
            .ask_for_commands()
            .nesting(Nesting::WeakerByChoice);
        let network = NetworkPolicy::with_domains(["docs.rs", "*.example.org"])
            .deny_domain("evil.example.org");
        let settings = settings(&IsolationConfig::new().sandbox(sandbox).network(network));
        let sandbox = &settings["sandbox"];
        let table = [
            ("/filesystem/allowWrite/1", json!("/w")),
            ("/filesystem/denyWrite", json!(["/w/no"])),
            ("/filesystem/allowRead/3", json!("/r")),
            ("/filesystem/denyRead/3", json!("/s")),
            ("/excludedCommands", json!(["docker *"])),
            ("/autoAllowBashIfSandboxed", json!(false)),
            ("/enableWeakerNestedSandbox", json!(true)),
            (
                "/network/allowedDomains",
                json!(["docs.rs", "*.example.org"]),
            ),
            ("/network/deniedDomains", json!(["evil.example.org"])),
            ("/network/strictAllowlist", json!(true)),
        ];
        for (pointer, value) in table {
            assert_eq!(sandbox.pointer(pointer), Some(&value), "{pointer}");
        }
        let permissions = &settings["permissions"];
        assert_eq!(permissions["allow"], json!(["WebFetch(domain:docs.rs)"]));
        assert_eq!(
            permissions["deny"],
            json!(["WebFetch(domain:evil.example.org)", "WebSearch"])
        );
    }

    #[test]
    fn weaker_modes_have_to_be_chosen_by_name() {
        let off = settings(&IsolationConfig::new().sandbox_mode(Sandbox::OffByChoice));
        assert_eq!(
            off["sandbox"],
            json!({"enabled": false, "failIfUnavailable": true})
        );
        let open = NetworkPolicy::open_by_choice();
        let open = settings(&IsolationConfig::new().network(open));
        assert_eq!(open["sandbox"]["network"], json!({"allowedDomains": ["*"]}));
        assert_eq!(open["sandbox"]["enabled"], true);
        let none: [&str; 0] = [];
        assert_eq!(
            NetworkPolicy::with_domains(none),
            NetworkPolicy::no_network()
        );
    }
}
