//! Command lines and what they mean.

use std::path::PathBuf;

use falconer_protocol::permission::PermissionMode;

use super::*;
use crate::session::config::{Persistence, Thinking};

fn parse(args: &[&str]) -> Result<Flags, FlagProblem> {
    Flags::parse(args.iter().map(OsString::from))
}

/// Checks that every spelling means the same; `read` looks at what is of interest.
#[expect(clippy::needless_pass_by_value, reason = "calls read better")]
fn same<T: std::fmt::Debug + PartialEq>(
    spellings: &[&[&str]],
    read: impl Fn(&Flags) -> T,
    expected: T,
) {
    for args in spellings {
        let flags = parse(args).unwrap();
        assert_eq!(read(&flags), expected, "{args:?}");
        assert_eq!(flags.warnings, [""; 0], "{args:?}");
    }
}

#[test]
fn the_base_arguments_of_both_official_sdks_are_understood() {
    let spellings: &[&[&str]] = &[
        &[
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
        ],
        &[
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
        ],
    ];
    let read = |flags: &Flags| (flags.output_format, flags.verbose, flags.input_format);
    same(
        spellings,
        read,
        (OutputFormat::StreamJson, true, InputFormat::StreamJson),
    );
}

#[test]
fn values_are_read_in_both_spellings() {
    let text = |value: &str| Some(value.to_owned());
    same(
        &[
            &["--model", "sonnet"],
            &["--model=sonnet"],
            &["--model", "a", "--model=sonnet"],
        ],
        |flags| flags.model.model.clone(),
        text("sonnet"),
    );
    same(
        &[&["--system-prompt", ""], &["--system-prompt="]],
        |flags| flags.system_prompt.replace.clone(),
        text(""),
    );
    same(
        &[
            &["--append-system-prompt", "-- x"],
            &["--append-system-prompt=-- x"],
        ],
        |flags| flags.system_prompt.append.clone(),
        text("-- x"),
    );
    same(
        &[
            &["--max-turns", "2"],
            &["--max-turns=2"],
            &["--maxTurns=2"],
            &["--max-turns=2.9"],
        ],
        |flags| flags.limits.max_turns,
        Some(2),
    );
    same(
        &[&["--max-budget-usd=0.5"]],
        |flags| flags.limits.max_budget_usd,
        Some(0.5),
    );
    same(
        &[
            &["-r", "id"],
            &["--resume", "id"],
            &["--resume=id"],
            &["-rid"],
        ],
        |flags| flags.resume.clone(),
        text("id"),
    );
    same(
        &[
            &["--resume"],
            &["--resume", "-p"],
            &["--resume", "--verbose"],
        ],
        |flags| flags.resume.clone(),
        text(""),
    );
    same(
        &[
            &["-pc", "hi"],
            &["-p", "-c", "hi"],
            &["--print", "--continue", "--", "hi"],
        ],
        |flags| (flags.print, flags.continue_latest, flags.prompt.clone()),
        (true, true, text("hi")),
    );
    same(
        &[&["--no-session-persistence"]],
        |flags| flags.history.persistence,
        Persistence::None,
    );
}

#[test]
fn lists_take_words_until_the_next_flag_and_split_outside_parentheses() {
    let rules = ["Bash(git log:*)", "Edit", "Read(a, b)"]
        .map(str::to_owned)
        .to_vec();
    same(
        &[
            &[
                "--allowedTools",
                "Bash(git log:*),Edit",
                "Read(a, b)",
                "--verbose",
            ],
            &["--allowed-tools", "Bash(git log:*) Edit Read(a, b)"],
            &["--allowedTools=Bash(git log:*),Edit,Read(a, b)"],
            &[
                "--allowedTools=Bash(git log:*)",
                "--allowed-tools=Edit,Read(a, b)",
            ],
        ],
        |flags| flags.permissions.allowed.clone(),
        rules.clone(),
    );
    same(
        &[&["--disallowedTools=Bash(git log:*),Edit,Read(a, b)"]],
        |flags| flags.permissions.disallowed.clone(),
        rules,
    );
    // The words behind a list belong to it, the prompt included.
    same(
        &[&["--allowedTools", "Bash", "the prompt"]],
        |flags| flags.prompt.clone(),
        None,
    );
    let prompt = Some("the prompt".to_owned());
    same(
        &[
            &["--allowedTools", "Bash", "--", "the prompt"],
            &["--allowedTools=Bash", "the prompt"],
        ],
        |flags| flags.prompt.clone(),
        prompt,
    );
    same(
        &[&["--add-dir", "a", "b"], &["--add-dir=a", "--add-dir=b"]],
        |flags| flags.permissions.add_dirs.clone(),
        vec![PathBuf::from("a"), PathBuf::from("b")],
    );
    same(
        &[
            &["--betas", "a,b"],
            &["--betas=a,b"],
            &["--betas", "a", "b"],
        ],
        |flags| flags.model.betas.clone(),
        vec!["a".to_owned(), "b".to_owned()],
    );
}

#[test]
fn choices_are_typed() {
    use ToolChoice::{Default, Only};
    same(
        &[&["--tools=default"], &[]],
        |flags| flags.tools.clone(),
        Default,
    );
    same(
        &[&["--tools="], &["--tools", ""]],
        |flags| flags.tools.clone(),
        Only(vec![]),
    );
    let two = Only(vec!["Bash".to_owned(), "Read".to_owned()]);
    same(
        &[&["--tools=Bash,Read"], &["--tools", "Bash", "Read"]],
        |flags| flags.tools.clone(),
        two,
    );
    let sources = |user, project, local| SettingSources {
        user,
        project,
        local,
    };
    same(
        &[&["--setting-sources="]],
        |flags| flags.sources,
        sources(false, false, false),
    );
    same(
        &[&["--setting-sources=user,local"]],
        |flags| flags.sources,
        sources(true, false, true),
    );
    same(&[&[]], |flags| flags.sources, sources(true, true, true));
    let mode = |flags: &Flags| flags.permissions.mode.clone();
    let default = Some(PermissionMode::Default);
    same(
        &[
            &["--permission-mode=default"],
            &["--permission-mode", "manual"],
        ],
        mode,
        default,
    );
    same(
        &[&["--permission-mode=plan"]],
        mode,
        Some(PermissionMode::Plan),
    );
    let thinking = |flags: &Flags| flags.model.thinking;
    same(&[&["--thinking=adaptive"]], thinking, Thinking::Adaptive);
    same(
        &[&["--thinking=disabled"], &["--max-thinking-tokens=0"]],
        thinking,
        Thinking::Disabled,
    );
    same(
        &[&["--max-thinking-tokens", "4000"]],
        thinking,
        Thinking::Budget(4_000),
    );
}

#[test]
fn what_cannot_be_honoured_is_an_error_that_names_it() {
    let table: &[(&[&str], &str)] = &[
        (&["--model"], "option '--model <model>' argument missing"),
        (
            &["--allowedTools"],
            "option '--allowed-tools <rules...>' argument missing",
        ),
        (
            &["--permission-mode", "bogus"],
            "option '--permission-mode <mode>' argument 'bogus' is invalid. Allowed choices are acceptEdits, auto,",
        ),
        (
            &["--output-format=xml"],
            "Allowed choices are text, json, stream-json.",
        ),
        (&["--max-turns=abc"], "'abc' is invalid. must be a number"),
        (&["--max-budget-usd=0"], "must be a number greater than 0"),
        (&["--max-budget-usd=inf"], "must be a number greater than 0"),
        (&["--task-budget=1.5"], "must be a positive integer"),
        (
            &["--setting-sources=bogus"],
            "Valid options are: user, project, local",
        ),
        (
            &["--verbose=yes"],
            "'--verbose' takes no argument, but was given 'yes'",
        ),
        (
            &["--restricted"],
            "'--restricted' is not supported by falconer-claude",
        ),
        (&["--worktree"], "not supported"),
    ];
    for (args, text) in table {
        let problem = parse(args).unwrap_err().to_string();
        assert!(problem.contains(text), "{args:?}: {problem}");
    }
}

#[test]
fn unknown_flags_are_ignored_and_never_cost_the_prompt() {
    let table: &[(&[&str], Option<&str>)] = &[
        (&["--new-flag=value", "hi"], Some("hi")),
        (&["--new-flag", "hi"], Some("hi")),
        (&["--new-flag", "value", "hi"], Some("hi")),
        (&["--new-flag", "value", "--", "hi"], Some("hi")),
        (&["--new-flag", "--verbose", "hi"], Some("hi")),
        (&["hi", "--new-flag", "value"], Some("hi")),
        (&["--one", "a", "--two", "hi"], Some("hi")),
        (&["-Z", "hi"], Some("hi")),
        (&["--new-flag"], None),
    ];
    for (args, prompt) in table {
        let flags = parse(args).unwrap();
        assert_eq!(flags.prompt.as_deref(), *prompt, "{args:?}");
        assert!(
            flags.warnings[0].contains("is ignored"),
            "{:?}",
            flags.warnings
        );
    }
    let warnings = parse(&["--new-flag", "value", "hi"]).unwrap().warnings;
    assert_eq!(warnings[1], "'value' is taken as the value of '--new-flag'");
}

#[test]
fn only_the_first_word_is_the_prompt() {
    assert_eq!(
        parse(&["-p", "a", "b"]).unwrap().prompt.as_deref(),
        Some("a")
    );
    assert_eq!(
        parse(&["--", "--model"]).unwrap().prompt.as_deref(),
        Some("--model")
    );
}

#[test]
fn help_and_version_win_over_what_follows() {
    for (args, show) in [
        (["-h", "--model"], Show::Help),
        (["--help", "--permission-mode=x"], Show::Help),
        (["-v", "--worktree"], Show::Version),
        (["--version", "x"], Show::Version),
    ] {
        assert_eq!(parse(&args).unwrap().show, Some(show));
    }
}

#[test]
fn an_unknown_effort_is_only_warned_about() {
    let flags = parse(&["--effort=bogus"]).unwrap();
    assert_eq!(flags.model.effort, None);
    assert!(flags.warnings[0].contains("'bogus'"));
    same(
        &[&["--effort=high"]],
        |flags| flags.model.effort.clone(),
        Some("high".to_owned()),
    );
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_unicode_but_texts_must() {
    use std::os::unix::ffi::OsStringExt;
    let odd = |prefix: &str| {
        let mut bytes = prefix.as_bytes().to_vec();
        bytes.push(0xff);
        OsString::from_vec(bytes)
    };
    assert!(Flags::parse([odd("--add-dir=")]).is_ok());
    let problem = Flags::parse([odd("--model=")]).unwrap_err();
    assert!(matches!(problem, FlagProblem::NotUnicode { .. }));
    assert!(Flags::parse([odd("prompt")]).is_err());
}

#[test]
fn flags_without_effect_are_warned_about_unless_they_ask_for_nothing() {
    let warned: &[&[&str]] = &[
        &["--forward-subagent-text"],
        &["--prompt-suggestions"],
        &["--prompt-suggestions=true"],
        &["--system-prompt-snapshot=on"],
        &["--task-budget=1000"],
        &["--autocompact=auto"],
        &["--plugin-dir=a"],
        &["--channels", "a"],
    ];
    for args in warned {
        let warnings = parse(args).unwrap().warnings;
        assert_eq!(warnings.len(), 1, "{args:?}");
        assert!(warnings[0].contains("is ignored: "), "{warnings:?}");
    }
    let silent: &[&[&str]] = &[
        &["--prompt-suggestions=false"],
        &["--system-prompt-snapshot=off"],
        &["--debug=api"],
        &["--agents={}"],
    ];
    for args in silent {
        assert_eq!(parse(args).unwrap().warnings, [""; 0], "{args:?}");
    }
}

#[test]
fn an_agent_for_the_conversation_is_refused() {
    let problem = parse(&["--agent", "reviewer"]).unwrap_err().to_string();
    assert!(problem.contains("--system-prompt"), "{problem}");
}
