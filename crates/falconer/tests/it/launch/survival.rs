//! Values that are awkward on a command line arrive as they were given.

use falconer::{HostFeatures, Options, Settings, Surroundings};
use falconer_protocol::agent::AgentDefinition;
use serde_json::json;

use super::dump::{start, stub};

#[test]
fn awkward_values_arrive_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let program = stub(directory.path());
    let values = [
        "-dash",
        "--double=dash",
        "with space",
        "quote'\"`$(x)",
        "line\nbreak\ttab",
        "ünï ☃ 𝕏",
        "\\back\\slash",
        "=",
        "*",
        " ",
    ];
    let mut options = Options::new()
        .cwd(directory.path())
        .env("AWKWARD", values.concat());
    for value in values {
        options = options
            .extra_arg("value", value)
            .additional_directory(value);
    }
    let settings = json!({"env": {"X": values.concat()}});
    options = options.settings(Settings::Inline(settings.clone()));
    options = options.system_prompt(values.concat()).model("-m");
    let plan = options
        .plan(&HostFeatures::default(), &Surroundings::new(program))
        .unwrap();
    let dump = start(&plan);
    let expected: Vec<_> = plan.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert_eq!(dump.args, expected);
    for value in values {
        assert!(dump.args.contains(&format!("--value={value}")));
        assert!(dump.args.contains(&format!("--add-dir={value}")));
    }
    assert!(dump.args.contains(&format!("--settings={settings}")));
    assert_eq!(dump.env["AWKWARD"], values.concat());
    assert_eq!(dump.request["systemPrompt"], json!([values.concat()]));
    let real = std::fs::canonicalize(directory.path()).unwrap();
    assert_eq!(std::fs::canonicalize(&dump.cwd).unwrap(), real);
}

#[test]
fn agents_of_300_kilobytes_arrive_whole() {
    let directory = tempfile::tempdir().unwrap();
    let program = stub(directory.path());
    let prompt = "a sentence with \"quotes\" and\nbreaks. ".repeat(800);
    let agent = AgentDefinition {
        description: "large".into(),
        prompt: prompt.clone(),
        ..AgentDefinition::default()
    };
    let options = (0..11).fold(Options::new(), |options, index| {
        options.agent(format!("agent-{index}"), agent.clone())
    });
    let plan = options
        .plan(&HostFeatures::default(), &Surroundings::new(program))
        .unwrap();
    let dump = start(&plan);
    assert!(dump.request.to_string().len() > 300 << 10);
    let agents = dump.request["agents"].as_object().unwrap();
    assert_eq!(agents.len(), 11);
    assert!(
        agents
            .values()
            .all(|agent| agent["prompt"] == json!(prompt))
    );
}
