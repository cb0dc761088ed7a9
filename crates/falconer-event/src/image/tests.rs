//! What is taken for an image, and what is not.

use serde_json::json;

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const HTML: &[u8] = b"<html><script>alert(1)</script></html>";
const SVG: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";

fn block(media_type: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
}

fn of(media_type: &str, bytes: &[u8]) -> Value {
    block(media_type, &BASE64.encode(bytes))
}

/// The note and the kinds of what was taken.
fn looked_at(blocks: &[Value]) -> (Vec<String>, Vec<String>) {
    let mut images = Images::default();
    let notes = blocks.iter().map(|block| images.take(block)).collect();
    let kinds = images.taken.into_iter().map(|image| image.media_type);
    (notes, kinds.collect())
}

#[test]
fn an_image_is_what_its_bytes_are() {
    let webp = b"RIFF\x10\0\0\0WEBPVP8 ";
    let none = "[image, 38 B, not shown: no PNG, JPEG, GIF or WebP]";
    let cases: [(Value, &str, Option<&str>); 14] = [
        (of("image/png", PNG), "[image, 16 B]", Some("image/png")),
        (
            of("image/jpeg", b"\xff\xd8\xff\xe0"),
            "[image, 4 B]",
            Some("image/jpeg"),
        ),
        (
            of("image/gif", b"GIF89a"),
            "[image, 6 B]",
            Some("image/gif"),
        ),
        (of("image/webp", webp), "[image, 16 B]", Some("image/webp")),
        // Tools are wrong about the kind often enough, and the bytes are harmless.
        (of("image/jpeg", PNG), "[image, 16 B]", Some("image/png")),
        (
            block("image/png", BASE64.encode(PNG).trim_end_matches('=')),
            "[image, 16 B]",
            Some("image/png"),
        ),
        (of("image/png", HTML), none, None),
        (
            of("image/png", SVG),
            "[image, 59 B, not shown: no PNG, JPEG, GIF or WebP]",
            None,
        ),
        (
            of("image/svg+xml", SVG),
            "[image, 59 B, not shown: no PNG, JPEG, GIF or WebP]",
            None,
        ),
        (
            of("text/html", PNG),
            "[image, 16 B, not shown: no PNG, JPEG, GIF or WebP]",
            None,
        ),
        (
            of("image/png", b""),
            "[image, 0 B, not shown: no PNG, JPEG, GIF or WebP]",
            None,
        ),
        (
            block("image/png", "iVBOR*** no"),
            "[image, 8 B, not shown: its base64 is broken]",
            None,
        ),
        (
            json!({"type": "image", "source": {"type": "url", "url": "https://evil.example/"}}),
            "[image]",
            None,
        ),
        (
            json!({"type": "image", "source": {"data": 7}}),
            "[image]",
            None,
        ),
    ];
    for (block, note, kind) in cases {
        let (notes, kinds) = looked_at(std::slice::from_ref(&block));
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        assert_eq!(
            (notes[0].as_str(), kinds),
            (note, Vec::from_iter(kind)),
            "{block}"
        );
    }
}

#[test]
fn too_large_and_too_many_are_told_and_not_taken() {
    let large = |bytes: usize| {
        let mut data = PNG.to_vec();
        data.resize(bytes, 0);
        of("image/png", &data)
    };
    let (notes, kinds) = looked_at(&[large(Image::LARGEST), large(Image::LARGEST + 1)]);
    let expected = [
        "[image, 8.0 MB]",
        "[image, 8.0 MB, not shown: larger than 8 MB]",
    ];
    assert_eq!(
        (notes, kinds.len()),
        (expected.map(str::to_owned).into(), 1)
    );
    assert_eq!(Image::new(vec![0xff, 0xd8, 0xff]).unwrap().bytes, 3);
    let over = [vec![0xff, 0xd8, 0xff], vec![0; Image::LARGEST]].concat();
    assert_eq!(Image::new(over), None);

    let many = "[image, 16 B, not shown: too many in one result]";
    let (notes, kinds) = looked_at(&vec![of("image/png", PNG); MOST + 1]);
    assert_eq!((kinds.len(), notes[MOST].as_str()), (MOST, many));
    let (notes, kinds) = looked_at(&vec![large(7 << 20); 3]);
    assert_eq!(kinds.len(), 2, "{notes:?}");
    assert!(notes[2].ends_with("too many in one result]"), "{notes:?}");
}

#[test]
fn bytes_are_in_no_json() {
    let image = Image::new(PNG.to_vec()).unwrap();
    let json = serde_json::to_value(&image).unwrap();
    assert_eq!(json, json!({"media_type": "image/png", "bytes": 16}));
    let back: Image = serde_json::from_value(json).unwrap();
    assert_eq!((back.bytes, back.data), (16, None));
    assert_eq!(&**image.data.as_ref().unwrap(), PNG);
    assert_eq!(format!("{:?}", image.data.unwrap()), "ImageData(16 bytes)");
}

#[test]
fn sizes_are_readable() {
    for (bytes, expected) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KB"),
        (12_000, "12 KB"),
        (1 << 20, "1.0 MB"),
        (0x18_0000, "1.5 MB"),
    ] {
        assert_eq!(readable(bytes), expected);
    }
}
