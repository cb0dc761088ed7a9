//! What there is to authenticate with, and which engine can use it. Values are never shown.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use falconer::account::{Candidate, Discovery, Source, Sources, Verdict};
use falconer::{Auth, Billing};
use falconer_engine::{Standing, TrustStore, inspect, state_directory};
use falconer_secret::Redactor;
use serde_json::Value;

use crate::environment::Environment;

/// More than any settings file.
const SETTINGS_LIMIT: u64 = 8 << 20;

/// Everything that was found, in the order in which it is used, and everything that was looked at.
#[derive(Debug)]
pub struct Credentials {
    found: Vec<Credential>,
    /// Everything that was looked at, with what became of it.
    looked_at: Vec<String>,
}

/// One way to authenticate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Credential {
    /// Where it comes from, for people.
    pub source: String,
    /// Who pays.
    pub billing: Billing,
    /// Which engines can use it.
    pub serves: Serves,
    /// How an engine is told to use it.
    pub auth: Auth,
}

/// Which engines can use a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Serves {
    /// All of them.
    Every,
    /// The official CLI only.
    Claude,
    /// The native engine only.
    Native,
}

impl Serves {
    /// Whether the official CLI can use it.
    #[must_use]
    pub fn claude(self) -> bool {
        matches!(self, Self::Every | Self::Claude)
    }

    /// Whether the native engine can use it.
    #[must_use]
    pub fn native(self) -> bool {
        matches!(self, Self::Every | Self::Native)
    }
}

/// Switches to a cloud provider, and who understands them.
const CLOUDS: [(&str, &str, Serves); 3] = [
    ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock", Serves::Every),
    ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI", Serves::Claude),
    (
        "CLAUDE_CODE_USE_FOUNDRY",
        "Azure AI Foundry",
        Serves::Claude,
    ),
];

impl Credentials {
    /// Looks at these files of credentials only. What was named is used or refused.
    #[must_use]
    pub fn in_files(environment: &Environment, files: &[PathBuf]) -> Self {
        let mut credentials = Self {
            found: Vec::new(),
            looked_at: Vec::new(),
        };
        let mut sources = Sources::new();
        for file in files {
            if let Some(document) = read(file) {
                environment.redactor().learn_document(&document);
            }
            sources = sources.credential_file(file);
        }
        let discovery = Discovery::of(&sources);
        let named = |candidate: &&Candidate| matches!(candidate.source, Source::File { .. });
        for candidate in discovery.candidates().iter().filter(named) {
            credentials.look_over(std::slice::from_ref(candidate));
        }
        if let (Some(chosen), Ok(auth)) = (discovery.chosen(), discovery.auth()) {
            credentials.found.push(Credential {
                source: chosen.source.to_string(),
                billing: Billing::Api,
                serves: Serves::Every,
                auth,
            });
        }
        credentials
    }

    /// Looks at an environment, the user's settings and files, and the helper of a project that
    /// is trusted. Keys and addresses are never taken from a project.
    #[must_use]
    pub fn look(environment: &Environment, project: Option<&Path>) -> Self {
        let mut credentials = Self {
            found: Vec::new(),
            looked_at: Vec::new(),
        };
        let settings = Settings::read(environment);
        settings.teach(environment.redactor());
        teach_logins(environment);
        let trusted = project.and_then(|project| trusted_helper(environment, project));
        credentials.clouds(environment, &settings);
        credentials.anthropic(environment, &settings);
        credentials.helper(&settings, trusted);
        credentials.discovered(environment);
        credentials.special(environment);
        credentials
    }

    /// The first one that serves.
    #[must_use]
    pub fn first(&self, serves: impl Fn(Serves) -> bool) -> Option<&Credential> {
        let mut found = self.found.iter();
        found.find(|credential| serves(credential.serves))
    }

    /// All that were found, in the order in which they are used.
    #[must_use]
    pub fn found(&self) -> &[Credential] {
        &self.found
    }

    /// Everything that was looked at, with what became of it; no values.
    #[must_use]
    pub fn looked_at(&self) -> &[String] {
        &self.looked_at
    }

    fn clouds(&mut self, environment: &Environment, settings: &Settings) {
        for (variable, name, serves) in CLOUDS {
            let value = settings.value(environment, variable);
            let is_on = |text: &str| !matches!(text, "0" | "false" | "no" | "off");
            if let Some((_, place)) = value.filter(|(text, _)| is_on(text)) {
                let source = format!("{name} ({place})");
                self.add(source, Billing::Cloud, serves, Auth::Inherit);
            }
        }
    }

    /// What both engines read by themselves.
    fn anthropic(&mut self, environment: &Environment, settings: &Settings) {
        // Another service than Anthropic's has keys of another form.
        let any_form = settings.value(environment, "ANTHROPIC_BASE_URL").is_some();
        if let Some((key, place)) = settings.value(environment, "ANTHROPIC_API_KEY")
            && (any_form || key.starts_with("sk-ant-"))
        {
            self.add(place, Billing::Api, Serves::Every, Auth::Inherit);
        }
        match settings.value(environment, "ANTHROPIC_AUTH_TOKEN") {
            Some((_, place)) => self.add(place, Billing::Api, Serves::Every, Auth::Inherit),
            None => self.missed("variable ANTHROPIC_AUTH_TOKEN: not set"),
        }
    }

    fn helper(&mut self, settings: &Settings, trusted: Option<PathBuf>) {
        let helper = settings.file.as_ref().filter(|file| file.helper);
        match trusted.or_else(|| helper.map(|file| file.path.clone())) {
            Some(path) => {
                let source = format!("apiKeyHelper in {}", path.display());
                self.add(source, Billing::Api, Serves::Every, Auth::Inherit);
            }
            None => self.missed("setting apiKeyHelper: not set"),
        }
    }

    /// Keys in files, and logins.
    fn discovered(&mut self, environment: &Environment) {
        let discovery = Discovery::of(&environment.sources());
        let (Some(chosen), Ok(auth)) = (discovery.chosen(), discovery.auth()) else {
            self.look_over(discovery.candidates());
            return;
        };
        // Those are found above, and are left where they are.
        let read_by_engines = matches!(
            chosen.source,
            Source::Variable {
                name: "ANTHROPIC_API_KEY"
            } | Source::HostSettings {
                name: "ANTHROPIC_API_KEY",
                ..
            }
        );
        self.look_over(discovery.candidates());
        if read_by_engines {
            return;
        }
        let (billing, serves) = match auth {
            Auth::SubscriptionLogin => (Billing::Subscription, Serves::Claude),
            _ => (Billing::Api, Serves::Every),
        };
        self.found.push(Credential {
            source: chosen.source.to_string(),
            billing,
            serves,
            auth,
        });
    }

    /// A subscription token, which only the CLI takes; a script, which only our engine plays.
    fn special(&mut self, environment: &Environment) {
        match environment.value("CLAUDE_CODE_OAUTH_TOKEN") {
            Some(_) => {
                let source = "variable CLAUDE_CODE_OAUTH_TOKEN".to_owned();
                self.add(source, Billing::Subscription, Serves::Claude, Auth::Inherit);
            }
            None => self.missed("variable CLAUDE_CODE_OAUTH_TOKEN: not set"),
        }
        if environment.value("FALCONER_SCENARIO").is_some() {
            let source = "none needed (variable FALCONER_SCENARIO)".to_owned();
            self.add(source, Billing::Undetermined, Serves::Native, Auth::Inherit);
        }
    }

    fn add(&mut self, source: String, billing: Billing, serves: Serves, auth: Auth) {
        self.looked_at.push(format!("{source}: found"));
        self.found.push(Credential {
            source,
            billing,
            serves,
            auth,
        });
    }

    fn missed(&mut self, text: &str) {
        self.looked_at.push(text.to_owned());
    }

    fn look_over(&mut self, candidates: &[Candidate]) {
        for candidate in candidates {
            let text = match &candidate.verdict {
                Verdict::Rejected { reason } => format!("{}: {reason}", candidate.source),
                _ => format!("{}: found", candidate.source),
            };
            if !self.looked_at.contains(&text) {
                self.looked_at.push(text);
            }
        }
    }
}

impl fmt::Display for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "looked for credentials at {}", self.looked_at.join("; "))
    }
}

/// The parts of the user's settings that are about authentication.
struct Settings {
    file: Option<SettingsFile>,
}

struct SettingsFile {
    path: PathBuf,
    env: serde_json::Map<String, Value>,
    /// Whether a helper is named. Its command may hold a secret.
    helper: bool,
}

/// The file of a project that names a helper, if somebody trusts it.
fn trusted_helper(environment: &Environment, project: &Path) -> Option<PathBuf> {
    let state = state_directory(|name| environment.value(name).map(ToOwned::to_owned))?;
    let own = environment.claude_directory();
    let inspection = inspect(project, &TrustStore::new(&state), own.as_deref()).ok()?;
    let mut items = inspection.items.iter();
    let helper = items.find(|item| item.key == "apiKeyHelper")?;
    let is_trusted = inspection.standing == Standing::Trusted;
    is_trusted.then(|| inspection.project.join(&helper.file))
}

impl Settings {
    fn read(environment: &Environment) -> Self {
        let user = environment.claude_directory();
        let user = user.map(|directory| directory.join("settings.json"));
        Self {
            file: user.and_then(SettingsFile::read),
        }
    }

    /// Teaches the secrets in the `env` section.
    fn teach(&self, redactor: &Redactor) {
        let Some(file) = &self.file else {
            return;
        };
        let texts = file.env.iter().filter_map(|(name, value)| {
            let value = value.as_str()?;
            Some((OsStr::new(name), OsStr::new(value)))
        });
        redactor.learn_variables(texts);
    }

    /// A variable of the environment, else of the user's settings, and where it was found.
    fn value(&self, environment: &Environment, name: &str) -> Option<(String, String)> {
        if let Some(value) = environment.value(name) {
            let text = value.to_string_lossy().into_owned();
            return Some((text, format!("variable {name}")));
        }
        let file = self.file.as_ref()?;
        let text = match file.env.get(name)? {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let place = format!("{name} in the env section of {}", file.path.display());
        Some((text, place))
    }
}

/// Files of the CLI in which keys and logins are kept, below the home.
const LOGINS: [&str; 3] = [
    ".claude.json",
    ".claude.json.api",
    ".claude-oauth-credentials.json",
];

/// Teaches the keys and tokens in the files of the CLI, whether or not they are used.
fn teach_logins(environment: &Environment) {
    let home = environment.value("HOME").map(Path::new);
    let in_home = home
        .into_iter()
        .flat_map(|home| LOGINS.map(|name| home.join(name)));
    let login = environment.claude_directory();
    let login = login.map(|directory| directory.join(".credentials.json"));
    for path in in_home.chain(login) {
        if let Some(document) = read(&path) {
            environment.redactor().learn_document(&document);
        }
    }
}

/// Reads a file of reasonable size as JSON.
fn read(path: &Path) -> Option<Value> {
    let file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(SETTINGS_LIMIT).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

impl SettingsFile {
    /// Nothing if the file is of no use; the engine tells about that.
    fn read(path: PathBuf) -> Option<Self> {
        let mut settings = read(&path)?;
        let env = match settings["env"].take() {
            Value::Object(env) => env,
            _ => serde_json::Map::new(),
        };
        let helper = settings["apiKeyHelper"].as_str();
        let helper = helper.is_some_and(|command| !command.trim().is_empty());
        Some(Self { path, env, helper })
    }
}
