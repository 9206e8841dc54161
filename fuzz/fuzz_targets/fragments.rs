//! libFuzzer's way into `fuzz::fragments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::fragments(bytes));
