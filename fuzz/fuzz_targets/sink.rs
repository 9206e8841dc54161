//! libFuzzer's way into `fuzz::sink`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::sink(bytes));
