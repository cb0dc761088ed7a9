//! Variables in configurations: `${NAME}` and `${NAME:-default}`.

use falconer_protocol::mcp::McpServerConfig;
use falconer_secret::Environment;

/// A variable that is not set and has no default.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("environment variable `{0}` is not set and has no default")]
pub(crate) struct Unset(String);

/// Fills in the variables of a configuration.
pub(super) fn config(
    config: McpServerConfig,
    environment: &Environment,
) -> Result<McpServerConfig, Unset> {
    let fill = |text: &mut String| -> Result<(), Unset> {
        *text = braces(text, environment)?;
        Ok(())
    };
    let mut config = config;
    match &mut config {
        McpServerConfig::Stdio(stdio) => {
            fill(&mut stdio.command)?;
            stdio.args.iter_mut().flatten().try_for_each(fill)?;
            stdio
                .env
                .iter_mut()
                .flatten()
                .try_for_each(|(_, it)| fill(it))?;
        }
        McpServerConfig::Sse(sse) => {
            fill(&mut sse.url)?;
            sse.headers
                .iter_mut()
                .flatten()
                .try_for_each(|(_, it)| fill(it))?;
        }
        McpServerConfig::Http(http) => {
            fill(&mut http.url)?;
            http.headers
                .iter_mut()
                .flatten()
                .try_for_each(|(_, it)| fill(it))?;
        }
        _ => {}
    }
    Ok(config)
}

/// Fills in `${NAME}` and `${NAME:-default}`; everything else stays.
fn braces(text: &str, environment: &Environment) -> Result<String, Unset> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        filled.push_str(&rest[..start]);
        let inside = &rest[start + 2..start + length];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match (environment.text(name), default) {
            (Some(value), _) => filled.push_str(&value),
            (None, Some(default)) => filled.push_str(default),
            (None, None) => return Err(Unset(name.to_owned())),
        }
        rest = &rest[start + length + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use falconer_secret::Environment;

    use super::{Unset, braces};

    #[test]
    fn braces_are_filled_in_or_named() {
        let environment = Environment::new([("A".into(), "1".into()), ("E".into(), "".into())]);
        let cases: &[(&str, Result<&str, &str>)] = &[
            ("plain $A", Ok("plain $A")),
            ("${A}", Ok("1")),
            ("x${A}y${A}z", Ok("x1y1z")),
            ("${B:-two}", Ok("two")),
            ("${B:-}", Ok("")),
            ("${E:-empty counts as unset}", Ok("empty counts as unset")),
            ("${A:-x}", Ok("1")),
            ("${B}", Err("B")),
            ("${open", Ok("${open")),
            ("ä${A}ö", Ok("ä1ö")),
        ];
        for (text, expected) in cases {
            let expected = expected
                .map(str::to_owned)
                .map_err(|it| Unset(it.to_owned()));
            assert_eq!(braces(text, &environment), expected, "{text}");
        }
    }
}
