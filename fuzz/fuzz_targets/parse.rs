//! libFuzzer's way into `fuzz::parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::parse(bytes));
