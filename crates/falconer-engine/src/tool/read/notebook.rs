//! Jupyter notebooks, cell by cell.

use falconer_protocol::content::{ContentBlock, ImageBlock};
use falconer_protocol::tool::ReadFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, Extent, Failure, Outcome, Source, Stamp, output};

/// Notebooks with large outputs are common; the outputs are cut below.
const MOST: u64 = 32 << 20;
/// Bytes of text of one output.
const OUTPUT: usize = 10_000;
/// Bytes of text of all cells together.
const ALL: usize = 256 << 10;

pub(super) fn read(source: &Source<'_>, call: &Call) -> Result<Outcome, Failure> {
    let bytes = source.bytes(MOST)?;
    let invalid = |error: &dyn std::fmt::Display| {
        Failure::failed(format!(
            "{} is not a valid notebook: {error}",
            source.path.display()
        ))
    };
    let notebook: Value = serde_json::from_slice(&bytes).map_err(|error| invalid(&error))?;
    let language = language(&notebook);
    let cells = notebook.get("cells").and_then(Value::as_array);
    let cells = cells.ok_or_else(|| invalid(&"it has no cells"))?.iter();
    let cells: Vec<ShownCell> = cells
        .enumerate()
        .map(|(at, cell)| ShownCell::new(at, &Cell::of(cell), &language))
        .collect();
    let content = blocks(&cells);
    let texts = content.iter().filter_map(ContentBlock::as_text);
    let length: usize = texts.map(str::len).sum();
    if length > ALL {
        return Err(Failure::failed(format!(
            "The cells of {} hold {} KB of text, more than the {} KB that are read at once. Take \
             the cells that matter out of the JSON with a shell command.",
            source.path.display(),
            length >> 10,
            ALL >> 10
        )));
    }
    call.workbench.files.note_read(
        &source.path,
        Some(blake3::hash(&bytes)),
        Stamp::of(&source.metadata),
        Extent::Whole,
    );
    let cells = cells.iter().map(serde_json::to_value);
    let file = ReadFile {
        file_path: Some(source.written.to_owned()),
        cells: Some(cells.filter_map(Result::ok).collect()),
        ..ReadFile::default()
    };
    Ok(Outcome::blocks(content, output("notebook", file)))
}

/// A cell as notebooks have it; whatever does not fit counts as missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::tool) struct Cell {
    id: Value,
    cell_type: Value,
    source: Value,
    execution_count: Value,
    outputs: Value,
}

/// An output of a cell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    output_type: Value,
    text: Value,
    data: Value,
    ename: Value,
    evalue: Value,
    traceback: Value,
}

impl Cell {
    pub(in crate::tool) fn of(cell: &Value) -> Self {
        Self::deserialize(cell).unwrap_or_default()
    }

    /// The id; old notebooks have none, so their cells are numbered.
    pub(in crate::tool) fn id(&self, at: usize) -> String {
        let id = self.id.as_str().map(str::to_owned);
        id.unwrap_or_else(|| format!("cell-{at}"))
    }

    pub(in crate::tool) fn kind(&self) -> &str {
        self.cell_type.as_str().unwrap_or("code")
    }

    pub(in crate::tool) fn source(&self) -> String {
        joined(&self.source)
    }
}

/// The language of the code cells.
pub(in crate::tool) fn language(notebook: &Value) -> String {
    let name = |path: &str| notebook.pointer(path).and_then(Value::as_str);
    let name =
        name("/metadata/language_info/name").or_else(|| name("/metadata/kernelspec/language"));
    name.unwrap_or("python").to_owned()
}

/// A text that a notebook holds as one string or as a list of lines.
fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// A cell as the host sees it.
#[derive(Debug, Serialize)]
struct ShownCell {
    #[serde(rename = "cellType")]
    kind: String,
    source: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    execution_count: Value,
    cell_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<ShownOutput>,
}

/// An output as the host sees it.
#[derive(Debug, Serialize)]
struct ShownOutput {
    output_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
}

#[derive(Debug, Serialize)]
struct Image {
    image_data: String,
    media_type: &'static str,
}

impl ShownCell {
    fn new(at: usize, cell: &Cell, language: &str) -> Self {
        let is_code = cell.kind() == "code";
        let outputs = cell.outputs.as_array().filter(|_| is_code);
        Self {
            kind: cell.kind().to_owned(),
            source: cell.source(),
            execution_count: if is_code {
                cell.execution_count.clone()
            } else {
                Value::Null
            },
            cell_id: cell.id(at),
            language: is_code.then(|| language.to_owned()),
            outputs: outputs
                .into_iter()
                .flatten()
                .map(ShownOutput::new)
                .collect(),
        }
    }
}

impl ShownOutput {
    fn new(output: &Value) -> Self {
        let output = Output::deserialize(output).unwrap_or_default();
        let kind = output.output_type.as_str().unwrap_or_default();
        let data = |kind: &str| output.data.get(kind).map(joined).unwrap_or_default();
        let text = match kind {
            "stream" => joined(&output.text),
            "error" => output.error(),
            _ => data("text/plain"),
        };
        let image = |media_type| {
            let image_data: String = data(media_type).split_whitespace().collect();
            let fits = !image_data.is_empty() && image_data.len() <= 5_000_000;
            fits.then_some(Image {
                image_data,
                media_type,
            })
        };
        Self {
            output_type: kind.to_owned(),
            text: (!text.is_empty()).then(|| cut(&text)),
            image: ["image/png", "image/jpeg"].into_iter().find_map(image),
        }
    }
}

impl Output {
    fn error(&self) -> String {
        let lines = self.traceback.as_array().into_iter().flatten();
        let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
        format!(
            "{}: {}\n{}",
            self.ename.as_str().unwrap_or_default(),
            self.evalue.as_str().unwrap_or_default(),
            lines.join("\n")
        )
    }
}

fn cut(text: &str) -> String {
    if text.len() <= OUTPUT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(OUTPUT);
    format!("{}\n[{} more bytes]", &text[..end], text.len() - end)
}

/// The cells for the model: text blocks, with the images of outputs between them.
fn blocks(cells: &[ShownCell]) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let mut text = String::new();
    for cell in cells {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&tagged(cell));
        for output in &cell.outputs {
            if let Some(output) = &output.text {
                text.push_str("\n\n");
                text.push_str(output);
            }
            if let Some(image) = &output.image {
                blocks.push(ContentBlock::text(std::mem::take(&mut text)));
                let image = ImageBlock::base64(image.media_type, image.image_data.as_str());
                blocks.push(ContentBlock::Image(Box::new(image)));
            }
        }
    }
    if !text.is_empty() || blocks.is_empty() {
        if text.is_empty() {
            text.push_str("[The notebook has no cells.]");
        }
        blocks.push(ContentBlock::text(text));
    }
    blocks
}

fn tagged(cell: &ShownCell) -> String {
    let (id, source) = (&cell.cell_id, &cell.source);
    let mut marks = String::new();
    if cell.kind != "code" {
        marks.push_str(&format!("<cell_type>{}</cell_type>", cell.kind));
    }
    if let Some(language) = cell.language.as_ref().filter(|it| *it != "python") {
        marks.push_str(&format!("<language>{language}</language>"));
    }
    format!("<cell id=\"{id}\">{marks}{source}</cell id=\"{id}\">")
}
