//! What a run gets of a host that has every kind of credential.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::furnish;
use crate::error::Error;
use crate::isolation::{Facts, Home, IsolationConfig, IsolationError, Sandbox};
use crate::launch::{HostFeatures, LaunchPlan, LaunchWarning, Surroundings};
use crate::options::{Auth, Billing, Options};

/// Variables that could let a run authenticate.
const WATCHED: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "CLAUDE_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
];

const LOGIN: &str = r#"{"claudeAiOauth": {"accessToken": "oauth-access-secret",
    "refreshToken": "oauth-refresh-secret", "expiresAt": 4102444800000}}"#;

struct Host {
    home: TempDir,
    homes: TempDir,
    env: Vec<(&'static str, &'static str)>,
}

impl Host {
    /// A host with everything.
    fn new() -> Self {
        let host = Self {
            home: TempDir::new().unwrap(),
            homes: TempDir::new().unwrap(),
            env: vec![
                ("PATH", "/bin"),
                ("ANTHROPIC_API_KEY", "sk-ant-shell"),
                ("ANTHROPIC_AUTH_TOKEN", "bearer-secret"),
                ("CLAUDE_API_KEY", "sk-ant-other"),
                ("CLAUDE_CODE_OAUTH_TOKEN", "oauth-secret"),
                ("AWS_PROFILE", "p"),
                ("AWS_REGION", "eu-west-1"),
                ("AWS_ACCESS_KEY_ID", "aws-id"),
                ("AWS_SECRET_ACCESS_KEY", "aws-secret"),
                ("ANTHROPIC_VERTEX_PROJECT_ID", "my-project"),
                ("CLOUD_ML_REGION", "europe-west1"),
                ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/google.json"),
            ],
        };
        host.write(".claude/.credentials.json", LOGIN);
        host.write(".aws/config", "[profile p]");
        host
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// As `settle` does it, without a probe.
    fn set_up(&self, options: &Options) -> Result<(LaunchPlan, Home), Error> {
        let config = options.launch.isolation.as_deref().unwrap();
        let home = self.home.path().to_str().unwrap();
        let env = self.env.iter().copied().chain([("HOME", home)]);
        let mut surroundings = env.fold(Surroundings::new("/c"), |surroundings, (name, value)| {
            surroundings.with_variable(name, value)
        });
        let mut facts = Facts::gather(config, &options.launch, &surroundings.env)?;
        let home = Home::create(self.homes.path())?;
        facts.home = Some(home.path().to_owned());
        surroundings.isolation = Some(facts.clone());
        let plan = options.plan(&HostFeatures::default(), &surroundings)?;
        furnish(&home, plan.isolation.as_ref().unwrap(), &facts)?;
        Ok((plan, home))
    }
}

fn isolated(auth: Auth) -> Options {
    let config = IsolationConfig::with_auth(auth).sandbox_mode(Sandbox::OffByChoice);
    Options::new().isolation(config)
}

/// The watched variables that a plan sets.
fn watched(plan: &LaunchPlan) -> Vec<(&'static str, String)> {
    let set = WATCHED.into_iter().filter_map(|name| {
        let value = plan.variable(name)?.to_str().unwrap();
        Some((name, value.to_owned()))
    });
    set.collect()
}

/// Every file in a home, relative.
fn files(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![home.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(home).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A way to authenticate, its variables, who pays, and the files besides the settings.
type Row = (
    Auth,
    &'static [(&'static str, &'static str)],
    Billing,
    &'static [&'static str],
);

#[test]
fn a_run_gets_what_was_chosen_and_nothing_else_that_the_host_has() {
    let host = Host::new();
    let table: [Row; 8] = [
        (
            Auth::ApiKey("sk-ant-mine".into()),
            &[("ANTHROPIC_API_KEY", "sk-ant-mine")],
            Billing::Api,
            &[],
        ),
        (
            Auth::AnthropicFromEnvironment,
            &[("ANTHROPIC_API_KEY", "sk-ant-shell")],
            Billing::Api,
            &[],
        ),
        (
            Auth::Inherit,
            &[("ANTHROPIC_API_KEY", "sk-ant-shell")],
            Billing::Api,
            &[],
        ),
        (
            Auth::BearerToken("mine".into()),
            &[("ANTHROPIC_AUTH_TOKEN", "mine")],
            Billing::Api,
            &[],
        ),
        (
            Auth::SubscriptionToken("mine".into()),
            &[("CLAUDE_CODE_OAUTH_TOKEN", "mine")],
            Billing::Subscription,
            &[],
        ),
        (
            Auth::SubscriptionLogin,
            &[],
            Billing::Subscription,
            &[".claude/.credentials.json"],
        ),
        (
            Auth::Bedrock { region: None },
            &[
                ("AWS_ACCESS_KEY_ID", "aws-id"),
                ("AWS_PROFILE", "p"),
                ("AWS_REGION", "eu-west-1"),
                ("AWS_SECRET_ACCESS_KEY", "aws-secret"),
                ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ],
            Billing::Cloud,
            &[".aws/config"],
        ),
        (
            Auth::Vertex {
                project: None,
                region: None,
            },
            &[
                ("ANTHROPIC_VERTEX_PROJECT_ID", "my-project"),
                ("CLAUDE_CODE_USE_VERTEX", "1"),
                ("CLOUD_ML_REGION", "europe-west1"),
                ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/google.json"),
            ],
            Billing::Cloud,
            &[],
        ),
    ];
    for (auth, variables, billing, extra) in table {
        let options = isolated(auth.clone()).base_url("http://127.0.0.1:1");
        let (plan, home) = host.set_up(&options).unwrap();
        let expected: Vec<_> = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        assert_eq!(watched(&plan), expected, "{auth:?}");
        assert_eq!(plan.billing, billing, "{auth:?}");
        let mut expected: Vec<PathBuf> = extra.iter().map(PathBuf::from).collect();
        expected.push(".claude/settings.json".into());
        expected.sort();
        assert_eq!(files(home.path()), expected, "{auth:?}");
        let shown = plan.to_string() + &format!("{plan:?}");
        assert!(!shown.contains("secret"), "{auth:?}: {shown}");
    }
}

#[test]
fn a_login_is_copied_for_its_owner_only_and_cannot_be_renewed() {
    let host = Host::new();
    let (_plan, home) = host.set_up(&isolated(Auth::SubscriptionLogin)).unwrap();
    let copy = home.path().join(".claude/.credentials.json");
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(copy).unwrap();
    assert!(text.contains("oauth-access-secret"), "{text}");
    assert!(!text.contains("oauth-refresh-secret"), "{text}");
    let original = host.home.path().join(".claude/.credentials.json");
    assert_eq!(std::fs::read_to_string(original).unwrap(), LOGIN);
}

#[test]
fn an_incomplete_way_fails_before_anything_is_made() {
    let without = |names: &[&str]| {
        let mut host = Host::new();
        host.env.retain(|(name, _)| !names.contains(name));
        host
    };
    let vertex = || {
        isolated(Auth::Vertex {
            project: None,
            region: None,
        })
    };
    let no_login = Host::new();
    std::fs::remove_file(no_login.home.path().join(".claude/.credentials.json")).unwrap();
    let table = [
        (
            without(&["ANTHROPIC_VERTEX_PROJECT_ID"]),
            vertex(),
            "project",
        ),
        (without(&["CLOUD_ML_REGION"]), vertex(), "region"),
        (
            without(&["AWS_REGION"]),
            isolated(Auth::Bedrock { region: None }),
            "region",
        ),
        (
            no_login,
            isolated(Auth::SubscriptionLogin),
            "no usable credential",
        ),
        (
            without(&[
                "ANTHROPIC_API_KEY",
                "CLAUDE_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
            ]),
            isolated(Auth::AnthropicFromEnvironment),
            "ANTHROPIC_API_KEY",
        ),
        (Host::new(), isolated(Auth::ApiKey("".into())), "api key"),
    ];
    for (host, options, expected) in table {
        let error = host.set_up(&options).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!error.contains("secret"), "{error}");
        let left = std::fs::read_dir(host.homes.path()).unwrap().count();
        assert_eq!(left, 0, "{error}");
    }
}

#[test]
fn models_are_named_as_the_provider_of_an_isolated_run_needs_it() {
    let mut host = Host::new();
    let model = |host: &Host, auth: Auth, name: &str| {
        let options = isolated(auth)
            .model(name)
            .fallback_model("claude-of-tomorrow");
        let (plan, _home) = host.set_up(&options).unwrap();
        let args = plan.args.iter().filter_map(|arg| arg.to_str());
        let model = args.filter_map(|arg| arg.strip_prefix("--model=")).next();
        let unknown = plan.warnings.iter().filter_map(|warning| match warning {
            LaunchWarning::UnknownModel { name } => Some(name.clone()),
            _ => None,
        });
        (model.unwrap().to_owned(), unknown.collect::<Vec<_>>())
    };
    let tomorrow = vec!["claude-of-tomorrow".to_owned()];
    let bedrock = || Auth::Bedrock { region: None };
    let anthropic = || Auth::ApiKey("sk-ant-mine".into());
    let (name, converted) = ("claude-opus-4-6", "us.anthropic.claude-opus-4-6-v1");
    let table = [
        (bedrock(), name, converted, &tomorrow),
        (bedrock(), converted, converted, &tomorrow),
        (bedrock(), "opus", "opus", &tomorrow),
        (anthropic(), converted, name, &Vec::new()),
        (anthropic(), name, name, &Vec::new()),
    ];
    for (auth, given, expected, warned) in table {
        let found = model(&host, auth.clone(), given);
        assert_eq!(
            found,
            (expected.to_owned(), warned.clone()),
            "{auth:?} {given}"
        );
    }
    // The host decides, and its choice is known only when it is looked at.
    host.env.push(("CLAUDE_CODE_USE_BEDROCK", "1"));
    assert_eq!(model(&host, Auth::Inherit, name).0, converted);
}

/// What somebody could put in the place of a file.
fn hostile(path: &Path, kind: &str) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let link = |target: &str| std::os::unix::fs::symlink(target, path).unwrap();
    match kind {
        "pipe" => {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }
        "directory" => std::fs::create_dir(path).unwrap(),
        "endless" => link("/dev/zero"),
        "loop" => link(path.to_str().unwrap()),
        "dangling" => link("/does/not/exist"),
        "huge" => {
            let file = std::fs::File::create(path).unwrap();
            file.set_len(3 << 30).unwrap();
        }
        "deep" => {
            let text = format!(
                "{}\"hostile-secret\"{}",
                "[".repeat(200_000),
                "]".repeat(200_000)
            );
            std::fs::write(path, text).unwrap();
        }
        "binary" => std::fs::write(path, b"hostile-secret\xff\0").unwrap(),
        "cut" => std::fs::write(path, "{\"apiKey\": \"hostile-secret").unwrap(),
        _ => unreachable!("{kind}"),
    }
}

#[test]
fn hostile_files_of_the_host_neither_hang_a_start_nor_are_shown() {
    let kinds = [
        "pipe",
        "directory",
        "endless",
        "loop",
        "dangling",
        "huge",
        "deep",
        "binary",
        "cut",
    ];
    let places = [
        ".claude/.credentials.json",
        ".claude-oauth-credentials.json",
        ".claude/settings.json",
        ".claude.json",
        ".claude.json.api",
        ".aws/config",
    ];
    let inherit = || Auth::Inherit;
    let ways: [fn() -> Auth; 3] = [
        inherit,
        || Auth::SubscriptionLogin,
        || Auth::Bedrock { region: None },
    ];
    for kind in kinds {
        for place in places {
            let mut host = Host::new();
            let keys = [
                "ANTHROPIC_API_KEY",
                "CLAUDE_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
            ];
            host.env.retain(|(name, _)| !keys.contains(name));
            hostile(&host.home.path().join(place), kind);
            for way in ways {
                let result = host.set_up(&isolated(way()));
                let shown = match &result {
                    Ok((plan, _home)) => format!("{plan} {plan:?}"),
                    Err(Error::Isolation(error)) => match **error {
                        IsolationError::NoHostAuth(_)
                        | IsolationError::AwsDirectory { .. }
                        | IsolationError::Home { .. } => format!("{error} {error:?}"),
                        _ => panic!("{kind} at {place}: {error}"),
                    },
                    Err(error) => panic!("{kind} at {place}: {error}"),
                };
                assert!(
                    !shown.contains("hostile-secret"),
                    "{kind} at {place}: {shown}"
                );
                assert!(shown.len() < 100_000, "{kind} at {place}");
                drop(result);
                let left = std::fs::read_dir(host.homes.path()).unwrap().count();
                assert_eq!(left, 0, "{kind} at {place}");
            }
        }
    }
}
