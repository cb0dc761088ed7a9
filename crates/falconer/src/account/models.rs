//! Model names of Anthropic and of Amazon Bedrock, from one list.
//!
//! The list is the file `models.json` beside this one.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::launch::LaunchWarning;
use crate::options::{Auth, LaunchOptions};

/// Prefixes of Bedrock that say where a model may run.
const REGIONS: &[&str] = &["us.", "eu.", "apac.", "jp.", "au.", "us-gov.", "global."];

const BEDROCK_PREFIX: &str = "anthropic.";

/// A name for the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The name to use.
    pub name: String,
    /// Set if the model is not in the list and its name was passed on as it is.
    pub warning: Option<UnknownModel>,
}

/// A model that is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model {name:?} is not in the list of model names; it is passed on as it is")]
pub struct UnknownModel {
    /// Its name.
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
struct List {
    #[serde(default)]
    default: Pair,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    models: Vec<Pair>,
}

#[derive(Debug, Default, Deserialize)]
struct Pair {
    anthropic: String,
    bedrock: String,
}

static LIST: LazyLock<List> = LazyLock::new(|| {
    // Tests show that it is never the default.
    serde_json::from_str(include_str!("models.json")).unwrap_or_default()
});

/// The names of every model known, Anthropic's first.
pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    let models = LIST.models.iter();
    models.map(|pair| (pair.anthropic.as_str(), pair.bedrock.as_str()))
}

/// The model to use if none was chosen, named for the way to authenticate.
#[must_use]
pub fn default_for(auth: &Auth) -> &'static str {
    match auth {
        Auth::Bedrock { .. } => &LIST.default.bedrock,
        _ => &LIST.default.anthropic,
    }
}

/// The name of a model at Bedrock. Aliases and names of Bedrock stay as they are.
#[must_use]
pub fn to_bedrock(name: &str) -> Converted {
    let known = known().find(|(anthropic, _)| *anthropic == name);
    match known {
        Some((_, bedrock)) => Converted::known(bedrock),
        None if is_alias(name) || is_bedrock(name) => Converted::known(name),
        None => Converted::unknown(name),
    }
}

/// The name of a model at Anthropic. Aliases and names of Anthropic stay as they are.
#[must_use]
pub fn to_anthropic(name: &str) -> Converted {
    let bare = without_region(name);
    let known = known().find(|(_, bedrock)| without_region(bedrock) == bare);
    match known {
        Some((anthropic, _)) => Converted::known(anthropic),
        None if is_bedrock(name) => Converted::unknown(name),
        None => Converted::known(name),
    }
}

impl Converted {
    fn known(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            warning: None,
        }
    }

    fn unknown(name: &str) -> Self {
        Self {
            warning: Some(UnknownModel {
                name: name.to_owned(),
            }),
            ..Self::known(name)
        }
    }
}

fn is_alias(name: &str) -> bool {
    // Some aliases take a suffix such as `sonnet[1m]`.
    let stem = name.split('[').next().unwrap_or(name);
    LIST.aliases.iter().any(|alias| alias == stem)
}

fn is_bedrock(name: &str) -> bool {
    without_region(name).starts_with(BEDROCK_PREFIX) || name.starts_with("arn:")
}

fn without_region(name: &str) -> &str {
    let mut prefixes = REGIONS.iter();
    let stripped = prefixes.find_map(|prefix| name.strip_prefix(prefix));
    stripped.unwrap_or(name)
}

/// Chooses the model of this way to authenticate, if none was chosen.
pub(crate) fn set_default(options: &mut LaunchOptions, auth: &Auth) {
    let model = &mut options.model.model;
    model.get_or_insert_with(|| default_for(auth).to_owned());
}

/// Names the models of a run as the way to authenticate needs it.
pub(crate) fn adapt(options: &mut LaunchOptions, uses_bedrock: bool) -> Vec<LaunchWarning> {
    let convert = match options.auth.auth {
        Auth::Bedrock { .. } => to_bedrock,
        Auth::Inherit if uses_bedrock => to_bedrock,
        // Which provider it will be, or which names it has, is not known here.
        Auth::Inherit | Auth::Vertex { .. } => return Vec::new(),
        _ => to_anthropic,
    };
    let model = options.model.model.iter_mut();
    let mut warnings = Vec::new();
    for name in model.chain(&mut options.model.fallbacks) {
        let converted = convert(name);
        *name = converted.name;
        let warning = converted.warning;
        warnings.extend(warning.map(|unknown| LaunchWarning::UnknownModel { name: unknown.name }));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::{default_for, known, to_anthropic, to_bedrock};
    use crate::options::Auth;

    #[test]
    fn every_known_name_converts_there_and_back() {
        assert!(known().count() >= 5);
        for (anthropic, bedrock) in known() {
            assert_eq!(to_bedrock(anthropic).name, bedrock);
            assert_eq!(to_bedrock(anthropic).warning, None);
            assert_eq!(to_anthropic(bedrock).name, anthropic);
            assert_eq!(to_anthropic(bedrock).warning, None);
        }
    }

    #[test]
    fn names_pass_unchanged_when_they_need_no_change_and_with_a_warning_when_unknown() {
        let bedrock = "eu.anthropic.claude-sonnet-4-20250514-v1:0";
        let arn = "arn:aws:bedrock:us-east-1:1:inference-profile/x";
        let table = [
            (to_bedrock(bedrock), bedrock, false),
            (to_bedrock(arn), arn, false),
            (to_bedrock("sonnet[1m]"), "sonnet[1m]", false),
            (to_bedrock("claude-future-9"), "claude-future-9", true),
            (to_anthropic(bedrock), "claude-sonnet-4-20250514", false),
            (to_anthropic("claude-future-9"), "claude-future-9", false),
            (to_anthropic("opus"), "opus", false),
            (
                to_anthropic("us.anthropic.new-v1"),
                "us.anthropic.new-v1",
                true,
            ),
        ];
        for (converted, name, warns) in table {
            assert_eq!(converted.name, name);
            assert_eq!(converted.warning.is_some(), warns, "{name}");
        }
    }

    #[test]
    fn the_default_follows_the_way_to_authenticate() {
        let bedrock = default_for(&Auth::Bedrock { region: None });
        assert_eq!(bedrock, "us.anthropic.claude-opus-4-6-v1");
        assert_eq!(default_for(&Auth::Inherit), "claude-opus-4-6");
        assert_eq!(to_bedrock(default_for(&Auth::Inherit)).name, bedrock);
    }
}
