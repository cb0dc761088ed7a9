//! What the model is told of the tools: names, descriptions, schemas.

use std::sync::Arc;

use serde_json::Value;

use super::Describe;
use super::edit::Edit;
use super::glob::Glob;
use super::grep::Grep;
use super::notebook_edit::NotebookEdit;
use super::read::Read;
use super::todo::TodoWrite;
use super::write::Write;

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
        assert!(!schema.is_valid(&serde_json::json!({})), "{name}");
        let read = Arc::clone(tool).prepare(&serde_json::Map::new());
        assert!(read.is_err(), "{name}");
    }
}
