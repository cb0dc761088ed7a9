//! The decoder against every way to cut a stream, and against a slow, obvious one.

use proptest::prelude::*;

use super::*;

/// Names and data.
type Events<'a> = &'a [(Option<&'a str>, &'a str)];

fn decode(chunks: &[&[u8]]) -> Result<Vec<(Option<String>, String)>, TooLarge> {
    decode_up_to(1000, chunks)
}

fn decode_up_to(limit: usize, chunks: &[&[u8]]) -> Result<Vec<(Option<String>, String)>, TooLarge> {
    let mut decoder = Decoder::new(limit);
    let mut events = VecDeque::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk), &mut events)?;
    }
    events.extend(decoder.finish());
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let pair = |event: &SseEvent| (event.name.as_ref().map(text), text(&event.data));
    Ok(events.iter().map(pair).collect())
}

#[test]
fn fields_lines_and_comments_are_read_as_the_standard_says() {
    let table: &[(&str, Events<'_>)] = &[
        ("", &[]),
        ("\n\n\n", &[]),
        ("data: a\n\n", &[(None, "a")]),
        ("data:a\n\n", &[(None, "a")]),
        ("data:  a \n\n", &[(None, " a ")]),
        ("data\n\n", &[(None, "")]),
        ("event: x\ndata: a\n\n", &[(Some("x"), "a")]),
        ("event: x\n\ndata: a\n\n", &[(None, "a")]),
        ("data: a\ndata: b\ndata\n\n", &[(None, "a\nb\n")]),
        (": comment\ndata: a\n: more\n\n", &[(None, "a")]),
        ("id: 4\nretry: 5\nrubbish\ndata: a\n\n", &[(None, "a")]),
        ("data: a\r\rdata: b\r\n\r\n", &[(None, "a"), (None, "b")]),
        ("data: a\n\r\ndata: b\n\n", &[(None, "a"), (None, "b")]),
        ("\u{feff}data: a\n\n", &[(None, "a")]),
        ("data: \u{feff}\n\n", &[(None, "\u{feff}")]),
        // Without the blank line at the end: complete lines count, half a line does not.
        ("data: a\n", &[(None, "a")]),
        ("data: a", &[]),
        ("data: a\nda", &[]),
    ];
    for (stream, expected) in table {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, data)| (name.map(str::to_owned), (*data).to_owned()))
            .collect();
        assert_eq!(
            decode(&[stream.as_bytes()]).unwrap(),
            expected,
            "{stream:?}"
        );
    }
}

#[test]
fn every_cut_into_three_gives_the_same_events() {
    let stream = "\u{feff}event: grüße\r\ndata: ä\r\ndata: b\r\r\n: x\n\ndata: 漢\n\n".as_bytes();
    let whole = decode(&[stream]).unwrap();
    assert_eq!(whole.len(), 2, "{whole:?}");
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let cut = [&stream[..first], &stream[first..second], &stream[second..]];
            assert_eq!(decode(&cut).unwrap(), whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_kept() {
    let table: &[(&[&str], bool)] = &[
        (&["data: 1234\n\n"], true),
        (&["data: 12345\n\n"], false),
        (&["data: 1", "234\n\n"], true),
        (&["data: 1", "2345"], false),
        (
            &["data: 1\n", "data: 2\n", "data: 3\n", "data: 4\n\n"],
            false,
        ),
        (&["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"], true),
        (&[": a comment that never ends"], false),
    ];
    for (chunks, fits) in table {
        let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        assert_eq!(decode_up_to(10, &chunks).is_ok(), *fits, "{chunks:?}");
    }
}

/// The standard's algorithm on the whole text, as simple as can be.
fn reference(stream: &str) -> Vec<(Option<String>, String)> {
    let stream = stream.strip_prefix('\u{feff}').unwrap_or(stream);
    let text = stream.replace("\r\n", "\n").replace('\r', "\n");
    let whole = text.is_empty() || text.ends_with('\n');
    let mut events = Vec::new();
    let (mut name, mut data): (Option<String>, Vec<String>) = (None, Vec::new());
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop();
    if whole {
        lines.push("");
    }
    for line in lines {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (line, field) {
            ("", _) => {
                if !data.is_empty() {
                    events.push((name.clone(), data.join("\n")));
                }
                (name, data) = (None, Vec::new());
            }
            (_, "data") => data.push(value.to_owned()),
            (_, "event") => name = Some(value.to_owned()),
            _ => {}
        }
    }
    events
}

proptest! {
    #[test]
    fn any_stream_in_any_pieces_reads_as_the_reference(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "data", ":", " ", "event", "\n", "\r", "\r\n", "\n\n", "x", "{}", "é", "\u{feff}",
                "data: ", "event: a\n",
            ]),
            0..40,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let stream = parts.concat();
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(decode(&pieces).unwrap(), reference(&stream));
    }

    #[test]
    fn no_bytes_make_it_panic(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..8)) {
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let _ = decode(&chunks);
    }
}
