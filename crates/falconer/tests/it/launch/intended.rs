//! Where we start the CLI differently on purpose, and why.

use super::compare::Difference;
use super::official::Sdk;

/// What the SDK may have where we differ.
#[derive(Debug, PartialEq, Eq)]
enum Theirs {
    Anything,
    Nothing,
}

/// A difference that is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Intended {
    pub(super) sdk: Sdk,
    /// The case, or `*`.
    case: &'static str,
    place: &'static str,
    theirs: Theirs,
    /// For the reader, and the message of an entry that is no longer needed.
    reason: &'static str,
}

impl Intended {
    pub(super) fn covers(&self, sdk: Sdk, case: &str, difference: &Difference) -> bool {
        self.sdk == sdk
            && (self.case == "*" || self.case == case)
            && self.place == difference.place
            && (self.theirs == Theirs::Anything || difference.theirs.is_none())
    }

    /// The same, but only where the SDK says nothing at all.
    const fn where_they_say_nothing(mut self) -> Self {
        self.theirs = Theirs::Nothing;
        self
    }
}

const fn ts(case: &'static str, place: &'static str, reason: &'static str) -> Intended {
    Intended {
        sdk: Sdk::TypeScript,
        case,
        place,
        theirs: Theirs::Anything,
        reason,
    }
}

const fn py(case: &'static str, place: &'static str, reason: &'static str) -> Intended {
    Intended {
        sdk: Sdk::Python,
        case,
        place,
        theirs: Theirs::Anything,
        reason,
    }
}

const ASK: &str = "we always say the mode: settings on the machine could choose a weaker one";
const WHO: &str = "each names itself";
const FAILURES: &str = "we want a result message when the CLI refuses to start";
const NESTED: &str = "we do not pass on what makes the CLI think it runs inside itself";
const NODE: &str = "Python passes on NODE_OPTIONS and DEBUG, which change how a script CLI runs";

pub(super) const INTENDED: &[Intended] = &[
    ts("*", "args.--permission-mode", ASK).where_they_say_nothing(),
    ts("*", "env.CLAUDE_CODE_ENTRYPOINT", WHO),
    ts("*", "env.CLAUDE_AGENT_SDK_VERSION", WHO),
    ts("*", "env.CLAUDE_CODE_STARTUP_FAILURE_RESULTS", FAILURES).where_they_say_nothing(),
    ts("*", "env.CLAUDECODE", NESTED),
    ts(
        "*",
        "env.NoDefaultCurrentDirectoryInExePath",
        "for Windows shells; we start no shell",
    ),
    ts(
        "cwd",
        "env.PWD",
        "we keep PWD in step with the directory, as Python does",
    ),
    ts(
        "bypass_unconfirmed",
        "outcome",
        "we ask for the second switch before anything starts",
    ),
    ts(
        "max_turns_zero",
        "outcome",
        "0 would mean no limit; TypeScript drops it",
    ),
    ts(
        "resume_and_continue",
        "outcome",
        "contradictory: which session is meant?",
    ),
    ts("fork_alone", "outcome", "there is nothing to fork"),
    py("*", "args.--permission-mode", ASK).where_they_say_nothing(),
    py("*", "env.CLAUDE_CODE_ENTRYPOINT", WHO),
    py("*", "env.CLAUDE_AGENT_SDK_VERSION", WHO),
    py("*", "env.CLAUDE_CODE_STARTUP_FAILURE_RESULTS", FAILURES).where_they_say_nothing(),
    py("*", "env.NODE_OPTIONS", NODE),
    py("*", "env.DEBUG", NODE),
    py(
        "schema",
        "initialize.jsonSchema",
        "we send it both ways, as TypeScript does",
    ),
    py(
        "sdk_server",
        "args.--mcp-config",
        "we name in-process servers in the request",
    ),
    py(
        "sdk_server",
        "initialize.sdkMcpServers",
        "we name in-process servers in the request",
    ),
    py(
        "skills",
        "args.--setting-sources",
        "unset means all sources, which include the skills",
    ),
    py(
        "skills_all",
        "args.--setting-sources",
        "unset means all sources, which include the skills",
    ),
    py(
        "sandbox",
        "args.--settings",
        "a sandbox that is not there must not go unnoticed",
    ),
    py(
        "sandbox_and_settings",
        "args.--settings",
        "a sandbox that is not there must not go unnoticed",
    ),
    py(
        "bypass_unconfirmed",
        "outcome",
        "we ask for the second switch before anything starts",
    ),
    py(
        "max_turns_zero",
        "outcome",
        "0 would mean no limit; Python drops it",
    ),
    py(
        "resume_and_continue",
        "outcome",
        "contradictory: which session is meant?",
    ),
    py("fork_alone", "outcome", "there is nothing to fork"),
    py("model_is_fallback", "outcome", "TypeScript refuses it, too"),
];
