//! `falconer config`, through the executable.

use crate::program::{Place, Ran, run};

fn config(place: &Place, arguments: &[&str]) -> Ran {
    run(place.falconer().arg("config").args(arguments), "")
}

fn value(place: &Place, key: &str) -> String {
    config(place, &["get", key]).stdout.trim().to_owned()
}

#[test]
fn what_is_set_is_kept_with_comments_and_used() {
    let place = Place::new();
    let path = config(&place, &["path"]).stdout;
    let path = std::path::Path::new(path.trim());
    assert!(path.starts_with(place.path().join("home")), "{path:?}");
    assert_eq!(config(&place, &["get", "run.model"]).code, Some(1));
    assert_eq!(
        config(&place, &["set", "run.model", "sonnet"]).code,
        Some(0)
    );
    assert_eq!(value(&place, "run.model"), "sonnet");
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, format!("# kept\n{text}")).unwrap();
    assert_eq!(config(&place, &["set", "run.max_turns", "7"]).code, Some(0));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.contains("# kept") && text.contains("max_turns = 7"),
        "{text}"
    );
    let ran = run(
        place
            .falconer()
            .args(["config", "get", "run.model"])
            .env("FALCONER_RUN__MODEL", "haiku"),
        "",
    );
    assert_eq!(ran.stdout, "haiku\n");
    assert_eq!(config(&place, &["unset", "run.model"]).code, Some(0));
    assert_eq!(config(&place, &["get", "run.model"]).code, Some(1));
}

#[test]
fn every_key_is_listed_with_who_set_it() {
    let place = Place::new();
    config(&place, &["set", "run.deny", "WebFetch"]);
    std::fs::write(
        place.path().join("work/.falconer.toml"),
        "run.deny = ['Bash']\n",
    )
    .unwrap();
    let listed = config(&place, &["list"]).stdout;
    assert!(listed.contains("run.engine = auto  # default"), "{listed}");
    let json = config(&place, &["list", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json.as_array().unwrap();
    let row = rows.iter().find(|row| row["key"] == "run.deny").unwrap();
    assert_eq!(row["value"], serde_json::json!(["WebFetch", "Bash"]));
    assert!(row["origin"].as_str().unwrap().ends_with(".falconer.toml"));
    let schema = config(&place, &["schema"]).stdout;
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok());
}

#[test]
fn an_old_file_is_rewritten_once_and_kept() {
    let place = Place::new();
    let directory = place.path().join("home/.config/falconer");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), "model = 'opus' # mine\n").unwrap();
    let ran = config(&place, &["get", "run.model"]);
    assert_eq!(ran.stdout, "opus\n");
    assert!(ran.stderr.contains("config.toml.old1"), "{}", ran.stderr);
    assert_eq!(config(&place, &["get", "run.model"]).stderr, "");
    let old = std::fs::read_to_string(directory.join("config.toml.old1")).unwrap();
    assert_eq!(old, "model = 'opus' # mine\n");
}

#[test]
fn an_editor_is_run_and_its_work_checked() {
    let place = Place::new();
    let edit = |editor: &str| {
        run(
            place
                .falconer()
                .args(["config", "edit"])
                .env("EDITOR", editor),
            "",
        )
    };
    let script = place.path().join("editor");
    std::fs::write(&script, "printf '[run]\\nmodle = 1\\n' > \"$1\"").unwrap();
    let ran = edit(&format!("sh {}", script.display()));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`run.model`"), "{}", ran.stderr);
    assert_eq!(edit("/nowhere/editor").code, Some(3));
    let none = config(&place, &["edit"]);
    assert!(none.stderr.contains("hint: set EDITOR"), "{}", none.stderr);
}

#[test]
fn the_file_is_where_the_platform_and_the_user_want_it() {
    let place = Place::new();
    let base = place.path().display().to_string();
    let path = |variables: &[(&str, &str)]| {
        let mut command = place.falconer();
        command.args(["config", "path"]);
        command.envs(variables.iter().copied());
        let ran = run(&mut command, "");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout.trim().replace(&base, "[place]")
    };
    let named = format!("{base}/named");
    let xdg = format!("{base}/xdg");
    let table: [(&[(&str, &str)], &str); 4] = [
        (&[], "[place]/home/.config/falconer/config.toml"),
        (
            &[("XDG_CONFIG_HOME", &xdg)],
            "[place]/xdg/falconer/config.toml",
        ),
        // The specification has relative ones ignored.
        (
            &[("XDG_CONFIG_HOME", "relative")],
            "[place]/home/.config/falconer/config.toml",
        ),
        (
            &[("XDG_CONFIG_HOME", &xdg), ("FALCONER_CONFIG_DIR", &named)],
            "[place]/named/config.toml",
        ),
    ];
    for (variables, expected) in table {
        assert_eq!(path(variables), expected, "{variables:?}");
    }
    let mut homeless = place.falconer();
    homeless.args(["config", "path"]).env_remove("HOME");
    let ran = run(&mut homeless, "");
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stderr.contains("FALCONER_CONFIG_DIR"), "{}", ran.stderr);
}
