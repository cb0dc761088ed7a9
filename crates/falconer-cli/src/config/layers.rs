//! Where a value comes from: default, the user's file, a variable; then the project narrows it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use falconer_hub::SessionThinking;
use falconer_rule::flaw;
use toml::{Table, Value};

use super::keys::{self, Key};
use super::schema::{Config, Mode};

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Project(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) | Self::Project(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("failed to parse {place}: {problem}")]
    Unreadable { place: String, problem: String },
    #[error("unknown key `{key}` in {place}; did you mean `{nearest}`?")]
    UnknownKey {
        key: String,
        place: String,
        nearest: String,
    },
    #[error("invalid value for `{key}` in {place}: {problem}")]
    WrongValue {
        key: String,
        place: String,
        problem: String,
    },
    #[error("`{key}` cannot be set by a project, only by its user (in {place})")]
    NotForProjects { key: String, place: String },
    #[error("`{key}` cannot be set by a profile (in {place})")]
    NotForProfiles { key: String, place: String },
}

/// The configuration in force, and who set what.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    pub(crate) config: Config,
    pub(crate) origins: BTreeMap<String, Origin>,
    /// What a project asked for and did not get, and rules that allow nothing.
    pub(crate) warnings: Vec<String>,
}

/// What there is to put together.
#[derive(Debug, Default)]
pub(crate) struct Layers<'a> {
    pub(crate) user: Option<(&'a Path, &'a str)>,
    /// The profile that was chosen.
    pub(crate) profile: Option<(&'a Path, &'a str)>,
    pub(crate) project: Option<(&'a Path, &'a str)>,
    pub(crate) variables: Vec<(String, String)>,
}

/// Keys a project may set. Each of them can only narrow what a run may do, or names a model.
const FOR_PROJECTS: [&str; 9] = [
    "run.model",
    "run.permission_mode",
    "run.deny",
    "run.isolation",
    "run.max_turns",
    "run.max_usd",
    "run.max_tokens",
    "run.deadline_seconds",
    "run.silence_seconds",
];

impl Layers<'_> {
    pub(crate) fn resolve(&self) -> Result<Effective, ConfigError> {
        let mut values: BTreeMap<String, (Value, Origin)> = BTreeMap::new();
        if let Some((path, text)) = self.user {
            for (key, value) in read(&path.display().to_string(), text)? {
                values.insert(key, (value, Origin::File(path.to_owned())));
            }
        }
        for (name, text) in &self.variables {
            if let Some((key, value)) = of_variable(name, text)? {
                values.insert(key, (value, Origin::Variable(name.clone())));
            }
        }
        if let Some((path, text)) = self.profile {
            choose(&mut values, path, text)?;
        }
        let mut effective = Effective {
            config: build(&values)?,
            origins: values
                .into_iter()
                .map(|(key, (_, origin))| (key, origin))
                .collect(),
            warnings: Vec::new(),
        };
        if let Some((path, text)) = self.project {
            effective.narrow(path, text)?;
        }
        let allow = effective.config.run.allow.iter();
        let useless = allow.filter_map(|rule| flaw(rule));
        effective
            .warnings
            .extend(useless.map(|flaw| format!("{flaw}; it allows nothing")));
        Ok(effective)
    }
}

/// Puts a profile over what is set: it may say anything about runs, and adds to what is denied.
fn choose(
    values: &mut BTreeMap<String, (Value, Origin)>,
    path: &Path,
    text: &str,
) -> Result<(), ConfigError> {
    let place = path.display().to_string();
    for (key, mut value) in read(&place, text)? {
        let is_about_runs = key.starts_with("run.") || key.starts_with("claude.");
        if !is_about_runs && key != "version" {
            return Err(ConfigError::NotForProfiles { key, place });
        }
        if let ("run.deny", Some((Value::Array(before), _)), Value::Array(more)) =
            (key.as_str(), values.get(&key), &mut value)
        {
            more.splice(0..0, before.iter().cloned());
        }
        values.insert(key, (value, Origin::File(path.to_owned())));
    }
    Ok(())
}

impl Effective {
    pub(crate) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// The value of a key, as it is in force.
    pub(crate) fn value(&self, key: &Key) -> Option<serde_json::Value> {
        let config = serde_json::to_value(&self.config).ok()?;
        let parts = key.path.split('.');
        let value = parts.fold(&config, |value, part| &value[part]);
        (!value.is_null()).then(|| value.clone())
    }

    /// Applies a project's file: nothing in it can widen what a run may do.
    fn narrow(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let place = path.display().to_string();
        let values = read(&place, text)?;
        let forbidden = values
            .keys()
            .find(|key| *key != "version" && !FOR_PROJECTS.contains(&key.as_str()));
        if let Some(key) = forbidden {
            let key = key.clone();
            return Err(ConfigError::NotForProjects { key, place });
        }
        let origin = Origin::Project(path.to_owned());
        let tagged = values
            .iter()
            .map(|(key, value)| (key.clone(), (value.clone(), origin.clone())));
        let wish = build(&tagged.collect())?.run;
        let is_set = |key: &str| values.contains_key(key);
        if is_set("run.model") {
            self.config.run.model = wish.model;
            self.set_by("run.model", &origin);
        }
        if !wish.deny.is_empty() {
            self.config.run.deny.extend(wish.deny);
            self.set_by("run.deny", &origin);
        }
        if is_set("run.permission_mode") {
            self.narrow_mode(wish.permission_mode, &origin);
        }
        if wish.isolation > self.config.run.isolation {
            self.config.run.isolation = wish.isolation;
            self.set_by("run.isolation", &origin);
        }
        let run = &mut self.config.run;
        let narrowed = [
            ("run.max_turns", smaller(&mut run.max_turns, wish.max_turns)),
            ("run.max_usd", smaller(&mut run.max_usd, wish.max_usd)),
            (
                "run.max_tokens",
                smaller(&mut run.max_tokens, wish.max_tokens),
            ),
            (
                "run.deadline_seconds",
                smaller(&mut run.deadline_seconds, wish.deadline_seconds),
            ),
            (
                "run.silence_seconds",
                smaller(&mut run.silence_seconds, wish.silence_seconds),
            ),
        ];
        for (key, _) in narrowed.into_iter().filter(|(_, is_narrower)| *is_narrower) {
            self.set_by(key, &origin);
        }
        Ok(())
    }

    fn narrow_mode(&mut self, wish: Mode, origin: &Origin) {
        let mode = &mut self.config.run.permission_mode;
        if wish > *mode {
            let (wish, mode) = (wish.as_str(), mode.as_str());
            self.warnings.push(format!(
                "{origin} asks for the permission mode `{wish}`, which is wider than `{mode}`; a \
                 project can only narrow it"
            ));
            return;
        }
        *mode = wish;
        self.set_by("run.permission_mode", origin);
    }

    fn set_by(&mut self, key: &str, origin: &Origin) {
        self.origins.insert(key.to_owned(), origin.clone());
    }
}

/// Takes the smaller limit; whether that was the wish.
fn smaller<T: PartialOrd + Copy>(limit: &mut Option<T>, wish: Option<T>) -> bool {
    match (*limit, wish) {
        (_, None) => false,
        (Some(limit), Some(wish)) if limit <= wish => false,
        (_, wish) => {
            *limit = wish;
            true
        }
    }
}

/// The values of a file by key; unknown keys and wrong kinds are refused.
pub(crate) fn read(place: &str, text: &str) -> Result<BTreeMap<String, Value>, ConfigError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map(|span| text[..span.start].lines().count().max(1));
        let line = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        ConfigError::Unreadable {
            place: place.to_owned(),
            problem: format!("{line}{}", error.message()),
        }
    })?;
    let mut values = BTreeMap::new();
    flatten("", &table, &mut values);
    for (key, value) in &values {
        check(place, key, value)?;
    }
    Ok(values)
}

fn flatten(prefix: &str, table: &Table, values: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let path = match prefix {
            "" => name.clone(),
            prefix => format!("{prefix}.{name}"),
        };
        match value {
            Value::Table(inner) => flatten(&path, inner, values),
            other => drop(values.insert(path, other.clone())),
        }
    }
}

/// One value has to be of its kind. A table of one key says the rest better than we could.
pub(crate) fn check(place: &str, key: &str, value: &Value) -> Result<(), ConfigError> {
    keys::find(key).map_err(|nearest| ConfigError::UnknownKey {
        key: key.to_owned(),
        place: place.to_owned(),
        nearest,
    })?;
    let origin = Origin::File(PathBuf::from(place));
    build(&BTreeMap::from([(key.to_owned(), (value.clone(), origin))])).map(drop)
}

fn build(values: &BTreeMap<String, (Value, Origin)>) -> Result<Config, ConfigError> {
    let mut table = Table::new();
    for (key, (value, _)) in values {
        insert(&mut table, key, value.clone());
    }
    Config::deserialize_from(table).map_err(|problem| {
        // Each value was read alone before, so that there is one to name.
        let (key, origin) = match values.iter().next() {
            Some((key, (_, origin))) => (key.clone(), origin.to_string()),
            None => (String::new(), String::new()),
        };
        ConfigError::WrongValue {
            key,
            place: origin,
            problem,
        }
    })
}

impl Config {
    fn deserialize_from(table: Table) -> Result<Self, String> {
        let config: Self = serde::Deserialize::deserialize(Value::Table(table))
            .map_err(|error: toml::de::Error| error.message().to_owned())?;
        if let Some(flaw) = config.run.deny.iter().find_map(|rule| flaw(rule)) {
            return Err(flaw);
        }
        if let Some(text) = &config.run.thinking {
            thinking(text)?;
        }
        match config.version {
            super::schema::VERSION => Ok(config),
            other => Err(format!("unknown version {other}; update falconer")),
        }
    }
}

/// `adaptive`, `disabled`, or a number of tokens.
pub(crate) fn thinking(text: &str) -> Result<SessionThinking, String> {
    match (text, text.parse()) {
        ("adaptive", _) => Ok(SessionThinking::Adaptive {}),
        ("disabled", _) | (_, Ok(0)) => Ok(SessionThinking::Disabled {}),
        (_, Ok(tokens)) => Ok(SessionThinking::Budget { tokens }),
        _ => Err(format!(
            "invalid value `{text}`: use `adaptive`, `disabled` or a number of tokens"
        )),
    }
}

fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => drop(table.insert(key.to_owned(), value)),
        Some((section, rest)) => {
            let inner = table
                .entry(section)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// `FALCONER_RUN__MODEL=sonnet`; other variables of ours have no two underscores.
fn of_variable(name: &str, text: &str) -> Result<Option<(String, Value)>, ConfigError> {
    let Some(rest) = name
        .strip_prefix("FALCONER_")
        .filter(|rest| rest.contains("__"))
    else {
        return Ok(None);
    };
    let path = rest.replace("__", ".").to_lowercase();
    let place = "the environment".to_owned();
    let key = keys::find(&path).map_err(|nearest| ConfigError::UnknownKey {
        key: name.to_owned(),
        place: place.clone(),
        nearest: format!("FALCONER_{}", nearest.replace('.', "__").to_uppercase()),
    })?;
    let value = key
        .kind
        .read(text)
        .map_err(|problem| ConfigError::WrongValue {
            key: name.to_owned(),
            place,
            problem,
        })?;
    Ok(Some((path, value)))
}
