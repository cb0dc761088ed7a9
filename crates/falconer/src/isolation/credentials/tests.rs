//! Who gets which credentials, and what fails for want of them.

use std::path::Path;

use secrecy::ExposeSecret;

use super::{Chosen, choose};
use crate::account::Sources;
use crate::isolation::{IsolationConfig, IsolationError};
use crate::options::Auth;

fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The choice in a few words: the way, its secret, and the names of its variables.
fn words(chosen: &Chosen) -> String {
    let way = match &chosen.auth {
        Auth::ApiKey(key) => format!("key {}", key.expose_secret()),
        Auth::BearerToken(token) => format!("bearer {}", token.expose_secret()),
        Auth::SubscriptionToken(token) => format!("subscription {}", token.expose_secret()),
        Auth::SubscriptionLogin => "login".to_owned(),
        Auth::Bedrock { .. } => "bedrock".to_owned(),
        Auth::Vertex { .. } => "vertex".to_owned(),
        other => format!("{other:?}"),
    };
    let names = chosen
        .variables
        .iter()
        .map(|(name, _)| name.to_string_lossy());
    let names: Vec<_> = names.collect();
    format!("{way} [{}]", names.join(" ")).replace(" []", "")
}

/// A config, the variables of the host, and the choice in words.
type Row<'a> = (IsolationConfig, Vec<(&'a str, &'a str)>, Option<&'a str>);

#[test]
fn each_way_gets_its_own_credentials_and_no_others() {
    let bedrock = [
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("AWS_REGION", "r"),
        ("AWS_PROFILE", "p"),
    ];
    let key = ("ANTHROPIC_API_KEY", "sk-ant-k");
    let inherit = IsolationConfig::inherit_host_auth;
    let table: [Row<'_>; 13] = [
        (inherit(), vec![key], Some("key sk-ant-k")),
        (
            inherit(),
            [bedrock.as_slice(), &[key]].concat(),
            Some("bedrock [AWS_PROFILE AWS_REGION CLAUDE_CODE_USE_BEDROCK]"),
        ),
        (inherit(), vec![bedrock[0], key], Some("key sk-ant-k")),
        (
            inherit(),
            vec![("CLAUDE_CODE_USE_BEDROCK", "true"), bedrock[1]],
            None,
        ),
        (
            inherit(),
            vec![("ANTHROPIC_AUTH_TOKEN", "t")],
            Some("bearer t"),
        ),
        (
            inherit(),
            vec![("CLAUDE_CODE_OAUTH_TOKEN", "o")],
            Some("subscription o"),
        ),
        (inherit(), vec![("ANTHROPIC_API_KEY", "sk-other")], None),
        (
            inherit(),
            vec![
                ("ANTHROPIC_API_KEY", "sk-other"),
                ("ANTHROPIC_BASE_URL", "http://g"),
            ],
            Some("key sk-other [ANTHROPIC_BASE_URL]"),
        ),
        (
            inherit(),
            vec![("CLAUDE_CODE_USE_VERTEX", "1")],
            Some("vertex [CLAUDE_CODE_USE_VERTEX]"),
        ),
        (IsolationConfig::for_anthropic_api(), bedrock.to_vec(), None),
        (
            IsolationConfig::for_anthropic_api(),
            [bedrock.as_slice(), &[key]].concat(),
            Some("key sk-ant-k"),
        ),
        (
            IsolationConfig::with_api_key("sk-ant-mine"),
            [bedrock.as_slice(), &[key]].concat(),
            Some("key sk-ant-mine"),
        ),
        (
            IsolationConfig::for_bedrock(),
            vec![key, ("AWS_ROLE_ARN", "a"), ("AWS_CONFIG_FILE", "c")],
            Some("bedrock [AWS_ROLE_ARN]"),
        ),
    ];
    for (config, variables, expected) in table {
        let sources = variables
            .iter()
            .fold(Sources::new(), |sources, (name, value)| {
                sources.variable(name, value)
            });
        let chosen = choose(&config, &Auth::Inherit, &sources);
        match (&chosen, expected) {
            (Ok(chosen), Some(expected)) => assert_eq!(words(chosen), expected),
            (Err(IsolationError::NoHostAuth(_)), None) => {}
            other => panic!("{variables:?}: {other:?}"),
        }
    }
}

#[test]
fn the_settings_of_the_host_are_a_fallback_and_a_login_comes_last() {
    let home = tempfile::tempdir().unwrap();
    let sources = || Sources::new().home(home.path());
    let inherit = IsolationConfig::inherit_host_auth();
    let chosen = |sources: &Sources| choose(&inherit, &Auth::Inherit, sources);
    let error = chosen(&sources()).unwrap_err().to_string();
    assert!(error.contains("CLAUDE_CODE_USE_BEDROCK=1") && error.contains("ANTHROPIC_API_KEY"));
    write(
        home.path(),
        ".claude/.credentials.json",
        r#"{"claudeAiOauth": {}}"#,
    );
    assert_eq!(words(&chosen(&sources()).unwrap()), "login");
    write(
        home.path(),
        ".claude/settings.json",
        r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu"}}"#,
    );
    let found = chosen(&sources()).unwrap();
    assert_eq!(
        words(&found),
        "bedrock [AWS_REGION CLAUDE_CODE_USE_BEDROCK]"
    );
    let shell = sources().variable("AWS_REGION", "us");
    let found = chosen(&shell).unwrap();
    assert_eq!(found.variables[0].1, "us", "the shell wins");
}

#[test]
fn the_aws_directory_is_the_chosen_one_or_that_of_the_home() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), ".aws/config", "of the home");
    write(home.path(), "mnt/sso/cache/x.json", "mounted");
    let sources = Sources::new().home(home.path());
    let files = |config: IsolationConfig| {
        choose(&config, &Auth::Inherit, &sources).map(|chosen| chosen.aws)
    };
    let bedrock = IsolationConfig::for_bedrock;
    let own = files(bedrock()).unwrap();
    assert_eq!(own, [("config".into(), b"of the home".to_vec())]);
    let mounted = files(bedrock().aws_directory(home.path().join("mnt"))).unwrap();
    assert_eq!(mounted, [("sso/cache/x.json".into(), b"mounted".to_vec())]);
    let missing = files(bedrock().aws_directory(home.path().join("none")));
    assert!(matches!(missing, Err(IsolationError::AwsDirectory { .. })));
    let key = files(IsolationConfig::with_api_key("sk-ant-k")).unwrap();
    assert!(key.is_empty(), "a key brings no AWS configuration");
    let shown = format!("{:?}", choose(&bedrock(), &Auth::Inherit, &sources));
    assert!(!shown.contains("of the home"), "{shown}");
}
