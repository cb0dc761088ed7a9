//! What the model sees of files, good and bad.

use std::os::unix::ffi::OsStrExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::from_value;
use falconer_protocol::tool::ReadOutput;
use serde_json::json;

use super::*;
use crate::tool::testing::{Bench, run, text};

#[tokio::test]
async fn text_is_shown_as_the_official_cli_shows_it() {
    let bench = Bench::new();
    let check = async |content: &[u8], shown: &str, lines: u64, kept: &str| {
        let path = bench.write("a.txt", content);
        let outcome = bench.run(&Read, json!({"file_path": path})).await;
        assert_eq!(text(&outcome), shown);
        let file = &outcome.output.as_ref().unwrap()["file"];
        assert_eq!(file["content"], kept);
        assert_eq!(file["totalLines"], lines);
        assert_eq!(file["numLines"], lines);
        from_value::<ReadOutput>(outcome.output.unwrap()).unwrap();
    };
    check(b"hi\n", "1\thi\n2\t", 2, "hi\n").await;
    check(b"x", "1\tx", 1, "x").await;
    check(b"a\r\nb\r\n", "1\ta\n2\tb\n3\t", 3, "a\nb\n").await;
    check(b"\xef\xbb\xbfbom\n", "1\tbom\n2\t", 2, "bom\n").await;
    check(b"\xff\xfeh\0i\0\n\0", "1\thi\n2\t", 2, "hi\n").await;
    check(b"\xfe\xff\0h\0i", "1\thi", 1, "hi").await;
}

#[tokio::test]
async fn parts_are_counted_from_the_line_asked_for() {
    let bench = Bench::new();
    let content: String = (1..=3000).map(|line| format!("{line}\n")).collect();
    let path = bench.write("long.txt", content);
    let part = bench
        .run(&Read, json!({"file_path": path, "offset": "5", "limit": 2}))
        .await;
    assert_eq!(text(&part), "5\t5\n6\t6");
    assert_eq!(
        part.output.unwrap()["file"],
        json!({"filePath": path, "content": "5\n6", "numLines": 2, "startLine": 5, "totalLines": 3001})
    );
    let beyond = bench
        .run(&Read, json!({"file_path": path, "offset": 5000}))
        .await;
    assert!(
        text(&beyond).contains("3001") && !beyond.is_error,
        "{beyond:?}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_a_reason() {
    let bench = Bench::new();
    bench.write("notes.md", "x");
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.write("prog.dat", b"\x7fELF\x02\x01\x01\0\0\0");
    bench.write("fake.png", "<html>");
    bench.write("big.txt", "line of text\n".repeat(40_000));
    bench.write("bad.ipynb", "{}");
    bench.write("cut.png", &PNG[..40]);
    let fifo = bench.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let check = async |path: &str, parts: &[&str]| {
        let outcome = bench.run(&Read, json!({"file_path": path})).await;
        assert!(outcome.is_error, "{path}: {outcome:?}");
        for part in parts {
            assert!(
                text(&outcome).contains(part),
                "{part} is not in {}",
                text(&outcome)
            );
        }
        assert!(
            outcome
                .output
                .unwrap()
                .as_str()
                .unwrap()
                .starts_with("Error: ")
        );
    };
    check("notes.txt", &["does not exist", "Did you mean notes.md?"]).await;
    check("NOTES.md", &["Did you mean notes.md?"]).await;
    check("../../../../no/such", &["does not exist"]).await;
    check("notes.md/below", &["does not exist"]).await;
    check("sub", &["is a directory"]).await;
    check("prog.dat", &["prog.dat", "cannot show"]).await;
    check("fake.png", &["named like an image"]).await;
    check("cut.png", &["Failed to read the image"]).await;
    check("big.txt", &["508 KB", "256 KB", "`offset`"]).await;
    check("bad.ipynb", &["not a valid notebook"]).await;
    check("pipe", &["a pipe"]).await;
    check("/dev/zero", &["a device"]).await;
    check("a\0b", &["Failed to open"]).await;
}

#[tokio::test]
async fn names_and_bytes_that_are_no_unicode_do_no_harm() {
    let bench = Bench::new();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(bench.directory.path().join(odd), "x").unwrap();
    let missing = bench.run(&Read, json!({"file_path": "cafe.txt"})).await;
    assert!(text(&missing).contains("does not exist"), "{missing:?}");
    bench.write("latin.txt", b"caf\xe9\n");
    let latin = bench.run(&Read, json!({"file_path": "latin.txt"})).await;
    assert!(text(&latin).starts_with("1\tcaf\u{fffd}\n2\t\n\n[The file is not valid UTF-8"));
}

#[tokio::test]
async fn long_text_ends_with_a_page() {
    let bench = Bench::new();
    let content = "some words to fill a line of text\n".repeat(4_000);
    let path = bench.write("page.txt", &content);
    let page = bench.run(&Read, json!({"file_path": path})).await;
    let file = &page.output.as_ref().unwrap()["file"];
    assert_eq!(file["truncatedByTokenCap"], true);
    let shown = file["content"].as_str().unwrap();
    assert!(shown.len() <= PAGE && shown.ends_with("text"));
    assert!(text(&page).ends_with("for the rest.]"));
    let all = bench
        .run(&Read, json!({"file_path": path, "allow_large": true}))
        .await;
    assert_eq!(all.output.unwrap()["file"]["content"], content.as_str());
    let too_many = bench
        .run(
            &Read,
            json!({"file_path": path, "offset": 1, "limit": 3000}),
        )
        .await;
    assert!(text(&too_many).contains("fewer lines"), "{too_many:?}");
    // One line longer than a page is cut between letters.
    bench.write("wide.txt", "é".repeat(60_000));
    let wide = bench.run(&Read, json!({"file_path": "wide.txt"})).await;
    assert_eq!(wide.output.unwrap()["file"]["numLines"], 1);
}

#[tokio::test]
async fn two_gigabytes_are_read_in_part_without_reading_all() {
    let bench = Bench::new();
    let path = bench.write("huge.txt", "line\n".repeat(4_000));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(2 << 30).unwrap();
    let whole = bench.run(&Read, json!({"file_path": path})).await;
    assert!(text(&whole).contains("2097152 KB"), "{whole:?}");
    let large = bench
        .run(&Read, json!({"file_path": path, "allow_large": true}))
        .await;
    assert!(text(&large).contains("at most 1024 KB"), "{large:?}");
    let part = bench
        .run(
            &Read,
            json!({"file_path": path, "offset": 3999, "limit": 2}),
        )
        .await;
    assert_eq!(
        text(&part),
        "3999\tline\n4000\tline\n\n[The file is very large; it has more than 4001 lines.]"
    );
    let edit = json!({"file_path": path, "old_string": "line", "new_string": "x"});
    let edited = bench.run(&crate::tool::edit::Edit, edit).await;
    assert!(text(&edited).contains("2048 MB"), "{edited:?}");
}

#[tokio::test]
async fn cancelled_call_is_answered() {
    let bench = Bench::new();
    bench.write("a.txt", "x");
    let call = bench.call();
    call.cancelled.cancel();
    let outcome = run(&Read, json!({"file_path": "a.txt"}), call).await;
    // Whichever comes first, there is an answer.
    assert!(outcome.output.is_some());
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

fn picture(width: u32, height: u32, format: ::image::ImageFormat) -> Vec<u8> {
    let picture = ::image::RgbImage::from_fn(width, height, |x, y| {
        ::image::Rgb([(x % 251) as u8, (y % 241) as u8, ((x * y) % 239) as u8])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn images_fit_the_api() {
    use ::image::ImageFormat::{Jpeg, Png};
    let bench = Bench::new();
    let small = picture(10, 5, Png);
    bench.write("small.bin", &small);
    let outcome = bench.run(&Read, json!({"file_path": "small.bin"})).await;
    assert_eq!(
        outcome.shown()[0]["source"]["data"],
        STANDARD.encode(&small)
    );
    assert_eq!(outcome.content.blocks().len(), 1);
    from_value::<ReadOutput>(outcome.output.unwrap()).unwrap();

    for (name, format) in [("wide.png", Png), ("wide.jpg", Jpeg)] {
        bench.write(name, picture(2500, 20, format));
        let outcome = bench.run(&Read, json!({"file_path": name})).await;
        let file = &outcome.output.as_ref().unwrap()["file"];
        assert_eq!(
            file["dimensions"],
            json!({"originalWidth": 2500, "originalHeight": 20, "displayWidth": 2000, "displayHeight": 16})
        );
        assert!(
            outcome.shown()[1]["text"]
                .as_str()
                .unwrap()
                .contains("1.25")
        );
        let bytes = STANDARD.decode(file["base64"].as_str().unwrap()).unwrap();
        let shown = ::image::load_from_memory(&bytes).unwrap();
        assert_eq!((shown.width(), shown.height()), (2000, 16));
    }
}

#[tokio::test]
async fn pdf_goes_to_the_model_as_a_document() {
    let bench = Bench::new();
    bench.write("d.pdf", "%PDF-1.1\n");
    let outcome = bench
        .run(&Read, json!({"file_path": "d.pdf", "pages": "1-5"}))
        .await;
    assert_eq!(outcome.shown()[1]["type"], "document");
    assert_eq!(
        outcome.shown()[1]["source"]["media_type"],
        "application/pdf"
    );
    assert_eq!(outcome.output.unwrap()["file"]["originalSize"], 9);
    for pages in ["x", "0", "5-1", "1-21", "1,2", "-3", "18446744073709551616"] {
        let input = json!({"file_path": "d.pdf", "pages": pages});
        let text = Read.parse(input.as_object().unwrap()).unwrap_err();
        assert!(text.contains("`pages`"), "{text}");
    }
}

#[tokio::test]
async fn notebook_is_shown_cell_by_cell() {
    let bench = Bench::new();
    let notebook = json!({
        "cells": [
            {"cell_type": "code", "id": "c1", "metadata": {}, "execution_count": 1, "source": ["print(1)\n", "x=2"],
             "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]},
            {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": "# hi"},
            {"cell_type": "code", "source": "plot()", "outputs": [{"output_type": "display_data", "data": {"image/png": "aGk=\n"}}]},
        ],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    });
    bench.write("nb.ipynb", notebook.to_string());
    let outcome = bench.run(&Read, json!({"file_path": "nb.ipynb"})).await;
    assert_eq!(
        outcome.shown()[0]["text"],
        "<cell id=\"c1\">print(1)\nx=2</cell id=\"c1\">\n\n1\n\n<cell id=\"m1\"><cell_type>markdown</cell_type># hi</cell id=\"m1\">\n<cell id=\"cell-2\">plot()</cell id=\"cell-2\">"
    );
    assert_eq!(outcome.shown()[1]["source"]["data"], "aGk=");
    assert_eq!(
        outcome.output.unwrap()["file"]["cells"][0],
        json!({"cellType": "code", "source": "print(1)\nx=2", "execution_count": 1, "cell_id": "c1", "language": "python",
               "outputs": [{"output_type": "stream", "text": "1\n"}]})
    );
}
