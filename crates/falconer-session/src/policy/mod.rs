//! What tools may do, by a file: allow, deny or ask, the same for every engine.
//!
//! ```toml
//! [allow]
//! tools = ["Read", "Grep"]
//! commands = ["cargo test", "git status"]
//! mcp = ["github/get_*"]
//!
//! [ask]
//! paths = ["**/*.lock"]
//!
//! [deny]
//! tools = ["WebFetch"]
//! paths = ["secrets/**"]
//! ```
//!
//! Denials come first, then what is to be asked, then what is allowed; what no rule names is
//! left to the engine. Files that usually hold secrets are denied unless the file says
//! `sensitive_paths = "ask"` or `"allow"`.

mod call;
mod file;
mod sensitive;

use globset::GlobMatcher;
use serde_json::Value;

use call::Call;
pub use file::PolicyError;
pub use sensitive::sensitive_patterns;

/// Rules read from a policy file.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    sensitive: Sensitive,
}

/// What is to become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// It is not made.
    Deny,
    /// A person decides.
    Ask,
    /// It is made.
    Allow,
}

/// What is to become of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// `None` if no rule is about the call: the engine decides.
    pub effect: Option<Effect>,
    /// One sentence for people.
    pub reason: String,
}

/// What about files that usually hold secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sensitive {
    #[default]
    Deny,
    Ask,
    Allow,
}

/// One line of the file.
#[derive(Debug, Clone)]
struct Rule {
    effect: Effect,
    /// As it was written.
    text: String,
    about: About,
}

/// What a rule is about.
#[derive(Debug, Clone)]
enum About {
    Tool(GlobMatcher),
    Mcp(GlobMatcher),
    Path(GlobMatcher),
    Command(String),
}

impl Policy {
    /// What would become of a call, and why.
    pub fn explain(&self, tool: &str, input: &Value) -> Explanation {
        let call = Call::read(tool, input);
        self.sensitive_path(&call)
            .or_else(|| self.ruled(&call))
            .unwrap_or_else(|| Explanation {
                effect: None,
                reason: format!("no rule is about this call of `{tool}`"),
            })
    }

    fn sensitive_path(&self, call: &Call) -> Option<Explanation> {
        let effect = match self.sensitive {
            Sensitive::Deny => Effect::Deny,
            Sensitive::Ask => Effect::Ask,
            Sensitive::Allow => return None,
        };
        let (path, pattern) = call
            .paths
            .iter()
            .find_map(|path| Some((path, sensitive::matching(path)?)))?;
        // A rule that denies says more about the call than the built-in list.
        let denied = self.first(call, Effect::Deny);
        Some(denied.unwrap_or_else(|| Explanation {
            effect: Some(effect),
            reason: format!("`{path}` usually holds secrets (built-in pattern `{pattern}`)"),
        }))
    }

    fn ruled(&self, call: &Call) -> Option<Explanation> {
        let order = [Effect::Deny, Effect::Ask, Effect::Allow];
        let mut order = order.into_iter();
        let ruled = order.find_map(|effect| self.first(call, effect));
        ruled.or_else(|| self.commands_allowed(call))
    }

    /// Every part of a compound command has to be allowed, and nothing odd may be in it.
    fn commands_allowed(&self, call: &Call) -> Option<Explanation> {
        let allowing = |command: &String| {
            self.rules.iter().find(|rule| match &rule.about {
                About::Command(prefix) => {
                    rule.effect == Effect::Allow && starts_with_words(command, prefix)
                }
                About::Tool(_) | About::Mcp(_) | About::Path(_) => false,
            })
        };
        let rules: Option<Vec<&Rule>> = call.commands.iter().map(allowing).collect();
        let rule = *rules.filter(|_| call.is_plain_command)?.first()?;
        Some(Explanation {
            effect: Some(Effect::Allow),
            reason: format!("it is allowed by the rule {}", rule.text),
        })
    }

    fn first(&self, call: &Call, effect: Effect) -> Option<Explanation> {
        let mut rules = self.rules.iter().filter(|rule| rule.effect == effect);
        let rule = rules.find(|rule| rule.matches(call))?;
        let word = match effect {
            Effect::Deny => "denied",
            Effect::Ask => "to be asked",
            Effect::Allow => "allowed",
        };
        Some(Explanation {
            effect: Some(effect),
            reason: format!("it is {word} by the rule {}", rule.text),
        })
    }
}

impl Rule {
    fn matches(&self, call: &Call) -> bool {
        match &self.about {
            About::Tool(glob) => glob.is_match(&call.tool),
            About::Mcp(glob) => call.mcp.as_ref().is_some_and(|name| glob.is_match(name)),
            // A path says nothing about what a command does with it.
            About::Path(_) if self.effect == Effect::Allow && !call.commands.is_empty() => false,
            // To allow, every path has to match; to deny or ask, one is enough.
            About::Path(glob) => self.enough(&call.paths, |path| glob.is_match(path)),
            About::Command(prefix) => match self.effect {
                // Several rules may allow a compound command together: see `commands_allowed`.
                Effect::Allow => false,
                Effect::Deny | Effect::Ask => {
                    self.enough(&call.commands, |command| starts_with_words(command, prefix))
                }
            },
        }
    }

    fn enough(&self, of: &[String], matches: impl Fn(&str) -> bool) -> bool {
        match self.effect {
            Effect::Allow => !of.is_empty() && of.iter().all(|one| matches(one)),
            Effect::Deny | Effect::Ask => of.iter().any(|one| matches(one)),
        }
    }
}

/// `git` is a prefix of `git status`, not of `gitk`.
fn starts_with_words(command: &str, prefix: &str) -> bool {
    let mut words = command.split_whitespace();
    prefix
        .split_whitespace()
        .all(|word| words.next() == Some(word))
}

#[cfg(test)]
mod tests;
