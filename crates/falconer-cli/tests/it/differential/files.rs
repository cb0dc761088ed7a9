//! Files that are read, written and edited: the special ones.

use std::path::Path;

use falconer_testkit::scenario::{MessageReply, tool_use};
use serde_json::{Value, json};

use super::tools::{free, one};

/// A picture of one dot.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The same as a file.
const DOT_BYTES: &[u8] =
    b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\
    \x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x0dIDATx\xdacd\xf8\xcfP\x0f\x00\x03\
    \x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82";

/// A document with one empty page.
fn document() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>",
    ];
    let mut text = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(text.len());
        text.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    let table = text.len();
    text.push_str("xref\n0 4\n0000000000 65535 f \n");
    for place in places {
        text.push_str(&format!("{place:010} 00000 n \n"));
    }
    text.push_str(&format!(
        "trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    ));
    text.into_bytes()
}

fn read(project: &Path, name: &str, more: Value) -> MessageReply {
    let mut input = json!({"file_path": project.join(name)});
    if let Value::Object(more) = more {
        input.as_object_mut().unwrap().extend(more);
    }
    tool_use("Read", input)
}

#[test]
fn pictures_are_shown() {
    free(|project| vec![read(project, "dot.png", json!({}))])
        .file("dot.png", DOT_BYTES)
        .with_results()
        .same();
}

#[test]
fn documents_are_shown() {
    free(|project| vec![read(project, "one.pdf", json!({}))])
        .file("one.pdf", document())
        .same();
}

#[test]
fn pictures_and_documents_that_are_none() {
    free(|project| {
        vec![
            read(project, "empty.png", json!({})),
            read(project, "false.png", json!({})),
            read(project, "empty.pdf", json!({})),
            read(project, "false.pdf", json!({})),
            read(project, "one.pdf", json!({"pages": "none"})),
        ]
    })
    .file("empty.png", "")
    .file("false.png", "not a picture")
    .file("empty.pdf", "")
    .file("false.pdf", "not a document")
    .file("one.pdf", document())
    .same();
}

#[test]
fn notebooks_are_shown() {
    let stream = json!({"output_type": "stream", "name": "stdout", "text": ["hello\n"]});
    let result = json!({"output_type": "execute_result", "execution_count": 2, "metadata": {},
        "data": {"text/plain": ["7"]}});
    let picture = json!({"output_type": "display_data", "metadata": {},
        "data": {"image/png": DOT, "text/plain": ["<picture>"]}});
    let error =
        json!({"output_type": "error", "ename": "E", "evalue": "bad", "traceback": ["line"]});
    let code = |id: &str, source: &str, outputs: Value| {
        json!({"cell_type": "code", "id": id, "execution_count": 1, "metadata": {},
            "outputs": outputs, "source": [source]})
    };
    let notebook = json!({"cells": [
            {"cell_type": "markdown", "id": "m", "metadata": {}, "source": ["# Title\n", "text"]},
            code("a", "print(1)", json!([stream])),
            code("b", "7", json!([result, picture])),
            code("c", "bad", json!([error])),
            code("d", "", json!([])),
        ], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5});
    free(|project| {
        vec![
            read(project, "a.ipynb", json!({})),
            read(project, "bad.ipynb", json!({})),
        ]
    })
    .file("a.ipynb", notebook.to_string())
    .file("bad.ipynb", "{nope")
    .same();
}

#[test]
fn parts_of_files() {
    free(|project| {
        vec![
            read(project, "a.txt", json!({"offset": 3})),
            read(project, "a.txt", json!({"limit": 2})),
            read(project, "a.txt", json!({"offset": 99})),
            read(project, "no-end.txt", json!({})),
            read(project, "lines.txt", json!({})),
            read(project, "bom.txt", json!({})),
            read(project, "latin.txt", json!({})),
        ]
    })
    .file("a.txt", "one\ntwo\nthree\nfour\n")
    .file("no-end.txt", "one\ntwo")
    .file("lines.txt", "one\r\ntwo\r\n")
    .file("bom.txt", "\u{feff}one\n")
    .file("latin.txt", b"caf\xe9\n")
    .same();
}

/// There is no line 0; the official engine calls the first one so if asked for it.
#[test]
fn the_first_line_is_line_one() {
    free(|project| vec![read(project, "a.txt", json!({"offset": 0, "limit": 1}))])
        .file("a.txt", "one\ntwo\n")
        .ours("user", "/message/content/0/content", json!("1\tone"))
        .same();
}

#[test]
fn parts_of_files_are_numbered_alike() {
    free(|project| {
        vec![
            read(project, "a.txt", json!({"offset": 2, "limit": 2})),
            read(project, "no-end.txt", json!({})),
            read(project, "lines.txt", json!({})),
            read(project, "bom.txt", json!({})),
        ]
    })
    .file("a.txt", "one\ntwo\nthree\nfour\n")
    .file("no-end.txt", "one\ntwo")
    .file("lines.txt", "one\r\ntwo\r\n")
    .file("bom.txt", "\u{feff}one\n")
    .with_results()
    .same();
}

#[test]
fn files_that_are_too_long() {
    let lines: String = (0..2500).map(|n| format!("line {n}\n")).collect();
    free(|project| {
        vec![
            read(project, "many.txt", json!({})),
            read(project, "wide.txt", json!({})),
            read(project, "large.txt", json!({})),
            read(project, "large.txt", json!({"offset": 10, "limit": 2})),
        ]
    })
    .file("many.txt", lines)
    .file("wide.txt", "x".repeat(5000))
    .file("large.txt", "some words in a line\n".repeat(20_000))
    .same();
}

#[test]
fn files_that_are_not_text() {
    free(|project| {
        vec![
            read(project, "a.zip", json!({})),
            read(project, "a.exe", json!({})),
            read(project, "a.dat", json!({})),
            read(project, "relative", json!({})),
            tool_use("Read", json!({"file_path": "plain.txt"})),
            tool_use("Read", json!({"file_path": ""})),
        ]
    })
    .file("a.zip", b"PK\x03\x04\0\0")
    .file("a.exe", b"MZ\0\0")
    .file("a.dat", b"\x00\x01\x02\xff")
    .file("plain.txt", "plain\n")
    .same();
}

#[test]
fn a_file_is_read_twice() {
    free(|project| {
        vec![
            read(project, "a.txt", json!({})),
            read(project, "a.txt", json!({})),
            tool_use(
                "Edit",
                json!({"file_path": project.join("a.txt"), "old_string": "one", "new_string": "1"}),
            ),
            read(project, "a.txt", json!({})),
        ]
    })
    .file("a.txt", "one\ntwo\n")
    .same();
}

fn write(project: &Path, name: &str, content: &str) -> MessageReply {
    tool_use(
        "Write",
        json!({"file_path": project.join(name), "content": content}),
    )
}

#[test]
fn files_are_written() {
    free(|project| {
        vec![
            write(project, "new/below/a.txt", "one\n"),
            write(project, "empty.txt", ""),
            write(project, "lines.txt", "one\r\ntwo\r\n"),
            write(project, "unread.txt", "new\n"),
            write(project, "dir", "no\n"),
            tool_use(
                "Write",
                json!({"file_path": "relative.txt", "content": "here\n"}),
            ),
            tool_use("Write", json!({"file_path": project.join("b.txt")})),
        ]
    })
    .file("unread.txt", "old\n")
    .file("dir/a.txt", "")
    .leaves("new/below/a.txt")
    .leaves("empty.txt")
    .leaves("lines.txt")
    .leaves("unread.txt")
    .leaves("relative.txt")
    .same();
}

fn edit(project: &Path, name: &str, old: &str, new: &str) -> MessageReply {
    let input = json!({"file_path": project.join(name), "old_string": old, "new_string": new});
    tool_use("Edit", input)
}

#[test]
fn edits_keep_the_ends_of_lines() {
    free(|project| {
        vec![
            read(project, "lines.txt", json!({})),
            edit(project, "lines.txt", "one\ntwo", "1\n2"),
            read(project, "bom.txt", json!({})),
            edit(project, "bom.txt", "one", "1"),
        ]
    })
    .file("lines.txt", "one\r\ntwo\r\nthree\r\n")
    .file("bom.txt", "\u{feff}one\n")
    .leaves("lines.txt")
    .leaves("bom.txt")
    .same();
}

#[test]
fn mixed_ends_of_lines_stay_as_they_are() {
    let trace = free(|project| {
        vec![
            read(project, "mixed.txt", json!({})),
            edit(project, "mixed.txt", "two", "2"),
        ]
    })
    .file("mixed.txt", "one\r\ntwo\nthree\r\n")
    .leaves("mixed.txt")
    .only_ours();
    let left = trace.left[0].1.as_deref();
    assert_eq!(left, Some("one\r\n2\nthree\r\n"));
}

#[test]
fn edits_at_the_edges() {
    free(|project| {
        vec![
            // A new file, and an empty one.
            edit(project, "new.txt", "", "one\n"),
            edit(project, "empty.txt", "", "one\n"),
            // Not a new file.
            edit(project, "a.txt", "", "zero\n"),
            // A whole line goes, with its end.
            edit(project, "a.txt", "two\n", ""),
            edit(project, "a.txt", "one", ""),
            // Quotes that a model does not write.
            edit(project, "quotes.txt", "say \"hi\"", "say \"ho\""),
            // Spaces at the end.
            edit(project, "spaces.txt", "one\ntwo", "1\n2"),
            edit(project, "dir", "a", "b"),
        ]
    })
    .file("empty.txt", "")
    .file("a.txt", "one\ntwo\nthree\n")
    .file("quotes.txt", "say \u{201c}hi\u{201d} now\n")
    .file("spaces.txt", "one  \ntwo  \n")
    .file("dir/a.txt", "")
    .leaves("new.txt")
    .leaves("empty.txt")
    .leaves("a.txt")
    .leaves("quotes.txt")
    .leaves("spaces.txt")
    .same();
}

#[test]
fn cells_of_notebooks_are_edited() {
    let cell = |id: &str| {
        json!({"cell_type": "code", "id": id, "execution_count": 1, "metadata": {},
            "outputs": [], "source": ["print(1)"]})
    };
    let notebook = json!({"cells": [cell("c1"), cell("c2")],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5});
    free(|project| {
        let file = project.join("a.ipynb");
        let change = |fields: Value| {
            let mut input = json!({"notebook_path": file, "new_source": "x = 1"});
            for (name, value) in fields.as_object().unwrap() {
                input[name] = value.clone();
            }
            tool_use("NotebookEdit", input)
        };
        vec![
            change(json!({"cell_id": "c1"})),
            tool_use("Read", json!({"file_path": file})),
            change(json!({"cell_id": "none"})),
            change(json!({"cell_id": "c1", "edit_mode": "insert", "cell_type": "markdown"})),
            change(json!({"cell_id": "c2", "edit_mode": "delete"})),
            change(json!({"edit_mode": "insert"})),
        ]
    })
    .args(["--tools=default"])
    .file("a.ipynb", notebook.to_string())
    .same();
}

#[test]
fn a_file_to_search_in() {
    one("Grep", |project| {
        json!({"pattern": "o", "path": project.join("a.txt"), "output_mode": "content",
            "-n": false})
    })
    .args(["--tools=Glob,Grep"])
    .file("a.txt", "one\ntwo\n")
    .with_results()
    .same();
}
