//! Any bytes: `cargo +nightly fuzz run decode`.

#![no_main]

#[path = "../../crates/falconer-protocol/tests/it/line_check.rs"]
mod line_check;

libfuzzer_sys::fuzz_target!(|line: &[u8]| line_check::check_line(line));
