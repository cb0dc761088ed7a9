//! What the model is told of the tools: names, descriptions, schemas.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Describe;
use super::edit::Edit;
use super::glob::Glob;
use super::grep::Grep;
use super::notebook_edit::NotebookEdit;
use super::read::Read;
use super::testing::Bench;
use super::todo::TodoWrite;
use super::write::Write;
use crate::workbench::Workbench;

const TOOLS: &[(&dyn Describe, &[&str])] = &[
    (
        &Read,
        &["file_path", "offset?", "limit?", "pages?", "allow_large?"],
    ),
    (&Write, &["file_path", "content"]),
    (
        &Edit,
        &["file_path", "old_string", "new_string", "replace_all?"],
    ),
    (
        &NotebookEdit,
        &[
            "notebook_path",
            "cell_id?",
            "new_source",
            "cell_type?",
            "edit_mode?",
        ],
    ),
    (&Glob, &["pattern", "path?"]),
    (
        &Grep,
        &[
            "pattern",
            "path?",
            "glob?",
            "output_mode?",
            "-B?",
            "-A?",
            "-C?",
            "context?",
            "-n?",
            "-i?",
            "-o?",
            "type?",
            "head_limit?",
            "offset?",
            "multiline?",
        ],
    ),
    (&TodoWrite, &["todos"]),
];

/// The fields of a schema; optional ones with a question mark.
fn fields(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array().unwrap();
    let properties = schema["properties"].as_object().unwrap();
    properties
        .keys()
        .map(|name| {
            let mark = if required.iter().any(|it| it == name) {
                ""
            } else {
                "?"
            };
            format!("{name}{mark}")
        })
        .collect()
}

#[test]
fn fields_are_those_of_the_published_types() {
    for (tool, expect) in TOOLS {
        assert_eq!(fields(&tool.input_schema()), *expect, "{}", tool.name());
    }
}

#[test]
fn descriptions_and_schemas_are_pinned() {
    for (tool, _) in TOOLS {
        let name = tool.name().to_owned();
        insta::assert_snapshot!(format!("{name}.description"), tool.description());
        insta::assert_json_snapshot!(format!("{name}.schema"), tool.input_schema());
    }
}

#[test]
fn reading_agrees_with_the_schema() {
    let tools = super::all();
    for (known, _) in TOOLS {
        let name = known.name();
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let schema = jsonschema::validator_for(&tool.input_schema()).unwrap();
        assert!(!schema.is_valid(&json!({})), "{name}");
        let read = Arc::clone(tool).prepare(&serde_json::Map::new());
        assert!(read.is_err(), "{name}");
    }
}

#[tokio::test]
async fn two_agents_share_a_workshop_and_nothing_else() {
    let bench = Bench::new();
    let path = bench.write("a.txt", "x");
    let (first, below) = (&bench.workbench, bench.path("below"));
    let second = Workbench::new(below.clone(), None, Arc::clone(&first.shop));
    let input = json!({"file_path": path, "content": "y"});
    assert!(!bench.run(&Write, input).await.is_error);
    first.change_cwd("/".into());
    assert_eq!((first.cwd(), second.cwd()), ("/".into(), below));
    assert!(first.files.has_read(&path) && !second.files.has_read(&path));
    first.shop.environment.extend([("A".into(), "1".into())]);
    assert_eq!(second.shop.environment.text("A").as_deref(), Some("1"));
}
