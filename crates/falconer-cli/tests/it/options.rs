//! Options reach the engine: by flags, by the configuration, by profiles, over HTTP.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, Ran, run};
use crate::server_process::{LIMIT, Server};

/// Writes down what it is started with and the first line it is sent, and ends.
const FAKE: &str = "\
#!/bin/sh
here=$(dirname \"$0\")
case \"$1\" in --version) echo '2.1.325 (Claude Code)'; exit 0;; esac
printf '%s\\n' \"$@\" > \"$here/args.$$\" && mv \"$here/args.$$\" \"$here/args\"
env > \"$here/env.$$\" && mv \"$here/env.$$\" \"$here/env\"
head -n 1 > \"$here/hello.$$\"
test -s \"$here/hello.$$\" && mv \"$here/hello.$$\" \"$here/hello\"
exit 1
";

const KEY: &str = "sk-ant-api03-an-example-key";

/// A place with an engine that only writes down how it was started.
struct Stage(Place);

impl Stage {
    fn new() -> Self {
        let place = Place::new();
        let fake = place.path().join("claude");
        std::fs::write(&fake, FAKE).unwrap();
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir_all(place.path().join("home/.config/falconer/profiles")).unwrap();
        let stage = Self(place);
        stage.write("servers.json", r#"{"mcpServers": {}}"#);
        let agents = r#"{"reviewer": {"description": "reviews", "prompt": "Review."}}"#;
        stage.write("agents.json", agents);
        stage.write("plugin/readme", "");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn user(&self, text: &str) {
        self.write("home/.config/falconer/config.toml", text);
    }

    fn command(&self) -> Command {
        let mut command = self.0.falconer();
        command
            .env("FALCONER_CLAUDE_PATH", self.path("claude"))
            .env("ANTHROPIC_API_KEY", KEY)
            .env("FALCONER_STATE_DIR", self.path("state"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command.args(["run", "hi", "--engine", "claude"]);
        let _ = std::fs::remove_file(self.path("hello"));
        run(command.args(arguments), "")
    }

    fn serve(&self) -> Server {
        let mut command = self.command();
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null());
        Server::start(&mut command, &self.path("state"))
    }

    /// Makes a session whose engine is started once and ends.
    fn session(&self, server: &Server, extra: &Value) -> (u16, Value) {
        let mut new = json!({"engine": "claude", "cwd": self.path("work").canonicalize().unwrap(),
            "message": {"client_msg_id": "1", "text": "hi"}});
        for (key, value) in extra.as_object().unwrap() {
            new[key] = value.clone();
        }
        server.call("POST", "/v1/sessions", Some(&new))
    }

    /// How the engine was started last, as soon as it was.
    fn seen(&self) -> Seen {
        let begun = Instant::now();
        while !self.path("hello").exists() {
            assert!(begun.elapsed() < LIMIT, "no engine was started");
            std::thread::sleep(Duration::from_millis(5));
        }
        let read = |name: &str| std::fs::read_to_string(self.path(name)).unwrap_or_default();
        Seen {
            arguments: read("args").lines().map(str::to_owned).collect(),
            hello: serde_json::from_str(&read("hello")).unwrap_or_default(),
            variables: read("env"),
        }
    }
}

/// How the engine was started.
struct Seen {
    arguments: Vec<String>,
    hello: Value,
    variables: String,
}

impl Seen {
    fn has(&self, arguments: &[&str]) {
        for argument in arguments {
            let has = self.arguments.iter().any(|it| it == argument);
            assert!(has, "{argument}: {:#?}", self.arguments);
        }
    }

    fn said(&self, fields: &Value) {
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(
                self.hello["request"][name], *value,
                "{name}: {}",
                self.hello
            );
        }
    }
}

const ARGUMENTS: &[&str] = &[
    "--fallback-model=sonnet,haiku",
    "--effort=high",
    "--max-thinking-tokens=4000",
    "--task-budget=9000",
    "--betas=a-beta,b-beta",
    "--tools=Read,Grep",
    "--agent=reviewer",
];

fn hello() -> Value {
    json!({"systemPrompt": ["Be brief."], "appendSystemPrompt": "In French.",
        "planModeInstructions": "Plan well.", "skills": ["pdf"]})
}

fn owners_arguments(stage: &Stage) -> Vec<String> {
    vec![
        format!("--mcp-config={}", stage.path("servers.json").display()),
        "--strict-mcp-config".to_owned(),
        format!("--plugin-dir={}", stage.path("plugin").display()),
        "--future-flag=1".to_owned(),
    ]
}

fn has_owners(stage: &Stage, seen: &Seen) {
    let arguments = owners_arguments(stage);
    seen.has(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    seen.has(ARGUMENTS);
    seen.said(&hello());
    assert_eq!(
        seen.hello["request"]["agents"]["reviewer"]["prompt"],
        "Review."
    );
    let url = "ANTHROPIC_BASE_URL=http://127.0.0.1:9\n";
    assert!(seen.variables.contains(url), "{}", seen.variables);
}

fn configuration(stage: &Stage) -> String {
    let path = |name: &str| stage.path(name).display().to_string();
    format!(
        "[run]\nfallback_models = ['sonnet', 'haiku']\neffort = 'high'\nthinking = '4000'\n\
         task_budget = 9000\nbetas = ['a-beta', 'b-beta']\ntools = ['Read', 'Grep']\n\
         system_prompt = 'Be brief.'\nappend_system_prompt = 'In French.'\n\
         plan_mode_instructions = 'Plan well.'\nskills = ['pdf']\nagent = 'reviewer'\n\
         agents = '{}'\nmcp_config = ['{}']\nstrict_mcp_config = true\nplugins = ['{}']\n\
         base_url = 'http://127.0.0.1:9'\n[claude]\nargs = ['future-flag=1']\n",
        path("agents.json"),
        path("servers.json"),
        path("plugin")
    )
}

#[test]
fn flags_reach_the_engine() {
    let stage = Stage::new();
    let path = |name: &str| stage.path(name).display().to_string();
    let (agents, servers, plugin) = (path("agents.json"), path("servers.json"), path("plugin"));
    stage.run(&[
        "--fallback-model=sonnet,haiku",
        "--effort=high",
        "--thinking=4000",
        "--task-budget=9000",
        "--betas=a-beta,b-beta",
        "--tools=Read,Grep",
        "--system-prompt=Be brief.",
        "--append-system-prompt=In French.",
        "--plan-mode-instructions=Plan well.",
        "--skills=pdf",
        "--agent=reviewer",
        "--agents",
        &agents,
        "--mcp-config",
        &servers,
        "--strict-mcp-config",
        "--plugin-dir",
        &plugin,
        "--engine-arg=future-flag=1",
        "--base-url=http://127.0.0.1:9",
    ]);
    has_owners(&stage, &stage.seen());
}

#[test]
fn keys_and_profiles_reach_the_engine_and_flags_count_more() {
    let stage = Stage::new();
    stage.user(&configuration(&stage));
    stage.run(&[]);
    has_owners(&stage, &stage.seen());
    stage.run(&["--effort=low", "--tools=Bash"]);
    stage.seen().has(&["--effort=low", "--tools=Bash"]);

    stage.user("");
    stage.write(
        "home/.config/falconer/profiles/work.toml",
        &configuration(&stage),
    );
    let ran = stage.run(&["--profile=work"]);
    has_owners(&stage, &stage.seen());
    let ran_none = stage.run(&["--profile=none"]);
    assert_eq!(ran_none.code, Some(2), "{}", ran.stderr);
    assert!(ran_none.stderr.contains("no profile named `none`"));
}

#[test]
fn a_prompt_of_the_engine_is_its_own_unless_somebody_chooses_another() {
    let stage = Stage::new();
    stage.run(&[]);
    assert_eq!(stage.seen().hello["request"].get("systemPrompt"), None);
    stage.run(&["--append-system-prompt=In French."]);
    let seen = stage.seen();
    assert_eq!(seen.hello["request"].get("systemPrompt"), None);
    seen.said(&json!({"appendSystemPrompt": "In French."}));
}

#[test]
fn options_over_http_reach_the_engine() {
    let stage = Stage::new();
    let server = stage.serve();
    let agent = json!({"description": "reviews", "prompt": "Review.", "tools": ["Read"]});
    let schema = json!({"type": "object"});
    let options = json!({"fallback_models": ["sonnet", "haiku"], "effort": "high",
        "thinking": {"type": "budget", "tokens": 4000}, "task_budget": 9000,
        "betas": ["a-beta", "b-beta"], "tools": ["Read", "Grep"], "system_prompt": "Be brief.",
        "append_system_prompt": "In French.", "plan_mode_instructions": "Plan well.",
        "skills": ["pdf"], "agent": "reviewer", "agents": {"reviewer": agent},
        "deny": ["WebFetch"], "output_schema": schema});
    stage.session(&server, &json!({"options": options}));
    let seen = stage.seen();
    seen.has(ARGUMENTS);
    seen.has(&[
        "--json-schema={\"type\":\"object\"}",
        "--disallowedTools=WebFetch",
    ]);
    seen.said(&hello());
    assert_eq!(
        seen.hello["request"]["agents"]["reviewer"]["tools"],
        json!(["Read"])
    );
    for wrong in [
        json!({"options": {"mcp_config": ["/etc/passwd"]}}),
        json!({"options": {"base_url": "http://127.0.0.1:9"}}),
        json!({"options": {"agent": "stranger"}}),
        json!({"options": {"agents": {"a": {"description": "", "prompt": "",
            "permissionMode": "bypassPermissions"}}}}),
        json!({"profile": "work"}),
        json!({"profile": "../config"}),
    ] {
        let (status, problem) = stage.session(&server, &wrong);
        assert_eq!(status, 422, "{wrong}: {problem}");
    }
}

#[test]
fn a_session_chooses_profiles_that_the_owner_lists_and_cannot_widen_its_tools() {
    let stage = Stage::new();
    stage.write(
        "home/.config/falconer/profiles/work.toml",
        &configuration(&stage),
    );
    stage.user("[serve]\nprofiles = ['work']\n");
    let server = stage.serve();
    let extra = json!({"profile": "work", "options": {"tools": ["Grep", "Bash"]}});
    stage.session(&server, &extra);
    let seen = stage.seen();
    seen.has(&["--tools=Grep", "--effort=high", "--future-flag=1"]);
    seen.said(&hello());
}

#[test]
fn a_profile_narrows_the_mode_of_a_session() {
    let stage = Stage::new();
    let profiles = "home/.config/falconer/profiles";
    stage.write(
        &format!("{profiles}/careful.toml"),
        "run.permission_mode = 'plan'\n",
    );
    stage.write(
        &format!("{profiles}/wide.toml"),
        "run.permission_mode = 'acceptEdits'\n",
    );
    stage.user("run.permission_mode = 'default'\nserve.profiles = ['careful', 'wide']\n");
    let server = stage.serve();
    let cwd = stage.path("work").canonicalize().unwrap();
    for (profile, mode) in [("careful", "plan"), ("wide", "default")] {
        let new = json!({"engine": "claude", "cwd": cwd, "profile": profile,
            "mode": "acceptEdits"});
        assert_eq!(server.made("/v1/sessions", &new)["mode"], mode, "{profile}");
    }
}

#[test]
fn the_account_that_was_chosen_pays() {
    let stage = Stage::new();
    let key = |seen: &Seen| {
        let mut lines = seen.variables.lines();
        let line = lines.find_map(|line| line.strip_prefix("ANTHROPIC_API_KEY="));
        line.map(str::to_owned)
    };
    stage.run(&[]);
    assert_eq!(key(&stage.seen()).as_deref(), Some(KEY));
    stage.run(&["--account=subscription"]);
    assert_eq!(key(&stage.seen()), None);
    let ran = stage.run(&["--account=bedrock"]);
    let said = ran.stdout + &ran.stderr;
    assert!(said.contains("AWS_REGION"), "{said}");

    stage.user("[claude]\nuse_api_billing = false\n");
    stage.run(&[]);
    assert_eq!(key(&stage.seen()), None);
    stage.run(&["--account=api"]);
    assert_eq!(key(&stage.seen()).as_deref(), Some(KEY));

    let other = "sk-ant-api03-of-somebody-else";
    stage.write("named.json", &json!({"primaryApiKey": other}).to_string());
    let file = stage.path("named.json").display().to_string();
    stage.user("");
    stage.run(&["--credential-file", &file]);
    assert_eq!(key(&stage.seen()).as_deref(), Some(other));
    let ran = stage.run(&["--credential-file", "/nowhere/key.json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("/nowhere/key.json"), "{}", ran.stderr);
}

/// A model that says whether it was told to be brief.
const BRIEF: &str = r#"{ "rules": [
    { "when": { "system_contains": "Be brief." }, "times": "always", "reply": { "text": "Brief." } },
    { "times": "always", "reply": { "text": "As usual." } } ] }"#;

#[test]
fn the_native_engine_has_them_too() {
    let stage = Stage::new();
    stage.write("model.json", BRIEF);
    let model = stage.path("model.json").display().to_string();
    let told = |prompt: &str, flags: &[&str]| {
        let mut command = stage.command();
        command.args([
            "run",
            prompt,
            "--quiet",
            "--engine=script",
            "--scenario",
            &model,
        ]);
        run(command.args(flags), "").stdout
    };
    assert_eq!(told("hi", &[]), "As usual.\n");
    assert_eq!(
        told("hi", &["--append-system-prompt=Be brief."]),
        "Brief.\n"
    );
    assert_eq!(told("/cost", &["--verbatim-prompts"]), "As usual.\n");
    assert_ne!(told("/cost", &[]), "As usual.\n");

    let mut command = stage.command();
    command
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--engine-scenario",
            &model,
        ])
        .stdin(Stdio::null());
    let server = Server::start(&mut command, &stage.path("state"));
    let new = json!({"engine": "script", "cwd": stage.path("work").canonicalize().unwrap(),
        "options": {"system_prompt": "Be brief."},
        "message": {"client_msg_id": "1", "text": "hi"}});
    let session = server.made("/v1/sessions", &new);
    let turn = server.follow(&session).event("turn.completed");
    assert!(turn.to_string().contains("Brief."), "{turn}");
}

#[test]
fn agents_are_refused_by_the_native_engine_and_plugins_warned_about() {
    let stage = Stage::new();
    stage.write("model.json", BRIEF);
    let model = stage.path("model.json").display().to_string();
    let ran = |flags: &[&str]| {
        let mut command = stage.command();
        command.args([
            "run",
            "hi",
            "--json",
            "--engine=script",
            "--scenario",
            &model,
        ]);
        run(command.args(flags), "")
    };
    let agents = stage.path("agents.json").display().to_string();
    let refused = ran(&["--agents", &agents]);
    assert_ne!(refused.code, Some(0));
    let said = refused.stdout + &refused.stderr;
    assert!(said.contains("(reviewer)"), "{said}");
    let warned = ran(&["--plugin-dir=."]);
    assert_eq!(warned.code, Some(0), "{}", warned.stderr);
    assert!(
        warned.stdout.contains("plugins are not loaded"),
        "{}",
        warned.stdout
    );
}

#[test]
fn a_fresh_home_is_not_that_of_the_user() {
    let stage = Stage::new();
    stage.run(&["--isolation=home"]);
    let seen = stage.seen();
    let mut lines = seen.variables.lines();
    let home = lines.find_map(|line| line.strip_prefix("HOME=")).unwrap();
    assert_ne!(Path::new(home), stage.path("home"));
    let ran = stage.run(&["--domains=docs.rs"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn what_would_undo_permissions_is_not_passed_on() {
    let stage = Stage::new();
    for argument in [
        "dangerously-skip-permissions",
        "--permission-mode=auto",
        "settings={}",
    ] {
        let ran = stage.run(&[&format!("--engine-arg={argument}")]);
        assert_eq!(ran.code, Some(2), "{argument}: {}", ran.stderr);
    }
    assert!(!Path::new(&stage.path("args")).exists());
}

#[test]
fn a_project_sets_none_of_them() {
    for line in [
        "agents = 'a.json'",
        "mcp_config = ['a.json']",
        "plugins = ['.']",
        "base_url = 'http://127.0.0.1:9'",
        "account = 'api'",
        "credential_files = ['a.json']",
        "system_prompt = 'obey'",
        "skills = ['*']",
    ] {
        let stage = Stage::new();
        stage.write("work/.falconer.toml", &format!("[run]\n{line}\n"));
        let ran = stage.run(&[]);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("cannot be set by a project"),
            "{}",
            ran.stderr
        );
    }
}
