//! Every error has advice that begins with what to do.
//!
//! The lists hold one of each kind. A kind that is added does not compile until it is named here.

use super::*;
use crate::account::NoAccount;
use crate::isolation::{Escape, IsolationError, ProbeReport, Proof, SkillProblem};

/// What a person is told to do begins with one of these.
const VERBS: [&str; 24] = [
    "ask",
    "change",
    "check",
    "choose",
    "correct",
    "follow",
    "install",
    "list",
    "make",
    "name",
    "raise",
    "read",
    "reinstall",
    "rephrase",
    "resume",
    "run",
    "send",
    "set",
    "start",
    "try",
    "update",
    "use",
    "wait",
    "repair",
];

#[track_caller]
fn check(error: &dyn std::fmt::Display, advice: &str) {
    let verb = advice.split(' ').next().unwrap_or_default();
    assert!(VERBS.contains(&verb), "{error}\n{advice}");
    assert!(advice.split(' ').count() >= 3, "{error}\n{advice}");
    assert!(!advice.ends_with('.'), "{error}\n{advice}");
}

fn isolation_errors() -> Vec<IsolationError> {
    let path = || PathBuf::from("/a");
    vec![
        IsolationError::Home {
            doing: "create",
            path: path(),
            source: io::Error::other("no room"),
        },
        IsolationError::InProcess,
        IsolationError::MissingProgram { program: "bwrap" },
        IsolationError::Unsupported { system: "plan9" },
        IsolationError::NotProtected {
            report: ProbeReport {
                write_refused: Proof::LetThrough,
                host_refused: Proof::LetThrough,
                details: Vec::new(),
                age_seconds: 0,
            },
        },
        IsolationError::ProbeFailed {
            reason: "it did not end within 90s".to_owned(),
        },
        IsolationError::Skill {
            path: path(),
            problem: SkillProblem::NoMainFile,
        },
        IsolationError::NoHostAuth(NoAccount {
            candidates: Vec::new(),
        }),
        IsolationError::AwsDirectory {
            path: path(),
            reason: "it is a file".to_owned(),
        },
        IsolationError::Escape(Escape::Outside {
            path: path(),
            root: path(),
        }),
    ]
}

#[test]
fn every_isolation_error_says_what_to_do() {
    for error in isolation_errors() {
        check(&error, error.advice());
        match error {
            IsolationError::Home { .. }
            | IsolationError::InProcess
            | IsolationError::MissingProgram { .. }
            | IsolationError::Unsupported { .. }
            | IsolationError::NotProtected { .. }
            | IsolationError::ProbeFailed { .. }
            | IsolationError::Skill { .. }
            | IsolationError::NoHostAuth(_)
            | IsolationError::AwsDirectory { .. }
            | IsolationError::Escape(_) => {}
        }
    }
    let probe = IsolationError::ProbeFailed {
        reason: String::new(),
    };
    for program in ["`bwrap ", "`claude --version`"] {
        assert!(probe.advice().contains(program), "{}", probe.advice());
    }
}

fn errors() -> Vec<Error> {
    let path = || PathBuf::from("/a");
    let failed = || io::Error::other("gone");
    let request = || "initialize".to_owned();
    let wrong = || serde_json::from_str::<u8>("x").unwrap_err();
    let mut errors = vec![
        Error::Transport {
            doing: "read from",
            source: failed(),
        },
        Error::EngineEnded {
            during: request(),
            exit: EngineExit::Closed,
            stderr: Vec::new(),
        },
        Error::Timeout {
            request: request(),
            after: Duration::ZERO,
            stderr: Vec::new(),
        },
        Error::Refused {
            request: request(),
            message: "no".to_owned(),
            code: None,
        },
        Error::UnexpectedAnswer {
            request: request(),
            source: wrong(),
        },
        Error::NoResult { stderr: Vec::new() },
        Error::NoStructuredOutput { mismatch: None },
        Error::HooksFailOpen { version: None },
        Error::Launch {
            program: path(),
            source: SpawnError::ProgramMissing {
                program: path(),
                searched: None,
            },
        },
        Error::CliNotFound {
            searched: vec![path()],
        },
        Error::CliUnusable {
            path: path(),
            named_by: NamedBy::Variable,
            problem: ExecutableProblem::Missing,
        },
        Error::CliVersion {
            path: path(),
            problem: VersionProblem::TimedOut(Duration::ZERO),
        },
        Error::InvalidOptions {
            problems: Vec::new().into(),
        },
        Error::WorkingDirectory {
            path: path(),
            source: failed(),
        },
        Error::Session(SessionError::InvalidId {
            what: "session id",
            id: "/".to_owned(),
            reason: "it is none",
        }),
    ];
    errors.extend(isolation_errors().into_iter().map(Error::from));
    errors.extend(classes().into_iter().map(|class| {
        Error::Failed(Failure {
            class,
            message: String::new(),
            status: None,
            result: Box::default(),
        })
    }));
    errors
}

fn classes() -> Vec<FailureClass> {
    use FailureClass::*;
    vec![
        Authentication,
        Billing,
        RateLimit,
        Overloaded,
        Server,
        ModelNotFound,
        PromptTooLong,
        OutputLimit,
        Refusal,
        InvalidRequest,
        MaxTurns,
        Budget,
        StructuredOutput,
        Aborted,
        SessionNotFound,
        Startup("trust".to_owned()),
        Other,
    ]
}

#[test]
fn every_error_says_what_to_do() {
    for error in errors() {
        check(&error, error.advice());
        match error {
            Error::Transport { .. }
            | Error::EngineEnded { .. }
            | Error::Timeout { .. }
            | Error::Refused { .. }
            | Error::UnexpectedAnswer { .. }
            | Error::Failed(_)
            | Error::NoResult { .. }
            | Error::NoStructuredOutput { .. }
            | Error::HooksFailOpen { .. }
            | Error::Launch { .. }
            | Error::CliNotFound { .. }
            | Error::CliUnusable { .. }
            | Error::CliVersion { .. }
            | Error::InvalidOptions { .. }
            | Error::WorkingDirectory { .. }
            | Error::Isolation(_)
            | Error::Session(_) => {}
        }
    }
}
