//! `NotebookEdit`: replaces, inserts or deletes one cell of a Jupyter notebook.

use std::sync::Arc;

use falconer_protocol::Object;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Failure;
use super::file_memory::Extent;
use super::input::{self, Field, Kind};
use super::read::notebook::{self, Cell};
use super::replace::Before;
use super::write::{self, Change};
use super::{Call, Describe, Outcome, Target, TypedTool, place};
use crate::workbench::Workbench;

const FIELDS: &[Field] = &[
    Field::required(
        "notebook_path",
        Kind::Text,
        "Absolute path of the .ipynb file",
    ),
    Field::optional(
        "cell_id",
        Kind::Text,
        "Id of the cell. A new cell comes after it, or first when no id is given",
    ),
    Field::required("new_source", Kind::Text, "The new text of the cell"),
    Field::optional(
        "cell_type",
        Kind::Choice(&["code", "markdown"]),
        "Type of the cell; required for a new one, otherwise it stays as it is",
    ),
    Field::optional(
        "edit_mode",
        Kind::Choice(&["replace", "insert", "delete"]),
        "What to do with the cell; replace unless given",
    ),
];

/// A change of one cell.
#[derive(Debug, Deserialize)]
pub(crate) struct Input {
    notebook_path: String,
    cell_id: Option<String>,
    new_source: String,
    cell_type: Option<String>,
    #[serde(default)]
    edit_mode: Mode,
}

/// What becomes of the cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Insert,
    Delete,
}

/// Changes a cell of a notebook.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NotebookEdit;

impl Describe for NotebookEdit {
    fn name(&self) -> &str {
        "NotebookEdit"
    }

    fn description(&self) -> String {
        "Changes one cell of a Jupyter notebook: replaces its text, inserts a new cell after it, \
         or deletes it. Read the notebook first; the ids of its cells are shown there."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

impl TypedTool for NotebookEdit {
    type Input = Input;

    fn parse(&self, input: &Object) -> Result<Input, String> {
        let input: Input = input::read(FIELDS, input)?;
        let (is_missing, name, why) = match input.edit_mode {
            Mode::Insert => (input.cell_type.is_none(), "cell_type", "for a new cell"),
            Mode::Replace | Mode::Delete => {
                let why = "to replace or delete a cell";
                (input.cell_id.is_none(), "cell_id", why)
            }
        };
        if is_missing {
            return Err(format!("The parameter `{name}` is required {why}"));
        }
        if !input.notebook_path.ends_with(".ipynb") {
            return Err(
                "The parameter `notebook_path` must name a .ipynb file; use Edit for others"
                    .to_owned(),
            );
        }
        Ok(input)
    }

    fn target(&self, input: &Input, workbench: &Workbench) -> Target {
        Target::Write(place::absolute(&input.notebook_path, workbench))
    }

    fn run(&self, input: Arc<Input>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(write::carry_out(input, call, plan))
    }
}

fn plan(input: &Input, call: &Call) -> Result<Change, Failure> {
    let written = input.notebook_path.as_str();
    let path = place::absolute(written, &call.workbench);
    let real = call.destination(&path);
    let Some(existing) = write::existing(&path, &real, &call.workbench)? else {
        let cwd = call.workbench.cwd();
        return Err(Failure::refused(place::missing(&path, &cwd)));
    };
    if !call.workbench.files.has_read(&path) {
        return Err(write::unread(&path));
    }
    let original = existing.text.text.as_str();
    let mut document: Value = serde_json::from_str(original)
        .map_err(|error| Failure::refused(format!("{written} is not a valid notebook: {error}")))?;
    let language = notebook::language(&document);
    let edited = edit(&mut document, input).map_err(Failure::refused)?;
    let updated = pretty(&document, original.ends_with('\n'));
    let output = Output {
        new_source: &input.new_source,
        old_source: edited.old_source.as_deref(),
        cell_type: &edited.cell_type,
        language: &language,
        edit_mode: input.edit_mode,
        cell_id: &edited.cell_id,
        error: "",
        notebook_path: written,
        original_file: original,
        updated_file: &updated,
    };
    let done = Outcome::text(format!("{} cell {}.", edited.verb, edited.cell_id), output);
    Ok(Change {
        path,
        real,
        before: Before::File(existing.stamp),
        bytes: existing.text.encode(&updated),
        extent: Extent::Whole,
        done,
    })
}

/// The change as the host sees it.
#[derive(Debug, Serialize)]
struct Output<'a> {
    new_source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_source: Option<&'a str>,
    cell_type: &'a str,
    language: &'a str,
    edit_mode: Mode,
    cell_id: &'a str,
    error: &'a str,
    notebook_path: &'a str,
    original_file: &'a str,
    updated_file: &'a str,
}

struct Edited {
    verb: &'static str,
    cell_id: String,
    cell_type: String,
    old_source: Option<String>,
}

fn edit(document: &mut Value, input: &Input) -> Result<Edited, String> {
    let has_ids = has_ids(document);
    let (source, cell_type) = (input.new_source.as_str(), input.cell_type.as_deref());
    let cells = document.get_mut("cells").and_then(Value::as_array_mut);
    let Some(cells) = cells else {
        return Err("The notebook has no list of cells.".to_owned());
    };
    let wanted = input.cell_id.as_deref();
    let at = wanted.map(|wanted| position(cells, wanted)).transpose()?;
    match (input.edit_mode, at) {
        (Mode::Insert, at) => {
            let at = at.map_or(0, |at| at + 1);
            let kind = cell_type.unwrap_or("code");
            Ok(insert(cells, at, kind, source, has_ids))
        }
        (Mode::Delete, Some(at)) => {
            let cell = Cell::of(&cells.remove(at));
            Ok(Edited {
                verb: "Deleted",
                cell_id: cell.id(at),
                cell_type: cell.kind().to_owned(),
                old_source: Some(cell.source()),
            })
        }
        (Mode::Replace, Some(at)) => Ok(replace(&mut cells[at], at, cell_type, source)),
        (Mode::Delete | Mode::Replace, None) => {
            Err("No cell was named: give its `cell_id`.".to_owned())
        }
    }
}

fn position(cells: &[Value], wanted: &str) -> Result<usize, String> {
    let named = cells
        .iter()
        .position(|cell| cell.get("id").is_some_and(|id| id == wanted));
    let numbered = || {
        let number: usize = wanted.strip_prefix("cell-")?.parse().ok()?;
        (number < cells.len()).then_some(number)
    };
    named
        .or_else(numbered)
        .ok_or_else(|| format!("There is no cell with the id {wanted:?} in the notebook."))
}

fn insert(cells: &mut Vec<Value>, at: usize, kind: &str, source: &str, has_ids: bool) -> Edited {
    let mut id = uuid::Uuid::new_v4().simple().to_string();
    id.truncate(8);
    let mut cell = Object::new();
    cell.insert("cell_type".to_owned(), kind.into());
    if has_ids {
        cell.insert("id".to_owned(), id.clone().into());
    } else {
        id = format!("cell-{at}");
    }
    cell.insert("source".to_owned(), source.into());
    cell.insert("metadata".to_owned(), Object::new().into());
    if kind == "code" {
        never_run(&mut cell);
    }
    cells.insert(at, Value::Object(cell));
    Edited {
        verb: "Inserted",
        cell_id: id,
        cell_type: kind.to_owned(),
        old_source: None,
    }
}

fn replace(cell: &mut Value, at: usize, kind: Option<&str>, source: &str) -> Edited {
    let old = Cell::of(cell);
    let kind = kind.unwrap_or(old.kind()).to_owned();
    if let Some(cell) = cell.as_object_mut() {
        cell.insert("source".to_owned(), source.into());
        cell.insert("cell_type".to_owned(), kind.as_str().into());
        // What the old text printed is not what the new one would print.
        if kind == "code" {
            never_run(cell);
        } else {
            cell.shift_remove("execution_count");
            cell.shift_remove("outputs");
        }
    }
    Edited {
        verb: "Updated",
        cell_id: old.id(at),
        cell_type: kind,
        old_source: Some(old.source()),
    }
}

fn never_run(cell: &mut Object) {
    cell.insert("execution_count".to_owned(), Value::Null);
    cell.insert("outputs".to_owned(), Value::Array(Vec::new()));
}

/// Cells have ids since format 4.5.
fn has_ids(document: &Value) -> bool {
    let part = |name: &str| {
        document
            .get(name)
            .and_then(Value::as_u64)
            .unwrap_or_default()
    };
    (part("nbformat"), part("nbformat_minor")) >= (4, 5)
}

/// One space of indentation, as Jupyter writes it.
fn pretty(document: &Value, ends_with_newline: bool) -> String {
    let mut bytes = Vec::new();
    let style = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, style);
    // Writing a value into memory cannot fail.
    let _ = document.serialize(&mut writer);
    if ends_with_newline {
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::read::Read;
    use crate::tool::testing;

    const NOTEBOOK: &str = r##"{"cells":[{"cell_type":"code","id":"c1","metadata":{},"execution_count":1,"source":["print(1)\n","x=2"],"outputs":[{"output_type":"stream","name":"stdout","text":["1\n"]}]},{"cell_type":"markdown","id":"m1","metadata":{},"source":"# hi"}],"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}"##;

    fn cells(text: &str) -> Vec<(String, String)> {
        let document: Value = serde_json::from_str(text).unwrap();
        let cells = document["cells"].as_array().unwrap();
        cells
            .iter()
            .map(|cell| {
                (
                    cell["cell_type"].as_str().unwrap().to_owned(),
                    Cell::of(cell).source(),
                )
            })
            .collect()
    }

    #[tokio::test]
    async fn cells_are_replaced_inserted_and_deleted() {
        let bench = testing::Bench::new();
        let path = bench.write("nb.ipynb", NOTEBOOK);
        let unread = bench
            .run(
                &NotebookEdit,
                json!({"notebook_path": path, "cell_id": "c1", "new_source": "y"}),
            )
            .await;
        assert!(
            testing::text(&unread).contains("has not been read"),
            "{unread:?}"
        );

        bench.run(&Read, json!({"file_path": path})).await;
        let replaced = bench
            .run(
                &NotebookEdit,
                json!({"notebook_path": path, "cell_id": "c1", "new_source": "y=3"}),
            )
            .await;
        let output = replaced.output.unwrap();
        assert_eq!(output["old_source"], "print(1)\nx=2");
        assert_eq!(output["language"], "python");
        let inserted = bench
            .run(&NotebookEdit, json!({"notebook_path": path, "cell_id": "m1", "new_source": "n", "cell_type": "code", "edit_mode": "insert"}))
            .await;
        assert_eq!(
            inserted.output.unwrap()["cell_id"].as_str().unwrap().len(),
            8
        );
        bench
            .run(&NotebookEdit, json!({"notebook_path": path, "cell_id": "c1", "new_source": "", "edit_mode": "delete"}))
            .await;
        let expect = [("markdown", "# hi"), ("code", "n")];
        assert_eq!(
            cells(&bench.text("nb.ipynb")),
            expect.map(|(a, b)| (a.into(), b.into()))
        );
        let gone = bench
            .run(
                &NotebookEdit,
                json!({"notebook_path": path, "cell_id": "c1", "new_source": ""}),
            )
            .await;
        assert!(testing::text(&gone).contains("\"c1\""), "{gone:?}");
        assert!(
            bench
                .text("nb.ipynb")
                .starts_with("{\n \"cells\": [\n  {\n   \"cell_type\"")
        );
    }
}
