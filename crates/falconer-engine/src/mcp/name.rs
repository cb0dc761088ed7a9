//! Names of servers and tools as the model sees them.

use std::fmt::Write as _;

/// Longest name of a tool that the API takes.
const LONGEST: usize = 128;

/// `mcp__server__tool`, made of letters, digits, `_` and `-` only.
///
/// What had to be changed or cut could make two tools look alike; who lists them has to check.
pub(super) fn of_tool(server: &str, tool: &str) -> String {
    shortened(format!("mcp__{}__{}", of_server(server), plain(tool)))
}

/// A server's part of its tools' names: never with `__` or at its end `_`, so that it is clear
/// where the tool's part begins. Else `a` with a tool `b__c` could pass for the server `a__b`.
fn of_server(server: &str) -> String {
    let mut name = plain(server);
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        let hash = blake3::hash(server.as_bytes());
        return format!("server-{}", &hash.to_hex().as_str()[..8]);
    }
    name.to_owned()
}

/// A name without anything that the API, a shell or a path would mind.
pub(super) fn plain(name: &str) -> String {
    let plain = |it: char| {
        if it.is_ascii_alphanumeric() || it == '-' {
            it
        } else {
            '_'
        }
    };
    name.chars().map(plain).collect()
}

/// Cuts a name and makes up for the loss with a hash of all of it.
fn shortened(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let mut short = name[..LONGEST - 9].to_owned();
    let hash = blake3::hash(name.as_bytes());
    let _ = write!(short, "_{}", &hash.to_hex().as_str()[..8]);
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONGEST, of_tool};

    #[test]
    fn names_are_made_harmless() {
        let cases = [
            ("calc", "add", "mcp__calc__add"),
            ("my server", "a.b/c", "mcp__my_server__a_b_c"),
            ("ünï", "тест", "mcp___n______"),
            ("a__b", "c", "mcp__a_b__c"),
            ("a", "b__c", "mcp__a__b__c"),
            ("a_", "b", "mcp__a__b"),
            ("日本", "t", "mcp__server-fb52b4c8__t"),
            ("a", "\u{202e}evil\n", "mcp__a___evil_"),
        ];
        for (server, tool, expected) in cases {
            assert_eq!(of_tool(server, tool), expected);
        }
        let (one, two) = ("x".repeat(200) + "1", "x".repeat(200) + "2");
        assert_ne!(of_tool("s", &one), of_tool("s", &two));
    }

    proptest! {
        #[test]
        fn every_name_fits_the_api(server in ".{0,200}", tool in ".{0,200}") {
            let name = of_tool(&server, &tool);
            prop_assert!(name.len() <= LONGEST && name.starts_with("mcp__"));
            let fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            prop_assert!(name.chars().all(fine));
        }
    }
}
