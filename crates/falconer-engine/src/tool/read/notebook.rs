//! Jupyter notebooks, cell by cell.

use serde_json::{Value, json};

use super::{Call, Extent, Failure, Outcome, Source, Stamp};

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
    let cells: Vec<Value> = notebook["cells"]
        .as_array()
        .ok_or_else(|| invalid(&"it has no cells"))?
        .iter()
        .enumerate()
        .map(|(at, cell)| shown_cell(at, cell, &language))
        .collect();
    let content = blocks(&cells);
    let length: usize = content
        .iter()
        .filter_map(|it| it["text"].as_str())
        .map(str::len)
        .sum();
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
    let file = json!({ "filePath": source.written, "cells": cells });
    Ok(Outcome {
        content: content.into(),
        ..Outcome::text("", json!({ "type": "notebook", "file": file }))
    })
}

/// The language of the code cells.
pub(in crate::tool) fn language(notebook: &Value) -> String {
    let metadata = &notebook["metadata"];
    let name = &metadata["language_info"]["name"];
    let name = name
        .as_str()
        .or(metadata["kernelspec"]["language"].as_str());
    name.unwrap_or("python").to_owned()
}

/// A text that a notebook holds as one string or as a list of lines.
pub(in crate::tool) fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// The id of a cell; old notebooks have none, so their cells are numbered.
pub(in crate::tool) fn cell_id(at: usize, cell: &Value) -> String {
    let id = cell["id"].as_str().map(str::to_owned);
    id.unwrap_or_else(|| format!("cell-{at}"))
}

fn shown_cell(at: usize, cell: &Value, language: &str) -> Value {
    let kind = cell["cell_type"].as_str().unwrap_or("code");
    let mut shown = json!({
        "cellType": kind,
        "source": joined(&cell["source"]),
    });
    if kind == "code" && !cell["execution_count"].is_null() {
        shown["execution_count"] = cell["execution_count"].clone();
    }
    shown["cell_id"] = json!(cell_id(at, cell));
    if kind == "code" {
        shown["language"] = json!(language);
        let outputs: Vec<Value> = cell["outputs"]
            .as_array()
            .into_iter()
            .flatten()
            .map(shown_output)
            .collect();
        if !outputs.is_empty() {
            shown["outputs"] = json!(outputs);
        }
    }
    shown
}

fn shown_output(output: &Value) -> Value {
    let kind = output["output_type"].as_str().unwrap_or_default();
    let data = &output["data"];
    let text = match kind {
        "stream" => joined(&output["text"]),
        "error" => format!(
            "{}: {}\n{}",
            output["ename"].as_str().unwrap_or_default(),
            output["evalue"].as_str().unwrap_or_default(),
            output["traceback"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join("\n")
        ),
        _ => joined(&data["text/plain"]),
    };
    let mut shown = json!({ "output_type": kind });
    if !text.is_empty() {
        shown["text"] = json!(cut(&text));
    }
    for media_type in ["image/png", "image/jpeg"] {
        let image: String = joined(&data[media_type]).split_whitespace().collect();
        if !image.is_empty() && image.len() <= 5_000_000 {
            shown["image"] = json!({ "image_data": image, "media_type": media_type });
            break;
        }
    }
    shown
}

fn cut(text: &str) -> String {
    if text.len() <= OUTPUT {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(OUTPUT);
    format!("{}\n[{} more bytes]", &text[..end], text.len() - end)
}

/// The cells for the model: text blocks, with the images of outputs between them.
fn blocks(cells: &[Value]) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut text = String::new();
    for cell in cells {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&tagged(cell));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            if let Some(output) = output["text"].as_str() {
                text.push_str("\n\n");
                text.push_str(output);
            }
            let image = &output["image"];
            if image.is_object() {
                blocks.push(json!({ "type": "text", "text": std::mem::take(&mut text) }));
                blocks.push(json!({
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": image["media_type"],
                        "data": image["image_data"],
                    },
                }));
            }
        }
    }
    if !text.is_empty() || blocks.is_empty() {
        if text.is_empty() {
            text.push_str("[The notebook has no cells.]");
        }
        blocks.push(json!({ "type": "text", "text": text }));
    }
    blocks
}

fn tagged(cell: &Value) -> String {
    let id = cell["cell_id"].as_str().unwrap_or_default();
    let source = cell["source"].as_str().unwrap_or_default();
    let mut marks = String::new();
    let kind = cell["cellType"].as_str().unwrap_or("code");
    if kind != "code" {
        marks.push_str(&format!("<cell_type>{kind}</cell_type>"));
    }
    if let Some(language) = cell["language"].as_str().filter(|it| *it != "python") {
        marks.push_str(&format!("<language>{language}</language>"));
    }
    format!("<cell id=\"{id}\">{marks}{source}</cell id=\"{id}\">")
}
