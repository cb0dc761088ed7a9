//! Layers, keys, changes and old files of the configuration.

use std::path::Path;

use super::file::{Migrated, migrate, set, unset};
use super::layers::{ConfigError, Effective, Layers, Origin};
use super::*;

fn resolve(
    user: &str,
    project: &str,
    variables: &[(&str, &str)],
) -> Result<Effective, ConfigError> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let layers = Layers {
        user: (!user.is_empty()).then_some((Path::new("user.toml"), user)),
        project: (!project.is_empty()).then_some((Path::new(".falconer.toml"), project)),
        variables: variables.iter().map(own).collect(),
        ..Layers::default()
    };
    layers.resolve()
}

#[test]
fn a_value_comes_from_the_nearest_layer() {
    type Row<'a> = (
        &'a str,
        &'a str,
        &'a [(&'a str, &'a str)],
        Option<&'a str>,
        Origin,
    );
    let variable = || Origin::Variable("FALCONER_RUN__MODEL".to_owned());
    let file = || Origin::File("user.toml".into());
    let project = || Origin::Project(".falconer.toml".into());
    let user = "[run]\nmodel = 'a'";
    let env: &[_] = &[("FALCONER_RUN__MODEL", "b")];
    let table: &[Row<'_>] = &[
        ("", "", &[], None, Origin::Default),
        (user, "", &[], Some("a"), file()),
        (user, "", env, Some("b"), variable()),
        ("", "", env, Some("b"), variable()),
        (user, "run.model = 'c'", &[], Some("c"), project()),
        (user, "run.model = 'c'", env, Some("c"), project()),
        ("run = { model = 'a' }", "", &[], Some("a"), file()),
    ];
    for (user, narrowing, variables, model, origin) in table {
        let effective = resolve(user, narrowing, variables).unwrap();
        let found = (
            effective.config.run.model.as_deref(),
            effective.origin("run.model"),
        );
        assert_eq!(
            found,
            (*model, origin.clone()),
            "{user} {narrowing} {variables:?}"
        );
    }
}

#[test]
fn a_project_can_only_narrow() {
    let user =
        "[run]\npermission_mode = 'acceptEdits'\ndeny = ['Bash']\nmax_usd = 2.0\nmax_turns = 5";
    type Row<'a> = (
        &'a str,
        Mode,
        &'a [&'a str],
        Option<f64>,
        Option<u64>,
        Isolation,
    );
    let table: &[Row<'_>] = &[
        (
            "run.permission_mode = 'plan'",
            Mode::Plan,
            &["Bash"],
            Some(2.0),
            Some(5),
            Isolation::None,
        ),
        (
            "run.permission_mode = 'bypassPermissions'",
            Mode::AcceptEdits,
            &["Bash"],
            Some(2.0),
            Some(5),
            Isolation::None,
        ),
        (
            "run.deny = ['Read']",
            Mode::AcceptEdits,
            &["Bash", "Read"],
            Some(2.0),
            Some(5),
            Isolation::None,
        ),
        (
            "run.max_usd = 1.0\nrun.max_turns = 9",
            Mode::AcceptEdits,
            &["Bash"],
            Some(1.0),
            Some(5),
            Isolation::None,
        ),
        (
            "run.isolation = 'sandbox'",
            Mode::AcceptEdits,
            &["Bash"],
            Some(2.0),
            Some(5),
            Isolation::Sandbox,
        ),
    ];
    for (project, mode, deny, usd, turns, isolation) in table {
        let run = resolve(user, project, &[]).unwrap().config.run;
        assert_eq!(run.permission_mode, *mode, "{project}");
        assert_eq!(run.deny, *deny, "{project}");
        assert_eq!((run.max_usd, run.max_turns), (*usd, *turns), "{project}");
        assert_eq!(run.isolation, *isolation, "{project}");
    }
    let told = resolve(user, "run.permission_mode = 'bypassPermissions'", &[]).unwrap();
    assert!(
        told.warnings[0].contains("can only narrow"),
        "{:?}",
        told.warnings
    );
    let isolated = "run.isolation = 'sandbox'";
    let run = resolve(isolated, "run.isolation = 'none'", &[])
        .unwrap()
        .config
        .run;
    assert_eq!(run.isolation, Isolation::Sandbox);
    for forbidden in [
        "claude.path = 'x'",
        "run.allow = ['Bash']",
        "run.engine = 'native'",
        "run.policy = 'x'",
        "server.url = 'x'",
        "display.motion = false",
    ] {
        let error = resolve("", forbidden, &[]).unwrap_err();
        assert!(
            matches!(error, ConfigError::NotForProjects { .. }),
            "{forbidden}: {error}"
        );
    }
}

#[test]
fn what_is_wrong_is_named_with_what_was_meant() {
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
    let table: &[Row<'_>] = &[
        (
            "[run]\nmodle = 'x'",
            &[],
            "unknown key `run.modle` in user.toml; did you mean `run.model`?",
        ),
        ("modell = 'x'", &[], "`run.model`"),
        ("[runs]\nmodel = 'x'", &[], "`run.model`"),
        (
            "[run]\nmodel = 7",
            &[],
            "invalid value for `run.model` in user.toml",
        ),
        ("[run]\nengine = 'clade'", &[], "`run.engine`"),
        ("[run]\nmax_turns = -1", &[], "`run.max_turns`"),
        ("version = 99", &[], "update falconer"),
        ("\n\nmodel = = 1", &[], "line 3"),
        ("", &[("FALCONER_RUN__MODLE", "x")], "FALCONER_RUN__MODEL"),
        ("", &[("FALCONER_RUN__MAX_TURNS", "many")], "whole number"),
        ("", &[("FALCONER_RUN__ENGINE", "nativ")], "`native`"),
    ];
    for (user, variables, text) in table {
        let error = resolve(user, "", variables).unwrap_err().to_string();
        assert!(error.contains(text), "{user:?} {variables:?}: {error}");
    }
    // Others' variables, and ours without a section, are none of it.
    let others = [("FALCONER_CLAUDE_PATH", "x"), ("OTHER_RUN__MODEL", "x")];
    assert!(resolve("", "", &others).is_ok());
}

#[test]
fn setting_a_key_keeps_comments_and_everything_else() {
    let text = "# mine\nversion = 1\n\n[run] # the runs\n# which one\nmodel = 'a' # cheap\n";
    let key = file::key("run.model").unwrap();
    let changed = set(text, key, toml::Value::String("b".into())).unwrap();
    assert_eq!(changed, text.replace("'a'", "\"b\""));
    let key = file::key("display.motion").unwrap();
    let changed = set(text, key, toml::Value::Boolean(false)).unwrap();
    assert_eq!(changed, format!("{text}\n[display]\nmotion = false\n"));
    let key = file::key("run.model").unwrap();
    let without = unset(text, key).unwrap().unwrap();
    assert!(
        without.contains("# mine") && !without.contains("model"),
        "{without}"
    );
    assert_eq!(unset("", key).unwrap(), None);
    let fresh = set("", key, toml::Value::String("b".into())).unwrap();
    assert!(
        fresh.starts_with("# The configuration") && fresh.contains("version = 1"),
        "{fresh}"
    );
}

#[test]
fn a_denial_that_guards_nothing_is_an_error_and_an_allowance_a_warning() {
    for deny in ["Bahs(rm *)", "bash(x)", "Bash("] {
        let text = format!("run.deny = ['{deny}']");
        for (user, project) in [(text.as_str(), ""), ("", text.as_str())] {
            let error = resolve(user, project, &[]).unwrap_err().to_string();
            assert!(
                error.contains("run.deny") && error.contains("Bash"),
                "{error}"
            );
        }
        let allowing = resolve(&format!("run.allow = ['{deny}']"), "", &[]).unwrap();
        assert!(
            allowing.warnings[0].contains("allows nothing"),
            "{:?}",
            allowing.warnings
        );
    }
    let fine = resolve("run.deny = ['mcp__x__y']\nrun.allow = ['Read']", "", &[]).unwrap();
    assert!(fine.warnings.is_empty(), "{:?}", fine.warnings);
}

#[test]
fn values_are_read_as_their_kind() {
    let table = [
        ("run.deny", "Bash(a, b),Read", r#"["Bash(a, b)","Read"]"#),
        ("run.deny", "['x']", r#"["x"]"#),
        ("run.max_usd", "1.5", "1.5"),
        ("run.max_usd", "2", "2.0"),
        ("run.max_turns", "3", "3"),
        ("display.motion", "false", "false"),
        ("run.model", "true", r#""true""#),
    ];
    for (key, text, expected) in table {
        let value = file::key(key).unwrap().kind.read(text).unwrap();
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            expected.to_owned(),
            "{key} {text}"
        );
    }
}

#[test]
fn old_files_are_brought_up_to_date_once() {
    let old = "# mine\nmodel = 'a' # cheap\nallow = ['Read']\n";
    let Migrated::Rewritten(new) = migrate(old) else {
        panic!("it was not rewritten");
    };
    assert!(new.contains("# cheap") && new.contains("# mine"), "{new}");
    let run = resolve(&new, "", &[]).unwrap().config.run;
    assert_eq!((run.model.as_deref(), run.allow.len()), (Some("a"), 1));
    assert_eq!(migrate(&new), Migrated::UpToDate);
    for current in ["", "version = 1\n[run]\nmodel = 'a'", "not toml ="] {
        assert_eq!(migrate(current), Migrated::UpToDate, "{current}");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, old).unwrap();
    assert!(file::bring_up_to_date(&path).unwrap().is_some());
    assert_eq!(
        std::fs::read_to_string(directory.path().join("config.toml.old1")).unwrap(),
        old
    );
    assert!(file::bring_up_to_date(&path).unwrap().is_none());
}
