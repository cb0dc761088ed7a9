//! Which engine is chosen on which machine.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A home, with a `claude` in it if wanted.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with_cli() -> Self {
        let machine = Self::new();
        let cli = machine.write("bin/claude", "#!/bin/sh\n");
        std::fs::set_permissions(cli, PermissionsExt::from_mode(0o755)).unwrap();
        machine
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn environment(&self, variables: &[(&str, &str)]) -> Environment {
        let own = [
            ("HOME".into(), self.0.path().into()),
            ("PATH".into(), self.0.path().join("bin").into()),
        ];
        let given = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        Environment::new(own.into_iter().chain(given))
    }
}

fn chosen(machine: &Machine, engine: EngineChoice, variables: &[(&str, &str)]) -> Run {
    let request = EngineRequest::new(engine);
    choose(&request, &machine.environment(variables))
        .unwrap()
        .about
}

fn refused(machine: &Machine, engine: EngineChoice, variables: &[(&str, &str)]) -> ChooseError {
    let request = EngineRequest::new(engine);
    choose(&request, &machine.environment(variables)).unwrap_err()
}

const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-ant-secret");

#[test]
fn auto_takes_the_cli_if_it_can_authenticate_else_the_native_engine() {
    type Row<'a> = (bool, &'a [(&'a str, &'a str)], &'a str, &'a str, &'a str);
    let table: &[Row<'_>] = &[
        (true, &[KEY], "claude", "variable ANTHROPIC_API_KEY", "api"),
        (false, &[KEY], "native", "variable ANTHROPIC_API_KEY", "api"),
        (
            true,
            &[("CLAUDE_CODE_OAUTH_TOKEN", "t")],
            "claude",
            "variable CLAUDE_CODE_OAUTH_TOKEN",
            "subscription",
        ),
        (
            false,
            &[("ANTHROPIC_AUTH_TOKEN", "t")],
            "native",
            "variable ANTHROPIC_AUTH_TOKEN",
            "api",
        ),
        (
            false,
            &[("CLAUDE_API_KEY", "sk-ant-other")],
            "native",
            "variable CLAUDE_API_KEY",
            "api",
        ),
        (
            false,
            &[
                ("ANTHROPIC_API_KEY", "other"),
                ("ANTHROPIC_BASE_URL", "http://localhost"),
            ],
            "native",
            "variable ANTHROPIC_API_KEY",
            "api",
        ),
        (
            true,
            &[("CLAUDE_CODE_USE_VERTEX", "1"), KEY],
            "claude",
            "Google Vertex AI (variable CLAUDE_CODE_USE_VERTEX)",
            "cloud",
        ),
        (
            false,
            &[("CLAUDE_CODE_USE_BEDROCK", "1"), KEY],
            "native",
            "Amazon Bedrock (variable CLAUDE_CODE_USE_BEDROCK)",
            "cloud",
        ),
        (
            false,
            &[("CLAUDE_CODE_USE_BEDROCK", "0"), KEY],
            "native",
            "variable ANTHROPIC_API_KEY",
            "api",
        ),
    ];
    for (has_cli, variables, engine, auth, billing) in table {
        let machine = if *has_cli {
            Machine::with_cli()
        } else {
            Machine::new()
        };
        let about = chosen(&machine, EngineChoice::Auto, variables);
        assert_eq!(about.engine, *engine, "{variables:?}");
        assert_eq!(about.auth.as_deref(), Some(*auth), "{variables:?}");
        assert_eq!(about.billing.as_deref(), Some(*billing), "{variables:?}");
        assert!(about.engine_reason.unwrap().contains(auth), "{variables:?}");
    }
}

#[test]
fn without_anything_the_text_says_what_was_looked_for_and_names_the_demo() {
    let machine = Machine::new();
    let error = refused(
        &machine,
        EngineChoice::Auto,
        &[("ANTHROPIC_API_KEY", "wrong-secret")],
    );
    let text = error.to_string();
    let home = machine.0.path().display();
    for part in [
        format!("{home}/bin/claude"),
        format!("{home}/.claude/.credentials.json"),
        "variable ANTHROPIC_API_KEY: does not begin with sk-ant-".to_owned(),
        "variable ANTHROPIC_AUTH_TOKEN: not set".to_owned(),
    ] {
        assert!(text.contains(&part), "{part} in {text}");
    }
    assert!(!text.contains("wrong-secret"), "{text}");
    assert!(error.advice().contains("falconer demo"));
}

#[test]
fn a_login_serves_the_cli_and_not_the_native_engine() {
    let login = r#"{"claudeAiOauth": {"accessToken": "t", "refreshToken": "r", "expiresAt": 4102444800000}}"#;
    let machine = Machine::with_cli();
    machine.write(".claude/.credentials.json", login);
    let about = chosen(&machine, EngineChoice::Auto, &[]);
    assert_eq!(
        (about.engine.as_str(), about.billing.as_deref()),
        ("claude", Some("subscription"))
    );
    let error = refused(&machine, EngineChoice::Native, &[]);
    assert!(matches!(error, ChooseError::NoCredentials(_)), "{error}");
}

#[test]
fn settings_count_and_a_helper_is_never_shown() {
    let machine = Machine::new();
    machine.write(
        ".claude/settings.json",
        r#"{"apiKeyHelper": "echo geheim"}"#,
    );
    let environment = machine.environment(&[]);
    let chosen = choose(&EngineRequest::new(EngineChoice::Auto), &environment).unwrap();
    let auth = chosen.about.auth.clone().unwrap();
    assert!(auth.starts_with("apiKeyHelper in "), "{auth}");
    assert!(!format!("{chosen:?}").contains("geheim"));
    let machine = Machine::new();
    machine.write(
        ".claude/settings.json",
        r#"{"env": {"ANTHROPIC_API_KEY": "sk-ant-x"}}"#,
    );
    let about = self::chosen(&machine, EngineChoice::Auto, &[]);
    assert!(about.auth.unwrap().contains("env section"));
}

#[test]
fn a_project_gives_no_key_and_no_address() {
    let machine = Machine::new();
    let env = r#"{"env": {"ANTHROPIC_API_KEY": "sk-ant-x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "CLAUDE_CODE_USE_BEDROCK": "1"}, "apiKeyHelper": "echo k"}"#;
    machine.write("project/.claude/settings.json", env);
    machine.write("project/.claude/settings.local.json", env);
    let mut request = EngineRequest::new(EngineChoice::Native);
    request.cwd = Some(machine.0.path().join("project"));
    let error = choose(&request, &machine.environment(&[])).unwrap_err();
    assert!(matches!(error, ChooseError::NoCredentials(_)), "{error}");
}

#[test]
fn what_was_named_is_used_or_refused() {
    let machine = Machine::with_cli();
    let named = ("FALCONER_CLAUDE_PATH", "/nowhere/claude");
    let error = refused(&machine, EngineChoice::Auto, &[KEY, named]);
    assert!(error.to_string().contains("/nowhere/claude"), "{error}");
    let error = refused(&Machine::new(), EngineChoice::Claude, &[KEY]);
    assert!(matches!(error, ChooseError::Cli(_)), "{error}");
    // Only the CLI may know of a login.
    let about = chosen(&machine, EngineChoice::Claude, &[]);
    assert_eq!((about.engine.as_str(), about.auth), ("claude", None));
    let about = chosen(&machine, EngineChoice::Native, &[KEY]);
    assert_eq!(about.engine, "native");
}

#[test]
fn a_script_needs_a_scenario_and_nothing_else() {
    let machine = Machine::new();
    let error = refused(&machine, EngineChoice::Script, &[]);
    assert!(matches!(error, ChooseError::NoScenario), "{error}");
    let mut request = EngineRequest::new(EngineChoice::Script);
    request.scenario = Some(machine.write("s.json", r#"{"rules": [{"reply": {"text": "hi"}}]}"#));
    let chosen = choose(&request, &machine.environment(&[])).unwrap();
    assert_eq!(chosen.about.engine, "script");
    request.scenario = Some(machine.0.path().join("missing.json"));
    let error = choose(&request, &machine.environment(&[])).unwrap_err();
    assert!(error.to_string().contains("missing.json"), "{error}");
}

#[test]
fn names_of_engines_are_read_back() {
    for name in ["auto", "claude", "native", "script"] {
        assert_eq!(name.parse::<EngineChoice>().unwrap().to_string(), name);
    }
    let error = "clade".parse::<EngineChoice>().unwrap_err();
    assert!(error.to_string().contains("`claude`"), "{error}");
}

/// What was chosen for an account.
fn paid_by(
    machine: &Machine,
    account: Account,
    variables: &[(&str, &str)],
) -> Result<Chosen, ChooseError> {
    let mut request = EngineRequest::new(EngineChoice::Auto);
    request.account = account;
    choose(&request, &machine.environment(variables))
}

#[test]
fn the_account_that_was_chosen_decides_whatever_is_in_the_environment() {
    let bedrock = ("CLAUDE_CODE_USE_BEDROCK", "1");
    let table = [
        (Account::Auto, "claude", "cloud"),
        (Account::Api, "claude", "api"),
        (Account::Subscription, "claude", "subscription"),
        (Account::Bedrock, "claude", "cloud"),
        (Account::Vertex, "claude", "cloud"),
    ];
    let machine = Machine::with_cli();
    for (account, engine, billing) in table {
        let about = paid_by(&machine, account, &[KEY, bedrock]).unwrap().about;
        assert_eq!(about.engine, engine, "{account}");
        assert_eq!(about.billing.as_deref(), Some(billing), "{account}");
    }
    // A key that is chosen is handed over, so that the provider is switched off.
    let chosen = paid_by(&machine, Account::Api, &[KEY, bedrock]).unwrap();
    let options = format!("{:?}", chosen.options);
    assert!(options.contains("auth: ApiKey"), "{options}");
}

#[test]
fn an_account_no_engine_can_use_is_refused() {
    let machine = Machine::new();
    for account in [Account::Subscription, Account::Vertex] {
        let error = paid_by(&machine, account, &[KEY]).unwrap_err();
        assert!(matches!(error, ChooseError::NoAccount { .. }), "{error}");
        assert!(error.advice().contains("--engine claude"));
    }
    let error = paid_by(&machine, Account::Api, &[]).unwrap_err();
    assert!(error.to_string().contains("`api`"), "{error}");
}

#[test]
fn a_key_in_a_file_that_was_named_is_used_or_the_file_refused() {
    let machine = Machine::with_cli();
    let file = machine.write("other.json", r#"{"primaryApiKey": "sk-ant-of-another"}"#);
    let empty = machine.write("empty.json", "{}");
    let named = |file: &PathBuf| {
        let mut request = EngineRequest::new(EngineChoice::Claude);
        request.credential_files = vec![file.clone()];
        choose(&request, &machine.environment(&[KEY]))
    };
    let about = named(&file).unwrap().about;
    assert!(about.auth.unwrap().contains("other.json"));
    let error = named(&empty).unwrap_err().to_string();
    assert!(error.contains("empty.json"), "{error}");
}
