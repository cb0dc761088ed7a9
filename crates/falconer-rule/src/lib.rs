//! Rules over tool calls: `Bash(git status:*)`, `Read(./.env)`, `WebFetch(domain:docs.rs)`,
//! `mcp__github__get_*`.
//!
//! The native engine, the policy of a session and whoever else has to say whether a call may be
//! made use the same rules here. Shell commands are taken apart and judged part by part; what is
//! not understood is never allowed. Nothing is run, written or printed; links are looked up on
//! the disk.
//!
//! ```
//! use std::path::Path;
//! use falconer_rule::{Call, Effect, Outcome, Rule, judge};
//! use serde_json::json;
//!
//! let rules = [
//!     (Effect::Allow, Rule::parse("Bash(git:*)")?),
//!     (Effect::Deny, Rule::parse("Bash(git push:*)")?),
//! ];
//! let outcome = |command: &str| {
//!     let input = json!({"command": command});
//!     judge(&rules, &Call::new("Bash", &input, Path::new("/srv/project"))).effect
//! };
//! assert_eq!(outcome("git status && git log"), Outcome::Allow);
//! assert_eq!(outcome("git status && curl example.com"), Outcome::NoMatch);
//! assert_eq!(outcome("git status; git push"), Outcome::Deny);
//! assert_eq!(outcome("git status; ("), Outcome::Ask);
//! # Ok::<(), falconer_rule::RuleError>(())
//! ```

mod call;
mod call_text;
mod command_pattern;
mod effect;
mod expand;
mod explain;
mod judge;
mod known;
mod location;
mod matcher;
mod path_pattern;
mod place;
mod protected;
mod restrict;
mod rule;
mod set;
pub mod shell;
mod spelling;
mod subject;
mod suggest;
mod text;
mod web;

#[cfg(test)]
mod tests;

pub use call::Call;
pub use call_text::CallText;
pub use command_pattern::CommandPattern;
pub use effect::Effect;
pub use explain::{Explained, Voice};
pub use judge::{Because, Judgement, Outcome, PartAllowed, judge};
pub use known::flaw;
pub use location::{Location, Where};
pub use matcher::{Matcher, understand};
pub use path_pattern::{Anchors, Capitals, PathPattern};
pub use place::{Found, Place};
pub use protected::{
    is_guarded, is_protected, mentioned, protected_by, protected_write, writes_unknown,
};
pub use restrict::Footprint;
pub use rule::{Rule, RuleError, UnknownTool};
pub use set::{RuleSet, UselessRule};
pub use spelling::nearest;
pub use subject::{Access, Subject};
pub use suggest::{Suggestion, Width, beginning, exact_command, suggest};
pub use text::{RuleProblem, RuleText};
pub use web::web_host;

/// The page about rules, so that its examples are run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rules.md")]
struct RulesPage;
