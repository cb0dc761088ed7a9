//! Which models there are: aliases, and what each can do.

use falconer_protocol::control::ModelInfo;

/// What is used when nobody chooses.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

/// How a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// It decides for itself how much.
    Adaptive,
    /// It needs a budget in tokens.
    Budget,
    /// It cannot.
    None,
}

/// A model that every engine knows by a short name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// The short name.
    pub alias: &'static str,
    /// What the API calls it.
    pub id: &'static str,
    /// For people.
    pub display: &'static str,
    /// What it is good for.
    pub about: &'static str,
}

/// The models that are known by a short name, the strongest first.
pub const KNOWN_MODELS: &[KnownModel] = &[
    KnownModel {
        alias: "opus",
        id: "claude-opus-5-5",
        display: "Opus",
        about: "Most capable, for hard work",
    },
    KnownModel {
        alias: "sonnet",
        id: "claude-sonnet-5-5",
        display: "Sonnet",
        about: "Quick and capable, for everyday work",
    },
    KnownModel {
        alias: "haiku",
        id: "claude-haiku-5-5",
        display: "Haiku",
        about: "Quickest, for simple work",
    },
];

/// The id behind a name: an alias, `default`, or an id as it is.
pub fn resolve_model(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() || name.eq_ignore_ascii_case("default") {
        return DEFAULT_MODEL.to_owned();
    }
    let known = KNOWN_MODELS
        .iter()
        .find(|it| it.alias.eq_ignore_ascii_case(name));
    known.map_or(name, |it| it.id).to_owned()
}

/// Who is asked when a model declines for a reason that classifiers of the API guard, as the
/// official CLI has it: model, reason, next model.
const AFTER_REFUSAL: &[(&str, &str, &str)] = &[
    ("claude-opus-5-5", "cyber", "claude-opus-4-8"),
    ("claude-opus-5-5", "bio", "claude-opus-5"),
    ("claude-opus-5-5", "frontier_llm", "claude-opus-5"),
    ("claude-opus-5", "cyber", "claude-opus-4-8"),
    ("claude-sonnet-5-5", "cyber", "claude-sonnet-5"),
];

/// The model to ask after a refusal, if there is one.
pub fn after_refusal(model: &str, category: &str) -> Option<&'static str> {
    let mut rows = AFTER_REFUSAL.iter();
    let row = rows.find(|(from, why, _)| *from == model && *why == category);
    row.map(|(_, _, next)| *next)
}

/// Whether a model needs no probe before it is used.
pub fn is_known_model(id: &str) -> bool {
    KNOWN_MODELS.iter().any(|it| it.id == id)
}

/// How a model is told to think.
pub fn thinking_style(id: &str) -> ThinkingStyle {
    match version(id) {
        Some(("opus" | "sonnet", major, minor)) if (major, minor) >= (4, 6) => {
            ThinkingStyle::Adaptive
        }
        Some((_, major, _)) if major >= 5 => ThinkingStyle::Adaptive,
        Some((_, 4, _)) => ThinkingStyle::Budget,
        Some(_) | None => ThinkingStyle::None,
    }
}

/// Whether `output_config.effort` is understood.
pub fn takes_effort(id: &str) -> bool {
    thinking_style(id) == ThinkingStyle::Adaptive
}

/// Family, major and minor of ids like `claude-opus-4-8` or `claude-sonnet-4-5-20250929`.
fn version(id: &str) -> Option<(&str, u32, u32)> {
    let id = id
        .rsplit(['/', '.'])
        .find(|part| part.starts_with("claude-"))?;
    let mut parts = id.strip_prefix("claude-")?.split('-');
    let family = parts.next()?;
    // Before version 4 the family came last.
    if family.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().and_then(|part| part.parse().ok());
    Some((
        family,
        major,
        minor.filter(|minor| *minor < 100).unwrap_or(0),
    ))
}

/// The models, for `initialize` and `list_models`.
pub fn list_models() -> Vec<ModelInfo> {
    let default = info(
        "default",
        DEFAULT_MODEL,
        "Default (recommended)",
        KNOWN_MODELS[0].about,
    );
    let rest = KNOWN_MODELS
        .iter()
        .map(|it| info(it.alias, it.id, it.display, it.about));
    std::iter::once(default).chain(rest).collect()
}

fn info(value: &str, id: &str, display: &str, about: &str) -> ModelInfo {
    let takes_effort = takes_effort(id);
    let levels = || ["low", "medium", "high", "xhigh", "max"].map(str::to_owned);
    ModelInfo {
        value: value.to_owned(),
        resolved_model: Some(id.to_owned()),
        display_name: Some(display.to_owned()),
        description: Some(about.to_owned()),
        supports_effort: takes_effort.then_some(true),
        supported_effort_levels: takes_effort.then(|| levels().to_vec()),
        supports_adaptive_thinking: takes_effort.then_some(true),
        ..ModelInfo::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_to_ids() {
        let table = [
            ("opus", "claude-opus-5-5"),
            ("Sonnet", "claude-sonnet-5-5"),
            ("default", DEFAULT_MODEL),
            ("", DEFAULT_MODEL),
            ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ];
        for (name, id) in table {
            assert_eq!(resolve_model(name), id, "{name}");
        }
    }

    #[test]
    fn only_guarded_refusals_have_another_model() {
        let table = [
            ("claude-opus-5-5", "cyber", Some("claude-opus-4-8")),
            ("claude-opus-5-5", "bio", Some("claude-opus-5")),
            ("claude-opus-5-5", "other", None),
            ("claude-sonnet-5-5", "cyber", Some("claude-sonnet-5")),
            ("claude-sonnet-5-5", "bio", None),
            ("claude-opus-4-8", "cyber", None),
            ("qwen3-coder", "cyber", None),
        ];
        for (model, category, next) in table {
            assert_eq!(after_refusal(model, category), next, "{model} {category}");
        }
    }

    #[test]
    fn thinking_fits_the_model() {
        let table = [
            ("claude-opus-5-5", ThinkingStyle::Adaptive),
            ("claude-opus-4-8", ThinkingStyle::Adaptive),
            ("claude-sonnet-4-5-20250929", ThinkingStyle::Budget),
            ("claude-haiku-4-5", ThinkingStyle::Budget),
            ("claude-3-5-haiku-latest", ThinkingStyle::None),
            ("us.anthropic.claude-opus-5-5", ThinkingStyle::Adaptive),
            ("qwen3-coder", ThinkingStyle::None),
        ];
        for (id, style) in table {
            assert_eq!(thinking_style(id), style, "{id}");
        }
    }
}
