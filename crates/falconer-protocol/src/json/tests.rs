//! The reader beside serde_json: tables, special characters everywhere, properties.

use serde::Deserialize;
use serde_json::Value;

fn value(text: &str) -> serde_json::Result<Value> {
    super::read(text, |reader| Value::deserialize(reader))
}

#[track_caller]
fn same_as_serde_json(text: &str) {
    let expected: serde_json::Result<Value> = serde_json::from_str(text);
    match (value(text), expected) {
        (Ok(got), Ok(expected)) => assert_eq!(got.to_string(), expected.to_string(), "{text}"),
        (Err(_), Err(_)) => {}
        (got, expected) => panic!("{text}: got {got:?}, expected {expected:?}"),
    }
}

#[test]
fn values_and_refusals_are_those_of_serde_json() {
    let texts = [
        r#"{}"#,
        r#" { } "#,
        r#"{"a":1}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a" 1}"#,
        r#"{"a":}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a":1,"a":2}"#,
        r#"{1:2}"#,
        r#"{"a":1"#,
        r#"{"#,
        r#"{"a"#,
        "",
        " ",
        "[]",
        "[1,2]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "[",
        "[[],{}]",
        "]",
        "}",
        "[}",
        "{]",
        "{} x",
        "true",
        "false",
        "null",
        "tru",
        "nulL",
        "truex",
        "[true,false,null]",
        "nan",
        "0",
        "00",
        "01",
        "-0",
        "-1",
        "-",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E-2",
        "1e",
        "+1",
        "1-2",
        "-01",
        "123456789012345678",
        "999999999999999999",
        "1234567890123456789",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "0.1",
        "3.141592653589793238",
        "[1 ]",
        "1 2",
        "0x1",
        r#""""#,
        r#""a""#,
        r#""ab"#,
        r#"""#,
        "\"a\tb\"",
        "\"a\nb\"",
        "\"\u{1f}\"",
        "\"\u{7f}\"",
        r#""\n\t\r\b\f\/\\\"""#,
        r#""\x""#,
        r#""\"#,
        r#""\""#,
        r#""\é""#,
        r#""é\n€\"𝄞""#,
        r#""\u00e9""#,
        r#""\u0000""#,
        r#""\ud834\udd1e""#,
        r#""\ud834""#,
        r#""\udd1e""#,
        r#""\ud834\u0041""#,
        r#""\ud834\n""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\u""#,
        r#""0123456\n0123456789""#,
        r#""01234567\\""#,
        r#""0123456789abcdef\"x""#,
        "\u{feff}{}",
        "{\u{a0}}",
        "[\u{b}1]",
    ];
    texts.into_iter().for_each(same_as_serde_json);
}

#[test]
fn special_characters_are_found_wherever_they_are() {
    for special in [
        r"\n", r#"\""#, "\u{1}", "\u{1f}", "é", "\u{80}", "!", "#", "[", "]", " ",
    ] {
        for before in 0..40 {
            for after in [0, 1, 7, 8, 20] {
                let (before, after) = ("x".repeat(before), "é".repeat(after));
                same_as_serde_json(&format!("\"{before}{special}{after}\""));
            }
        }
    }
}

#[test]
fn nesting_ends_where_serde_json_ends_it() {
    for depth in [126, 127, 128, 129, 100_000] {
        same_as_serde_json(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)));
        same_as_serde_json(&format!(
            "{}1{}",
            r#"{"a":"#.repeat(depth),
            "}".repeat(depth)
        ));
    }
}

proptest::proptest! {
    #[test]
    fn pieces_of_json_in_any_order_are_read_as_serde_json_reads_them(
        text in r#"([\[\]{}:, ]|"[a-z\\"né]{0,12}"|[-0-9.e]{1,4}|true|null|\\u[d-e][89ab]3[0-9]){0,12}"#
    ) {
        same_as_serde_json(&text);
    }

    #[test]
    fn any_string_comes_back(text in ".*") {
        let json = serde_json::to_string(&text).expect("a string");
        assert_eq!(value(&json).expect("a value"), Value::String(text));
    }
}
