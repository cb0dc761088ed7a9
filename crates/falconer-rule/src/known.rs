//! Rules that do not do what their writer wants.

use crate::rule::Rule;

/// Returns why a rule guards or allows nothing: it is broken, or names an unknown tool.
pub fn flaw(text: &str) -> Option<String> {
    match Rule::parse(text) {
        Err(error) => Some(error.to_string()),
        Ok(rule) => rule.check_tool(&[]).err().map(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::flaw;

    #[test]
    fn rules_that_guard_nothing_are_found() {
        let table = [
            ("Bash(rm *)", None),
            ("Bash", None),
            ("Task", None),
            ("mcp__github", None),
            ("mcp__anything__at_all", None),
            ("Bahs(rm *)", Some("Bash")),
            ("bash(x)", Some("`Bash(x)`")),
            ("Bash(", Some("`Bash")),
            ("Raed(.env)", Some("Read")),
            ("WebFecth", Some("WebFetch")),
            ("Frobnicate", Some("unknown tool")),
            ("", Some("names no tool")),
        ];
        for (rule, expected) in table {
            let found = flaw(rule);
            let fits = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(fits, "{rule}: {found:?}");
        }
    }
}
